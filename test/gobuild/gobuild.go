// Package gobuild compiles commands of this module, for tests and benchmarks.
package gobuild

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// Command compiles a command, such as cmd/btflite, to the file out, with further options of go build.
// The file is static, as in a release, unless -race is one of the options: the race detector needs cgo. The
// current folder is one of the module.
func Command(out, command string, options ...string) error {
	cgo := "CGO_ENABLED=0"
	if slices.Contains(options, "-race") {
		cgo = "CGO_ENABLED=1"
	}
	args := append([]string{"build", "-o", out}, options...)
	cmd := exec.Command("go", append(args, "github.com/btflite/btflite/"+command)...)
	cmd.Env = append(os.Environ(), cgo)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", command, err, text)
	}
	return nil
}

// Main runs the tests of a package with a btflite that it builds, whose path it stores in program.
// It returns the status for os.Exit.
func Main(m *testing.M, program *string) int {
	dir, err := os.MkdirTemp("", "btflite-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	os.Chmod(dir, 0o755) // tests run it as other users too
	*program = filepath.Join(dir, "btflite")
	if err := Command(*program, "cmd/btflite"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
