//go:build unix

package faults

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestFullcircleSignal: after a signal, the temporary folder of fullcircle stayed, and
// the compiler went on for up to ten minutes. Mended in 3937739.
//
// Input: a compiler that notes the signal. It must get the same signal, and no file may
// stay.
func TestFullcircleSignal(t *testing.T) {
	for name, s := range map[string]syscall.Signal{"HUP": syscall.SIGHUP, "INT": syscall.SIGINT, "TERM": syscall.SIGTERM} {
		if signal.Ignored(s) {
			continue // as below nohup, and then by the program too
		}
		dir := t.TempDir()
		begun, ended := filepath.Join(dir, "begun"), filepath.Join(dir, "ended")
		compiler := filepath.Join(dir, "compiler")
		script := "#!/bin/sh\ntrap 'echo " + name + " > " + ended + "; exit 1' " + name + "\n: > " + begun + "\nfor i in $(seq 400); do sleep 0.05; done\n"
		if err := os.WriteFile(compiler, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		temp := filepath.Join(dir, "tmp")
		if err := os.Mkdir(temp, 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program, "fullcircle", "--cc="+compiler, smallFile)
		cmd.Env = append(os.Environ(), "TMPDIR="+temp)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for range 1000 {
			if _, err := os.Stat(begun); err == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != s {
			t.Errorf("%s: %v", name, cmd.ProcessState)
		}
		if got, err := os.ReadFile(ended); err != nil || string(got) != name+"\n" {
			t.Errorf("%s: the compiler ended by %q, %v", name, got, err)
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("%s: left %v, %v", name, left, err)
		}
	}
}
