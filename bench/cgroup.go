package main

// The smallest memory cgroup that a run passes in: bisection over limits, each
// trial in a group of its own with the input's pages out of the page cache, so
// that reading the file is charged to the group as on a machine that has just
// started. Works with cgroup v1 and v2.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// cgroups says how memory limits are set on this machine.
type cgroups struct {
	root  string // folder in which groups are made
	limit string // file of a group that takes the limit in bytes
	swap  string // file that forbids swapping when 0 is written
}

// findCgroups tries to make a group with a limit and reports why it cannot.
func findCgroups() (*cgroups, error) {
	v1 := &cgroups{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.swappiness"}
	v2 := &cgroups{"/sys/fs/cgroup", "memory.max", "memory.swap.max"}
	g := v2
	if _, err := os.Stat(filepath.Join(v1.root, v1.limit)); err == nil {
		g = v1
	} else {
		// Harmless if the controller is on, or not ours to turn on.
		os.WriteFile(filepath.Join(v2.root, "cgroup.subtree_control"), []byte("+memory"), 0)
	}
	dir, err := g.create(64 << 20)
	if err != nil {
		return nil, fmt.Errorf("memory cgroups cannot be made here: %w", err)
	}
	return g, remove(dir)
}

// create makes a group with a limit and returns its folder.
func (g *cgroups) create(limit int64) (string, error) {
	dir := filepath.Join(g.root, fmt.Sprintf("btflite-bench-%d", os.Getpid()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, g.limit), []byte(strconv.FormatInt(limit, 10)), 0); err != nil {
		return "", errors.Join(err, remove(dir))
	}
	os.WriteFile(filepath.Join(dir, g.swap), []byte("0"), 0) // absent without swap accounting
	return dir, nil
}

// remove deletes a group, which may be busy for a moment after its last process.
func remove(dir string) error {
	var err error
	for range 50 {
		if err = os.Remove(dir); err == nil || !errors.Is(err, syscall.EBUSY) {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}

// evict drops the file's pages from the page cache, those excepted that some
// process has mapped.
func evict(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	// A file that was just written has dirty pages, which are not dropped.
	if err := unix.Fdatasync(int(f.Fd())); err != nil {
		return fmt.Errorf("sync %s: %w", path, err)
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		return fmt.Errorf("drop the pages of %s: %w", path, err)
	}
	return nil
}

// trial is a run to be repeated under different limits.
type trial struct {
	args    []string
	inputs  []string             // evicted before each run
	clean   func() error         // removes what an earlier run wrote
	correct func() (bool, error) // compares what the run wrote
	timeout time.Duration        // a slower run has not passed
}

// expectFile makes t a trial that has to write want to the file out.
func (t *trial) expectFile(out string, want []byte) {
	t.clean = func() error {
		if err := os.Remove(out); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	t.correct = func() (bool, error) {
		got, err := os.ReadFile(out)
		return err == nil && bytes.Equal(got, want), err
	}
}

// passes runs the trial once in a group of mib MiB and reports whether it wrote
// the right bytes in time, with its cost if so. A shell that joins the group
// and is then replaced by the program adds next to nothing to the group.
func (t *trial) passes(ctx context.Context, r *runner, g *cgroups, mib int) (bool, Sample, error) {
	for _, path := range t.inputs {
		if err := evict(path); err != nil {
			return false, Sample{}, err
		}
	}
	if err := t.clean(); err != nil {
		return false, Sample{}, err
	}
	dir, err := g.create(int64(mib) << 20)
	if err != nil {
		return false, Sample{}, err
	}
	args := append([]string{"/bin/sh", "-c", `echo $$ > "$0" && exec "$@"`, filepath.Join(dir, "cgroup.procs")}, t.args...)
	o, err := r.run(ctx, t.timeout, args)
	if rerr := remove(dir); rerr != nil {
		return false, Sample{}, errors.Join(err, rerr)
	}
	if errors.Is(err, errTimeout) {
		return false, Sample{}, nil
	}
	if err != nil {
		return false, Sample{}, err
	}
	if o.status != 0 {
		return false, Sample{}, nil
	}
	ok, err := t.correct()
	return ok, o.Sample, err
}

// floor finds the smallest limit in MiB, a multiple of step, that the trial
// passes in twice, looking first near guess. It returns the slower sample there.
func (t *trial) floor(ctx context.Context, r *runner, g *cgroups, guess, step int) (int, Sample, error) {
	slowest := map[int]Sample{}
	n, err := bisect(guess, step, func(mib int) (bool, error) {
		for range 2 {
			ok, s, err := t.passes(ctx, r, g, mib)
			if err != nil || !ok {
				return false, err
			}
			if s.Wall > slowest[mib].Wall {
				slowest[mib] = s
			}
		}
		return true, nil
	})
	return n, slowest[n], err
}

// maxLimit is the largest limit that bisect tries, in MiB.
const maxLimit = 16 << 10

// bisect returns the smallest positive multiple of step for which ok is true,
// provided that ok is true for all larger ones too. It starts at guess, doubles
// until ok, and then halves the interval.
func bisect(guess, step int, ok func(int) (bool, error)) (int, error) {
	// In units of step: lo fails, hi passes once the first loop is done.
	lo, hi := 0, max(1, (guess+step-1)/step)
	for {
		if hi*step > maxLimit {
			return 0, fmt.Errorf("does not pass in %d MiB", lo*step)
		}
		pass, err := ok(hi * step)
		if err != nil {
			return 0, err
		}
		if pass {
			break
		}
		lo, hi = hi, hi*2
	}
	for hi-lo > 1 {
		mid := lo + (hi-lo)/2
		pass, err := ok(mid * step)
		if err != nil {
			return 0, err
		}
		if pass {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi * step, nil
}
