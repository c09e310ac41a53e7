package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestBisectFindsTheSmallestPassingLimit(t *testing.T) {
	tests := []struct{ guess, step, need, want int }{
		{20, 1, 24, 24},
		{200, 1, 24, 24},
		{24, 1, 24, 24},
		{1, 1, 1, 1},
		{0, 1, 7, 7},
		{638, 8, 449, 456},
		{100, 8, 449, 456},
		{3, 8, 2, 8},
	}
	for _, tt := range tests {
		tried := map[int]bool{}
		got, err := bisect(tt.guess, tt.step, func(mib int) (bool, error) {
			if tried[mib] {
				t.Errorf("%+v: %d tried twice", tt, mib)
			}
			tried[mib] = true
			return mib >= tt.need, nil
		})
		if err != nil || got != tt.want {
			t.Errorf("%+v: got %d, %v", tt, got, err)
		}
		if len(tried) > 20 {
			t.Errorf("%+v: %d trials", tt, len(tried))
		}
	}
}

func TestBisectGivesUp(t *testing.T) {
	if n, err := bisect(64, 8, func(int) (bool, error) { return false, nil }); err == nil {
		t.Errorf("never passing: got %d and no error", n)
	}
	broken := errors.New("broken")
	if _, err := bisect(64, 8, func(int) (bool, error) { return false, broken }); !errors.Is(err, broken) {
		t.Errorf("got error %v", err)
	}
}

func TestFloorIsAboveWhatAProgramKeeps(t *testing.T) {
	g, err := findCgroups()
	if err != nil {
		t.Skipf("left out: %v", err)
	}
	input := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(input, make([]byte, 1<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	// dd keeps one block of 24 MiB in memory. It writes it to no file: pages
	// that wait for a busy disk would count as well.
	out := filepath.Join(t.TempDir(), "out")
	tr := &trial{
		args:    []string{"/bin/sh", "-c", "/bin/dd if=/dev/zero of=/dev/null bs=24M count=1 && echo done > " + out},
		inputs:  []string{input},
		timeout: 5 * time.Minute, // the machine may be busy, and a trial at the floor waits for pages
	}
	tr.expectFile(out, []byte("done\n"))
	mib, at, err := tr.floor(t.Context(), newRunner(t), g, 16, 4)
	if err != nil {
		t.Fatal(err)
	}
	if mib < 24 || mib > 64 || at.Peak < 24<<10 {
		t.Errorf("floor %d MiB with a peak of %d KiB; the program keeps 24 MiB", mib, at.Peak)
	}
	if left, _ := filepath.Glob(filepath.Join(g.root, "btflite-bench-*")); len(left) > 0 {
		t.Errorf("groups are left behind: %q", left)
	}
}
