package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/btflite/btflite/internal/ccobject"
	"github.com/btflite/btflite/internal/fileid"
	"github.com/btflite/btflite/mmapelf"
	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/testfile"
)

// Faults of btflite cc: whatever happens, an object is the compiler's or that with
// records, whole.

// ccFault is a folder with a compiler that copies an object.
type ccFault struct {
	t              *testing.T
	dir, compiler  string
	dwarf, records []byte // the object as the compiler writes it, and with records
}

// newCCFault makes the folder. before and after are lines of the compiler, a shell script:
// $original is the object that it copies, $object where to.
func newCCFault(t *testing.T, before, after string) *ccFault {
	t.Helper()
	f := &ccFault{t: t, dir: t.TempDir()}
	f.compiler = filepath.Join(f.dir, "compiler")
	original := filepath.Join(f.dir, "original")
	copyFile(t, "x86.module.o", original)
	script := "#!/bin/sh\noriginal=" + original + "\nwhile [ \"$1\" != -o ]; do shift; done\nobject=$2\n" + before + "\ncat $original > $object\n" + after + "\n"
	if err := os.WriteFile(f.compiler, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	var err error
	if f.dwarf, err = os.ReadFile(original); err != nil {
		t.Fatal(err)
	}
	if f.records, err = ccobject.Convert(mmapelf.Source{Path: original}, recordMaker(), nil); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(f.dir, "o"), 0o777); err != nil {
		t.Fatal(err)
	}
	return f
}

// object is the path of an object.
func (f *ccFault) object(name string) string { return filepath.Join(f.dir, "o", name) }

// command is btflite cc with the compiler, in a process of its own.
func (f *ccFault) command(object string) (cmd *exec.Cmd, stderr *bytes.Buffer) {
	stderr = new(bytes.Buffer)
	cmd = exec.Command(os.Args[0], "cc", f.compiler, "-g", "-c", "-o", object, "unit.c")
	cmd.Env = append(os.Environ(), fakeEncoder+"=real", "TMPDIR="+f.dir)
	cmd.Stderr = stderr
	return cmd, stderr
}

// run runs a command to its end. It must end with status 0.
func (f *ccFault) run(cmd *exec.Cmd, stderr *bytes.Buffer) {
	f.t.Helper()
	if err := cmd.Run(); err != nil {
		f.t.Fatalf("%v: %s", err, stderr)
	}
}

// is checks which contents an object has, by name: dwarf, records, or another text.
func (f *ccFault) is(object, want string) {
	f.t.Helper()
	got, err := os.ReadFile(object)
	switch {
	case err != nil:
		f.t.Error(err)
	case bytes.Equal(got, f.dwarf):
		got = []byte("dwarf")
	case bytes.Equal(got, f.records):
		got = []byte("records")
	}
	if string(got) != want {
		f.t.Errorf("%s: %.60q, want %s", filepath.Base(object), got, want)
	}
}

// only checks which contents the object a.o has, as is does, and that there is no other.
func (f *ccFault) only(want string) {
	f.t.Helper()
	f.is(f.object("a.o"), want)
	f.clean("a.o")
}

// left runs a command that leaves the object a.o with DWARF, and says why.
func (f *ccFault) left(cmd *exec.Cmd, stderr *bytes.Buffer, why string) {
	f.t.Helper()
	f.run(cmd, stderr)
	if want := "btflite: " + f.object("a.o") + ": left with DWARF: " + why + "\n"; stderr.String() != want {
		f.t.Errorf("%q, want %q", stderr, want)
	}
}

// whole checks that an object is either the compiler's or the one with records.
func (f *ccFault) whole(object string) {
	f.t.Helper()
	if got, err := os.ReadFile(object); err != nil || !bytes.Equal(got, f.dwarf) && !bytes.Equal(got, f.records) {
		f.t.Errorf("%s: neither the compiler's object nor that with records: %d bytes, %v", filepath.Base(object), len(got), err)
	}
}

// clean checks that the folder of objects has the files and no others.
func (f *ccFault) clean(names ...string) {
	f.t.Helper()
	onlyFiles(f.t, filepath.Join(f.dir, "o"), names...)
}

