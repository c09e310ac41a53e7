package main

// The picture of the README: time and memory of both programs on every kernel,
// as bars. Its ground is transparent and its colours stand out from white and
// from dark pages alike.

import (
	"fmt"
	"html"
	"regexp"
	"strings"
)

const (
	plotsFolder  = "bench/plots"
	overviewFile = "overview.svg"
)

// The colours of the overview; see TestOverviewColours.
const (
	overviewText    = "#6e7781"
	overviewPahole  = "#c25451"
	overviewBtflite = "#2f81f7"
)

// Sizes of the overview in pixels: two panels side by side, two bars for each
// kernel, and the names of the kernels at the left.
const (
	overviewWidth  = 760
	overviewNames  = 112
	overviewPanel  = 318
	overviewValue  = 62 // room for the value behind a bar
	overviewTop    = 58
	overviewKernel = 52 // height of a kernel
	overviewBar    = 17
)

// compared lists the kernels that both programs were measured on with one worker.
func compared(r *Results) []*KernelResult {
	var ks []*KernelResult
	for _, k := range r.Kernels {
		if k.run(toolPahole, 1) != nil && k.run(toolBtflite, 1) != nil {
			ks = append(ks, k)
		}
	}
	return ks
}

// measure is a value of a run as the overview shows it.
type measure struct {
	title string
	unit  string
	of    func(summary) float64
}

var overviewMeasures = []measure{
	{"CPU time", "s", func(s summary) float64 { return s.CPU }},
	{"peak memory", "MiB", func(s summary) float64 { return float64(s.Peak) / 1024 }},
}

// overview draws the picture, "" if there is nothing to compare.
func overview(r *Results) string {
	kernels := compared(r)
	if len(kernels) == 0 {
		return ""
	}
	height := overviewTop + overviewKernel*len(kernels) + 4
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="13" fill="%s">`+"\n",
		overviewWidth, height, overviewWidth, height, overviewText)
	for i, k := range kernels {
		text(&b, overviewNames-12, float64(overviewTop+overviewKernel*i+24), "end", "", kernelTitle(k.Name))
	}
	for i, m := range overviewMeasures {
		m.draw(&b, kernels, float64(overviewNames+i*(overviewPanel+12)))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// draw puts the bars of one measure at x; the longest one fills the panel.
func (m *measure) draw(b *strings.Builder, kernels []*KernelResult, x float64) {
	tools := []struct{ name, color string }{{toolPahole, overviewPahole}, {toolBtflite, overviewBtflite}}
	largest := 0.0
	for _, k := range kernels {
		for _, t := range tools {
			largest = max(largest, m.of(summarize(k.run(t.name, 1).Samples)))
		}
	}
	text(b, x, 18, "start", `font-size="15" font-weight="bold"`, m.title+", -j1")
	for i, t := range tools {
		at := x + float64(i)*90
		fmt.Fprintf(b, `<rect x="%.1f" y="30" width="11" height="11" rx="2" fill="%s"/>`+"\n", at, t.color)
		text(b, at+17, 40, "start", "", t.name)
	}
	for i, k := range kernels {
		for j, t := range tools {
			v := m.of(summarize(k.run(t.name, 1).Samples))
			y := float64(overviewTop + overviewKernel*i + (overviewBar+2)*j)
			width := (overviewPanel - overviewValue) * v / largest
			fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%d" rx="2" fill="%s"/>`+"\n", x, y, width, overviewBar, t.color)
			text(b, x+width+6, y+13, "start", "", number(v)+" "+m.unit)
		}
	}
}

var kernelName = regexp.MustCompile(`^v(\d)(\d+)-(.+)$`)

// kernelTitle is a kernel's name for people: 6.12 amd64 for v612-amd64.
func kernelTitle(name string) string {
	if m := kernelName.FindStringSubmatch(name); m != nil {
		return m[1] + "." + m[2] + " " + m[3]
	}
	return name
}

func text(b *strings.Builder, x, y float64, anchor, attributes, s string) {
	if attributes != "" {
		attributes = " " + attributes
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>`+"\n", x, y, anchor, attributes, html.EscapeString(s))
}

// number is a value with three significant digits, without needless zeros.
func number(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
