package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/btflite/btflite/internal/draft"
	"github.com/btflite/btflite/test/testfile"
)

// testCLI is a run with its streams in memory.
func testCLI(t *testing.T) (c *cli, stdout, stderr *bytes.Buffer) {
	t.Helper()
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	c = newCLI(stdout, stderr, func(string) (string, bool) { return "", false })
	c.guard = newGuard()
	t.Cleanup(c.guard.stop)
	return c, stdout, stderr
}

func writeText(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

// onlyFiles checks the names in dir: nothing temporary may stay.
func onlyFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("files %q, want %q", got, want)
	}
}

func wantFile(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil || string(b) != content {
		t.Errorf("%s: %q, %v; want %q", filepath.Base(path), b, err, content)
	}
	if info, err := os.Stat(path); err == nil && info.Mode() != mode {
		t.Errorf("%s: mode %v, want %v", filepath.Base(path), info.Mode(), mode)
	}
}

// TestNewOutputsFollowTheUmask: every file that a run makes has 0666 less the
// umask, and one that was there keeps its mode.
func TestNewOutputsFollowTheUmask(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	for umask, want := range map[int]os.FileMode{0: 0o666, 0o022: 0o644, 0o077: 0o600} {
		syscall.Umask(umask)
		dir := t.TempDir()
		at := func(name string) string { return filepath.Join(dir, name) }
		base := splitFiles + "x86.base.btf"
		copyFile(t, "x86.module.o", at("k/m.ko"))
		copyFile(t, "x86.base.o", at("k/v.ko"))
		outputs := []string{"detached", "vars", "report", "m.ko.btf", "v.ko.vars.btf", "k/v.ko.vars.btf", "dedup", "sort", "lower"}
		commands := [][]string{
			{"-J", "--btf_features=default", "--btf_encode_detached=" + at("detached"), "--extra_vars=" + at("vars"), "--report=" + at("report"), at("k/v.ko")},
			{"modules", "--btf_base=" + base, "--btf_features=default", "--extra_vars", "--btf_encode_detached_dir=" + dir, at("k")},
			{"modules", "--btf_base=" + base, "--btf_features=default", "--extra_vars", at("k/v.ko"), at("k/m.ko")},
			{"dedup", "-o", at("dedup"), base},
			{"sort", base, at("sort")},
			{"lower", "--kernel=5.10", base, at("lower")},
		}
		for _, want := range []os.FileMode{want, 0o604} { // of new files, then of old ones
			for _, args := range commands {
				btfliteRun(t, exitOK, args...)
			}
			for _, name := range outputs {
				if info, err := os.Stat(at(name)); err != nil {
					t.Fatal(err)
				} else if info.Mode() != want {
					t.Errorf("umask %#o: %s has mode %v, want %v", umask, name, info.Mode(), want)
				}
				os.Chmod(at(name), 0o604)
			}
			if info, err := os.Stat(at("k/m.ko")); err != nil {
				t.Fatal(err)
			} else if info.Mode() != 0o600 {
				t.Errorf("the module itself has mode %v", info.Mode())
			}
		}
	}
}

func TestReplacedOutputKeepsModeAndLinks(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "real")
	if err := os.WriteFile(real, []byte("a longer old content"), 0o604); err != nil {
		t.Fatal(err)
	}
	os.Chmod(real, 0o604)
	os.Symlink("real", filepath.Join(dir, "link"))
	os.Link(real, filepath.Join(dir, "other"))
	c, _, _ := testCLI(t)
	target := targetOf(t, c, filepath.Join(dir, "link"))
	if err := target.write(c.guard, writeText("new")); err != nil {
		t.Fatal(err)
	}
	wantFile(t, real, "new", 0o604)
	wantFile(t, filepath.Join(dir, "other"), "a longer old content", 0o604)
	if link, err := os.Readlink(filepath.Join(dir, "link")); err != nil || link != "real" {
		t.Errorf("the symbolic link was replaced: %q, %v", link, err)
	}
	onlyFiles(t, dir, "link", "other", "real")
}

