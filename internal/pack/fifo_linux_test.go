package pack

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestNamedPipe: a named pipe that nobody writes to is refused, and does not stop the run.
func TestNamedPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Skip(err)
	}
	done := make(chan error, 1)
	go func() { _, err := Open(name, UsualLimits); done <- err }()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "neither a file nor a folder") {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it waits for a writer")
	}
}
