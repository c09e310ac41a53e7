package kerneltest

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/gobuild"
)

// TestKernelsUnderTheRaceDetector encodes and reads full-size kernels with a btflite that is
// built with -race. Much of the work is shared out only if there are thousands of functions
// and types, so small inputs do not show these races.
func TestKernelsUnderTheRaceDetector(t *testing.T) {
	if os.Getenv("BTFLITE_KERNELS") != "1" {
		t.Skip("left out: full-size kernels; run it with: make test-kernels")
	}
	btflite := filepath.Join(t.TempDir(), "btflite")
	if err := gobuild.Command(btflite, "cmd/btflite", "-race", "-pgo=off"); err != nil {
		t.Fatal(err)
	}
	for name, vmlinux := range kernels(t) {
		out := t.TempDir()
		base := filepath.Join(out, "vmlinux.btf")
		runs := [][]string{
			{"-J", "-j4", "--btf_features=default", "--extra_vars=" + filepath.Join(out, "vars.btf"), "--btf_encode_detached=" + base, vmlinux},
			{"-J", "-j4", "--btf_features=all", "--verify=warn", "--inline=" + filepath.Join(out, "inline.btf"),
				"--btf_encode_detached=" + filepath.Join(out, "all.btf"), vmlinux},
			{"funcs", vmlinux},
		}
		if modules := modulePaths(t, name); modules != nil {
			args := []string{"modules", "-j4", "--btf_base=" + base, "--btf_encode_detached_dir=" + filepath.Join(out, "modules")}
			runs = append(runs, slices.AppendSeq(args, maps.Values(modules)))
		}
		for _, args := range runs {
			var said bytes.Buffer
			cmd := exec.Command(btflite, args...)
			cmd.Stderr = &said
			err := cmd.Run()
			if i := strings.Index(said.String(), "DATA RACE"); i >= 0 {
				t.Errorf("%s: %s: %.3000s", name, strings.Join(args, " "), said.String()[i:])
			} else if err != nil {
				t.Errorf("%s: %s: %v\n%s", name, strings.Join(args, " "), err, last(said.Bytes(), 2000))
			}
		}
	}
}