func TestDanglingLinkCreatesItsTarget(t *testing.T) {
	dir := t.TempDir()
	os.Symlink("real", filepath.Join(dir, "link"))
	c, _, _ := testCLI(t)
	target := targetOf(t, c, filepath.Join(dir, "link"))
	if err := target.write(c.guard, writeText("new")); err != nil {
		t.Fatal(err)
	}
	onlyFiles(t, dir, "link", "real")
}

func TestFailedWriteLeavesOldFile(t *testing.T) {
	c, dir, path, target := oldOutput(t)
	err := target.write(c.guard, func(w io.Writer) error {
		io.WriteString(w, strings.Repeat("x", 3*outputBuffer))
		return errors.New("no more")
	})
	if err == nil || err.Error() != path+": cannot write: no more" {
		t.Errorf("error %v", err)
	}
	wantFile(t, path, "old", 0o600)
	func() {
		defer func() { recover() }()
		target.write(c.guard, func(io.Writer) error { panic("fault") })
	}()
	wantFile(t, path, "old", 0o600)
	onlyFiles(t, dir, "out")
	if len(c.guard.temps) != 0 {
		t.Errorf("temporary files still registered: %v", c.guard.temps)
	}
}

// targetOf returns the target for an output of this name.
func targetOf(t *testing.T, c *cli, path string) *target {
	t.Helper()
	target, err := c.resolveTarget(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// oldOutput makes an output of an earlier run, and the target that would replace it.
func oldOutput(t *testing.T) (c *cli, dir, path string, target *target) {
	t.Helper()
	dir = t.TempDir()
	path = filepath.Join(dir, "out")
	testfile.Write(t, path, "old")
	c, _, _ = testCLI(t)
	return c, dir, path, targetOf(t, c, path)
}

// TestDraft: a file that is prepared before it may be used replaces the old one in write, and not
// before; discard leaves the old one. What went wrong is the error of write.
func TestDraft(t *testing.T) {
	c, dir, path, target := oldOutput(t)
	never := func(io.Writer) error { panic("written twice") }

	target.prepare(c.guard, writeText("new"))
	wantFile(t, path, "old", 0o600)
	target.discard(c.guard)
	wantFile(t, path, "old", 0o600)
	onlyFiles(t, dir, "out")

	target.prepare(c.guard, func(io.Writer) error { return errors.New("no more") })
	if err := target.write(c.guard, never); err == nil || err.Error() != path+": cannot write: no more" {
		t.Errorf("error %v", err)
	}
	wantFile(t, path, "old", 0o600)
	onlyFiles(t, dir, "out")

	target.prepare(c.guard, writeText("new"))
	other := errors.New("other")
	if err := writeTogether(c.guard, []output{{to: target, content: never}, {content: func(io.Writer) error { return other }}}, nil); err != other {
		t.Errorf("error %v", err)
	}
	wantFile(t, path, "old", 0o600)
	onlyFiles(t, dir, "out")

	target.prepare(c.guard, writeText("new"))
	if err := target.write(c.guard, never); err != nil {
		t.Error(err)
	}
	wantFile(t, path, "new", 0o600)
	onlyFiles(t, dir, "out")
	if len(c.guard.temps) != 0 {
		t.Errorf("temporary files still registered: %v", c.guard.temps)
	}
}

// TestManyDrafts: a run with more outputs than a process can have open files writes them all, or leaves nothing.
func TestManyDrafts(t *testing.T) {
	const outputs = 3 * maxOpenDrafts
	for _, fails := range []bool{false, true} {
		dir := t.TempDir()
		c, _, _ := testCLI(t)
		var outs []output
		for i := range outputs {
			to := targetOf(t, c, filepath.Join(dir, fmt.Sprint("out", i)))
			to.prepare(c.guard, writeText(fmt.Sprint("text ", i)))
			outs = append(outs, output{to: to})
		}
		if n := len(c.guard.open); n > maxOpenDrafts+1 {
			t.Errorf("%d drafts are open", n)
		}
		if fails {
			outs = append(outs, output{content: func(io.Writer) error { return errors.New("no more") }})
		}
		if err := writeTogether(c.guard, outs, nil); (err != nil) != fails {
			t.Errorf("error %v", err)
		}
		for i := range outputs {
			if !fails {
				wantFile(t, filepath.Join(dir, fmt.Sprint("out", i)), fmt.Sprint("text ", i), 0o644)
			}
		}
		entries, err := os.ReadDir(dir)
		if want := map[bool]int{false: outputs, true: 0}[fails]; err != nil || len(entries) != want {
			t.Errorf("%d files, want %d (%v)", len(entries), want, err)
		}
		if len(c.guard.temps)+len(c.guard.open) != 0 {
			t.Errorf("drafts still registered: %v, %v", c.guard.temps, c.guard.open)
		}
	}
}

// TestSignalRemovesTemporaryFile: where an output has a temporary name while it is written, a signal removes it.
func TestSignalRemovesTemporaryFile(t *testing.T) {
	defer func() { draft.Nameless = true }()
	draft.Nameless = false
	dir := t.TempDir()
	c, _, _ := testCLI(t)
	died := make(chan os.Signal, 1)
	c.guard.die = func(s os.Signal) { died <- s }
	target := targetOf(t, c, filepath.Join(dir, "out"))
	err := target.write(c.guard, func(w io.Writer) error {
		if len(c.guard.temps) != 1 {
			t.Errorf("temporary files: %v", c.guard.temps)
		}
		c.guard.incoming <- syscall.SIGTERM
		if s := <-died; s != syscall.SIGTERM {
			t.Errorf("died of %v", s)
		}
		onlyFiles(t, dir)
		return errors.New("the process is gone by now")
	})
	if err == nil {
		t.Error("no error")
	}
}

// TestSignalsAreLeftAlone: a guard that has nothing to guard catches none.
func TestSignalsAreLeftAlone(t *testing.T) {
	c, _, _ := testCLI(t)
	died := make(chan os.Signal, 1)
	c.guard.die = func(s os.Signal) { died <- s }
	c.guard.incoming <- syscall.SIGTERM
	select {
	case <-died:
		t.Error("it catches signals from the start")
	case <-time.After(10 * time.Millisecond):
	}
	c.guard.protect(func() error { return nil })
	if s := <-died; s != syscall.SIGTERM {
		t.Errorf("died of %v", s)
	}
}

func TestSignalWaitsForProtectedWork(t *testing.T) {
	c, _, _ := testCLI(t)
	died := make(chan os.Signal, 1)
	c.guard.die = func(s os.Signal) { died <- s }
	c.guard.protect(func() error {
		if err := c.guard.interrupted(); err != nil {
			t.Error(err)
		}
		c.guard.incoming <- syscall.SIGINT
		w := interruptible{io.Discard, c.guard}
		for {
			if _, err := w.Write([]byte("x")); err != nil {
				break
			}
		}
		select {
		case <-died:
			t.Error("died inside the protected work")
		default:
		}
		return nil
	})
	if s := <-died; s != syscall.SIGINT {
		t.Errorf("died of %v", s)
	}
}

func TestDirectTargets(t *testing.T) {
	c, stdout, _ := testCLI(t)
	target, err := c.resolveTarget("/dev/stdout", nil)
	if err != nil || !c.isStdout(target) {
		t.Fatalf("standard output not recognized: %v", err)
	}
	if err := target.write(c.guard, writeText("bytes")); err != nil || stdout.String() != "bytes" {
		t.Errorf("%q, %v", stdout, err)
	}
	target, err = c.resolveTarget("/dev/null", nil)
	if err != nil || c.isStdout(target) {
		t.Fatalf("%v", err)
	}
	if err := target.write(c.guard, writeText("bytes")); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat("/dev/null"); err != nil || info.Mode().IsRegular() {
		t.Fatal("the device was replaced")
	}

	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip(err)
	}
	got := make(chan string)
	go func() { b, _ := os.ReadFile(fifo); got <- string(b) }()
	if target, err = c.resolveTarget(fifo, nil); err != nil {
		t.Fatal(err)
	}
	if err := target.write(c.guard, writeText("piped")); err != nil {
		t.Error(err)
	}
	if s := <-got; s != "piped" {
		t.Errorf("the pipe got %q", s)
	}
}

func TestBadTargets(t *testing.T) {
	dir := t.TempDir()
	c, _, _ := testCLI(t)
	for _, tt := range []struct{ path, want string }{
		{"", "empty output file name"},
		{dir, ": cannot write: is a directory"},
		{dir + "/none/out", ": cannot write: no such file or directory"},
		{dir + "/none/", ": cannot write: is a directory name"},
	} {
		_, err := c.resolveTarget(tt.path, nil)
		if err == nil || err.Error() != tt.path+tt.want {
			t.Errorf("%q: %v", tt.path, err)
		}
	}
}

func TestOutputThatIsAnInputIsRefused(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	os.WriteFile("in", []byte("x"), 0o600)
	os.WriteFile("free", []byte("x"), 0o600)
	os.Symlink("in", "soft")
	os.Link("in", "hard")
	c, _, _ := testCLI(t)
	for _, tt := range []struct {
		out     string
		refused bool
	}{{"in", true}, {"./in", true}, {"soft", true}, {"hard", true}, {"free", false}, {"new", false}} {
		target := targetOf(t, c, tt.out)
		if err := target.refuseInputs([]string{"free2", "in"}); (err != nil) != tt.refused {
			t.Errorf("%s: %v", tt.out, err)
		}
	}
}

// TestFolderNotSynchronised: an output that is in place is not called one that cannot be written.
func TestFolderNotSynchronised(t *testing.T) {
	c, _, _ := testCLI(t)
	path := filepath.Join(t.TempDir(), "out")
	old := syncDir
	defer func() { syncDir = old }()
	syncDir = func(string) error { return &draft.NotSynced{Err: syscall.EIO} }
	to, err := c.resolveTarget(path, nil)
	if err == nil {
		err = writeTogether(c.guard, []output{{to: to, content: writeText("x")}}, nil)
	}
	const what = ": written, but the folder cannot be synchronised, so a power failure may undo it: input/output error"
	if err == nil || err.Error() != path+what {
		t.Errorf("one output: %v", err)
	}
	c.guard.syncLater()
	if to, err = c.resolveTarget(path+"2", nil); err == nil {
		err = to.write(c.guard, writeText("x"))
	}
	if err != nil {
		t.Error(err)
	}
	if err := c.guard.syncFolders(); err == nil || err.Error() != filepath.Dir(path)+what {
		t.Errorf("all folders: %v", err)
	}
	for _, path := range []string{path, path + "2"} {
		if got := testfile.Read(t, path); string(got) != "x" {
			t.Errorf("%s: %q is written", path, got)
		}
	}
}

// TestFoldersAreSynchronised: a rename lasts only if its folder is synchronised. After one output that
// happens at once, after many of them once for each folder.
func TestFoldersAreSynchronised(t *testing.T) {
	c, _, _ := testCLI(t)
	root := t.TempDir()
	var synced []string
	old := syncDir
	defer func() { syncDir = old }()
	syncDir = func(dir string) error {
		entries, _ := os.ReadDir(dir)
		synced = append(synced, fmt.Sprint(filepath.Base(dir), len(entries)))
		return old(dir)
	}
	write := func(name string) {
		path := filepath.Join(root, name)
		to, err := c.resolveTarget(path, nil)
		if err == nil {
			err = to.write(c.guard, writeText("x"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	want := func(want ...string) {
		t.Helper()
		if !slices.Equal(synced, want) {
			t.Errorf("folders and their files when they were synchronised: %q, want %q", synced, want)
		}
		synced = nil
	}
	for _, dir := range []string{"a", "b"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	write("a/1")
	want("a1")
	c.guard.syncLater()
	write("a/2")
	write("b/1")
	write("a/3")
	want()
	if err := c.guard.syncFolders(); err != nil {
		t.Fatal(err)
	}
	want("a3", "b1")
	write("a/4")
	want("a4")
	c.guard.syncLater()
	write("b/2")
	if err := os.RemoveAll(filepath.Join(root, "b")); err != nil {
		t.Fatal(err)
	}
	if err := c.guard.syncFolders(); err == nil {
		t.Error("no error for a folder that is gone")
	}
}
