//go:build unix

package faults

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/btflite/btflite/test/corpus"
)

// TestOutputClosedPipe: a temporary file stayed in the folder of an output if nobody read the
// standard output or the standard error any more. Mended in 1a48c13.
//
// Input: a variable, and an enumerator of 64 bits, which takes a warning for old kernels, and outputs
// of which one is complete when the other, or the warning, is written. The run ends by SIGPIPE, and
// only that other output may be there.
func TestOutputClosedPipe(t *testing.T) {
	corpus.Installed(t, "gcc")
	dir := t.TempDir()
	object := filepath.Join(dir, "f.o")
	compile := exec.Command("gcc", "-g", "-xc", "-c", "-", "-o", object)
	compile.Stdin = strings.NewReader("enum { LONG = 0x1234567890 } v; int f(int a) { return a + v; }\n")
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, c := range []struct {
		args   string
		stdout bool // nobody reads the standard output; otherwise the standard error
	}{
		{"--target_kernel=5.10 -j1 --btf_encode_detached=out", false},
		{"--target_kernel=5.10 -j2 --btf_encode_detached=out", false},
		{"--target_kernel=5.10 -j2 --btf_encode_detached=out --extra_vars=out.vars", false},
		{"-j1 --extra_vars=out.vars --btf_encode_detached=-", true},
		{"-j2 --extra_vars=out.vars --btf_encode_detached=-", true},
		{"-j2 --extra_vars=out.vars --btf_encode_detached=/dev/stdout", true},
		{"-j2 --extra_vars=- --btf_encode_detached=out", true},
		{"-j2 --btf_encode_detached=out -V", true},
	} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		cmd := exec.Command(program, append(strings.Fields(c.args), "--btf_features=default", object)...)
		cmd.Dir = t.TempDir()
		cmd.Stdout, cmd.Stderr = io.Discard, w
		if c.stdout {
			cmd.Stdout, cmd.Stderr = w, io.Discard
		}
		cmd.Run()
		w.Close()
		if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGPIPE {
			t.Errorf("%s: ended by %v", c.args, cmd.ProcessState)
		}
		left, err := filepath.Glob(filepath.Join(cmd.Dir, ".*"))
		if err != nil || len(left) > 0 {
			t.Errorf("%s: left %v, %v", c.args, left, err)
		}
	}
}
