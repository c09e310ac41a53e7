package main

// What modules cost: single ones, all of them, and the memory that they need. After
// that, the part of BENCHMARKS.md about modules.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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

// paholeCost measures pahole on the sample and estimates the CPU seconds of all modules.
func (m *moduleBench) paholeCost(ctx context.Context) (float64, error) {
	var of [2]float64
	for i, part := range [][]corpus.Module{m.largest, m.others} {
		for _, mod := range part {
			if err := readThrough(mod.Path); err != nil {
				return 0, err
			}
			o, err := m.runner.mustRun(ctx, m.over(toolPahole, mod.Path, nil).args)
			if err != nil {
				return 0, err
			}
			of[i] += o.CPU
		}
	}
	sum := of[0]
	if len(m.others) > 0 {
		sum += of[1] / float64(len(m.others)) * float64(len(m.mods)-len(m.largest))
	}
	say("%s, %s: pahole needs %.1f s for all modules, from %d", m.kernel, m.set.Set, sum, len(m.sampled()))
	return sum, nil
}

// measureBatch measures the batch of all modules, and pahole before each round of it: its runs take
// minutes, and a machine may be slower in one of them than in the next.
func (m *moduleBench) measureBatch(ctx context.Context) error {
	m.set.Jobs, m.set.Batch = m.batchJobs(), nil
	m.set.Sampled = len(m.sampled())
	t, err := m.batch(m.set.Jobs, m.mods)
	if err != nil {
		return err
	}
	var sums []float64
	t.series = &m.set.Batch
	t.before = func() error {
		sum, err := m.paholeCost(ctx)
		if err != nil {
			return err
		}
		sums = append(sums, sum)
		for _, mod := range m.mods { // gigabytes: some have left the page cache since the last round
			if err := readThrough(mod.Path); err != nil {
				return err
			}
		}
		return nil
	}
	if err := m.inTurns(ctx, m.kernel+", all modules", t); err != nil {
		return err
	}
	m.set.Pahole = median(sums)
	return nil
}

// measureFloors finds the memory that the largest of the single modules and a batch at
// -j2 of the sample, which has the largest modules, need.
func (m *moduleBench) measureFloors(ctx context.Context) error {
	mod := m.mods[max(0, slices.IndexFunc(m.mods, func(mod corpus.Module) bool { return mod.Name == singles[0] }))]
	many, err := m.batch(2, m.sampled())
	if err != nil {
		return err
	}
	inputs := []string{m.base()}
	for _, s := range m.sampled() {
		inputs = append(inputs, s.Path)
	}
	return m.smallest(ctx, m.kernel, &m.set.Floors,
		trial{turn: m.over(toolBtflite, mod.Path, nil), what: mod.Name + " -j1", inputs: []string{m.base(), mod.Path}, step: 1},
		trial{turn: many, what: fmt.Sprintf("batch of %d modules -j2", len(m.sampled())), inputs: inputs, step: 4})
}

// moduleSections writes what is known of modules.
func moduleSections(b *strings.Builder, r *Results) {
	with := slices.DeleteFunc(slices.Clone(r.Kernels), func(k *KernelResult) bool { return len(k.Modules) == 0 })
	if len(with) == 0 {
		return
	}
	fmt.Fprint(b, "## Modules\n\nEach module over its own kernel's BTF, compared with pahole's output byte by byte "+
		"(`"+compatOption+"`: pahole 1.32 uses libbpf 1.7, which finds no typedef of the base).\n\n")
	fmt.Fprint(b, command("go run ./bench -only=modules,modulecosts -all_modules -kernels="+with[0].Name))
	for _, f := range featureSets {
		fmt.Fprintf(b, "*%s*: `%s`. ", f.name, f.options)
	}
	fmt.Fprint(b, "*distilled* adds `--btf_features=distilled_base`, in place, on a sample.\n\n")
	table(b, "l|l|r|r|r|l", "kernel|set|vmlinux|modules identical|distilled identical|different", func(row func(...any)) {
		for _, k := range with {
			for _, m := range k.Modules {
				row(k.Name, m.Set, yesNo(&m.VmlinuxSame), ofAll(m.Different, m.Compared, m.Modules),
					ofAll(m.DistilledDifferent, m.Distilled, m.Distilled), names(m.Different, m.DistilledDifferent))
			}
		}
	})
	for _, k := range with {
		for _, m := range k.Modules {
			moduleCosts(b, k, m)
		}
	}
}

// ofAll is "n of N", N being those compared, with how many there are if more.
func ofAll(different []string, compared, all int) string {
	if compared == 0 {
		return "–"
	}
	s := fmt.Sprintf("%d of %d", compared-len(different), compared)
	if all > compared {
		s += fmt.Sprintf(" (%d there are)", all)
	}
	return s
}

// names are those in the lists, sorted, at most ten and how many more.
func names(lists ...[]string) string {
	const most = 10
	all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(lists...))))
	if len(all) > most {
		all = append(all[:most:most], fmt.Sprintf("%d more", len(all)-most))
	}
	return strings.Join(all, ", ")
}

// moduleCosts writes the tables of one kernel and set, as far as measured.
func moduleCosts(b *strings.Builder, k *KernelResult, m *ModuleSet) {
	if len(m.NoReference) > 0 {
		fmt.Fprintf(b, "pahole failed on %d modules of %s (%s): %s.\n\n", len(m.NoReference), k.Name, m.Set, names(m.NoReference))
	}
	if m.Sampled == 0 {
		return
	}
	fmt.Fprintf(b, "### Modules of %s\n\n", k.Name)
	batch := summarize(m.Batch)
	fmt.Fprintf(b, "All %d modules in one run, `btflite modules -j%d`. The sum of pahole's runs is estimated from %d modules: "+
		"the ten largest, and a sample of the others by size.\n\n", m.Modules, m.Jobs, m.Sampled)
	table(b, "l|r|r|r|r", "program|CPU s|wall s|peak MiB|CPU ÷ pahole's", func(row func(...any)) {
		row("pahole, one by one", fmt.Sprintf("%.1f", m.Pahole), "", "", "")
		row(fmt.Sprintf("btflite modules -j%d", m.Jobs), fmt.Sprintf("%.1f", batch.CPU), fmt.Sprintf("%.1f", batch.Wall),
			mib(batch.Peak), fraction(m.Pahole, batch.CPU))
	})
	if len(m.Singles) > 0 {
		fmt.Fprint(b, "Single modules, with the start of the process and the base. The smallest shows the cost of the base.\n\n")
		table(b, "l|r|r|r|r|r|r", "module|pahole CPU s|peak MiB|btflite CPU s|peak MiB|CPU ÷ pahole's|same bytes", func(row func(...any)) {
			for _, s := range m.Singles {
				p, o := summarize(s.Pahole), summarize(s.Btflite)
				row(s.Name, seconds(p.CPU), mib(p.Peak), seconds(o.CPU), mib(o.Peak), fraction(p.CPU, o.CPU), yesNo(&s.Same))
			}
		})
	}
	if len(m.Floors) > 0 {
		fmt.Fprint(b, "The smallest memory cgroups, with the right bytes and cold files, but the program in the page cache.\n\n")
		floorTable(b, "run", m.Floors)
	}
}
