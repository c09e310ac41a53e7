package faults

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/btflite/btflite/test/gobuild"
)

const (
	splitFiles = "../../testdata/split/"
	inputFiles = "../../testdata/inputs/"
	shownFiles = "../../btf/show/testdata/"
	smallFile  = "../../testdata/small/small"
)

// program is the btflite under test.
var program string

func TestMain(m *testing.M) {
	os.Exit(gobuild.Main(m, &program))
}

// run runs the program and returns its exit status and its output.
func run(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	return statusOf(t, cmd), out.String(), errs.String()
}

// statusOf runs a command and returns its exit status, -1 if a signal ended it.
func statusOf(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	var failed *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

// btflite is run for a command line that must end with this status.
func btflite(t *testing.T, status int, args ...string) (stdout, stderr string) {
	t.Helper()
	got, stdout, stderr := run(t, args...)
	if got != status {
		t.Errorf("%q: status %d, want %d: %s", args, got, status, stderr)
	}
	return stdout, stderr
}
