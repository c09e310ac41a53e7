//go:build linux

package hostile

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/btflite/btflite/test/testfile"
	"golang.org/x/sys/unix"
)

// Faults are injected by seccomp: a helper, which is the test program itself,
// installs a filter that makes one system call fail, or kills, and becomes
// btflite.

// faultVariable is set for the helper: NUMBER ACTION ARGUMENT TEST VALUE.
const faultVariable = "HOSTILE_FAULT"

// fault is a system call of the writing path and which of its calls are meant.
type fault struct {
	name     string
	number   uintptr
	argument int    // the argument that is looked at, if test is not 0
	test     uint16 // BPF_JGT or BPF_JSET
	value    uint32
}

var writingPath = []fault{
	{"open of the new file", unix.SYS_OPENAT, 2, unix.BPF_JSET, unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY},
	{"open of a file without a name", unix.SYS_OPENAT, 2, unix.BPF_JSET, unix.O_TMPFILE &^ unix.O_DIRECTORY},
	{"write", unix.SYS_WRITE, 0, unix.BPF_JGT, 2},
	{"copy_file_range", unix.SYS_COPY_FILE_RANGE, 0, 0, 0},
	{"pwrite", unix.SYS_PWRITE64, 0, 0, 0},
	{"ftruncate", unix.SYS_FTRUNCATE, 0, 0, 0},
	{"fchmod", unix.SYS_FCHMOD, 0, 0, 0},
	{"fsync", unix.SYS_FSYNC, 0, 0, 0},
	{"link", unix.SYS_LINKAT, 0, 0, 0},
	{"rename", unix.SYS_RENAMEAT, 0, 0, 0},
	{"lseek", unix.SYS_LSEEK, 0, 0, 0},
}

// becomeBtflite is the helper.
func becomeBtflite(spec string) error {
	var number, action, value uint32
	var argument, test int
	if _, err := fmt.Sscan(spec, &number, &action, &argument, &test, &value); err != nil {
		return err
	}
	runtime.LockOSThread()
	filter := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}} // the number
	if test == 0 {
		filter = append(filter, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ, Jf: 1, K: number})
	} else {
		filter = append(filter, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ, Jf: 3, K: number},
			unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: uint32(16 + 8*argument)}, // its low half: little endian
			unix.SockFilter{Code: unix.BPF_JMP | uint16(test), Jf: 1, K: value})
	}
	filter = append(filter, unix.SockFilter{Code: unix.BPF_RET, K: action}, unix.SockFilter{Code: unix.BPF_RET, K: unix.SECCOMP_RET_ALLOW})
	prog := &unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, reflect.ValueOf(prog).Pointer()); errno != 0 {
		return errno
	}
	return syscall.Exec(os.Args[1], os.Args[1:], os.Environ())
}

// faulty is command with a fault.
func faulty(dir string, f fault, action uint32, args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := command(dir, args...)
	cmd.Path, cmd.Args = self, append([]string{self, program}, args...)
	cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d %d %d %d %d", faultVariable, f.number, action, f.argument, f.test, f.value))
	return cmd
}

