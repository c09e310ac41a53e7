package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/btflite/btflite/test/testfile"
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
	dir := t.TempDir()
	input, out := filepath.Join(dir, "input"), filepath.Join(dir, "out")
	testfile.Write(t, input, make([]byte, 1<<20))
	b := &bench{runner: *newRunner(t)}
	var floors []Floor
	// dd keeps one block of 24 MiB in memory. It writes it to no file: pages
	// that wait for a busy disk would count as well.
	err := b.smallest(t.Context(), "test", &floors, trial{
		turn: turn{args: []string{"/bin/sh", "-c", "/bin/dd if=/dev/zero of=/dev/null bs=24M count=1 && mkdir " + out + " && echo done > " + out + "/file"},
			out: out},
		what:   "dd",
		inputs: []string{input},
		step:   4,
	})
	if err != nil {
		t.Fatal(err)
	}
	if floors == nil {
		t.Skip("memory cgroups cannot be made here")
	}
	if f := floors[0]; f.What != "dd" || f.Step != 4 || f.MiB < 24 || f.MiB > 64 || f.At.Peak < 24<<10 {
		t.Errorf("%+v; the program keeps 24 MiB", f)
	}
}

// TestContents: the digest of a folder changes with a file and with its name.
func TestContents(t *testing.T) {
	dir := t.TempDir()
	seen := map[string]bool{}
	for _, step := range []func() error{
		func() error { return os.WriteFile(filepath.Join(dir, "a"), []byte("x"), 0o644) },
		func() error { return os.WriteFile(filepath.Join(dir, "a"), []byte("y"), 0o644) },
		func() error { return os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "b")) },
		func() error { return os.WriteFile(filepath.Join(dir, "c"), nil, 0o644) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
		digest, err := contents(dir)
		if err != nil || seen[digest] {
			t.Errorf("%x again, %v", digest, err)
		}
		seen[digest] = true
	}
	if _, err := contents(filepath.Join(dir, "missing")); err == nil {
		t.Error("no error for a missing file")
	}
}
