package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// memory is the address space of a test run in KiB: a fault may allocate
// without end.
const memory = 16 << 20

// goFiles returns the files of pkg that are compiled on this system, tests aside.
func goFiles(pkg string) ([]string, error) {
	cmd := exec.Command("go", "list", "-f", `{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}`, pkg)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w", pkg, err)
	}
	return strings.Fields(string(out)), nil
}

// only, if not empty, is the -run of every test run.
var only string

// tests runs the tests of pkg with an overlay file.
func tests(pkg string, limit time.Duration, overlay string) ([]byte, error) {
	return exec.Command("sh", "-c", fmt.Sprintf(`ulimit -v %d; exec go "$@"`, memory), "go",
		"test", "-count=1", "-failfast", "-pgo=off", "-vet=off", "-timeout="+limit.String(), "-overlay="+overlay, "-run="+only, pkg).CombinedOutput()
}

// try runs the tests of pkg with f in place.
func try(pkg string, f fault, limit time.Duration) (verdict, error) {
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	src, err := os.ReadFile(f.file)
	if err != nil {
		return 0, err
	}
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	table, err := json.Marshal(map[string]map[string]string{"Replace": {f.file: changed}})
	if err != nil {
		return 0, err
	}
	if err := errors.Join(os.WriteFile(changed, f.apply(src), 0o666), os.WriteFile(overlay, table, 0o666)); err != nil {
		return 0, err
	}
	out, err := tests(pkg, limit, overlay)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return alive, nil
	case bytes.Contains(out, []byte("[build failed]")):
		return unbuilt, nil
	case errors.As(err, &exit):
		return noticed, nil
	}
	return 0, err
}
