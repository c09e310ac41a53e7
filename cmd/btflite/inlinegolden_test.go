package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf/sites"
	"github.com/btflite/btflite/mmapelf"
	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/testfile"

	"github.com/google/go-cmp/cmp"
)

// allSites returns the output of "btflite inline" for all inlined functions of a file.
func allSites(t *testing.T, path string) []byte {
	t.Helper()
	m := &inlineCommand{in: newTypeReader(newCLI(io.Discard, io.Discard, os.LookupEnv))}
	b, done, err := m.encode(mmapelf.Source{Path: path})
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	defer done()
	sites.Each(b, m.wanted, func(s *sites.Site) bool {
		m.listed = append(m.listed, m.listedSite(s))
		return true
	})
	return m.text()
}

// TestInlineCompilers: where gcc and clang have inlined functions and put their
// parameters, for DWARF 2 to 5, linked, relocatable and optimized by the linker, in both
// byte orders and with registers of 32 and 64 bits. Each line of testdata/inlined.txt
// about arm64-gcc5 and s390x-gcc5 was compared with the text of llvm-dwarfdump.
func TestInlineCompilers(t *testing.T) {
	const golden = "testdata/inlined.txt"
	var got []byte
	for _, name := range []string{"x86-gcc4", "x86-gcc5", "x86-gcc5-r", "x86-gcc5-lto", "x86-gcc5-dwz", "x86-clang4", "x86-clang5", "x86-clang5-lto",
		"i386-gcc4", "arm-gcc4", "arm64-gcc5", "s390x-gcc2", "s390x-gcc5", "mips-gcc4-r", "riscv64-gcc5-r", "sparc64-gcc5-r", "loong64-clang5-o"} {
		got = append(fmt.Appendf(got, "# %s\n", name), allSites(t, "../../encode/testdata/golden/"+name+".elf")...)
	}
	if *update {
		testfile.Write(t, golden, got)
	}
	want := testfile.Read(t, golden)
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
}

// TestInlinePackage: sites with several ranges are where they are without a .dwp, in which
// each unit has a part of .debug_rnglists.dwo.
func TestInlinePackage(t *testing.T) {
	for _, tool := range []string{"clang", "llvm-dwp"} {
		corpus.Installed(t, tool)
	}
	dir := t.TempDir()
	run := func(words ...string) {
		t.Helper()
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("%v: %v: %.300s", words, err, out)
		}
	}
	const body = `extern int ext(int), tab[];
#define inlined static inline __attribute__((always_inline))
inlined int body(int a, int b) { int r = tab[a]; if (__builtin_expect(r > b, 0)) { r += ext(r); r ^= ext(r + 1); } return r + tab[b]; }
`
	const use = `int NAME(int x, int y) { int q = tab[x] * 3; q += body(x, y) * tab[q & 7]; if (q & 1) q += body(y, q); return q + ext(q); }
`
	for name, text := range map[string]string{
		"a.c": body + strings.ReplaceAll(use, "NAME", "first"),
		"b.c": body + "int before(int x) { return ext(x) + tab[x]; }\n" + strings.ReplaceAll(use, "NAME", "_start") + strings.ReplaceAll(use, "NAME", "third"),
	} {
		testfile.Write(t, filepath.Join(dir, name), text)
	}
	flags := []string{"-O2", "-gdwarf-5", "-ffreestanding", "-fno-pie", "-c"}
	link := []string{"ld", "--unresolved-symbols=ignore-all", "a.o", "b.o", "-o"}
	run(slices.Concat([]string{"clang"}, flags, []string{"a.c", "b.c"})...)
	run(append(link, "whole")...)
	run(slices.Concat([]string{"clang", "-gsplit-dwarf"}, flags, []string{"a.c", "b.c"})...)
	run(append(link, "prog")...)
	run("llvm-dwp", "-e", "prog", "-o", "prog.dwp")
	for _, name := range []string{"a.dwo", "b.dwo"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	want, got := allSites(t, filepath.Join(dir, "whole")), allSites(t, filepath.Join(dir, "prog"))
	if n := bytes.Count(want, []byte("body at ")); n < 6 || !bytes.Equal(got, want) {
		t.Errorf("%d sites: (-without +with a .dwp)\n%s", n, cmp.Diff(string(want), string(got)))
	}
}
