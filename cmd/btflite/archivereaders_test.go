package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/internal/archive/archivetest"
	"github.com/btflite/btflite/internal/findbase"
)

// archiveOf makes an archive of three kernels with two modules each.
func archiveOf(t *testing.T, form string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "out")
	words := []string{"-q", "--modules", "--form=" + form, "-o", dir}
	packages := map[string][]byte{}
	for i := range 3 {
		release := fmt.Sprintf("6.%d.0", i)
		packages[release+".tar"] = archivetest.Tar(archivetest.Entry{Name: "vmlinux", Data: archivetest.Kernel(release)},
			archivetest.Entry{Name: "a.ko", Data: archivetest.Module(release, "a", 'a')}, archivetest.Entry{Name: "b.ko", Data: archivetest.Module(release, "b", 'b')})
	}
	in := inFolder(t, packages)
	for name := range packages {
		words = append(words, filepath.Join(in, name))
	}
	runArchive(t, exitOK, words...)
	return dir
}

// TestReadersFindTheBaseInAnArchive: readers take the BTF of a kernel as the base of its modules, because it lies next
// to their folder. verify skips the store of a folder, because no module there has its kernel next to it.
func TestReadersFindTheBaseInAnArchive(t *testing.T) {
	for _, form := range []string{"raw", "zst"} {
		dir := archiveOf(t, form)
		suffix := map[string]string{"raw": ".btf", "zst": ".btf.zst"}[form]
		for _, words := range [][]string{{"verify", dir}, {"verify", "-j4", dir}, {"verify", dir + "/debian/12/x86_64/6.1.0"}} {
			stdout, stderr := runs(t, exitOK, words...)
			if want := map[bool]string{true: "9 files: 9 fine", false: "2 files: 2 fine"}[words[len(words)-1] == dir]; !strings.Contains(stdout, want) || stderr != "" {
				t.Errorf("%s: %q: %q, %q", form, words, stdout, stderr)
			}
		}
		module := dir + "/debian/12/x86_64/6.2.0/a" + suffix
		for _, command := range []string{"dump", "show", "stats"} {
			if stdout, stderr := runs(t, exitOK, command, module); !strings.Contains(stderr, "its base is "+dir+"/debian/12/x86_64/6.2.0"+suffix) || stdout == "" {
				t.Errorf("%s: %s: %q", form, command, stderr)
			}
		}
		// The second definition of int shows that the base was not used, or another kernel's was.
		if stdout, _ := runs(t, exitOK, "dump", module); strings.Count(stdout, " INT ") != 0 || !strings.Contains(stdout, "STRUCT 'a'") {
			t.Errorf("%s: %q", form, stdout)
		}
	}
}

// TestBasesOfAnArchiveAreClosed: an archive has thousands of kernels, so verify keeps the base of one of them at a time.
func TestBasesOfAnArchiveAreClosed(t *testing.T) {
	dir := archiveOf(t, "zst")
	find := findbase.New(btfFiles, "")
	defer find.Close()
	for _, f := range findVerified([]string{dir}) {
		if v := verifyFile(f, false, verify.Rules{}, find); v.outcome != fine {
			t.Errorf("%+v", v)
		}
		if open := find.Len(); open > 1 {
			t.Errorf("%s: %d bases are open", f.path, open)
		}
	}
}

// TestTarArchivesAreRefused: what --form=tar.xz has stored is called what it is, by each command, and in a folder.
func TestTarArchivesAreRefused(t *testing.T) {
	dir := archiveOf(t, "tar.xz")
	file := dir + "/debian/12/x86_64/6.1.0.btf.tar.xz"
	plain := filepath.Join(t.TempDir(), "plain.btf")
	if err := os.WriteFile(plain, archivetest.Tar(archivetest.Entry{Name: "a.btf", Data: archivetest.SomeBTF()}), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, plain} {
		for _, words := range [][]string{{"dump", path}, {"show", path}, {"stats", path}, {"funcs", path}, {"verify", path}, {"diff", path, path}, {"flatten", "-o", plain + ".out", path, path}} {
			c, _, errs := testCLI(t)
			if status := c.run(words); status == exitOK || !strings.Contains(errs.String(), path+": it is a tar archive: unpack it first") {
				t.Errorf("%q: status %d, %q", words, status, errs)
			}
		}
	}
	c, _, errs := testCLI(t)
	if status := c.run([]string{"verify", dir}); status == exitOK || !strings.Contains(errs.String(), "have to be unpacked first") {
		t.Errorf("status %d, %q", status, errs)
	}
}

// runs runs the program in this process.
func runs(t *testing.T, want int, words ...string) (stdout, stderr string) {
	t.Helper()
	c, out, errs := testCLI(t)
	if status := c.run(words); status != want {
		t.Errorf("%q: status %d, want %d: %s", words, status, want, errs)
	}
	return out.String(), errs.String()
}