// inNamespace makes a command run in its own namespaces, as root or as another user, or
// skips the test.
func (f *ccFault) inNamespace(cmd *exec.Cmd, root bool, flags uintptr) {
	id := 1000
	if root {
		id = 0
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | flags,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: id, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: id, HostID: os.Getgid(), Size: 1}},
	}
	if err := (&exec.Cmd{Path: "/bin/true", SysProcAttr: cmd.SysProcAttr}).Run(); err != nil {
		f.t.Skipf("no namespaces: %v", err)
	}
}

func TestCompilerWithoutFault(t *testing.T) {
	f := newCCFault(t, "", "")
	f.run(f.command(f.object("a.o")))
	f.only("records")
}

// TestCompilerKilled: if a signal ends a compiler, its output stays, and the wrapper ends
// by the same signal.
func TestCompilerKilled(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSEGV, syscall.SIGABRT, syscall.SIGQUIT, syscall.SIGPIPE, syscall.SIGTERM} {
		f := newCCFault(t, fmt.Sprintf("printf half > $object; ulimit -c 0; kill -%d $$", s), "")
		cmd, stderr := f.command(f.object("a.o"))
		var exit *exec.ExitError
		if err := cmd.Run(); !errors.As(err, &exit) {
			t.Fatalf("%v: no failure", s)
		}
		if w, _ := exit.Sys().(syscall.WaitStatus); !w.Signaled() || w.Signal() != s {
			t.Errorf("%v: %v", s, exit)
		}
		if stderr.Len() > 0 {
			t.Errorf("%v: %s", s, stderr)
		}
		f.only("half")
	}
}

// TestCompilerSignal: a signal that ends only the wrapper ends the compiler too, so that
// the compiler can remove its unfinished output.
func TestCompilerSignal(t *testing.T) {
	for name, s := range map[string]syscall.Signal{"HUP": syscall.SIGHUP, "INT": syscall.SIGINT, "TERM": syscall.SIGTERM} {
		if signal.Ignored(s) { // nohup
			continue
		}
		f := newCCFault(t, `trap 'echo another > $object; exit 1' HUP INT TERM
trap 'echo `+name+` > $object; exit 1' `+name+`
: > $original.begun; for i in $(seq 1000); do sleep 0.01; done`, "")
		cmd, stderr := f.command(f.object("a.o"))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for range 1000 {
			if _, err := os.Stat(filepath.Join(f.dir, "original.begun")); err == nil {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		cmd.Process.Signal(s)
		cmd.Wait()
		if w, _ := cmd.ProcessState.Sys().(syscall.WaitStatus); !w.Signaled() || w.Signal() != s {
			t.Errorf("%v: %v: %s", s, cmd.ProcessState, stderr)
		}
		f.only(name + "\n")
	}
}

// TestCompilerFails: an object of a compiler that reports an error is not touched.
func TestCompilerFails(t *testing.T) {
	f := newCCFault(t, "", "exit 3")
	cmd, _ := f.command(f.object("a.o"))
	if cmd.Run(); cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("status %d, want 3", cmd.ProcessState.ExitCode())
	}
	f.only("dwarf")
}

// TestCompilerFileTooLarge: the object may not be written, as there is a limit for the size of files.
func TestCompilerFileTooLarge(t *testing.T) {
	f := newCCFault(t, "ln $original $object; exit", "")
	cmd, stderr := f.command(f.object("a.o"))
	cmd.Args = append([]string{"sh", "-c", `ulimit -f 1; exec "$0" "$@"`}, cmd.Args...)
	cmd.Path = "/bin/sh"
	f.left(cmd, stderr, "file too large")
	f.only("dwarf")
}

// TestCompilerDiskFull: the disk has room for the compiler's object, and not for
// another.
func TestCompilerDiskFull(t *testing.T) {
	f := newCCFault(t, "", "")
	cmd, stderr := f.command(f.object("a.o"))
	kib := (len(f.dwarf) + 4095) / 4096 * 4 // whole pages
	cmd.Path = "/bin/sh"
	cmd.Args = append([]string{"sh", "-c", fmt.Sprintf(`mount -t tmpfs -o size=%dk none %s && "$0" "$@" && cp %s %s/kept && ls -A %[2]s > %[4]s/listed`,
		kib, filepath.Join(f.dir, "o"), f.object("a.o"), f.dir)}, cmd.Args...)
	f.inNamespace(cmd, true, syscall.CLONE_NEWNS)
	f.left(cmd, stderr, "no space left on device")
	f.is(filepath.Join(f.dir, "kept"), "dwarf")
	f.is(filepath.Join(f.dir, "listed"), "a.o\n")
}

// TestCompilerReadOnlyFolder: an object that may be written, in a folder that may not.
func TestCompilerReadOnlyFolder(t *testing.T) {
	f := newCCFault(t, "", "")
	dir := filepath.Join(f.dir, "o")
	if err := errors.Join(os.WriteFile(f.object("a.o"), nil, 0o600), os.Chmod(dir, 0o555)); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o755)
	cmd, stderr := f.command(f.object("a.o"))
	f.inNamespace(cmd, false, 0)
	f.left(cmd, stderr, "permission denied")
	f.only("dwarf")
}

