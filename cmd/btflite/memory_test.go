package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/encode"
	"github.com/spf13/cobra"
)

func TestJobsFollowMemory(t *testing.T) {
	big := filepath.Join(t.TempDir(), "big")
	f, err := os.Create(big)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(440 << 20); err != nil { // 41 MiB are usual
		t.Fatal(err)
	}
	for _, tt := range []struct {
		limit uint64
		bare  bool
		want  int
	}{
		{0, true, 16}, {0, false, 16}, {1 << 40, true, 16}, {1 << 20, false, 16},
		{1 << 20, true, 1}, {41 << 20, true, 1}, {42 << 20, true, 1}, {45 << 20, true, 3}, {55 << 20, true, 8}, {100 << 20, true, 16},
	} {
		c := newEncoding()
		c.opt.Encode.Jobs, c.bareJobs = 16, tt.bare
		if got := c.jobsFor(tt.limit, []string{big, "none"}); got != tt.want {
			t.Errorf("limit %d MiB, bare %v: %d workers, want %d", tt.limit>>20, tt.bare, got, tt.want)
		}
	}
}

// TestCodeTrim: code is dropped once the start is over and then at each step, never for small
// inputs.
func TestCodeTrim(t *testing.T) {
	const step = trimStep
	for _, c := range []struct {
		inputs uint64
		done   []uint64
		next   uint64
	}{
		{largeInput - 1, []uint64{largeInput}, 0},
		{largeInput, nil, firstTrim},
		{largeInput, []uint64{firstTrim - 1}, firstTrim},
		{largeInput, []uint64{firstTrim}, firstTrim + step},
		{largeInput, []uint64{firstTrim, firstTrim + step - 1}, firstTrim + step},
		{1 << 40, []uint64{5 * step, 6 * step}, 7 * step},
	} {
		trim := newCodeTrim(c.inputs)
		for _, d := range c.done {
			trim.done(d)
		}
		if got := trim.next.Load(); got != c.next {
			t.Errorf("%d bytes of input, done %v: next at %d, want %d", c.inputs, c.done, got, c.next)
		}
	}
}

// TestPrintsAll: the readers know whether they print all types, which is when the code
// of the start is dropped.
func TestPrintsAll(t *testing.T) {
	const file = "../../testdata/small/small.btf"
	c, _, _ := testCLI(t)
	in := func() *typeReader { return newTypeReader(c) }
	show, one := &showCommand{in: in()}, &showCommand{in: in(), names: []string{"int"}, skipMissing: true}
	all, id := &dumpCommand{in: in()}, &dumpCommand{in: in(), ids: []uint32{1}}
	functions, class := &funcsCommand{in: in()}, &funcsCommand{in: in(), class: "node"}
	for i, run := range []struct {
		in   *typeReader
		err  error
		want bool
	}{
		{show.in, show.run(c, file), true}, {one.in, one.run(c, file), false},
		{all.in, all.run(c, []string{file}), true}, {id.in, id.run(c, []string{file}), false},
		{functions.in, functions.run(c, []string{file}), true}, {class.in, class.run(c, []string{file}), false},
	} {
		if run.err != nil || run.in.printsAll != run.want {
			t.Errorf("%d: it prints all: %t, %v", i, run.in.printsAll, run.err)
		}
	}
}

// TestMemoryErrorOnce: that the limit is reached is one error, also if it is found twice, and if it ended an
// encoding.
func TestMemoryErrorOnce(t *testing.T) {
	for _, tt := range []struct {
		command *cobra.Command
		status  int
	}{
		{&cobra.Command{}, exitFailure},
		{&cobra.Command{Annotations: map[string]string{troubleKey: ""}}, exitTrouble},
	} {
		c, _, stderr := testCLI(t)
		c.running, c.memoryBound = tt.command, 24<<20
		full := arena.Exhausted{Limit: 20 << 20, Used: 19 << 20}
		for range 2 {
			for _, err := range []error{&encode.Crash{Value: full}, asExhausted(c, full), fmt.Errorf("FILE: %w", full)} {
				if status := c.report(err); status != tt.status {
					t.Errorf("%v: status %d, not %d", err, status, tt.status)
				}
			}
		}
		if text := stderr.String(); text != "btflite: the memory limit of 24.0 MiB is reached: 19.0 MiB are in use; give more by --memory_limit or the control group\n" {
			t.Errorf("%q", text)
		}
	}
}
