package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/internal/elftest"
	"github.com/btflite/btflite/test/testfile"
)

// sizes are the numbers of a report that a reader of the output can count.
type sizes struct {
	Bytes     int64 `json:"btf_bytes"`
	Base      int64 `json:"base_btf_bytes"`
	Types     int   `json:"types"`
	Funcs     int   `json:"functions"`
	Vars      int   `json:"variables"`
	TypeBytes int   `json:"type_bytes"`
	StrBytes  int   `json:"string_bytes"`
	Extra     int64 `json:"extra_btf_bytes"`
	ExtraVars int   `json:"extra_variables"`
}

// counted reads the output of a run and counts.
func counted(t *testing.T, main, below, extra []byte, base *btf.Blob) (s sizes) {
	t.Helper()
	parse := func(data []byte, base *btf.Blob) *btf.Blob {
		return btftest.Parse(t, data, base)
	}
	kinds := func(b *btf.Blob) map[btf.Kind]int {
		n := map[btf.Kind]int{}
		for id := b.FirstID; id < b.TypeCount(); id++ {
			n[b.Kind(id)]++
		}
		return n
	}
	if below != nil {
		base = parse(below, nil)
	}
	b := parse(main, base)
	n := kinds(b)
	s = sizes{Bytes: int64(len(main)), Base: int64(len(below)), Types: len(b.Off), Funcs: n[btf.KindFunc], Vars: n[btf.KindVar],
		TypeBytes: 4 * len(b.Words), StrBytes: len(b.Strings), Extra: int64(len(extra))}
	if extra != nil {
		s.ExtraVars = kinds(parse(extra, b))[btf.KindVar]
	}
	return s
}

// TestStatsAreThoseOfTheFile: the figures of --stats, --report and the report of a batch
// agree with what a reader finds in the output: alone, over a base, sorted, distilled, with
// extra variables, into another file or in place.
func TestStatsAreThoseOfTheFile(t *testing.T) {
	for _, target := range []string{"x86", "s390x"} {
		base := btftest.Read(t, splitFiles+target+".base.btf", nil)
		for _, name := range []string{target + ".module.o", target + ".base.o", target + ".upper.o"} {
			for _, over := range []bool{false, true} {
				for _, more := range [][]string{nil, {"--btf_sort"}, {"--btf_sort=name"}, {"--dedup=exact"}, {"--btf_features=default,distilled_base"},
					{"--btf_features=default,distilled_base", "--btf_sort"}, {"--extra_vars"}, {"--extra_vars", "--btf_sort"}, {"--btf_features=default,global_var"}} {
					for _, mode := range []string{"detached", "in place", "batch"} {
						if !over && (mode == "batch" || len(more) > 0 && more[0] == "--btf_features=default,distilled_base") {
							continue
						}
						statsOfOne(t, name, base, over, more, mode)
					}
				}
			}
		}
	}
}

func statsOfOne(t *testing.T, name string, base *btf.Blob, over bool, more []string, mode string) {
	t.Helper()
	dir := t.TempDir()
	in, out, vars, report := filepath.Join(dir, "in.ko"), filepath.Join(dir, "out"), filepath.Join(dir, "vars"), filepath.Join(dir, "report")
	copyFile(t, name, in)
	if !over {
		base = nil
	}
	args := []string{"-J", "--btf_features=default"}
	if mode == "batch" {
		args = []string{"modules", "--btf_features=default"}
	}
	for _, m := range more {
		if m == "--extra_vars" {
			if m += "=" + vars; mode == "batch" {
				m = "--extra_vars=.vars"
				vars = in + ".vars"
			}
		}
		args = append(args, m)
	}
	if over {
		args = append(args, "--btf_base="+filepath.Join(splitFiles, name[:strings.IndexByte(name, '.')]+".base.btf"))
	}
	if mode == "detached" {
		args = append(args, "--btf_encode_detached="+out)
	}
	args = append(args, "--stats=json")
	if mode != "batch" {
		args = append(args, "--report="+report)
	}
	stdout, _ := btfliteRun(t, exitOK, append(args, in)...)
	main, below := elftest.Contents(t, in, ".BTF"), elftest.Contents(t, in, ".BTF.base")
	if mode == "detached" {
		var err error
		if main, err = os.ReadFile(out); err != nil {
			t.Fatal(err)
		}
		below = nil
	}
	extra, _ := os.ReadFile(vars)
	want := counted(t, main, below, extra, base)
	got := func(text []byte, into any) {
		t.Helper()
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
	if mode == "batch" {
		var b struct {
			sizes
			Results []sizes
		}
		got([]byte(stdout), &b)
		want.Funcs, want.Vars, want.TypeBytes, want.StrBytes, want.ExtraVars = 0, 0, 0, 0, 0 // not told
		all := want
		all.Types = 0
		if len(b.Results) != 1 || b.Results[0] != want || b.sizes != all {
			t.Errorf("%s %q %s: %+v, want %+v", name, more, mode, b, want)
		}
		return
	}
	written := testfile.Read(t, report)
	for _, text := range [][]byte{[]byte(stdout), written} {
		var s sizes
		if got(text, &s); s != want {
			t.Errorf("%s over %v %q %s: %+v, want %+v", name, over, more, mode, s, want)
		}
	}
}
