package main

// Four parts of a measurement: time and memory of all programs, phases,
// growth with input size, and the cgroup floor. For modules see modules.go.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Names of the programs in results and tables.
const (
	toolPahole  = "pahole"
	toolBtflite = "btflite"
	toolScan    = "bare scan"
)

// encodeArgs is the command line of pahole or btflite.
func (c *config) encodeArgs(tool string, jobs int, out, vmlinux string, extra ...string) []string {
	program := c.btflite
	if tool == toolPahole {
		program = c.pahole
	}
	args := []string{program, "-J", "-j" + strconv.Itoa(jobs)}
	args = append(args, c.features...)
	args = append(args, extra...)
	return append(args, "--btf_encode_detached="+out, vmlinux)
}

// vmlinux is the file of a kernel of the corpus.
func (c *config) vmlinux(name string) (string, error) {
	return filepath.EvalSymlinks(filepath.Join(c.corpus, name))
}

// out is the path of a detached BTF file that runs write.
func (b *bench) out(tool string) string { return filepath.Join(b.runner.dir, tool+".btf") }

// encode runs pahole or btflite once and returns its cost and output.
func (b *bench) encode(ctx context.Context, tool string, jobs int, vmlinux string, extra ...string) (*outcome, []byte, error) {
	out := b.out(tool)
	if err := os.Remove(out); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, nil, err
	}
	o, err := b.runner.mustRun(ctx, b.encodeArgs(tool, jobs, out, vmlinux, extra...))
	if err != nil {
		return nil, nil, err
	}
	btf, err := os.ReadFile(out)
	return o, btf, err
}

// times measures all programs on all kernels, in turns.
func (b *bench) times(ctx context.Context) error {
	for _, name := range b.kernels {
		path, err := b.vmlinux(name)
		if err != nil {
			return err
		}
		k := b.results.kernel(name)
		if err := k.describeFile(path); err != nil {
			return err
		}
		k.Runs, k.Same = nil, nil
		if err := readThrough(path); err != nil {
			return err
		}
		for round := range b.n {
			if err := b.round(ctx, k, path); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			say("%s: round %d of %d done", name, round+1, b.n)
		}
		if k.Stats, _, err = b.stats(ctx, path); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := b.results.save(b.config.results); err != nil {
			return err
		}
	}
	return nil
}

// round runs every program once with every number of workers.
func (b *bench) round(ctx context.Context, k *KernelResult, path string) error {
	o, err := b.runner.mustRun(ctx, []string{b.scan, path})
	if err != nil {
		return err
	}
	k.add(toolScan, 0, o.Sample)
	for _, jobs := range b.jobs {
		p, want, err := b.encode(ctx, toolPahole, jobs, path)
		if err != nil {
			return err
		}
		k.add(toolPahole, jobs, p.Sample)
		o, got, err := b.encode(ctx, toolBtflite, jobs, path)
		if err != nil {
			return err
		}
		k.add(toolBtflite, jobs, o.Sample)
		same := bytes.Equal(want, got) && (k.Same == nil || *k.Same)
		k.Same = &same
	}
	return nil
}

