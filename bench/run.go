package main

// Running programs and saying what they cost.
//
// Every run is a child of the small command bench/measure, which is a child of
// this program: see there for why. The kernel accounts for CPU time and
// peak memory of the program and its threads (wait4), so the peak is VmHWM at
// its end.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Sample is the cost of one run.
type Sample struct {
	CPU  float64 `json:"cpu_s"`  // user and system time, seconds
	Wall float64 `json:"wall_s"` // seconds
	Peak int64   `json:"peak_kib"`
}

// outcome is a Sample with what the program printed and how it ended.
type outcome struct {
	Sample
	stdout, stderr []byte
	status         int // exit status, 128 + signal if a signal ended it
}

// errTimeout reports that a run was ended because it took too long.
var errTimeout = errors.New("took too long")

// runner starts programs through the command bench/measure.
type runner struct {
	measure string // path of bench/measure, built
	dir     string // folder for outputs, emptied by the owner
	away    int    // folders that remove has put away in dir
}

// remove removes what a run has written. A folder goes out of the way only, until the owner empties
// dir: ext4 takes a second of CPU time to make thousands of files for some time after as many have
// been deleted, and that would count as the next run's.
func (r *runner) remove(path string) error {
	if info, err := os.Lstat(path); err != nil || !info.IsDir() {
		return os.RemoveAll(path)
	}
	r.away++
	return os.Rename(path, filepath.Join(r.dir, fmt.Sprintf("away-%d", r.away)))
}

// run executes args and waits. limit 0 means no limit. Standard output goes to a
// file, as when people run the program. The error is for runs that could not be
// measured; a program that fails has a status and no error.
func (r *runner) run(ctx context.Context, limit time.Duration, args []string) (*outcome, error) {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errTimeout)
		defer cancel()
	}
	costs, err := os.Create(filepath.Join(r.dir, "cost"))
	if err != nil {
		return nil, err
	}
	defer costs.Close()
	stdout, err := os.Create(filepath.Join(r.dir, "stdout"))
	if err != nil {
		return nil, err
	}
	defer stdout.Close()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, r.measure, args...)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = stdout, &stderr, []*os.File{costs}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := cmd.Run(); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		return nil, fmt.Errorf("measure %s: %w: %s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	line, err := os.ReadFile(costs.Name())
	if err != nil {
		return nil, err
	}
	o, err := parseCost(string(line))
	if err != nil {
		return nil, err
	}
	o.stderr = stderr.Bytes()
	o.stdout, err = os.ReadFile(stdout.Name())
	return o, err
}

// mustRun is run for programs that have to succeed.
func (r *runner) mustRun(ctx context.Context, args []string) (*outcome, error) {
	o, err := r.run(ctx, 0, args)
	if err == nil && o.status != 0 {
		err = o.failure(args)
	}
	return o, err
}

// failure is the error of a program that ended with a status.
func (o *outcome) failure(args []string) error {
	text := append(o.stdout, o.stderr...)
	return fmt.Errorf("%s: status %d: %s", strings.Join(args, " "), o.status, bytes.TrimSpace(text[max(0, len(text)-400):]))
}

// parseCost reads the line that bench/measure writes.
func parseCost(line string) (*outcome, error) {
	var wall, user, system int64
	o := new(outcome)
	if _, err := fmt.Sscan(line, &wall, &user, &system, &o.Peak, &o.status); err != nil {
		return nil, fmt.Errorf("cost line %q: %w", line, err)
	}
	o.Wall, o.CPU = float64(wall)/1e9, float64(user+system)/1e9
	return o, nil
}

// turn is a command that is run in every round, and where its costs go.
type turn struct {
	args   []string
	out    string // what it writes, deleted before each run; "" if nobody reads it
	series *[]Sample
	rounds int                  // it runs in so many rounds at most, 0 means in all
	before func() error         // what has to be done before each run, may be nil
	after  func(*outcome) error // looks at a run and at out, may be nil
}

// inTurns runs every command once in each of n rounds, so that a machine that slows
// down slows all of them.
func (b *bench) inTurns(ctx context.Context, what string, turns ...turn) error {
	for round := range b.n {
		for _, t := range turns {
			if t.rounds > 0 && round >= t.rounds {
				continue
			}
			if t.out != "" {
				if err := b.runner.remove(t.out); err != nil {
					return err
				}
			}
			if t.before != nil {
				if err := t.before(); err != nil {
					return fmt.Errorf("%s: %w", what, err)
				}
			}
			o, err := b.runner.mustRun(ctx, t.args)
			if err == nil && t.after != nil {
				err = t.after(o)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			if t.series != nil {
				*t.series = append(*t.series, o.Sample)
			}
		}
		say("%s: round %d of %d done", what, round+1, b.n)
	}
	return nil
}

// pair is two commands that take turns. same becomes false if their outputs differ.
func pair(theirs, ours turn, same *bool) []turn {
	var want []byte
	theirs.after = func(o *outcome) (err error) {
		want, err = o.written(theirs.out)
		return err
	}
	ours.after = func(o *outcome) error {
		got, err := o.written(ours.out)
		*same = *same && bytes.Equal(got, want)
		return err
	}
	return []turn{theirs, ours}
}

// written is the content of a file that a run wrote, or what it printed if path is "".
func (o *outcome) written(path string) ([]byte, error) {
	if path == "" {
		return o.stdout, nil
	}
	return os.ReadFile(path)
}

// encodeStats is the part of the output of --stats=json that this program reports.
type encodeStats struct {
	CUs       int     `json:"cus"`
	DIEs      uint64  `json:"dies"`
	DebugInfo uint64  `json:"debug_info_bytes"`
	TypesIn   uint64  `json:"types_before_dedup"`
	TypesOut  int     `json:"types"`
	Functions int     `json:"functions"`
	Phases    []phase `json:"phases"`
	PeakRSS   uint64  `json:"peak_rss_bytes"`
}

type phase struct {
	Name string `json:"name"`
	NS   int64  `json:"ns"`
}