// faultCases are cases by name.
var faultCases = map[string]func(t *testing.T){
	"fault-enospc":         func(t *testing.T) { everyFault(t, unix.SECCOMP_RET_ERRNO|uint32(unix.ENOSPC), compiled) },
	"fault-eio":            func(t *testing.T) { everyFault(t, unix.SECCOMP_RET_ERRNO|uint32(unix.EIO), compiled) },
	"fault-kill":           func(t *testing.T) { everyFault(t, unix.SECCOMP_RET_KILL_PROCESS, compiled) },
	"fault-enospc-replace": func(t *testing.T) { everyFault(t, unix.SECCOMP_RET_ERRNO|uint32(unix.ENOSPC), withBTF(t)) },
	"fault-kill-replace":   func(t *testing.T) { everyFault(t, unix.SECCOMP_RET_KILL_PROCESS, withBTF(t)) },
	// A call that fails with EINTR again and again would be called again and
	// again. This is what interrupts calls: signals, many of them.
	"fault-eintr": func(t *testing.T) { signalled(t, 40, unix.SIGWINCH, true) },
	"fault-int":   func(t *testing.T) { signalled(t, 40, unix.SIGINT, false) },

	"disk-full-inplace": func(t *testing.T) {
		mnt := tinyDisk(t)
		file := filepath.Join(mnt, "f.o")
		testfile.Write(t, file, testfile.Read(t, compiled))
		fillDisk(t, mnt)
		fails(t, "no space left", mnt, inPlace("f.o")...)
		unchanged(t, file, compiled)
		wantNames(t, mnt, "f.o fill")
	},
	"disk-full-detached": func(t *testing.T) {
		mnt := tinyDisk(t)
		dir, _ := folder(t, compiled)
		fillDisk(t, mnt)
		fails(t, "no space left", dir, encodeTo(filepath.Join(mnt, "o"), "f.o")...)
		wantNames(t, mnt, "fill")
	},
	"fsize-limit": func(t *testing.T) {
		dir, file := folder(t, compiled)
		r := limited(t, dir, "-f 1", inPlace("f.o")...)
		r.clean(t)
		if r.status != 1 {
			t.Errorf("status %d: %s", r.status, r.stderr)
		}
		unchanged(t, file, compiled)
		wantNames(t, dir, "f.o")
	},
	"nofile-limit": func(t *testing.T) {
		dir, file := folder(t, compiled)
		if r := limited(t, dir, "-n 16", inPlace("f.o")...); r.status != 0 {
			t.Fatal(r.stderr)
		}
		hasBTF(t, file)
	},
	"no-network-no-surprise": func(t *testing.T) {
		// Go starts programs with CLONE_VFORK, and threads without it.
		for _, f := range []fault{{"socket", unix.SYS_SOCKET, 0, 0, 0}, {"child process", unix.SYS_CLONE, 0, unix.BPF_JSET, unix.CLONE_VFORK}} {
			dir, file := folder(t, compiled)
			if r := finish(t, faulty(dir, f, unix.SECCOMP_RET_KILL_PROCESS, inPlace("f.o")...)); r.status != 0 {
				t.Errorf("%s: status %d: %s", f.name, r.status, r.stderr)
			}
			hasBTF(t, file)
		}
	},
}

func TestFaults(t *testing.T) {
	for name, test := range faultCases {
		t.Run(name, test)
	}
}

// withBTF is a linked file that has a .BTF already, another one than -J gives.
func withBTF(t *testing.T) string {
	dir, file := folder(t, linked)
	succeeds(t, dir, "-J", "f.o")
	return file
}

// everyFault has each call of the writing path fail or kill, in place and
// detached: the file is the old or the new one, and status 0 only comes with the
// new one.
func everyFault(t *testing.T, action uint32, from string) {
	if err := seccompWorks(); err != nil {
		t.Skip(err)
	}
	w := results(t, from)
	kills := action == unix.SECCOMP_RET_KILL_PROCESS
	for _, f := range writingPath {
		for _, detached := range []bool{false, true} {
			dir, file, args, left := w.prepare(t, detached)
			r := finish(t, faulty(dir, f, action, args...))
			isNew := w.isNew(t, file, detached)
			t.Logf("%s, detached %v: status %d, new %v: %s", f.name, detached, r.status, isNew, strings.TrimSpace(r.stderr))
			if r.status == 0 && !isNew {
				t.Errorf("%s, detached %v: status 0 without the new file", f.name, detached)
			}
			if !kills {
				r.clean(t)
				wantNames(t, dir, left)
			} else if r.status != 0 && r.status != -1 {
				t.Errorf("%s, detached %v: status %d", f.name, detached, r.status)
			}
		}
	}
}

// writes is a file and what a run in place and a detached run make of it.
type writes struct {
	from              string
	old, changed, btf []byte
}

// results makes both without a fault.
func results(t *testing.T, from string) writes {
	dir, file := folder(t, from)
	w := writes{from: from, old: testfile.Read(t, from)}
	succeeds(t, dir, encodeTo("out", "f.o")...)
	w.btf = testfile.Read(t, filepath.Join(dir, "out"))
	succeeds(t, dir, inPlace("f.o")...)
	w.changed = testfile.Read(t, file)
	return w
}

// prepare gives a new folder, the file in it that the run with args is to
// replace, and the names that the run leaves there.
func (w *writes) prepare(t *testing.T, detached bool) (dir, file string, args []string, left string) {
	dir, file = folder(t, w.from)
	if !detached {
		return dir, file, inPlace("f.o"), "f.o"
	}
	file = filepath.Join(dir, "out")
	testfile.Write(t, file, "old")
	return dir, file, encodeTo("out", "f.o"), "f.o out"
}

