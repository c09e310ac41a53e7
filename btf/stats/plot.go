package stats

import (
	"bytes"
	"fmt"
	"html"
	"strings"
	"unicode"

	"github.com/btflite/btflite/internal/message"
)

// Where things are in a plot, in pixels.
const (
	plotWidth  = 760
	plotLabels = 300 // the bars begin here
	plotBars   = plotWidth - plotLabels - 110
	plotRow    = 20
	plotTitle  = 34
	plotMost   = 12 // bars of a list
)

// plotStyle are the colours, for light and dark.
const plotStyle = `<style>
text { fill: #1f2328 } .back { fill: #ffffff } .types { fill: #1f6feb } .strings { fill: #bf8700 }
@media (prefers-color-scheme: dark) { text { fill: #e4e8ec } .back { fill: #14171b } .types { fill: #4c8dff } .strings { fill: #d9a62e } }
</style>
`

// bar is a line of a plot.
type bar struct {
	label string
	bytes uint64
	part  uint64 // of bytes: strings
}

// SVG returns the report as a picture: the bytes of kinds of types, of strings by their
// use, of the largest types, and the unused bytes in structs. Names are cut to fit, and
// escaped.
func (r *Report) SVG() []byte {
	var kinds, strs, largest, waste []bar
	for _, k := range r.Kinds {
		kinds = append(kinds, bar{k.Kind, k.Bytes, 0})
	}
	for _, s := range r.Strings {
		strs = append(strs, bar{s.Of, s.Bytes, s.Bytes})
	}
	for _, t := range r.Largest {
		largest = append(largest, bar{fmt.Sprintf("[%d] %s %s", t.ID, t.Kind, t.Name), t.Bytes + t.StringBytes, t.StringBytes})
	}
	for _, s := range r.Waste.Most {
		waste = append(waste, bar{fmt.Sprintf("[%d] %s", s.ID, s.Name), s.Unused, 0})
	}
	var body bytes.Buffer
	y := 44
	for _, part := range []struct {
		title string
		bars  []bar
	}{{"Types, by kind", kinds}, {"Strings, by what they are names of", strs},
		{"Largest types, with the strings that they use first", largest}, {"Most unused bytes in structs", waste}} {
		y = plotPart(&body, y, part.title, part.bars)
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="13">`+"\n",
		plotWidth, y, plotWidth, y)
	out.WriteString(plotStyle)
	fmt.Fprintf(&out, `<rect class="back" width="%d" height="%d"/>`+"\n", plotWidth, y)
	fmt.Fprintf(&out, `<text x="20" y="28" font-size="17" font-weight="bold">%s bytes of BTF: %s of %s types, %s of strings</text>`+"\n",
		message.Grouped(r.Bytes), message.Grouped(r.TypeBytes), message.Grouped(uint64(r.Types)), message.Grouped(r.StringBytes))
	out.Write(body.Bytes())
	out.WriteString("</svg>\n")
	return out.Bytes()
}

// plotPart draws a list from y on, and returns where it ends.
func plotPart(b *bytes.Buffer, y int, title string, bars []bar) int {
	if len(bars) == 0 {
		return y
	}
	bars = bars[:min(len(bars), plotMost)]
	y += plotTitle
	fmt.Fprintf(b, `<text x="20" y="%d" font-weight="bold">%s</text>`+"\n", y, html.EscapeString(title))
	most := uint64(1)
	for _, x := range bars {
		most = max(most, x.bytes)
	}
	for _, x := range bars {
		y += plotRow
		length := func(n uint64) float64 { return plotBars * float64(n) / float64(most) }
		fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="end">%s</text>`, plotLabels-8, y, plotLabel(x.label))
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%.1f" height="14" class="types"/>`, plotLabels, y-11, length(x.bytes))
		fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="14" class="strings"/>`, plotLabels+length(x.bytes)-length(x.part), y-11, length(x.part))
		fmt.Fprintf(b, `<text x="%.1f" y="%d" font-size="12">%s</text>`+"\n", plotLabels+length(x.bytes)+6, y, message.Grouped(x.bytes))
	}
	return y + plotRow
}

// plotLabel is a name as the plot has it.
func plotLabel(s string) string {
	const most = 38
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > most {
			b.WriteString("…")
			break
		}
		if !unicode.IsPrint(r) {
			r = unicode.ReplacementChar
		}
		b.WriteRune(r)
	}
	return html.EscapeString(b.String())
}
