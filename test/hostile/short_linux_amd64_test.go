package hostile

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/btflite/btflite/test/testfile"
	"golang.org/x/sys/unix"
)

// Short writes: a call of the writing path writes less than it was asked to, as
// disks that are nearly full, signals and network file systems have it. A filter
// stops btflite at each such call, and the test, which traces it, lowers the
// number of bytes that the call asks for. What a call does not write must be
// written by a later one, or be an error.

// shortCuts say how many of n bytes call k, from 0, is to write.
var shortCuts = map[string]func(k int, n uint64) uint64{
	"one byte, often": func(k int, n uint64) uint64 {
		if k > 50 {
			return n
		}
		return 1
	},
	"half":                 func(_ int, n uint64) uint64 { return (n + 1) / 2 },
	"nothing at first":     func(k int, n uint64) uint64 { return n * min(uint64(k), 1) },
	"half, then nothing":   func(k int, n uint64) uint64 { return [2]uint64{(n + 1) / 2, 0}[k%2] },
	"half, nothing, all":   func(k int, n uint64) uint64 { return [3]uint64{(n + 1) / 2, 0, n}[min(k, 2)] },
	"all but the last one": func(_ int, n uint64) uint64 { return max(n, 2) - 1 },
}

func TestShortWrites(t *testing.T) {
	if err := seccompWorks(); err != nil {
		t.Skip(err)
	}
	for _, from := range []string{compiled, withBTF(t)} {
		w := results(t, from)
		calls := 0
		for _, f := range writingPath {
			switch f.number {
			case unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_COPY_FILE_RANGE:
			default:
				continue
			}
			for name, cut := range shortCuts {
				for _, detached := range []bool{false, true} {
					what := fmt.Sprintf("%s, %s, detached %v", f.name, name, detached)
					dir, file, args, left := w.prepare(t, detached)
					r, n := short(t, dir, f, cut, args...)
					calls += n
					isNew := w.isNew(t, file, detached)
					t.Logf("%s: %d calls, status %d: %s", what, n, r.status, strings.TrimSpace(r.stderr))
					if (r.status == 0) != isNew {
						t.Errorf("%s: status %d, new file %v: %s", what, r.status, isNew, r.stderr)
					}
					if r.status != 0 && !strings.Contains(name, "nothing") {
						t.Errorf("%s: every call wrote something, but there is an error: %s", what, r.stderr)
					}
					r.clean(t)
					wantNames(t, dir, left)
				}
			}
		}
		if calls < 50 {
			t.Errorf("only %d calls were cut short", calls)
		}
	}
}

// short runs btflite with the calls of f cut short and tells how many there were.
func short(t *testing.T, dir string, f fault, cut func(k int, n uint64) uint64, args ...string) (r done, calls int) {
	t.Helper()
	runtime.LockOSThread() // only the thread that started a process may trace it
	defer runtime.UnlockOSThread()
	stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	cmd := faulty(dir, f, unix.SECCOMP_RET_TRACE, args...)
	cmd.Stderr = stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Skipf("tracing: %v", err)
	}
	defer cmd.Process.Release()
	pid := cmd.Process.Pid
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &ws, syscall.WALL, nil); err != nil || !ws.Stopped() {
		t.Fatalf("%v, %#x", err, ws)
	}
	const options = unix.PTRACE_O_TRACESECCOMP | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_EXITKILL
	if err := syscall.PtraceSetOptions(pid, options); err != nil {
		t.Fatal(err)
	}
	for at := pid; ; { // a thread that has stopped
		signal := 0
		switch cause := ws.TrapCause(); {
		case cause == unix.PTRACE_EVENT_SECCOMP:
			cutShort(t, at, f, func(n uint64) uint64 { return cut(calls, n) })
			calls++
		case cause < 0 && ws.StopSignal() != syscall.SIGSTOP: // SIGSTOP is how threads begin
			signal = int(ws.StopSignal())
		}
		if err := syscall.PtraceCont(at, signal); err != nil && err != syscall.ESRCH {
			t.Fatal(err)
		}
		for {
			if at, err = syscall.Wait4(-pid, &ws, syscall.WALL, nil); err != nil {
				t.Fatal(err)
			}
			if ws.Stopped() {
				break
			}
			if at == pid {
				return done{status: ws.ExitStatus(), stderr: string(testfile.Read(t, stderr.Name()))}, calls
			}
		}
	}
}

// cutShort changes the number of bytes of the call that a thread is about to make.
func cutShort(t *testing.T, thread int, f fault, cut func(n uint64) uint64) {
	t.Helper()
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(thread, &regs); err != nil {
		t.Fatal(err)
	}
	n := &regs.Rdx // of write and pwrite
	if f.number == unix.SYS_COPY_FILE_RANGE {
		n = &regs.R8
	}
	if *n <= 8 {
		return // what wakes the threads of a Go program is written so
	}
	*n = cut(*n)
	if err := syscall.PtraceSetRegs(thread, &regs); err != nil {
		t.Fatal(err)
	}
}
