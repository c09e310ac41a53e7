//go:build linux

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

// told are the lines that the folder has about what builds were told.
func told(t *testing.T, folder string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(folder, toldName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

// TestFirstTime: once for each reason and build, noted in the folder of the build.
func TestFirstTime(t *testing.T) {
	folder := t.TempDir()
	build := process{pid: 4711, start: 5}
	for _, tt := range []struct {
		build process
		what  string
		first bool
	}{
		{build, "a", true}, {build, "a", false}, {build, "b", true}, {build, "a", false},
		{process{pid: 4711, start: 6}, "a", true}, {process{pid: 47, start: 5}, "a", true}, {build, "b", false},
	} {
		if first, err := noteIn(folder, tt.build, tt.what); err != nil || first != tt.first {
			t.Errorf("%+v: %v, %v", tt, first, err)
		}
	}
	if lines := told(t, folder); len(lines) != 4 {
		t.Errorf("%q", lines)
	}
	long := strings.Repeat(toldBegin+"x\n", maxTold/len(toldBegin))
	testfile.Write(t, filepath.Join(folder, toldName), long)
	if first, err := noteIn(folder, build, "a"); err != nil || !first || len(told(t, folder)) != 1 {
		t.Errorf("a long file: %v, %v", first, err)
	}
}

// TestFirstTimeAtOnce: of compilers that have the same to tell at the same time, one tells it.
func TestFirstTimeAtOnce(t *testing.T) {
	folder, firsts := t.TempDir(), 0
	key := toldBegin + "1-1: a: "
	f, err := os.Create(filepath.Join(folder, toldName))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i := range 3 { // each finds that the others have written since it looked
		own := fmt.Sprintf("%s%d\n", key, i)
		if _, err := f.WriteString(own); err != nil {
			t.Fatal(err)
		}
	}
	all := strings.Join(told(t, folder), "\n") + "\n"
	for i := range 3 {
		if isFirst(all, key, fmt.Sprintf("%s%d\n", key, i)) {
			firsts++
		}
	}
	if firsts != 1 {
		t.Errorf("%d tell it", firsts)
	}
}

// TestToldIsPlanted: another file of that name stays as it is, and so does the target of
// a link. In a folder that everybody can write to, nothing is noted. Then the message is
// printed for each object.
func TestToldIsPlanted(t *testing.T) {
	build := process{pid: 1, start: 1}
	for name, plant := range map[string]func(at, victim string) error{
		"a link":             func(at, victim string) error { return os.Symlink(victim, at) },
		"a link to nothing":  func(at, victim string) error { return os.Symlink(victim+".none", at) },
		"another file":       func(at, _ string) error { return os.WriteFile(at, []byte("mine\n"), 0o600) },
		"a folder":           func(at, _ string) error { return os.Mkdir(at, 0o700) },
		"a pipe":             func(at, _ string) error { return syscall.Mkfifo(at, 0o600) },
		"a folder of anyone": func(at, _ string) error { return os.Chmod(filepath.Dir(at), 0o777|os.ModeSticky) },
		"a file of another user": func(at, _ string) error {
			return orFirst(os.WriteFile(at, []byte(toldBegin), 0o666), os.Chown(at, 54321, 54321))
		},
	} {
		folder := t.TempDir()
		victim := testfile.New(t, "victim", toldBegin)
		if err := plant(filepath.Join(folder, toldName), victim); err != nil {
			if os.Getuid() != 0 {
				continue // only root gives files away
			}
			t.Fatal(err)
		}
		before := contentsBelow(t, folder) + contentsBelow(t, filepath.Dir(victim))
		for range 2 {
			if first, err := noteIn(folder, build, "x"); err == nil || !first {
				t.Errorf("%s: %v, %v", name, first, err)
			}
		}
		if after := contentsBelow(t, folder) + contentsBelow(t, filepath.Dir(victim)); after != before {
			t.Errorf("%s: files changed:\n%s", name, after)
		}
	}
}

// TestBuildFolders: the module's folder comes before the kernel's. If nothing can be
// noted in the first, it is noted in the second.
func TestBuildFolders(t *testing.T) {
	module, kernel := t.TempDir(), t.TempDir()
	t.Setenv(moduleVariable, module)
	t.Setenv(kernelVariable, kernel)
	if first, err := firstTime("x"); err != nil || !first || len(told(t, module)) != 1 {
		t.Error(first, err)
	}
	if err := os.Chmod(module, 0o777); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if first, err := firstTime("x"); err != nil || first != (i == 0) || len(told(t, kernel)) != 1 {
			t.Error(i, first, err)
		}
	}
}

// TestBuildProcess: compilers below one make are one build, and those below another are
// another one.
func TestBuildProcess(t *testing.T) {
	make, err := exec.LookPath("make")
	if err != nil {
		t.Skip("no make in PATH")
	}
	cc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc in PATH")
	}
	dir, temp := t.TempDir(), t.TempDir()
	self := command(dir, "slowModules")
	text := "all: a.o b.o sub\na.o b.o c.o: x.c\n\t$(BTFLITE) cc " + cc + " -g -flto -c x.c -o $@\nsub:\n\t$(MAKE) -f Makefile c.o\n"
	if err := orFirst(os.WriteFile(filepath.Join(dir, "Makefile"), []byte(text), 0o600), os.WriteFile(filepath.Join(dir, "x.c"), []byte("int x;\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for build := range 2 {
		cmd := exec.Command(make, "-j2", "-B", "BTFLITE="+self.Path)
		cmd.Dir, cmd.Env = dir, append(self.Env, "TMPDIR="+temp, "XDG_RUNTIME_DIR="+temp, kernelVariable+"="+dir)
		status, _, stderr := runCommand(t, cmd)
		want := 1
		if build > 0 && os.Getenv("MAKELEVEL") != "" {
			want = 0 // a make that runs this test is the build, and has been told
		}
		if n := strings.Count(stderr, "left with DWARF, like others after it"); status != 0 || n != want {
			t.Errorf("build %d: status %d, told %d times: %s", build, status, n, stderr)
		}
	}
	if os.Getenv("MAKELEVEL") == "" && len(told(t, dir)) != 2 {
		t.Errorf("noted %q", told(t, dir))
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) != 0 {
		t.Errorf("%d files are in the folder for temporary ones, %v", len(left), err)
	}
}
