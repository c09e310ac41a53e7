package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/test/testfile"
)

// writeLater writes BTF with a type of kind 23 and one of kind 24, which btflite does
// not know, and a layout section that says how long they are. It returns its path.
func writeLater(t *testing.T, big bool) string {
	t.Helper()
	types := []uint32{
		0, btf.Info(23, 2, false), 4, 8, 1, 2,
		1, btf.Info(btf.KindInt, 0, false), 4, 1<<24 | 32,
		0, btf.Info(24, 1, false), 0, 1,
		0, btf.Info(btf.KindPtr, 0, false), 2,
		5, btf.Info(btf.KindTypedef, 0, false), 4,
	}
	const strs = "\x00int\x00td\x00"
	f := btf.Form{Layout: laterLayout()}
	d := f.AppendHeader(nil, big, uint32(4*len(types)), uint32(len(strs)))
	d = btf.AppendWords(d, big, types)
	return testfile.New(t, "later.btf", append(append(d, f.Layout...), strs...))
}

func laterLayout() []byte { return append(btf.LongLayout(), 4, 4, 0, 0, 0, 4, 0, 0) }

const unknownKinds = "types of kinds that btflite does not know: 1 of kind 23, 1 of kind 24"

// TestUnknownKinds: each command skips them and says so once, in both byte orders. The
// output of sort and dedup has the layout section of the input.
func TestUnknownKinds(t *testing.T) {
	for _, big := range []bool{false, true} {
		in := writeLater(t, big)
		out := filepath.Join(t.TempDir(), "out")
		once := func(text, outcome string) {
			t.Helper()
			if note := in + ": note: " + unknownKinds + "; " + outcome; strings.Count(text, note) != 1 || strings.Count(text, "\n") != 1+strings.Count(text, ": fine") {
				t.Errorf("%q, want once: %s", text, note)
			}
		}
		stdout, _ := btfliteRun(t, exitOK, "verify", in)
		once(stdout, "they are not checked")
		if stdout, _ := btfliteRun(t, exitOK, "verify", "-q", in); stdout != "" {
			t.Errorf("-q: %q", stdout)
		}
		if stdout, _ := btfliteRun(t, exitFailure, "verify", "--kernel=7.2", in); !strings.Contains(stdout, "unknown kind 23") {
			t.Errorf("for 7.2: %q", stdout)
		}
		if stdout, _ := btfliteRun(t, exitOK, "verify", "--json", in); !strings.Contains(stdout, `"skipped":"`+unknownKinds+`"`) || strings.Contains(stdout, `"since"`) {
			t.Errorf("--json: %q", stdout)
		}
		if stdout, _ := btfliteRun(t, exitOK, "dump", in); !strings.HasPrefix(stdout, "[1] UNKNOWN '(anon)'\n[2] INT") || !strings.Contains(stdout, "\n[5] TYPEDEF 'td' type_id=4\n") {
			t.Errorf("dump: %q", stdout)
		}
		_, stderr := btfliteRun(t, exitOK, "sort", in, out)
		once(stderr, "they are dropped: their type ids cannot be renumbered")
		sorted := testfile.Read(t, out)
		b := btftest.Parse(t, sorted, nil)
		if b.BigEndian != big || len(b.Off) != 3 || len(b.Skipped) != 0 || !bytes.Equal(b.Form.Layout, laterLayout()) {
			t.Errorf("sorted: %d types, %+v", len(b.Off), b.Form)
		}
		_, stderr = btfliteRun(t, exitOK, "dedup", "-o", out, in)
		once(stderr, "they are dropped: their type ids cannot be renumbered")
		btfliteRun(t, exitOK, "sort", out, out+"2")
		if !bytes.Equal(testfile.Read(t, out+"2"), sorted) {
			t.Error("dedup has left other types, or another layout section")
		}
		stdout, stderr = btfliteRun(t, exitOK, "diff", in, out)
		once(stderr, "they are not compared")
		if stdout != "" {
			t.Errorf("diff: %q", stdout)
		}
	}
}

