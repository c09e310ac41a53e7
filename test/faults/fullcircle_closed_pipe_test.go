//go:build unix

package faults

import (
	"os"
	"os/exec"
	"testing"

	"github.com/btflite/btflite/test/corpus"
)

// TestFullcircleClosedPipe: fullcircle left its temporary folder behind if the reader of
// its output ended early, as with head. Mended in e0e0ac7.
//
// Input: a pipe that is closed. No file may stay in TMPDIR.
func TestFullcircleClosedPipe(t *testing.T) {
	corpus.Installed(t, "gcc")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	temp := t.TempDir()
	cmd := exec.Command(program, "fullcircle", "--cc=gcc -Dlow=lower", smallFile)
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	cmd.Stdout = w
	if err := cmd.Run(); err == nil {
		t.Error("it did not end by the closed pipe")
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