// readThrough brings a file into the page cache as a compiler or a copy leaves it
// there: in large pieces. What was read page by page, under memory limits, takes
// longer to map, so that is dropped first.
func readThrough(path string) error {
	if err := evict(path); err != nil {
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

// phases collects the phase times that btflite reports, and its statistics.
func (b *bench) phases(ctx context.Context) error {
	path, err := b.vmlinux(b.config.main)
	if err != nil {
		return err
	}
	k := b.results.kernel(b.config.main)
	k.Phases, k.Stats = nil, nil
	for range b.n {
		stats, _, err := b.stats(ctx, path)
		if err != nil {
			return err
		}
		k.Stats = stats
		for _, p := range stats.Phases {
			k.addPhase(p.Name, float64(p.NS)/1e9)
		}
	}
	say("%s: phases done", k.Name)
	return nil
}

// stats runs btflite -j1 with --stats=json.
func (b *bench) stats(ctx context.Context, path string, extra ...string) (*encodeStats, Sample, error) {
	o, _, err := b.encode(ctx, toolBtflite, 1, path, append(extra, "--stats=json")...)
	if err != nil {
		return nil, Sample{}, err
	}
	s, err := parseStats(o.printed)
	return s, o.Sample, err
}

func (k *KernelResult) addPhase(name string, seconds float64) {
	for i := range k.Phases {
		if k.Phases[i].Name == name {
			k.Phases[i].Seconds = append(k.Phases[i].Seconds, seconds)
			return
		}
	}
	k.Phases = append(k.Phases, Phase{name, []float64{seconds}})
}

// growth runs btflite on the first sixteenth, eighth, ... of the CUs.
func (b *bench) growth(ctx context.Context) error {
	path, err := b.vmlinux(b.config.main)
	if err != nil {
		return err
	}
	k := b.results.kernel(b.config.main)
	full, _, err := b.stats(ctx, path)
	if err != nil {
		return err
	}
	k.Growth = nil
	for _, part := range []int{16, 8, 4, 2, 1} {
		limit := "--cu_limit=" + strconv.Itoa(full.CUs/part)
		var g Growth
		for range b.n {
			stats, sample, err := b.stats(ctx, path, limit)
			if err != nil && strings.Contains(err.Error(), "option") {
				say("growth is left out, this btflite has no --cu_limit: %v", err)
				return nil
			}
			if err != nil {
				return err
			}
			g.CUs, g.DIEs, g.Types = stats.CUs, stats.DIEs, stats.TypesOut
			g.Samples = append(g.Samples, sample)
		}
		k.Growth = append(k.Growth, g)
	}
	say("%s: growth done", k.Name)
	return nil
}

// floors finds the smallest memory cgroups.
func (b *bench) floors(ctx context.Context) error {
	g, err := findCgroups()
	if err != nil {
		say("the cgroup floor is left out: %v", err)
		return nil
	}
	shared, err := b.vmlinux(b.config.main)
	if err != nil {
		return err
	}
	// Pages that any other process has mapped stay in the page cache and are
	// charged to nobody here, so the runs read a copy that is theirs alone. It
	// lies beside the kernels, since a temporary folder may be in memory.
	path, err := privateCopy(shared, b.corpus)
	if err != nil {
		return err
	}
	defer os.Remove(path)
	k := b.results.kernel(b.config.main)
	k.Floors = nil
	for _, f := range []struct {
		tool       string
		jobs, step int
	}{{toolBtflite, 1, 1}, {toolBtflite, 4, 1}, {toolPahole, 1, 16}} {
		if f.tool == toolPahole && b.config.skipPaholeFloor {
			continue
		}
		free, want, err := b.encode(ctx, f.tool, f.jobs, path)
		if err != nil {
			return err
		}
		t := &trial{
			args:    b.encodeArgs(f.tool, f.jobs, b.out(f.tool), path),
			inputs:  []string{path},
			timeout: 5*time.Second + time.Duration(5*free.Wall*float64(time.Second)),
		}
		t.expectFile(b.out(f.tool), want)
		mib, at, err := t.floor(ctx, &b.runner, g, int(free.Peak>>10), f.step)
		if err != nil {
			return fmt.Errorf("%s -j%d: %w", f.tool, f.jobs, err)
		}
		k.Floors = append(k.Floors, Floor{f.tool, f.jobs, mib, f.step, at})
		say("%s: %s -j%d passes in %d MiB", k.Name, f.tool, f.jobs, mib)
		if err := b.results.save(b.config.results); err != nil {
			return err
		}
	}
	return nil
}

// privateCopy copies a file into a folder, under a new name.
func privateCopy(path, dir string) (string, error) {
	in, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	out, err := os.CreateTemp(dir, "bench-*.part")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return "", errors.Join(err, os.Remove(out.Name()))
	}
	return out.Name(), nil
}
