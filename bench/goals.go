package main

// The goals that the encoder was built to, and what this run measured.

import (
	"fmt"
	"strings"
)

// goal is one line of the table: a measured value and the most it may be.
type goal struct {
	what, limit, measured string
	met                   bool
}

// goals compares a kernel's results with the limits; what was not measured is
// left out.
func goals(k *KernelResult) []goal {
	var gs []goal
	add := func(what string, value, most float64, format string) {
		gs = append(gs, goal{what, fmt.Sprintf("≤ "+format, most), fmt.Sprintf(format, value), value <= most})
	}
	of := func(tool string, jobs int) (summary, bool) {
		r := k.run(tool, jobs)
		if r == nil {
			return summary{}, false
		}
		return summarize(r.Samples), true
	}
	j1, haveJ1 := of(toolBtflite, 1)
	if p, ok := of(toolPahole, 1); ok && haveJ1 {
		add("CPU at -j1 ÷ pahole's", j1.CPU/p.CPU, 0.1, "%.3f")
	}
	if s, ok := of(toolScan, 0); ok && haveJ1 {
		add("CPU at -j1 ÷ bare scan's", j1.CPU/s.CPU, 6, "%.2f")
	}
	if j2, ok := of(toolBtflite, 2); ok && haveJ1 {
		add("wall at -j2 ÷ wall at -j1", j2.Wall/j1.Wall, 0.6, "%.2f")
	}
	if js := k.jobs(toolBtflite); haveJ1 && len(js) > 1 {
		last := js[len(js)-1]
		m, _ := of(toolBtflite, last)
		add(fmt.Sprintf("peak MiB more per worker, -j1 to -j%d", last),
			float64(m.Peak-j1.Peak)/1024/float64(last-1), 4, "%.1f")
	}
	for _, limit := range []struct{ jobs, mib int }{{1, 48}, {4, 64}} {
		if f := k.floor(toolBtflite, limit.jobs); f != nil {
			add(fmt.Sprintf("cgroup floor at -j%d, MiB", limit.jobs), float64(f.MiB), float64(limit.mib), "%.0f")
		}
	}
	if len(k.Modules) > 0 {
		moduleGoals(k.Modules[0], add)
	}
	return gs
}

// moduleGoals adds what modules are to cost.
func moduleGoals(m *ModuleSet, add func(what string, value, most float64, format string)) {
	cpu := map[string]float64{} // of btflite
	for _, s := range m.Singles {
		p, o := summarize(s.Pahole), summarize(s.Btflite)
		cpu[s.Name] = o.CPU
		if most := map[string]float64{"amdgpu": 1. / 10, "i915": 1. / 10, "xfs": 1. / 6, "veth": 1. / 2}[s.Name]; most > 0 {
			add("CPU of "+s.Name+" ÷ pahole's", o.CPU/p.CPU, most, "%.3f")
		}
		if len(s.Alone) > 0 {
			add("CPU of loading and indexing the base, ms", 1000*(o.CPU-summarize(s.Alone).CPU), 25, "%.0f")
		}
	}
	if own, other := cpu[ownBaseModule], cpu[ownBaseModule+overOwnBase]; own > 0 && other > 0 {
		add("CPU of "+ownBaseModule+overOwnBase+" ÷ over ours", other/own, 2, "%.2f")
	}
	if m.Pahole > 0 && len(m.Batch) > 0 {
		add("CPU of all modules in a batch ÷ pahole's", summarize(m.Batch).CPU/m.Pahole, 1./15, "%.3f")
	}
	for i, most := range []float64{48, 96} {
		if i < len(m.Floors) {
			add("cgroup floor of "+m.Floors[i].What+", MiB", float64(m.Floors[i].MiB), most, "%.0f")
		}
	}
}

func goalsSection(b *strings.Builder, r *Results) {
	headed := false
	for _, k := range r.Kernels {
		gs := goals(k)
		if len(gs) == 0 {
			continue
		}
		if !headed {
			fmt.Fprint(b, "## Goals\n\n")
			headed = true
		}
		fmt.Fprintf(b, "%s:\n\n", k.Name)
		table(b, "l|r|r|l", "goal|limit|measured|met", func(row func(...any)) {
			for _, g := range gs {
				row(g.what, g.limit, g.measured, yesNo(&g.met))
			}
		})
	}
}
