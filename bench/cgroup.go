package main

// The smallest memory cgroup that a run passes in: bisection over limits, each
// trial in a group of its own with the input's pages out of the page cache, so
// that reading the file is charged to the group. The program's own pages are in the
// page cache, as after an earlier run.

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"time"

	"github.com/btflite/btflite/test/memgroup"
)

// trial is a run to be repeated under different limits.
type trial struct {
	turn             // a command that writes a file or a folder
	what    string   // for the table
	inputs  []string // evicted before each run
	step    int      // in MiB
	want    string   // the contents of out after a run without a limit
	timeout time.Duration
}

// smallest finds the floors of trials, which replace those in to. Without memory
// cgroups it leaves them as they are.
func (b *bench) smallest(ctx context.Context, kernel string, to *[]Floor, trials ...trial) error {
	group, err := memgroup.New(64)
	if err != nil {
		say("%s: the cgroup floors are left out: %v", kernel, err)
		return nil
	}
	if err := group.Remove(); err != nil {
		return err
	}
	*to = nil
	for _, t := range trials {
		f, err := t.floor(ctx, &b.runner)
		if err != nil {
			return fmt.Errorf("%s: %w", t.what, err)
		}
		say("%s: %s passes in %d MiB", kernel, t.what, f.MiB)
		*to = append(*to, f)
	}
	return nil
}

// floor finds the smallest limit that the trial passes in twice: with the bytes of a
// run without a limit, in at most five times its wall time and five seconds. It looks
// first near the memory of that run. The sample is the slower one at the floor.
func (t *trial) floor(ctx context.Context, r *runner) (Floor, error) {
	f := Floor{What: t.what, Step: t.step}
	if err := os.RemoveAll(t.out); err != nil {
		return f, err
	}
	free, err := r.mustRun(ctx, t.args)
	if err != nil {
		return f, err
	}
	if t.want, err = contents(t.out); err != nil {
		return f, err
	}
	t.timeout = 5*time.Second + time.Duration(5*free.Wall*float64(time.Second))
	slowest := map[int]Sample{}
	f.MiB, err = bisect(int(free.Peak>>10), t.step, func(mib int) (bool, error) {
		for range 2 {
			ok, s, err := t.passes(ctx, r, mib)
			if err != nil || !ok {
				return false, err
			}
			if s.Wall > slowest[mib].Wall {
				slowest[mib] = s
			}
		}
		return true, nil
	})
	f.At = slowest[f.MiB]
	return f, err
}

// passes runs the trial once in a group of mib MiB and reports whether it wrote
// the right bytes in time, with its cost if so.
func (t *trial) passes(ctx context.Context, r *runner, mib int) (bool, Sample, error) {
	for _, path := range t.inputs {
		if err := memgroup.Evict(path); err != nil {
			return false, Sample{}, err
		}
	}
	// The program's pages count for the group that reads them first. Without this, that would be the
	// group of a trial only if the system has dropped them since the last one.
	if err := readThrough(t.args[0]); err != nil {
		return false, Sample{}, err
	}
	if err := os.RemoveAll(t.out); err != nil {
		return false, Sample{}, err
	}
	group, err := memgroup.New(mib)
	if err != nil {
		return false, Sample{}, err
	}
	o, err := r.run(ctx, t.timeout, group.Command(t.args...))
	if rerr := group.Remove(); rerr != nil {
		return false, Sample{}, errors.Join(err, rerr)
	}
	if errors.Is(err, errTimeout) || err == nil && o.status != 0 {
		return false, Sample{}, nil
	}
	if err != nil {
		return false, Sample{}, err
	}
	got, err := contents(t.out)
	return got == t.want, o.Sample, err
}

// contents is a digest of a file, or of all files of a folder and their names.
func contents(path string) (string, error) {
	h := sha256.New()
	err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		fmt.Fprintln(h, name, len(data))
		h.Write(data)
		return err
	})
	return string(h.Sum(nil)), err
}

// maxLimit is the largest limit that bisect tries, in MiB.
const maxLimit = 16 << 10

// bisect returns the smallest positive multiple of step for which ok is true,
// provided that ok is true for all larger ones too. It starts at guess, doubles
// until ok, and then halves the interval.
func bisect(guess, step int, ok func(int) (bool, error)) (int, error) {
	var failed error
	passes := func(n int) bool { // after an error all do, so that the search ends
		if failed != nil {
			return true
		}
		var pass bool
		pass, failed = ok(n * step)
		return pass || failed != nil
	}
	lo, hi := 0, max(1, (guess+step-1)/step)
	for !passes(hi) {
		lo, hi = hi, hi*2
		if hi*step > maxLimit {
			return 0, fmt.Errorf("does not pass in %d MiB", lo*step)
		}
	}
	n := lo + 1 + sort.Search(hi-lo-1, func(i int) bool { return passes(lo + 1 + i) })
	return n * step, failed
}
