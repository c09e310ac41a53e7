package main

// BENCHMARKS.md from the samples: every table with the command that measures it.

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// writeReport writes BENCHMARKS.md, the picture, and the figures of the README.
func writeReport(r *Results, c *config) error {
	if len(r.Kernels) == 0 {
		return errors.New("nothing was measured")
	}
	main := r.Kernels[0]
	for _, name := range []string{c.measured, c.main} {
		if i := slices.IndexFunc(r.Kernels, func(k *KernelResult) bool { return k.Name == name }); i >= 0 {
			main = r.Kernels[i]
		}
	}
	plots := filepath.Join(c.to, plotsFolder)
	if err := os.MkdirAll(plots, 0o755); err != nil {
		return err
	}
	if picture := overview(r); picture != "" {
		if err := os.WriteFile(filepath.Join(plots, overviewFile), []byte(picture), 0o644); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(c.to, "BENCHMARKS.md"), []byte(report(r, main)), 0o644); err != nil {
		return err
	}
	return writeReadme(filepath.Join(c.to, "README.md"), r, main)
}

// report is the text of BENCHMARKS.md.
func report(r *Results, main *KernelResult) string {
	b := new(strings.Builder)
	fmt.Fprint(b, "# Benchmarks\n\nWritten by `make bench` (`go run ./bench`); do not edit. "+
		"Raw samples are in `bench/results.json`.\n\n")
	machineSection(b, r)
	timeSection(b, r)
	floorSection(b, main)
	phaseSection(b, main)
	growthSection(b, main)
	moduleSections(b, r)
	readersSection(b, r.Readers)
	recordsSection(b, r.Records)
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func machineSection(b *strings.Builder, r *Results) {
	m := r.Machine
	fmt.Fprintf(b, "Machine: %s, %d cores, %d MiB of memory; %s, Linux %s; %s; pahole %s.\n\n",
		m.CPU, m.Cores, m.Memory, m.System, m.Kernel, m.Go, m.Pahole)
	fmt.Fprint(b, "*CPU* is user and system time of all threads, *wall* is elapsed time, "+
		"*peak* is the largest resident memory (VmHWM), mapped pages of the input included. "+
		"Programs run in turns, with the input in the page cache. Figures are medians; "+
		"the range shows the fastest and slowest CPU time. *bare scan* walks all DIEs once and keeps nothing. "+
		"`scripts/kernels.sh all` fetches kernels and pahole.\n\n")
	fmt.Fprint(b, command(fmt.Sprintf("pahole  -J -jN %s --btf_encode_detached=OUT VMLINUX", m.Options),
		fmt.Sprintf("btflite -J -jN %s --btf_encode_detached=OUT VMLINUX", m.Options)))
	table(b, "l|r|r|r|r|r", "kernel|file MiB|.debug_info MiB|CUs|DIEs|same bytes as pahole", func(row func(...any)) {
		for _, k := range r.Kernels {
			if k.FileBytes == 0 {
				continue // of this one, only modules
			}
			cus, dies := "–", "–"
			if k.Stats != nil {
				cus, dies = fmt.Sprint(k.Stats.CUs), millions(k.Stats.DIEs)
			}
			row(k.Name, k.FileBytes>>20, k.DebugInfo>>20, cus, dies, yesNo(k.Same))
		}
	})
}

func timeSection(b *strings.Builder, r *Results) {
	fmt.Fprint(b, "## Time and memory\n\n")
	for _, k := range r.Kernels {
		if len(k.Runs) == 0 {
			continue
		}
		fmt.Fprintf(b, "### %s\n\n", k.Name)
		n := len(k.Runs[len(k.Runs)-1].Samples)
		fmt.Fprint(b, command(fmt.Sprintf("go run ./bench -only=time -kernels=%s -n=%d -j=%s",
			k.Name, n, joinInts(k.jobs(toolBtflite)))))
		table(b, "l|r|r|r|r|r|r|r", "program|CPU s|range|wall s|peak MiB|CPU ÷ pahole's|wall ÷|peak ÷", func(row func(...any)) {
			if s := k.run(toolScan, 0); s != nil {
				m := summarize(s.Samples)
				row(toolScan, seconds(m.CPU), span(m), seconds(m.Wall), mib(m.Peak), "", "", "")
			}
			for _, tool := range []string{toolPahole, toolBtflite} {
				for _, j := range k.jobs(tool) {
					m := summarize(k.run(tool, j).Samples)
					cpu, wall, peak := "", "", ""
					if p := k.run(toolPahole, j); p != nil && tool == toolBtflite {
						pm := summarize(p.Samples)
						cpu, wall = fraction(pm.CPU, m.CPU), fraction(pm.Wall, m.Wall)
						peak = fraction(float64(pm.Peak), float64(m.Peak))
					}
					row(fmt.Sprintf("%s -j%d", tool, j), seconds(m.CPU), span(m), seconds(m.Wall), mib(m.Peak), cpu, wall, peak)
				}
			}
		})
	}
}

func floorSection(b *strings.Builder, k *KernelResult) {
	fmt.Fprintf(b, "## The smallest memory cgroup\n\n")
	if len(k.Floors) == 0 {
		fmt.Fprint(b, "Left out: not measured, or memory cgroups could not be made on this machine.\n\n")
		return
	}
	fmt.Fprintf(b, "The least memory limit with which %s is encoded twice, with the right bytes, in at most five times "+
		"the usual wall time (and five seconds). The file is not in the page cache before, so its pages count; the program is, so its own do not. Needs root.\n\n", k.Name)
	fmt.Fprint(b, command("go run ./bench -only=floor -main="+k.Name))
	floorTable(b, "program", k.Floors)
}

func floorTable(b *strings.Builder, what string, floors []Floor) {
	table(b, "l|r|r|r|r", what+"|floor MiB|step MiB|wall s there|CPU s there", func(row func(...any)) {
		for _, f := range floors {
			row(f.What, f.MiB, f.Step, seconds(f.At.Wall), seconds(f.At.CPU))
		}
	})
}

func phaseSection(b *strings.Builder, k *KernelResult) {
	if len(k.Phases) == 0 {
		return
	}
	fmt.Fprintf(b, "## Phases\n\n`btflite -j1` on %s, as `--stats=json` reports them; medians.\n\n", k.Name)
	fmt.Fprint(b, command(fmt.Sprintf("go run ./bench -only=phases -main=%s -n=%d", k.Name, len(k.Phases[0].Seconds))))
	total := 0.0
	for _, p := range k.Phases {
		total += median(p.Seconds)
	}
	table(b, "l|r|r", "phase|ms|share", func(row func(...any)) {
		for _, p := range k.Phases {
			m := median(p.Seconds)
			row(p.Name, fmt.Sprintf("%.1f", m*1e3), fmt.Sprintf("%.0f %%", 100*m/max(total, 1e-9)))
		}
		row("sum", fmt.Sprintf("%.1f", total*1e3), "")
	})
}

func growthSection(b *strings.Builder, k *KernelResult) {
	if len(k.Growth) == 0 {
		return
	}
	fmt.Fprintf(b, "## Growth with the input\n\n`btflite -j1` on the first CUs of %s.\n\n", k.Name)
	fmt.Fprint(b, command(fmt.Sprintf("go run ./bench -only=growth -main=%s -n=%d", k.Name, len(k.Growth[0].Samples))))
	table(b, "r|r|r|r|r|r", "CUs|DIEs|types written|CPU s|ns per DIE|peak MiB", func(row func(...any)) {
		for _, g := range k.Growth {
			m := summarize(g.Samples)
			row(g.CUs, millions(g.DIEs), g.Types, seconds(m.CPU), fmt.Sprintf("%.1f", 1e9*m.CPU/float64(max(g.DIEs, 1))), mib(m.Peak))
		}
	})
}

// command is a block of command lines.
func command(lines ...string) string {
	return "```sh\n" + strings.Join(lines, "\n") + "\n```\n\n"
}

// table writes a Markdown table; align and head are cells separated by |.
func table(b *strings.Builder, align, head string, fill func(row func(...any))) {
	var rule []string
	for _, a := range strings.Split(align, "|") {
		rule = append(rule, map[string]string{"l": "---", "r": "---:"}[a])
	}
	fmt.Fprintf(b, "| %s |\n| %s |\n", strings.ReplaceAll(head, "|", " | "), strings.Join(rule, " | "))
	fill(func(cells ...any) {
		b.WriteString("|")
		for _, c := range cells {
			fmt.Fprintf(b, " %v |", c)
		}
		b.WriteString("\n")
	})
	b.WriteString("\n")
}

func seconds(s float64) string { return fmt.Sprintf("%.3f", s) }

func span(m summary) string { return fmt.Sprintf("%.3f–%.3f", m.minCPU, m.maxCPU) }

func mib(kib int64) string { return fmt.Sprintf("%.1f", float64(kib)/1024) }

func millions(n uint64) string { return fmt.Sprintf("%.2f M", float64(n)/1e6) }

// fraction is 1/N with N = whole/part.
func fraction(whole, part float64) string {
	if part <= 0 {
		return "–"
	}
	return fmt.Sprintf("1/%.1f", whole/part)
}

func yesNo(b *bool) string {
	switch {
	case b == nil:
		return "–"
	case *b:
		return "yes"
	}
	return "**no**"
}

func joinInts(v []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(v), " ", ","), "[]")
}
