package faults

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestVerifyUntold: verify ended with status 1, as for a refused file, when the disk was
// full. Mended in 31282db.
//
// Input: valid BTF, with a full device as output. The status must be 2, and the error
// must name the cause.
func TestVerifyUntold(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	for _, option := range []string{"", "--json"} {
		var errs bytes.Buffer
		cmd := exec.Command(program, append([]string{"verify"}, strings.Fields(option+" "+splitFiles+"x86.base.btf")...)...)
		cmd.Stdout, cmd.Stderr = full, &errs
		status := statusOf(t, cmd)
		if status != 2 || !strings.HasSuffix(errs.String(), ": no space left on device\n") {
			t.Errorf("%q: status %d, %q", option, status, &errs)
		}
	}
}
