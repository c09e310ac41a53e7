package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

const splitDir = "../../testdata/split/"

// TestInputsOfReaders: the types of a file are the same in whatever form it has
// them, and a base is found.
func TestInputsOfReaders(t *testing.T) {
	dir := t.TempDir()
	copyTo := func(name, from string) string {
		data := testfile.Read(t, splitDir+from)
		path := filepath.Join(dir, name)
		testfile.Write(t, path, data)
		return path
	}
	base, _ := btfliteRun(t, exitOK, "dump", splitDir+"x86.base.btf")
	for _, name := range []string{"x86.base.btf.gz", "x86.base.btf.xz", "x86.base.btf.zst", "x86.base-btf.o", "x86.base-btf.o.xz"} {
		if got, _ := btfliteRun(t, exitOK, "dump", splitDir+name); got != base {
			t.Errorf("%s: other types than x86.base.btf", name)
		}
	}

	dwarf := copyTo("dwarf.o", "x86.base.o")
	before, _ := os.ReadFile(dwarf)
	got, _ := btfliteRun(t, exitOK, "dump", dwarf)
	if !strings.Contains(got, "STRUCT 'thing' size=112") || strings.Count(got, "\n[") != strings.Count(base, "\n[") {
		t.Errorf("of DWARF: %s", got)
	}
	if after, _ := os.ReadFile(dwarf); !bytes.Equal(before, after) {
		t.Error("the file with DWARF has changed")
	}

	module, _ := btfliteRun(t, exitOK, "dump", "--btf_base="+splitDir+"x86.base.btf", splitDir+"x86.module.btf")
	if !strings.HasPrefix(module, "[42] STRUCT 'mine'") {
		t.Errorf("of split BTF: %s", module)
	}
	copyTo("vmlinux", "x86.base.btf")
	if got, _ := btfliteRun(t, exitOK, "dump", copyTo("m.btf", "x86.module.btf")); got != module {
		t.Errorf("over the base that was found: %s", got)
	}
	upper, _ := btfliteRun(t, exitOK, "dump", "--btf_base="+splitDir+"x86.base.btf", "--btf_base="+splitDir+"x86.module.btf", splitDir+"x86.upper.btf")
	if !strings.Contains(upper, "STRUCT 'upper'") {
		t.Errorf("over a chain: %s", upper)
	}
	if got, _ := btfliteRun(t, exitOK, "dump", "--btf_base="+splitDir+"x86.base.btf", splitDir+"x86.module.o"); !strings.HasPrefix(got, "[42] STRUCT 'mine'") {
		t.Errorf("of DWARF over a base: %s", got)
	}
}

// TestRefusedByReaders: inputs that readers have nothing to read in.
func TestRefusedByReaders(t *testing.T) {
	dir := t.TempDir()
	split := filepath.Join(dir, "split.btf")
	testfile.Write(t, split, testfile.Read(t, splitDir+"x86.module.btf"))
	self := testfile.Read(t, splitDir+"x86.module.stripped.o")
	stripped := filepath.Join(dir, "stripped.o")
	testfile.Write(t, stripped, self)
	for _, tt := range []struct{ path, want string }{
		{"none", "none: cannot open: no such file or directory"},
		{dir, dir + ": it is a folder; give a file"},
		{split, "its base was not found: give --btf_base=VMLINUX"},
		{stripped, stripped + ": "},
		{splitDir + "base.c", "it is neither an ELF file nor BTF"},
	} {
		stdout, stderr := btfliteRun(t, exitFailure, "dump", tt.path)
		if stdout != "" || !strings.Contains(stderr, tt.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: %q, %q", tt.path, stdout, stderr)
		}
	}
}

// TestRunningKernel: without a file, the types come from the running kernel, or from the
// file that replaces it.
func TestRunningKernel(t *testing.T) {
	c, out, errs := testCLI(t)
	c.lookupEnv = func(name string) (string, bool) {
		return map[string]string{kernelBTFEnv: splitDir + "x86.base.btf"}[name], name == kernelBTFEnv
	}
	if status := c.run([]string{"dump", "--name=thing", "--id=2"}); status != exitOK {
		t.Fatalf("status %d: %s", status, errs)
	}
	if !strings.Contains(out.String(), "STRUCT 'thing'") || strings.Contains(out.String(), "FUNC '") {
		t.Errorf("%s", out)
	}
}

// TestReadersNameTheBase: each command that reads split BTF over a base that it has found names the base.
func TestReadersNameTheBase(t *testing.T) {
	in, dir := inlineInput(t), t.TempDir()
	main, side := filepath.Join(dir, "vmlinux.btf"), filepath.Join(dir, "side.btf")
	btfliteRun(t, exitOK, "-J", "--btf_features=default", "--btf_encode_detached="+main, "--inline="+side, in)
	for _, words := range []string{"dump", "show", "funcs", "stats", "inline add"} {
		_, stderr := btfliteRun(t, exitOK, append(strings.Fields(words), side)...)
		if want := "btflite: " + side + ": note: its base is " + main + "\n"; !strings.Contains(stderr, want) {
			t.Errorf("%s: %q", words, stderr)
		}
	}
}

// TestPaholeReadsLikeShow: pahole's command line takes the types of a file from the same place as show. Without its
// base, BTF of a module cannot be read, and the types come from its DWARF, as in pahole.
func TestPaholeReadsLikeShow(t *testing.T) {
	dir := t.TempDir()
	module := filepath.Join(dir, "m.ko")
	testfile.Write(t, module, testfile.Read(t, splitDir+"x86.module.o"))
	btfliteRun(t, exitOK, "-J", "--btf_base="+splitDir+"x86.base.btf", module)
	compare := func() {
		shown, told := btfliteRun(t, exitOK, "show", "mine", module)
		if got, stderr := btfliteRun(t, exitOK, "-C", "mine", module); got != shown || stderr != told || !strings.HasPrefix(got, "struct mine {") {
			t.Errorf("%q, %q; show prints %q, %q", got, stderr, shown, told)
		}
	}
	compare()
	testfile.Write(t, filepath.Join(dir, "vmlinux"), testfile.Read(t, splitDir+"s390x.base.btf")) // does not fit
	compare()
	testfile.Write(t, filepath.Join(dir, "vmlinux"), testfile.Read(t, splitDir+"x86.base.btf"))
	compare()
}
