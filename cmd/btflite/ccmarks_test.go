//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// marksIn has marks lie below a new folder.
func marksIn(t *testing.T) (temp string) {
	t.Helper()
	temp = t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("XDG_RUNTIME_DIR", "")
	return temp
}

// marks are the files below the folder of marks.
func marks(t *testing.T, folder string) (found []string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, "btflite-cc*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestMarkOnce: once for each reason and folder, in a folder of the user alone.
func TestMarkOnce(t *testing.T) {
	temp := marksIn(t)
	for i, tt := range []struct {
		what, dir string
		first     bool
	}{{"a", "", true}, {"a", "", false}, {"b", "", true}, {"a", "other", true}, {"a", "other", false}, {"b", "", false}} {
		if tt.dir != "" {
			t.Chdir(t.TempDir())
			tt.first = true // each has a name of its own
		}
		if first, err := mark(tt.what); err != nil || first != tt.first {
			t.Errorf("%d: %v, %v", i, first, err)
		}
		if tt.dir == "" && i == 2 {
			continue
		}
		if tt.dir != "" {
			if first, err := mark(tt.what); err != nil || first {
				t.Errorf("%d again: %v, %v", i, first, err)
			}
			break
		}
	}
	if n := len(marks(t, temp)); n != 3 {
		t.Errorf("%d marks", n)
	}
	folders, _ := filepath.Glob(filepath.Join(temp, "*"))
	if info, err := os.Stat(folders[0]); err != nil || len(folders) != 1 || info.Mode() != os.ModeDir|0o700 {
		t.Errorf("%q: %v, %v", folders, info.Mode(), err)
	}
}

// TestMarksEnd: the marks of builds that have ended go when the next one is made, and so
// do old ones. Other files stay.
func TestMarksEnd(t *testing.T) {
	temp := marksIn(t)
	if _, err := mark("first"); err != nil {
		t.Fatal(err)
	}
	own := marks(t, temp)
	folder := filepath.Dir(own[0])
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{"1-1-0123456789abcdef", "999999999-5-0123456789abcdef", "note"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if first, err := mark("second"); err != nil || !first {
		t.Error(first, err)
	}
	if got := marks(t, temp); len(got) != 3 || filepath.Base(got[2]) != "note" {
		t.Errorf("marks %q", got)
	}
	old := time.Now().Add(-oldestMark - time.Hour)
	if err := os.Chtimes(own[0], old, old); err != nil {
		t.Fatal(err)
	}
	if first, err := mark("first"); err != nil || !first {
		t.Errorf("an old mark counts: %v, %v", first, err)
	}
}

// TestMarksArePlanted: where others can write, what is there already is not used if it is
// not a folder of this user alone. Then each object is told of, and nothing is written.
func TestMarksArePlanted(t *testing.T) {
	for name, plant := range map[string]func(at, victim string) error{
		"a link":                         func(at, victim string) error { return os.Symlink(victim, at) },
		"a link to nothing":              func(at, victim string) error { return os.Symlink(victim+"/none", at) },
		"a folder that others may write": func(at, _ string) error { return orFirst(os.Mkdir(at, 0o700), os.Chmod(at, 0o777)) },
		"a folder of another user": func(at, _ string) error {
			return orFirst(os.Mkdir(at, 0o700), os.Chown(at, 54321, 54321))
		},
		"a file": func(at, _ string) error { return os.WriteFile(at, nil, 0o600) },
	} {
		temp := marksIn(t)
		if _, err := mark("x"); err != nil {
			t.Fatal(err)
		}
		folder := filepath.Dir(marks(t, temp)[0])
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		victim := t.TempDir()
		if err := os.Chmod(victim, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := plant(folder, victim); err != nil {
			if os.Getuid() != 0 {
				continue // only root gives folders away
			}
			t.Fatal(err)
		}
		before := contentsBelow(t, temp) + contentsBelow(t, victim)
		for range 2 {
			if first, err := mark("x"); err == nil || !first {
				t.Errorf("%s: %v, %v", name, first, err)
			}
		}
		if after := contentsBelow(t, temp) + contentsBelow(t, victim); after != before {
			t.Errorf("%s: files changed:\n%s", name, after)
		}
		// The user's folder for such files is asked first.
		runtime := t.TempDir()
		t.Setenv("XDG_RUNTIME_DIR", runtime)
		if first, err := mark("x"); err != nil || !first || len(marks(t, runtime)) != 1 {
			t.Errorf("%s: %v, %v", name, first, err)
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
	dir, temp := t.TempDir(), marksIn(t)
	self := command(dir, "slowModules")
	text := "all: a.o b.o sub\na.o b.o c.o: x.c\n\t$(BTFLITE) cc " + cc + " -g -flto -c x.c -o $@\nsub:\n\t$(MAKE) -f Makefile c.o\n"
	if err := orFirst(os.WriteFile(filepath.Join(dir, "Makefile"), []byte(text), 0o600), os.WriteFile(filepath.Join(dir, "x.c"), []byte("int x;\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for build := range 2 {
		cmd := exec.Command(make, "-j2", "-B", "BTFLITE="+self.Path)
		cmd.Dir, cmd.Env = dir, append(self.Env, "TMPDIR="+temp, "XDG_RUNTIME_DIR=")
		status, _, stderr := runCommand(t, cmd)
		want := 1
		if build > 0 && os.Getenv("MAKELEVEL") != "" {
			want = 0 // a make that runs this test is the build, and has been told
		}
		if n := strings.Count(stderr, "left with DWARF, like others after it"); status != 0 || n != want {
			t.Errorf("build %d: status %d, told %d times: %s", build, status, n, stderr)
		}
	}
	if n := len(marks(t, temp)); n != 1 {
		t.Errorf("%d marks are left", n)
	}
}