// isNew reports whether file is the new one. It is an error if it is not the old
// one either.
func (w *writes) isNew(t *testing.T, file string, detached bool) bool {
	t.Helper()
	before, after := w.old, w.changed
	if detached {
		before, after = []byte("old"), w.btf
	}
	got := testfile.Read(t, file)
	if bytes.Equal(got, after) {
		return true
	}
	if !bytes.Equal(got, before) {
		t.Errorf("%s is neither the old nor the new file (%d bytes), detached %v", file, len(got), detached)
	}
	return false
}

func seccompWorks() error {
	err := faulty(".", fault{"none", unix.SYS_SOCKET, 0, 0, 0}, unix.SECCOMP_RET_ALLOW, "--version").Run()
	if err != nil {
		return fmt.Errorf("seccomp filters are not permitted here: %w", err)
	}
	return nil
}

// signalled sends a signal to n runs in place, at random moments of each; many
// of them to a run if it is to survive.
func signalled(t *testing.T, n int, signal syscall.Signal, survives bool) {
	dir, file := folder(t, linked)
	succeeds(t, dir, inPlace("f.o")...)
	changed := testfile.Read(t, file)
	r := rand.New(rand.NewPCG(5, 6))
	span := 15 * time.Millisecond
	ended, left := [2]int{}, 0
	for range n {
		testfile.Write(t, file, testfile.Read(t, linked))
		began := time.Now()
		cmd := command(dir, inPlace("f.o")...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		stop := make(chan bool)
		go func() {
			defer close(stop)
			time.Sleep(time.Duration(r.Int64N(int64(span))))
			for cmd.Process.Signal(signal) == nil && survives {
				time.Sleep(100 * time.Microsecond)
			}
		}()
		err := cmd.Wait()
		<-stop
		got := testfile.Read(t, file)
		switch {
		case err == nil:
			ended[1]++
			span = max(time.Since(began), time.Millisecond)
			if !bytes.Equal(got, changed) {
				t.Fatal("status 0 without the new file")
			}
		case survives:
			t.Fatalf("ended by %v", err)
		default:
			ended[0]++
			if !bytes.Equal(got, changed) {
				unchanged(t, file, linked)
			}
		}
		if signal == unix.SIGKILL {
			left += removeLeft(t, dir)
		} else {
			wantNames(t, dir, "f.o")
		}
	}
	t.Logf("%d runs ended by the signal, %d done before, %d files left", ended[0], ended[1], left)
	if left > n/20 && hasNameless(dir) {
		t.Errorf("%d of %d runs left a file: it has a name for longer than the replacement takes", left, n)
	}
	if !survives && ended[0] == 0 {
		t.Error("no run was hit")
	}
}

// TestKill kills 200 runs in place at random moments.
func TestKill(t *testing.T) {
	n := 200
	if testing.Short() {
		n = 20
	}
	signalled(t, n, unix.SIGKILL, false)
}

// hasNameless tells whether the file system of a folder has files without a name.
func hasNameless(dir string) bool {
	fd, err := unix.Open(dir, unix.O_RDWR|unix.O_TMPFILE, 0o600)
	unix.Close(fd)
	return err == nil
}

// removeLeft removes what a killed run may leave: files of the documented names,
// which nobody takes for the output. It returns how many there were.
func removeLeft(t *testing.T, dir string) (left int) {
	for _, name := range strings.Fields(names(t, dir)) {
		if name == "f.o" {
			continue
		}
		if !strings.HasPrefix(name, ".btflite-") {
			t.Errorf("left behind: %s", name)
		}
		os.Remove(filepath.Join(dir, name))
		left++
	}
	return left
}

// tinyDisk mounts a file system of 256 KiB.
func tinyDisk(t *testing.T) string {
	mnt := t.TempDir()
	if err := unix.Mount("none", mnt, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("mount: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(mnt, 0) })
	return mnt
}

func fillDisk(t *testing.T, mnt string) {
	f, err := os.Create(filepath.Join(mnt, "fill"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
}

// limited runs btflite behind the shell's ulimit.
func limited(t *testing.T, dir, limit string, args ...string) done {
	cmd := command(dir, args...)
	cmd.Args = append([]string{"sh", "-c", `ulimit ` + limit + `; exec "$0" "$@"`, program}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	return finish(t, cmd)
}
