package main

// Modules: their part of BENCHMARKS.md.

import (
	"fmt"
	"slices"
	"strings"
)

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
	all := slices.Sorted(slices.Values(slices.Concat(lists...)))
	all = slices.Compact(all)
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
		fmt.Fprint(b, "The smallest memory cgroups, with the right bytes and cold files.\n\n")
		floorTable(b, "run", m.Floors)
	}
}
