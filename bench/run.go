package main

// Running one program once and saying what it cost.
//
// Every run is a child of the small command bench/measure, which is a child of
// this program: see there for why. CPU time and peak memory are those of the
// kernel's accounting for the program and its threads (wait4), so the peak is
// VmHWM at its end.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
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
	printed []byte // standard output, then standard error
	status  int    // exit status, 128 + signal if a signal ended it
}

// errTimeout reports that a run was ended because it took too long.
var errTimeout = errors.New("took too long")

// runner starts programs through the command bench/measure.
type runner struct {
	measure string // path of bench/measure, built
	dir     string // folder for outputs, emptied by the owner
}

// run executes args and waits. limit 0 means no limit. The error is for runs
// that could not be measured; a program that fails has a status and no error.
func (r *runner) run(ctx context.Context, limit time.Duration, args []string) (*outcome, error) {
	return r.runTo(ctx, limit, args, nil)
}

// runTo is run for a program whose standard output is a file, if one is given.
func (r *runner) runTo(ctx context.Context, limit time.Duration, args []string, to *os.File) (*outcome, error) {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errTimeout)
		defer cancel()
	}
	costs := filepath.Join(r.dir, "cost")
	fd3, err := os.Create(costs)
	if err != nil {
		return nil, err
	}
	defer fd3.Close()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, r.measure, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if to != nil {
		cmd.Stdout = to
	}
	cmd.ExtraFiles = []*os.File{fd3}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := cmd.Run(); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		return nil, fmt.Errorf("measure %s: %w: %s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	line, err := os.ReadFile(costs)
	if err != nil {
		return nil, err
	}
	o, err := parseCost(string(line))
	if err != nil {
		return nil, err
	}
	o.printed = append(stdout.Bytes(), stderr.Bytes()...)
	return o, nil
}

// mustRun is run for programs that have to succeed.
func (r *runner) mustRun(ctx context.Context, args []string) (*outcome, error) {
	o, err := r.run(ctx, 0, args)
	if err != nil {
		return nil, err
	}
	if o.status != 0 {
		return nil, fmt.Errorf("%s: status %d: %s", strings.Join(args, " "), o.status, tail(o.printed, 400))
	}
	return o, nil
}

func tail(b []byte, n int) []byte { return bytes.TrimSpace(b[max(0, len(b)-n):]) }

// parseCost reads the line that bench/measure writes.
func parseCost(line string) (*outcome, error) {
	words := strings.Fields(line)
	if len(words) != 5 {
		return nil, fmt.Errorf("cost line %q: want 5 numbers", line)
	}
	var v [5]int64
	for i, w := range words {
		n, err := strconv.ParseInt(w, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("cost line %q: %w", line, err)
		}
		v[i] = n
	}
	return &outcome{
		Sample: Sample{Wall: float64(v[0]) / 1e9, CPU: float64(v[1]+v[2]) / 1e9, Peak: v[3]},
		status: int(v[4]),
	}, nil
}

// phase and encodeStats are the part of the output of --stats=json that this
// program reports.
type phase struct {
	Name string `json:"name"`
	NS   int64  `json:"ns"`
}

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

// parseStats finds the JSON object in what the program printed: it begins a
// line. Warnings may stand before and behind it.
func parseStats(printed []byte) (*encodeStats, error) {
	from := 0
	if !bytes.HasPrefix(printed, []byte("{")) {
		from = bytes.Index(printed, []byte("\n{")) + 1
		if from == 0 {
			return nil, fmt.Errorf("no JSON object in %q", tail(printed, 200))
		}
	}
	s := new(encodeStats)
	if err := json.NewDecoder(bytes.NewReader(printed[from:])).Decode(s); err != nil {
		return nil, fmt.Errorf("statistics: %w", err)
	}
	return s, nil
}
