package main

// Four parts of a measurement: time and memory of all programs, phases,
// growth with input size, and the cgroup floor. For modules see modules.go.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/btflite/btflite/test/memgroup"
)

// Names of the programs in results and tables.
const (
	toolPahole  = "pahole"
	toolBtflite = "btflite"
	toolScan    = "bare scan"
)

// features is the option by which both programs encode the same features.
const features = "--btf_features=default"

// vmlinux is the file of a kernel of the corpus.
func (c *config) vmlinux(name string) string { return filepath.Join(c.corpus, name) }

// out is the path of a detached BTF file that runs write.
func (b *bench) out(tool string) string { return filepath.Join(b.runner.dir, tool+".btf") }

// encoding is a turn of pahole or btflite, whose output goes to b.out(tool). Options are
// separated by blanks.
func (b *bench) encoding(tool string, jobs int, input string, series *[]Sample, options ...string) turn {
	program := b.btflite
	if tool == toolPahole {
		program = b.pahole
	}
	t := turn{args: []string{program, "-J", "-j" + strconv.Itoa(jobs)}, out: b.out(tool), series: series}
	for _, o := range options {
		t.args = append(t.args, strings.Fields(o)...)
	}
	t.args = append(t.args, "--btf_encode_detached="+t.out, input)
	return t
}

// statistics is a turn of btflite -j1 whose statistics go to the function.
func (b *bench) statistics(path string, series *[]Sample, to func(*encodeStats), options ...string) turn {
	t := b.encoding(toolBtflite, 1, path, series, append(options, features, "--stats=json")...)
	t.after = func(o *outcome) error {
		s := new(encodeStats)
		if err := json.Unmarshal(o.stdout, s); err != nil {
			return fmt.Errorf("--stats=json: %w", err)
		}
		to(s)
		return nil
	}
	return t
}

// times measures all programs on all kernels.
func (b *bench) times(ctx context.Context) error {
	for _, name := range b.kernels {
		path, k := b.vmlinux(name), b.results.kernel(name)
		if err := readThrough(path); err != nil {
			return err
		}
		file, err := os.Stat(path)
		if err != nil {
			return err
		}
		same := true
		k.Runs, k.Same = nil, &same
		turns := []turn{{args: []string{b.scan, path}, series: k.series(toolScan, 0)}}
		for _, jobs := range b.jobs {
			turns = append(turns, pair(b.encoding(toolPahole, jobs, path, k.series(toolPahole, jobs), features),
				b.encoding(toolBtflite, jobs, path, k.series(toolBtflite, jobs), features), &same)...)
		}
		counts := b.statistics(path, nil, func(s *encodeStats) { k.Stats, k.FileBytes, k.DebugInfo = s, file.Size(), s.DebugInfo })
		counts.rounds = 1
		if err := b.inTurns(ctx, name, append(turns, counts)...); err != nil {
			return err
		}
		if err := b.results.save(b.resultsFile()); err != nil {
			return err
		}
	}
	return nil
}

// readThrough brings a file into the page cache as a compiler or a copy leaves it
// there: in large pieces. What was read page by page, under memory limits, takes
// longer to map, so that is dropped first.
func readThrough(path string) error {
	if err := memgroup.Evict(path); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(io.Discard, f)
	return err
}

// phases collects the phase times that btflite reports.
func (b *bench) phases(ctx context.Context) error {
	path, k := b.vmlinux(b.measured), b.results.kernel(b.measured)
	k.Phases = nil
	return b.inTurns(ctx, k.Name+", phases", b.statistics(path, nil, func(s *encodeStats) {
		k.Stats = s
		for _, p := range s.Phases {
			i := slices.IndexFunc(k.Phases, func(known Phase) bool { return known.Name == p.Name })
			if i < 0 {
				i = len(k.Phases)
				k.Phases = append(k.Phases, Phase{Name: p.Name})
			}
			k.Phases[i].Seconds = append(k.Phases[i].Seconds, float64(p.NS)/1e9)
		}
	}))
}

// growth runs btflite on the first sixteenth, eighth, ... of the CUs.
func (b *bench) growth(ctx context.Context) error {
	path, k := b.vmlinux(b.measured), b.results.kernel(b.measured)
	all := b.statistics(path, nil, func(s *encodeStats) { k.Stats = s })
	all.rounds = 1
	if err := b.inTurns(ctx, k.Name+", all CUs", all); err != nil {
		return err
	}
	parts := []int{16, 8, 4, 2, 1}
	k.Growth = make([]Growth, len(parts))
	var turns []turn
	for i, part := range parts {
		g := &k.Growth[i]
		turns = append(turns, b.statistics(path, &g.Samples, func(s *encodeStats) {
			g.CUs, g.DIEs, g.Types = s.CUs, s.DIEs, s.TypesOut
		}, fmt.Sprintf("--cu_limit=%d", k.Stats.CUs/part)))
	}
	return b.inTurns(ctx, k.Name+", growth", turns...)
}

// floors finds the smallest memory cgroups.
func (b *bench) floors(ctx context.Context) error {
	k := b.results.kernel(b.measured)
	// Pages that any other process has mapped stay in the page cache and are
	// charged to nobody here, so the runs read a copy that is theirs alone. It
	// lies beside the kernels, since a temporary folder may be in memory.
	path := filepath.Join(b.corpus, fmt.Sprintf("bench-%d.part", os.Getpid()))
	defer os.Remove(path)
	if err := copyTo(b.vmlinux(b.measured), path); err != nil {
		return err
	}
	var trials []trial
	for _, f := range []struct {
		tool       string
		jobs, step int
	}{{toolBtflite, 1, 1}, {toolBtflite, 4, 1}, {toolPahole, 1, 16}} {
		if f.tool == toolPahole && b.skipPaholeFloor {
			continue
		}
		trials = append(trials, trial{turn: b.encoding(f.tool, f.jobs, path, nil, features),
			what: fmt.Sprintf("%s -j%d", f.tool, f.jobs), inputs: []string{path}, step: f.step})
	}
	return b.smallest(ctx, k.Name, &k.Floors, trials...)
}

// copyTo copies a file over another one, or to a new one.
func copyTo(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
