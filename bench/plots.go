package main

// Which plots there are and what they show; svg.go draws them.

// plot is a chart and the file it goes to.
type plot struct {
	file string
	chart
}

// plotsOf makes the plots of a kernel from what was measured on it.
func plotsOf(k *KernelResult) []plot {
	var ps []plot
	add := func(file string, c chart) {
		for _, s := range c.series {
			if len(s.points) > 0 {
				ps = append(ps, plot{file, c})
				return
			}
		}
	}
	var jobs []float64
	for _, j := range k.jobs(toolBtflite) {
		jobs = append(jobs, float64(j))
	}
	wall := func(s summary) float64 { return s.Wall }
	cpu := func(s summary) float64 { return s.CPU }
	peak := func(s summary) float64 { return float64(s.Peak) / 1024 }
	add("time.svg", chart{
		title: "Time to encode " + k.Name, xLabel: "workers (-j)", yLabel: "seconds", logY: true, xTicks: jobs,
		series: []series{
			{name: "pahole, wall", color: colorPahole, points: k.perJob(toolPahole, wall)},
			{name: "pahole, CPU", color: colorPahole, dashed: true, points: k.perJob(toolPahole, cpu)},
			{name: "btflite, wall", color: colorBtflite, points: k.perJob(toolBtflite, wall)},
			{name: "btflite, CPU", color: colorBtflite, dashed: true, points: k.perJob(toolBtflite, cpu)},
			{name: "bare scan", color: colorScan, points: k.scanPoint(cpu)},
		},
	})
	add("memory.svg", chart{
		title: "Peak memory, " + k.Name, xLabel: "workers (-j)", yLabel: "MiB resident at most", logY: true, xTicks: jobs,
		series: []series{
			{name: "pahole", color: colorPahole, points: k.perJob(toolPahole, peak)},
			{name: "btflite", color: colorBtflite, points: k.perJob(toolBtflite, peak)},
		},
	})
	add("growth-time.svg", chart{
		title: "Time by size of the input, btflite -j1, " + k.Name, xLabel: "million DIEs", yLabel: "CPU seconds",
		series: []series{{name: "btflite -j1", color: colorBtflite, points: k.perSize(cpu)}},
	})
	add("growth-memory.svg", chart{
		title: "Peak memory by size of the input, btflite -j1, " + k.Name, xLabel: "million DIEs", yLabel: "MiB resident at most",
		series: []series{{name: "btflite -j1", color: colorBtflite, points: k.perSize(peak)}},
	})
	return ps
}

// perJob is one value of a program at each number of workers.
func (k *KernelResult) perJob(tool string, value func(summary) float64) []point {
	var ps []point
	for _, j := range k.jobs(tool) {
		ps = append(ps, point{float64(j), value(summarize(k.run(tool, j).Samples))})
	}
	return ps
}

// scanPoint is a value of the bare scan, which has one worker.
func (k *KernelResult) scanPoint(value func(summary) float64) []point {
	r := k.run(toolScan, 0)
	if r == nil {
		return nil
	}
	return []point{{1, value(summarize(r.Samples))}}
}

// perSize is one value at each size of the input.
func (k *KernelResult) perSize(value func(summary) float64) []point {
	var ps []point
	for _, g := range k.Growth {
		ps = append(ps, point{float64(g.DIEs) / 1e6, value(summarize(g.Samples))})
	}
	return ps
}
