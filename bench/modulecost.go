package main

// Modules, continued: single ones, floors, distilled bases.

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// byName returns the module of a name, nil if the kernel has none.
func (m *moduleBench) byName(name string) *kernelModule {
	i := slices.IndexFunc(m.mods, func(k kernelModule) bool { return k.name == name })
	if i < 0 {
		return nil
	}
	return &m.mods[i]
}

// measureSingles measures some modules by themselves, and the smallest: almost all that
// it costs is the base.
func (m *moduleBench) measureSingles(ctx context.Context) error {
	m.set.Singles = nil
	for _, name := range append(slices.Clone(singles), m.mods[len(m.mods)-1].name) {
		if mod := m.byName(name); mod != nil {
			if err := m.measureSingle(ctx, mod); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *moduleBench) measureSingle(ctx context.Context, mod *kernelModule) error {
	s, base := Single{Name: mod.name}, m.base()
	if err := errors.Join(readThrough(mod.path), readThrough(base)); err != nil {
		return err
	}
	for range m.n {
		p, err := m.runner.mustRun(ctx, m.paholeArgs(base, m.out(toolPahole), mod.path))
		if err != nil {
			return err
		}
		o, err := m.runner.mustRun(ctx, m.singleArgs(base, m.out(toolBtflite), mod.path))
		if err != nil {
			return err
		}
		s.Pahole = append(s.Pahole, p.Sample)
		s.Btflite = append(s.Btflite, o.Sample)
	}
	var err error
	if s.Same, err = sameFiles(m.out(toolPahole), m.out(toolBtflite)); err != nil {
		return err
	}
	m.set.Singles = append(m.set.Singles, s)
	say("%s: %s done", m.kernel, mod.name)
	return nil
}

// measureFloors finds the memory that the largest single module and a batch at
// -j2 of the sample, which has the largest modules, need.
func (m *moduleBench) measureFloors(ctx context.Context, sampled []kernelModule) error {
	m.set.Floors = nil
	g, err := findCgroups()
	if err != nil {
		say("the cgroup floors of modules are left out: %v", err)
		return nil
	}
	mod := m.mods[0]
	if amdgpu := m.byName(singles[0]); amdgpu != nil {
		mod = *amdgpu
	}
	out := m.out(toolBtflite)
	single := &trial{args: m.singleArgs(m.base(), out, mod.path), inputs: []string{mod.path, m.base()}}
	want, err := os.ReadFile(m.paholes(mod.name))
	if err != nil {
		return err
	}
	single.expectFile(out, want)
	if err := m.floor(ctx, g, mod.name+" -j1", single, 1); err != nil {
		return err
	}
	outDir, list, err := m.batchFiles("floor", sampled)
	if err != nil {
		return err
	}
	batch := &trial{args: m.batchArgs(2, outDir, list, compatOption), inputs: []string{m.base()}}
	for _, s := range sampled {
		batch.inputs = append(batch.inputs, s.path)
	}
	batch.clean = func() error { return errors.Join(os.RemoveAll(outDir), os.Mkdir(outDir, 0o755)) }
	batch.correct = func() (bool, error) {
		for _, s := range sampled {
			if slices.Contains(m.set.Different, s.name) {
				continue
			}
			if same, err := sameFiles(filepath.Join(outDir, s.name+".ko.btf"), m.paholes(s.name)); err != nil || !same {
				return false, err
			}
		}
		return true, nil
	}
	return m.floor(ctx, g, fmt.Sprintf("batch of %d modules -j2", len(sampled)), batch, 4)
}

func (m *moduleBench) floor(ctx context.Context, g *cgroups, what string, t *trial, step int) error {
	if err := t.clean(); err != nil {
		return err
	}
	free, err := m.runner.mustRun(ctx, t.args)
	if err != nil {
		return err
	}
	t.timeout = 5*time.Second + time.Duration(5*free.Wall*float64(time.Second))
	mib, at, err := t.floor(ctx, &m.runner, g, 48, step)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	m.set.Floors = append(m.set.Floors, ModuleFloor{what, mib, step, at})
	say("%s: %s passes in %d MiB", m.kernel, what, mib)
	return nil
}

// compareDistilled encodes copies of the sample in place with the feature
// distilled_base and compares .BTF and .BTF.base.
func (m *moduleBench) compareDistilled(ctx context.Context, sampled []kernelModule) error {
	if len(sampled) == 0 {
		return nil
	}
	m.set.Distilled, m.set.DistilledDifferent = 0, nil
	dir, _, err := m.batchFiles("distilled", nil)
	if err != nil {
		return err
	}
	ours, theirs := filepath.Join(dir, "m.ko"), filepath.Join(dir, "pahole.ko")
	options := strings.Fields(m.set.Options)
	for _, mod := range sampled {
		if err := errors.Join(copyTo(mod.path, ours), copyTo(mod.path, theirs)); err != nil {
			return err
		}
		o, err := m.runner.run(ctx, 0, m.paholeArgs(m.base(), "", theirs, "--btf_features=distilled_base"))
		if err != nil {
			return err
		}
		if o.status != 0 {
			say("%s: pahole, distilled base: status %d: %s", mod.name, o.status, tail(o.printed, 400))
			continue
		}
		args := append([]string{m.config.btflite, "-J", "-j1", "--btf_base=" + m.base(), compatOption}, options...)
		if o, err = m.runner.run(ctx, 0, append(args, "--btf_features=distilled_base", ours)); err != nil {
			return err
		}
		if o.status != 0 {
			say("%s: btflite, distilled base: status %d: %s", mod.name, o.status, tail(o.printed, 400))
		}
		m.set.Distilled++
		same, err := sameSections(ours, theirs, ".BTF", ".BTF.base")
		if err != nil {
			return err
		}
		if !same {
			m.set.DistilledDifferent = append(m.set.DistilledDifferent, mod.name)
		}
	}
	say("%s, %s: %d of %d modules differ with a distilled base", m.kernel, m.set.Set, len(m.set.DistilledDifferent), m.set.Distilled)
	return os.RemoveAll(dir)
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

// sameSections compares sections of two ELF files; two files without one are the
// same.
func sameSections(a, b string, names ...string) (bool, error) {
	x, err := elf.Open(a)
	if err != nil {
		return false, err
	}
	defer x.Close()
	y, err := elf.Open(b)
	if err != nil {
		return false, err
	}
	defer y.Close()
	for _, name := range names {
		var data [2][]byte
		for i, f := range []*elf.File{x, y} {
			if s := f.Section(name); s != nil {
				if data[i], err = s.Data(); err != nil {
					return false, err
				}
			}
		}
		if !bytes.Equal(data[0], data[1]) {
			return false, nil
		}
	}
	return true, nil
}