// TestFormIsKept: sort and dedup keep the length of the header and the layout section,
// dedup the longest of all inputs.
func TestFormIsKept(t *testing.T) {
	dir := t.TempDir()
	b := btftest.Read(t, "../../testdata/small/small.btf", nil)
	write := func(name string, f btf.Form) string {
		b.Form = f
		path := filepath.Join(dir, name)
		testfile.Write(t, path, b.Encode())
		return path
	}
	plain, out := write("plain", btf.Form{}), filepath.Join(dir, "out")
	formOf := func(args ...string) btf.Form {
		t.Helper()
		btfliteRun(t, exitOK, args...)
		return btftest.Read(t, out, nil).Form
	}
	for name, f := range map[string]btf.Form{"24": {HeaderLen: 24}, "28": {HeaderLen: 28}, "32": btf.LongHeader, "40": {HeaderLen: 40}, "layout": btf.WithLayout()} {
		path := write(name, f)
		for _, args := range [][]string{{"sort", path, out}, {"sort", "--btf_sort=name", path, out}, {"dedup", "-o", out, path},
			{"dedup", "--dedup=exact", "-o", out, path}, {"dedup", "-o", out, plain, path}, {"dedup", "-o", out, path, plain}} {
			if got := formOf(args...); got.HeaderLen != f.HeaderLen || !bytes.Equal(got.Layout, f.Layout) {
				t.Errorf("%q: header of %d, layout of %d bytes", args, got.HeaderLen, len(got.Layout))
			}
		}
		if stdout, _ := btfliteRun(t, exitOK, "diff", plain, path); stdout != "" {
			t.Errorf("%s: diff: %s", name, stdout)
		}
	}
}

// TestForms: the header of each release of libbpf, for BTF that stands alone, split BTF,
// extra variables and a distilled base.
func TestForms(t *testing.T) {
	const file, base, module = "../../testdata/small/small", splitFiles + "x86.base.o", splitFiles + "x86.module.o"
	dir := t.TempDir()
	for _, c := range []struct {
		options string
		header  uint32
		layout  bool // without a base
		split   uint32
	}{
		{"--btf_features=default", 24, false, 24},
		{"--btf_features=all", 32, true, 24},
		{"--btf_features=layout", 32, true, 24},
		{"--btf_gen_all", 32, true, 24},
		{"--btf_features=all --btf_compat=libbpf-1.7", 24, false, 24},
		{"--btf_features=default --btf_compat=libbpf-1.8", 32, false, 32},
		{"--btf_compat=libbpf-1.8 --btf_features=all", 32, true, 32},
		{"--btf_features=all --btf_sort", 32, true, 24},
		{"--btf_features=all --dedup=exact", 32, true, 24},
		{"--btf_features=default --dedup=exact --btf_compat=libbpf-1.8 --btf_sort=name", 32, false, 32},
	} {
		out := filepath.Join(dir, "out")
		check := func(what string, data []byte, over *btf.Blob, header uint32, layout bool) *btf.Blob {
			t.Helper()
			b, err := btf.Parse(data, over)
			if err != nil {
				t.Fatalf("%s, %s: %v", c.options, what, err)
			}
			if b.Form.HeaderLen != header || (len(b.Form.Layout) > 0) != layout {
				t.Errorf("%s, %s: header of %d, layout of %d bytes", c.options, what, b.Form.HeaderLen, len(b.Form.Layout))
			}
			return b
		}
		run := func(more ...string) {
			t.Helper()
			btfliteRun(t, exitOK, append(strings.Fields(c.options), more...)...)
		}
		run("-J", "--verify=warn", "--btf_encode_detached="+out, file)
		check("alone", testfile.Read(t, out), nil, c.header, c.layout)
		run("-J", "--verify=warn", "--btf_encode_detached="+out, base)
		below := check("base", testfile.Read(t, out), nil, c.header, c.layout)
		baseFile := filepath.Join(dir, "base.btf")
		if err := os.Rename(out, baseFile); err != nil {
			t.Fatal(err)
		}
		run("-J", "--verify=warn", "--btf_base="+baseFile, "--btf_encode_detached="+out, module)
		check("over a base", testfile.Read(t, out), below, c.split, false)
		in := filepath.Join(dir, "module.ko")
		testfile.Write(t, in, testfile.Read(t, module))
		run("-J", "--verify=warn", "--btf_base="+baseFile, "--btf_features=distilled_base", in)
		if err := btfFiles.With(in, func(raw loadbtf.Raw) error {
			check("over a distilled base", raw.BTF, check("distilled base", raw.Base, nil, c.split, false), c.split, false)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(c.options, "all") {
			extra := filepath.Join(dir, "extra.btf")
			run("-J", "--verify=warn", "--btf_encode_detached="+out, "--extra_vars="+extra, file)
			check("extra variables", testfile.Read(t, extra), check("alone", testfile.Read(t, out), nil, c.header, c.layout), c.split, false)
		}
	}
}
