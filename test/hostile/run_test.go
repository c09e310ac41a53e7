//go:build linux

package hostile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/internal/kernelbtf"
	"github.com/btflite/btflite/test/gobuild"
)

// Limits of one run on a file below 32 MiB.
const (
	maxCPU    = 5 * time.Second
	maxMemory = 512 << 10 // KiB
)

// program is the btflite under test.
var program string

func TestMain(m *testing.M) {
	if spec, ok := os.LookupEnv(faultVariable); ok {
		fmt.Fprintln(os.Stderr, becomeBtflite(spec))
		os.Exit(3)
	}
	os.Exit(gobuild.Main(m, &program))
}

// done is what came of a run.
type done struct {
	status int // exit status; -1 if a signal ended it
	stderr string
	cpu    time.Duration
	rss    int64 // peak, KiB
	read   int64 // from disk, KiB
}

// run runs btflite in a folder.
func run(t *testing.T, dir string, args ...string) done {
	t.Helper()
	return finish(t, command(dir, args...))
}

func command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	return cmd
}

// finish runs a command to its end.
func finish(t *testing.T, cmd *exec.Cmd) done {
	t.Helper()
	return watched(t, cmd, func(int) {})
}

// watched is finish with a function that is told the process' id.
func watched(t *testing.T, cmd *exec.Cmd, started func(pid int)) done {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	started(cmd.Process.Pid)
	seconds := 2 * uint64(maxCPU/time.Second)
	unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_CPU, &unix.Rlimit{Cur: seconds, Max: seconds}, nil) // it may have ended already
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	u := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return done{cmd.ProcessState.ExitCode(), stderr.String(), time.Duration(u.Utime.Nano() + u.Stime.Nano()), int64(u.Maxrss), int64(u.Inblock) / 2}
}

// clean checks what holds for every run: an end of its own, within the limits,
// with at most one line for an error and nothing odd in the messages.
func (d done) clean(t *testing.T) {
	t.Helper()
	if d.status != 0 && d.status != 1 {
		t.Errorf("status %d: %s", d.status, d.stderr)
	}
	if d.cpu > maxCPU || d.rss > maxMemory {
		t.Errorf("%v of CPU, %d MiB", d.cpu, d.rss>>10)
	}
	if d.status == 1 && strings.Count(d.stderr, "\n") != 1 {
		t.Errorf("an error is one line, not %q", d.stderr)
	}
	if i := strings.IndexFunc(d.stderr, func(r rune) bool { return r < ' ' && r != '\n' || r == 0xfffd || r == 0x7f }); i >= 0 {
		t.Errorf("a message has a raw control character: %q", d.stderr)
	}
	if len(d.stderr) > 4<<10 {
		t.Errorf("messages of %d bytes: %.200q", len(d.stderr), d.stderr)
	}
}

// takes checks that BTF is what all kernels take: by the strict rules, and by
// the running kernel where that is permitted.
func takes(t *testing.T, data []byte) {
	t.Helper()
	if _, err := verify.Check(data, nil, verify.Rules{Kernel: verify.Release{Major: 7}, PointerSize: 8}); err != nil {
		t.Errorf("verify: %v", err)
	}
	if err := kernelbtf.Load(data); err != nil && err != unix.EPERM && err != unix.ENOSYS {
		t.Errorf("kernel: %v: %s", err, kernelbtf.Log(data))
	}
}

// names are the files of a folder.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}
