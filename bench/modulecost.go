package main

// What modules cost: single ones, all of them, and the memory that they need.

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/btflite/btflite/test/corpus"
)

// singles are the modules that are measured one by one.
var singles = []string{"amdgpu", "i915", "xfs", "veth"}

// moduleCosts is the part "modulecosts".
func (b *bench) moduleCosts(ctx context.Context) error {
	return b.eachModuleSet(featureSets[:1], func(m *moduleBench) error {
		if m.set.Compared == 0 {
			return errors.New("no bytes have been compared: the part modules comes first")
		}
		if err := m.measureSingles(ctx); err != nil {
			return err
		}
		if err := m.paholeCost(ctx); err != nil {
			return err
		}
		if err := m.measureBatch(ctx); err != nil {
			return err
		}
		return m.measureFloors(ctx)
	})
}

// measureSingles measures some modules by themselves, and the smallest: almost all that
// it costs is the base.
func (m *moduleBench) measureSingles(ctx context.Context) error {
	m.set.Singles = nil
	smallest := m.mods[len(m.mods)-1].Name
	for _, mod := range m.mods {
		if !slices.Contains(singles, mod.Name) && mod.Name != smallest {
			continue
		}
		if err := errors.Join(readThrough(mod.Path), readThrough(m.base())); err != nil {
			return err
		}
		s := &Single{Name: mod.Name, Same: true}
		m.set.Singles = append(m.set.Singles, s)
		turns := pair(m.over(toolPahole, mod.Path, &s.Pahole), m.over(toolBtflite, mod.Path, &s.Btflite), &s.Same)
		if err := m.inTurns(ctx, m.kernel+", "+mod.Name, turns...); err != nil {
			return err
		}
	}
	return nil
}

// paholeCost measures pahole on the sample and estimates the sum.
func (m *moduleBench) paholeCost(ctx context.Context) error {
	var of [2]float64
	for i, part := range [][]corpus.Module{m.largest, m.others} {
		for _, mod := range part {
			o, err := m.runner.mustRun(ctx, m.over(toolPahole, mod.Path, nil).args)
			if err != nil {
				return err
			}
			of[i] += o.CPU
		}
	}
	m.set.Sampled = len(m.largest) + len(m.others)
	m.set.Pahole = of[0]
	if len(m.others) > 0 {
		m.set.Pahole += of[1] / float64(len(m.others)) * float64(len(m.mods)-len(m.largest))
	}
	say("%s, %s: pahole needs %.1f s for all modules, from %d", m.kernel, m.set.Set, m.set.Pahole, m.set.Sampled)
	return nil
}

// measureBatch measures the batches of all modules.
func (m *moduleBench) measureBatch(ctx context.Context) error {
	m.set.Jobs, m.set.Batch = m.batchJobs(), nil
	t, err := m.batch(m.set.Jobs, m.mods)
	if err != nil {
		return err
	}
	t.series = &m.set.Batch
	return m.inTurns(ctx, m.kernel+", all modules", t)
}

// measureFloors finds the memory that the largest of the single modules and a batch at
// -j2 of the sample, which has the largest modules, need.
func (m *moduleBench) measureFloors(ctx context.Context) error {
	mod := m.mods[max(0, slices.IndexFunc(m.mods, func(mod corpus.Module) bool { return mod.Name == singles[0] }))]
	one := m.over(toolBtflite, mod.Path, nil)
	many, err := m.batch(2, m.sampled())
	if err != nil {
		return err
	}
	inputs := []string{m.base()}
	for _, s := range m.sampled() {
		inputs = append(inputs, s.Path)
	}
	return m.smallest(ctx, m.kernel, &m.set.Floors,
		trial{what: mod.Name + " -j1", args: one.args, inputs: []string{m.base(), mod.Path}, out: one.out, step: 1},
		trial{what: fmt.Sprintf("batch of %d modules -j2", len(m.sampled())), args: many.args, inputs: inputs, out: many.out, step: 4})
}
