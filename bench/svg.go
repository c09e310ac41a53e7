package main

// Line charts as SVG: white ground, readable axes with units, a legend, and the
// value beside each point. No script, no font files, no dependency.

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// point is one value of a series.
type point struct{ x, y float64 }

// series is one line of a chart.
type series struct {
	name   string
	color  string
	dashed bool
	points []point
}

// chart is one picture.
type chart struct {
	title, xLabel, yLabel string
	logY                  bool      // a logarithmic y axis; values must be > 0
	xTicks                []float64 // where the x axis is labelled; nil: chosen
	series                []series
}

// Colours that stay apart for colour-blind readers and in grey.
const (
	colorPahole  = "#b5403c"
	colorBtflite = "#1f6feb"
	colorScan    = "#6e7781"
)

// The picture's size and the margins around the plotted area, in pixels.
const (
	svgWidth, svgHeight     = 760, 460
	left, right, top, below = 84, 24, 84, 64
)

// axis maps values to pixels.
type axis struct {
	min, max float64
	from, to float64
	log      bool
	ticks    []float64
}

func (a *axis) at(v float64) float64 {
	lo, hi := a.min, a.max
	if a.log {
		lo, hi, v = math.Log10(lo), math.Log10(hi), math.Log10(v)
	}
	return a.from + (v-lo)/(hi-lo)*(a.to-a.from)
}

// linearAxis starts at 0 and ends at a tick at or above the largest value.
func linearAxis(largest, from, to float64) axis {
	step := niceStep(largest, 6)
	a := axis{max: math.Max(step, step*math.Ceil(largest/step-1e-9)), from: from, to: to}
	for i := 0; float64(i)*step <= a.max+step/2; i++ {
		a.ticks = append(a.ticks, float64(i)*step)
	}
	return a
}

// niceStep is the smallest 1, 2 or 5 times a power of ten that cuts a range
// into at most n parts.
func niceStep(size float64, n int) float64 {
	if size <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(size/float64(n))))
	for _, m := range []float64{1, 2, 5, 10} {
		if size <= power*m*float64(n)*(1+1e-9) {
			return power * m
		}
	}
	return power * 10
}

// logAxis reaches from the tick below the smallest to that above the largest
// value; ticks are 1, 2 and 5 times powers of ten.
func logAxis(smallest, largest, from, to float64) axis {
	a := axis{from: from, to: to, log: true}
	var all []float64
	for e := math.Floor(math.Log10(smallest)); e <= math.Ceil(math.Log10(largest)); e++ {
		for _, m := range []float64{1, 2, 5} {
			all = append(all, m*math.Pow(10, e))
		}
	}
	for i, t := range all {
		if next := i + 1; next < len(all) && all[next] <= smallest*(1+1e-9) && all[next] < largest {
			continue
		}
		a.ticks = append(a.ticks, t)
		if t >= largest*(1-1e-9) && len(a.ticks) > 1 {
			break
		}
	}
	a.min, a.max = a.ticks[0], a.ticks[len(a.ticks)-1]
	return a
}

// svg draws the chart.
func (c *chart) svg() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="13" fill="#1f2328">`+"\n",
		svgWidth, svgHeight, svgWidth, svgHeight)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", svgWidth, svgHeight)
	text(&b, svgWidth/2, 26, "middle", `font-size="17" font-weight="bold"`, c.title)
	x, y := c.axes()
	c.drawAxes(&b, &x, &y)
	c.drawLegend(&b)
	for _, s := range c.series {
		s.draw(&b, &x, &y)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// axes fits the axes to the points.
func (c *chart) axes() (x, y axis) {
	minY, maxX, maxY := math.Inf(1), 0.0, 0.0
	for _, s := range c.series {
		for _, p := range s.points {
			minY, maxX, maxY = math.Min(minY, p.y), math.Max(maxX, p.x), math.Max(maxY, p.y)
		}
	}
	x = linearAxis(maxX, left, svgWidth-right)
	if c.xTicks != nil {
		// Room on both sides: given ticks are counts, and none is 0.
		x.ticks, x.min, x.max = c.xTicks, 0.5, c.xTicks[len(c.xTicks)-1]+0.5
	}
	if c.logY && minY > 0 && !math.IsInf(minY, 1) {
		y = logAxis(minY, maxY, svgHeight-below, top)
	} else {
		y = linearAxis(maxY*1.06, svgHeight-below, top)
	}
	return x, y
}

func (c *chart) drawAxes(b *strings.Builder, x, y *axis) {
	for _, t := range y.ticks {
		at := y.at(t)
		line(b, left, at, svgWidth-right, at, "#d8dee4")
		text(b, left-8, at+4, "end", "", number(t))
	}
	for _, t := range x.ticks {
		at := x.at(t)
		line(b, at, svgHeight-below, at, svgHeight-below+5, "#1f2328")
		text(b, at, svgHeight-below+20, "middle", "", number(t))
	}
	line(b, left, svgHeight-below, svgWidth-right, svgHeight-below, "#1f2328")
	line(b, left, top, left, svgHeight-below, "#1f2328")
	text(b, (left+svgWidth-right)/2, svgHeight-18, "middle", "", c.xLabel)
	label := c.yLabel
	if y.log {
		label += ", logarithmic"
	}
	mid := (top + svgHeight - below) / 2
	text(b, 22, float64(mid), "middle", fmt.Sprintf(`transform="rotate(-90 22 %d)"`, mid), label)
}

// drawLegend puts the names in one row under the title.
func (c *chart) drawLegend(b *strings.Builder) {
	const from = 40
	width := math.Min(170, float64(svgWidth-from)/float64(max(1, len(c.series))))
	for i, s := range c.series {
		at := from + width*float64(i)
		fmt.Fprintf(b, `<line x1="%.1f" y1="52" x2="%.1f" y2="52" stroke="%s" stroke-width="2.5"%s/>`+"\n",
			at, at+28, s.color, s.dash())
		text(b, at+34, 56, "start", "", s.name)
	}
}

func (s *series) dash() string {
	if s.dashed {
		return ` stroke-dasharray="6 4"`
	}
	return ""
}

func (s *series) draw(b *strings.Builder, x, y *axis) {
	var path []string
	for _, p := range s.points {
		path = append(path, fmt.Sprintf("%.1f,%.1f", x.at(p.x), y.at(p.y)))
	}
	fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2.5"%s/>`+"\n",
		strings.Join(path, " "), s.color, s.dash())
	for _, p := range s.points {
		px, py := x.at(p.x), y.at(p.y)
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"/>`+"\n", px, py, s.color)
		// CPU time, dashed, lies above the wall time of the same colour.
		shift := 18.0
		if s.dashed || py > svgHeight-below-24 {
			shift = -9
		}
		text(b, px, py+shift, "middle", fmt.Sprintf(`font-size="11" style="fill:%s"`, s.color), number(p.y))
	}
}

func line(b *strings.Builder, x1, y1, x2, y2 float64, color string) {
	fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`+"\n", x1, y1, x2, y2, color)
}

func text(b *strings.Builder, x, y float64, anchor, attributes, s string) {
	if attributes != "" {
		attributes = " " + attributes
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>`+"\n", x, y, anchor, attributes, html.EscapeString(s))
}

// number is a value with three significant digits, without needless zeros.
func number(v float64) string {
	switch {
	case v == 0:
		return "0"
	case math.Abs(v) >= 100:
		return fmt.Sprintf("%.0f", v)
	}
	digits := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	s := fmt.Sprintf("%.*f", digits, v)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}
