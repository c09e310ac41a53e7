package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/btflite/btflite/test/gobuild"
	"github.com/btflite/btflite/test/testfile"
)

func TestParseCostReadsTheLineOfMeasure(t *testing.T) {
	o, err := parseCost("1500000000 400000000 100000000 2048 137\n")
	if err != nil {
		t.Fatal(err)
	}
	if want := (Sample{CPU: 0.5, Wall: 1.5, Peak: 2048}); o.Sample != want || o.status != 137 {
		t.Errorf("got %+v", o)
	}
	for _, bad := range []string{"", "1 2 3 4", "1 2 3 4 x"} {
		if _, err := parseCost(bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

// newRunner builds bench/measure.
func newRunner(t *testing.T) *runner {
	t.Helper()
	r := &runner{measure: filepath.Join(t.TempDir(), "measure"), dir: t.TempDir()}
	if err := gobuild.Command(r.measure, "bench/measure"); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRunReportsTheCostOfTheProgramAlone(t *testing.T) {
	r := newRunner(t)
	ballast := make([]byte, 64<<20) // this process is large, the program must not look so
	for i := range ballast {
		ballast[i] = 1
	}
	o, err := r.run(t.Context(), 0, []string{"/bin/sh", "-c", "sleep 0.05; echo out; echo err >&2; exit 3"})
	if err != nil {
		t.Fatal(err)
	}
	if o.status != 3 || string(o.stdout) != "out\n" || string(o.stderr) != "err\n" {
		t.Errorf("status %d, printed %q and %q", o.status, o.stdout, o.stderr)
	}
	if o.Wall < 0.05 || o.CPU > o.Wall || o.Peak < 100 || o.Peak > 16<<10 {
		t.Errorf("cost %+v of a shell that sleeps 50 ms", o.Sample)
	}
	if ballast[len(ballast)-1] != 1 {
		t.Error("unreachable; keeps the memory in use")
	}
}

func TestRunEndsWhatTakesTooLong(t *testing.T) {
	r := newRunner(t)
	start := time.Now()
	_, err := r.run(t.Context(), 50*time.Millisecond, []string{"/bin/sh", "-c", "sleep 30 & sleep 30"})
	if !errors.Is(err, errTimeout) || time.Since(start) > 10*time.Second {
		t.Errorf("error %v after %v", err, time.Since(start))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.run(ctx, 0, []string{"/bin/true"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
}

func TestMustRunNamesTheFailure(t *testing.T) {
	r := newRunner(t)
	if _, err := r.mustRun(t.Context(), []string{"/bin/sh", "-c", "echo bad file >&2; exit 1"}); err == nil ||
		err.Error() != "/bin/sh -c echo bad file >&2; exit 1: status 1: bad file" {
		t.Errorf("error %v", err)
	}
	if _, err := r.mustRun(t.Context(), []string{"/does/not/exist"}); err == nil {
		t.Error("no error for a missing program")
	}
}

func TestJobCounts(t *testing.T) {
	for list, want := range map[string][]int{"1,2,4": {1, 2, 4}, "3": {3}, "0": nil, "1,": nil, "": nil} {
		got, err := jobCounts(list)
		if (err != nil) != (want == nil) || err == nil && !slices.Equal(got, want) {
			t.Errorf("jobCounts(%q) = %v, %v", list, got, err)
		}
	}
}

// TestTurns: every command runs in every round, or in the first ones, and a file that an earlier
// run has left is not compared.
func TestTurns(t *testing.T) {
	b := &bench{config: &config{n: 3}, runner: *newRunner(t)}
	out := filepath.Join(b.runner.dir, "out")
	shell := func(script string, series *[]Sample) turn {
		return turn{args: []string{"/bin/sh", "-c", script, out}, out: out, series: series}
	}
	var first, second []Sample
	same := true
	turns := pair(shell(`echo x > "$0"`, &first), shell(`echo x > "$0"`, &second), &same)
	turns[0].rounds = 2
	if err := b.inTurns(t.Context(), "test", turns...); err != nil || !same || len(first) != 2 || len(second) != 3 {
		t.Errorf("%v, same %v, %d and %d samples", err, same, len(first), len(second))
	}
	if err := b.inTurns(t.Context(), "test", pair(shell(`echo x > "$0"`, nil), shell(`echo y > "$0"`, nil), &same)...); err != nil || same {
		t.Errorf("%v, same %v", err, same)
	}
	if err := b.inTurns(t.Context(), "test", pair(shell(`echo x > "$0"`, nil), shell(":", nil), &same)...); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without an output: %v", err)
	}
}

// TestRemove: a file is deleted, a folder keeps its files in another place, and nothing is there
// afterwards, also if nothing was.
func TestRemove(t *testing.T) {
	r := newRunner(t)
	path := filepath.Join(r.dir, "out")
	for i := range 3 {
		testfile.Write(t, path, "")
		err := errors.Join(r.remove(path), r.remove(path), os.Mkdir(path, 0o700), os.WriteFile(filepath.Join(path, "file"), nil, 0o600), r.remove(path))
		if _, stat := os.Lstat(path); err != nil || !errors.Is(stat, os.ErrNotExist) {
			t.Fatal(err, stat)
		}
		if kept, _ := filepath.Glob(filepath.Join(r.dir, "*", "file")); len(kept) != i+1 {
			t.Errorf("%d folders are kept after %d were removed", len(kept), i+1)
		}
	}
}