// TestCompilerLinks: -o may name a link to the object.
func TestCompilerLinks(t *testing.T) {
	f := newCCFault(t, "", "")
	for _, link := range [][2]string{{"real.o", "link.o"}, {"link.o", "second.o"}, {"loop.o", "loop.o"}} {
		if err := os.Symlink(link[0], f.object(link[1])); err != nil {
			t.Fatal(err)
		}
	}
	f.run(f.command(f.object("second.o")))
	f.is(f.object("real.o"), "records")
	for _, name := range []string{"link.o", "second.o"} {
		if info, err := os.Lstat(f.object(name)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no link any more (%v)", name, err)
		}
	}
	f.clean("link.o", "loop.o", "real.o", "second.o")
	f.run(f.command("/dev/null"))
	if info, err := os.Stat("/dev/null"); err != nil || info.Mode()&fs.ModeCharDevice == 0 {
		t.Errorf("/dev/null is not a device any more (%v)", err)
	}
	cmd, _ := f.command(f.object("loop.o"))
	cmd.Run() // the compiler fails
	f.clean("link.o", "loop.o", "real.o", "second.o")
}

// TestKeptByLink: --keep-dwarf works for a link that stands for the compiler and converts
// the object. The umask decides who may read the kept file.
func TestKeptByLink(t *testing.T) {
	f := newCCFault(t, "", "")
	for dir, program := range map[string]string{"links": os.Args[0], "bin": f.compiler} {
		dir = filepath.Join(f.dir, dir)
		if err := errors.Join(os.Mkdir(dir, 0o777), os.Symlink(program, filepath.Join(dir, "gcc"))); err != nil {
			t.Fatal(err)
		}
	}
	kept := filepath.Join(f.dir, "kept")
	cmd, stderr := f.command(f.object("a.o"))
	cmd.Env = append(cmd.Env, "PATH="+filepath.Join(f.dir, "links")+":"+filepath.Join(f.dir, "bin")+":"+os.Getenv("PATH"))
	cmd.Args = append([]string{"sh", "-c", `umask 077; exec "$0" "$@"`, os.Args[0], "cc", "--keep-dwarf=" + kept, "gcc"}, cmd.Args[3:]...)
	cmd.Path = "/bin/sh"
	f.run(cmd, stderr)
	f.only("records")
	info, err := os.Stat(filepath.Join(kept, f.object("a.o")+".zst"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != 0o600 {
		t.Errorf("umask 077: mode %v", info.Mode())
	}
}

// TestCompilerCircle: a script that stands for the compiler and runs btflite cc finds itself
// in PATH. That ends.
func TestCompilerCircle(t *testing.T) {
	f := newCCFault(t, "", "")
	script := "#!/bin/sh\nexec " + os.Args[0] + " cc gcc \"$@\"\n"
	if err := os.WriteFile(filepath.Join(f.dir, "gcc"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, option := range []string{"-c", "-E"} { // one that is converted, and one that is passed through
		cmd, stderr := f.command(f.object("a.o"))
		cmd.Args = []string{os.Args[0], "cc", "gcc", "-g", option, "-o", f.object("a.o"), "unit.c"}
		cmd.Env = append(cmd.Env, "PATH="+f.dir+":"+os.Getenv("PATH"))
		time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
		if cmd.Run(); cmd.ProcessState.ExitCode() != exitFailure || !strings.Contains(stderr.String(), "in a loop") {
			t.Errorf("%s: %v: %s", option, cmd.ProcessState, stderr)
		}
	}
	f.clean()
}

// TestCompilersOfOneObject: many compilers write the same object at the same time, in
// place and slowly. When the last one is done, it is whole.
func TestCompilersOfOneObject(t *testing.T) {
	slow := "head -c 3000 $original > $object; sleep 0.0$(($$ % 5)); tail -c +3001 $original >> $object; exit"
	for name, script := range map[string]string{"in place": "", "anew": "rm -f $object", "slow": slow} {
		f := newCCFault(t, script, "")
		for range 3 {
			var all sync.WaitGroup
			for range 6 {
				all.Go(func() {
					cmd, _ := f.command(f.object("a.o"))
					cmd.Run()
				})
			}
			all.Wait()
			if name != "slow" { // there the compilers themselves spoil the object
				f.whole(f.object("a.o"))
			}
			f.run(f.command(f.object("a.o")))
			f.only("records")
		}
	}
}

// TestObjectChangedMeanwhile: an object that another program writes is not replaced.
func TestObjectChangedMeanwhile(t *testing.T) {
	c, _, _ := testCLI(t)
	for what, change := range map[string]func(path string) error{
		"longer":  func(path string) error { return os.WriteFile(path, []byte("longer"), 0o600) },
		"touched": func(path string) error { return os.Chtimes(path, time.Time{}, time.Unix(1, 0)) },
		"another": func(path string) error {
			return errors.Join(os.WriteFile(path+".new", []byte("old"), 0o600), os.Rename(path+".new", path))
		},
		"gone": os.Remove,
	} {
		path := testfile.New(t, "a.o", "old")
		before, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := change(path); err != nil {
			t.Fatal(err)
		}
		if err := c.replaceObject(path, 0o600, []byte("new"), before); !errors.Is(err, fileid.ErrChanged) {
			t.Errorf("%s: error %v", what, err)
		}
		if data, err := os.ReadFile(path); string(data) == "new" {
			t.Errorf("%s: replaced (%v)", what, err)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); left != nil {
			t.Errorf("%s: %v is left", what, left)
		}
	}
}

// TestObjectCutShort: an object that becomes shorter while it is read does not crash the
// program.
func TestObjectCutShort(t *testing.T) {
	f := newCCFault(t, "", "")
	for range 30 {
		testfile.Write(t, f.object("a.o"), f.dwarf)
		cmd, stderr := f.command(f.object("a.o"))
		cmd.Args[2] = "/bin/true"
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
		os.Truncate(f.object("a.o"), 100)
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v: %s", err, stderr)
		}
	}
}

// TestMakeInterrupted: make with many jobs is ended in the middle, and begun again. Then
// everything is whole, and nothing is left that does not belong there.
func TestMakeInterrupted(t *testing.T) {
	corpus.Installed(t, "make")
	const objects = 24
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
		f := newCCFault(t, "head -c 3000 $original > $object; sleep 0.01", "")
		// As in Kbuild, a file beside the object says that it is complete.
		var names []string
		for i := range objects {
			names = append(names, fmt.Sprintf("%d.o", i))
		}
		rules := "all: $(addsuffix .cmd,$(OBJECTS))\n%.o.cmd:\n\t" + os.Args[0] + " cc " + f.compiler + " -g -c -o o/$*.o unit.c\n\ttouch $@\n"
		testfile.Write(t, filepath.Join(f.dir, "Makefile"), "OBJECTS = "+strings.Join(names, " ")+"\n"+rules)
		make := func() *exec.Cmd {
			cmd := exec.Command("make", "-s", "-j8")
			cmd.Dir = f.dir
			cmd.Env = append(os.Environ(), fakeEncoder+"=real")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			return cmd
		}
		for round := range 3 {
			cmd := make()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(40+60*round) * time.Millisecond)
			syscall.Kill(-cmd.Process.Pid, s)
			cmd.Wait()
			for syscall.Kill(-cmd.Process.Pid, 0) == nil { // processes of the group that still end
				time.Sleep(time.Millisecond)
			}
			for _, name := range names {
				if _, err := os.Stat(filepath.Join(f.dir, name+".cmd")); err == nil {
					f.is(f.object(name), "records")
				}
			}
			if s != syscall.SIGKILL { // nothing can clean up after that
				if left, _ := filepath.Glob(f.object(".*")); left != nil {
					t.Errorf("%v: %v is left", s, left)
				}
			}
		}
		if out, err := make().CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("%v: %s", err, out)
		}
		for _, name := range names {
			f.is(f.object(name), "records")
		}
	}
}
