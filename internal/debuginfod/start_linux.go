package debuginfod

import (
	"os/exec"
	"os/signal"

	"golang.org/x/sys/unix"
)

// start starts the client by run so that it cannot write a file of more than size bytes. The
// client itself only limits files whose size the server tells. It ignores the signal of
// the limit: then the write fails, and the client removes the file.
func start(cmd *exec.Cmd, size uint64, run func(*exec.Cmd) error) error {
	if !signal.Ignored(unix.SIGXFSZ) {
		signal.Ignore(unix.SIGXFSZ)
		defer signal.Reset(unix.SIGXFSZ)
	}
	if err := run(cmd); err != nil {
		return err
	}
	_ = unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: size, Max: size}, nil) // it may have ended already
	return nil
}
