package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/distill"
	"github.com/btflite/btflite/btf/order"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/test/testfile"
)

const inputFiles = "../../testdata/inputs/"

// TestCanonicalForgetsTheOrderOfUnits: units linked, or given, in any order have
// one canonical BTF, which a kernel would take; encoded as they come, they differ.
func TestCanonicalForgetsTheOrderOfUnits(t *testing.T) {
	inputs := [][]string{{"abc"}, {"cab"}, {"a.o", "b.o", "c.o"}, {"b.o", "c.o", "a.o"}, {"c.o", "b.o", "a.o"}}
	out := filepath.Join(t.TempDir(), "out")
	var sorted, plain [][]byte
	for _, names := range inputs {
		var paths []string
		for _, n := range names {
			paths = append(paths, inputFiles+n)
		}
		for _, how := range []string{"--btf_sort", "--dedup=stream"} {
			for _, jobs := range []string{"-j1", "-j4"} {
				btfliteRun(t, exitOK, append([]string{"-J", jobs, how, "--btf_features=default", "--btf_encode_detached=" + out}, paths...)...)
				if data := testfile.Read(t, out); how == "--btf_sort" {
					sorted = append(sorted, data)
				} else {
					plain = append(plain, data)
				}
			}
		}
		btfliteRun(t, exitOK, "verify", out)
	}
	for i := range sorted {
		if !bytes.Equal(sorted[i], sorted[0]) {
			t.Errorf("%v: other bytes than %v", inputs[i/2], inputs[0])
		}
	}
	if len(slices.CompactFunc(plain, bytes.Equal)) < 3 {
		t.Error("the order of units does not show without sorting: the test is too weak")
	}
}

// TestSortCommand: "btflite sort" writes the same as -J --btf_sort, for each order, for
// raw BTF and ELF files, over a base and without.
func TestSortCommand(t *testing.T) {
	dir := t.TempDir()
	encoded, direct, in := filepath.Join(dir, "encoded"), filepath.Join(dir, "direct"), filepath.Join(dir, "in")
	for _, target := range []string{"x86", "s390x"} {
		for _, order := range []string{"--btf_sort=name", "--btf_sort=canonical"} {
			for _, tt := range []struct{ file, base string }{{".base.o", ""}, {".module.o", target + ".base.btf"}} {
				args := []string{"--btf_features=default", splitFiles + target + tt.file}
				var over []string
				if tt.base != "" {
					over = []string{"--btf_base=" + splitFiles + tt.base}
					args = append(args, over...)
				}
				btfliteRun(t, exitOK, append(args, "--btf_encode_detached="+encoded)...)
				btfliteRun(t, exitOK, append(args, "--btf_encode_detached="+direct, order)...)
				btfliteRun(t, exitOK, append(append([]string{"sort", order}, over...), encoded, encoded+".sorted")...)
				want := testfile.Read(t, direct)
				if !bytes.Equal(testfile.Read(t, encoded+".sorted"), want) {
					t.Errorf("%s %s: not what -J writes", target+tt.file, order)
				}
				if bytes.Equal(testfile.Read(t, encoded), want) {
					t.Errorf("%s %s: the order has not changed", target+tt.file, order)
				}
				btfliteRun(t, exitOK, append(append([]string{"verify"}, over...), encoded+".sorted")...)

				copyFile(t, target+tt.file, in)
				btfliteRun(t, exitOK, append(append([]string{"-J", "--btf_features=default", order}, over...), in)...)
				if over != nil {
					btfliteRun(t, exitOK, append([]string{"modules", order, "--btf_features=default", over[0], "--btf_encode_detached_dir=" + dir}, in)...)
					if !bytes.Equal(testfile.Read(t, in+".btf"), want) {
						t.Errorf("%s %s: \"btflite modules\" writes something else", target+tt.file, order)
					}
				}
				btfliteRun(t, exitOK, append(append([]string{"sort", order}, over...), in, encoded+".sorted")...)
				if !bytes.Equal(testfile.Read(t, encoded+".sorted"), want) {
					t.Errorf("%s %s: the section is not what the file is", target+tt.file, order)
				}
			}
		}
	}
}

// TestSortDistilled: a distilled base keeps its order, as resolve_btfids leaves it. The
// BTF over it is sorted.
func TestSortDistilled(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in")
	copyFile(t, "x86.module.o", in)
	btfliteRun(t, exitOK, "-J", compat, "--btf_features=default,distilled_base", "--btf_sort=name", "--btf_base="+splitFiles+"x86.base.btf", in)
	sameAs(t, in, loadbtf.SectionBTFBase, "x86.distilled.base.btf")
	base, err := btfFiles.Load(splitFiles+"x86.base.btf", nil)
	if err != nil {
		t.Fatal(err)
	}
	split, err := btfFiles.Load(splitFiles+"x86.module.btf", base)
	if err != nil {
		t.Fatal(err)
	}
	if _, split, err = distill.Split(t.Context(), split); err != nil {
		t.Fatal(err)
	}
	if split, _, err = order.ByName(t.Context(), split); err != nil {
		t.Fatal(err)
	}
	err = btfFiles.With(in, func(raw loadbtf.Raw) error {
		if !bytes.Equal(raw.BTF, split.Encode()) {
			t.Error("the section .BTF differs")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	btfliteRun(t, exitOK, "verify", in)
	// Its own base is the one to keep to.
	btfliteRun(t, exitOK, "sort", in, in+".sorted")
	distilled, err := btfFiles.Load(splitFiles+"x86.distilled.base.btf", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := btf.Parse(testfile.Read(t, in+".sorted"), distilled); err != nil {
		t.Error(err)
	}
}

func TestSortErrors(t *testing.T) {
	dir := t.TempDir()
	raw, text, out := filepath.Join(dir, "raw"), filepath.Join(dir, "text"), filepath.Join(dir, "out")
	copyFile(t, "x86.base.btf", raw)
	testfile.Write(t, text, "no BTF")
	for _, tt := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{raw}, exitUsage, "an input and an output file"},
		{[]string{raw, out, out}, exitUsage, "an input and an output file"},
		{[]string{"--btf_sort=size", raw, out}, exitUsage, "use canonical or name"},
		{[]string{"--btf_sort", "name", raw, out}, exitUsage, "did you mean --btf_sort=name?"},
		{[]string{raw, raw}, exitFailure, "the output is the input file"},
		{[]string{filepath.Join(dir, "none"), out}, exitFailure, "none: cannot open: no such file"},
		{[]string{text, out}, exitFailure, text + ": it is neither an ELF file nor BTF"},
		{[]string{inputFiles + "a.o", out}, exitFailure, "a.o: no section .BTF"},
		{[]string{splitFiles + "x86.module.btf", out}, exitFailure, "x86.module.btf: btf: strings"},
	} {
		_, stderr := btfliteRun(t, tt.status, append([]string{"sort"}, tt.args...)...)
		if !strings.Contains(stderr, tt.want) {
			t.Errorf("sort %q: %s", tt.args, stderr)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("sort %q: there is an output", tt.args)
		}
	}
}
