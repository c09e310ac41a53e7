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

// suite is the tests that judge a fault: runs of "go test", tried in turn
// until one notices it.
type suite struct {
	runs  []testRun
	short bool
}

// testRun is a package and the -run of its tests; empty is all of them.
type testRun struct{ pkg, only string }

// suiteOf reads the value of -by, "PACKAGE[:TESTS],...". Empty is the tests of
// pkg that match only.
func suiteOf(pkg, by, only string, short bool) suite {
	s := suite{short: short}
	if by == "" {
		s.runs = []testRun{{pkg, only}}
		return s
	}
	for word := range strings.SplitSeq(by, ",") {
		name, tests, found := strings.Cut(word, ":")
		if !found {
			tests = only
		}
		s.runs = append(s.runs, testRun{name, tests})
	}
	return s
}

// run runs the tests with an overlay file, up to the run that fails.
func (s suite) run(limit time.Duration, overlay string) (out []byte, err error) {
	for _, r := range s.runs {
		out, err = exec.Command("sh", "-c", fmt.Sprintf(`ulimit -v %d; exec go "$@"`, memory), "go",
			"test", "-count=1", "-failfast", "-pgo=off", "-vet=off", fmt.Sprintf("-short=%t", s.short), "-timeout="+limit.String(),
			"-overlay="+overlay, "-run="+r.only, r.pkg).CombinedOutput()
		if err != nil {
			break
		}
	}
	return out, err
}

// try runs the tests with f in place.
func (s suite) try(f fault, limit time.Duration) (verdict, error) {
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
	out, err := s.run(limit, overlay)
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
