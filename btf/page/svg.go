package page

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"html"
	"io"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/internal/message"
)

// The measures of a picture, in pixels.
const (
	svgWidth  = 820 // of a row
	svgRow    = 30  // from row to row
	svgBar    = 26
	svgLeft   = 60 // for the offsets
	svgTop    = 44 // for the title
	svgLetter = 6.6
	svgMargin = 10
)

// svgRows is the greatest number of rows in a picture. What lies behind them is
// told by a line of text.
const svgRows = 400

// SVG writes a picture of the struct or union with the id: a row for each cache
// line, members in proportion, holes and padding hatched.
func SVG(w io.Writer, v *view.View, id uint32, o Options) error {
	t := v.Type(id)
	if !t.IsComposite() {
		return ErrNotComposite
	}
	p := picture{line: 8 * uint64(o.line())}
	if t.Kind() == btf.KindUnion {
		p.union(t)
	} else {
		p.structure(t)
	}
	return p.write(w, t)
}

// picture gathers the rows of an SVG file.
type picture struct {
	line uint64 // bits in a row
	body bytes.Buffer
	rows int
	cut  bool
	at   map[uint64]int // rows by number of the cache line
}

// row begins a row that begins at a byte of the type, and returns its number; -1
// if there is no room.
func (p *picture) row(at uint64) int {
	if p.rows == svgRows {
		p.cut = true
		return -1
	}
	y := svgTop + p.rows*svgRow
	fmt.Fprintf(&p.body, `<text class="at" x="%d" y="%d">%d</text><rect class="bar" x="%d" y="%d" width="%d" height="%d"/>`+"\n",
		svgLeft-8, y+17, at, svgLeft, y, svgWidth, svgBar)
	p.rows++
	return p.rows - 1
}

// union draws each member from the left, in proportion to the whole.
func (p *picture) union(t view.Type) {
	whole := max(8*t.Size(), 1)
	for _, x := range layout(t) {
		if row := p.row(0); row >= 0 {
			p.block(row, x, 0, min(1, float64(x.size)/float64(whole)), true)
		}
	}
}

// structure draws the members where they lie in cache lines.
func (p *picture) structure(t view.Type) {
	p.at = map[uint64]int{}
	for _, x := range layout(t) {
		first, last := x.at/p.line, (x.at+max(x.size, 1)-1)/p.line
		for n := first; n <= last && !p.cut; n++ {
			if n == first+2 && last-first > 5 { // full lines of one member
				p.note(fmt.Sprintf("… %d more lines of %s", last-first-3, label(x)))
				n = last - 1
			}
			row, ok := p.at[n]
			if !ok {
				if row = p.row(n * p.line / 8); row < 0 {
					break
				}
				p.at[n] = row
			}
			from, to := max(x.at, n*p.line), min(x.at+x.size, (n+1)*p.line)
			if to > from {
				p.block(row, x, float64(from-n*p.line)/float64(p.line), float64(to-from)/float64(p.line), n == first)
			}
		}
	}
}

// note has a line of text in place of a row.
func (p *picture) note(text string) {
	if p.rows < svgRows {
		fmt.Fprintf(&p.body, `<text class="note" x="%d" y="%d">%s</text>`+"\n", svgLeft, svgTop+p.rows*svgRow+17, escape(text))
		p.rows++
	}
}

// block draws a part of a row, from left on, both of 1; with its name if it fits.
func (p *picture) block(row int, x part, left, width float64, named bool) {
	class, fill := "m", ""
	switch x.kind {
	case partHole:
		class = "h"
	case partPadding:
		class = "p"
	default:
		h := fnv.New32a()
		h.Write(x.m.Name())
		fill = fmt.Sprintf(` fill="hsl(%d 55%% 75%%)"`, h.Sum32()%360)
	}
	px, pw, y := svgLeft+left*svgWidth, width*svgWidth, svgTop+row*svgRow
	fmt.Fprintf(&p.body, `<rect class="%s" x="%.2f" y="%d" width="%.2f" height="%d"%s><title>%s</title></rect>`+"\n",
		class, px, y, pw, svgBar, fill, escape(describe(x)))
	if text := fit(label(x), pw-6); named && text != "" {
		fmt.Fprintf(&p.body, `<text x="%.2f" y="%d">%s</text>`+"\n", px+3, y+17, escape(text))
	}
}

// write writes the file.
func (p *picture) write(w io.Writer, t view.Type) error {
	if p.cut {
		p.rows++
		fmt.Fprintf(&p.body, `<text class="note" x="%d" y="%d">The picture ends after %d rows.</text>`+"\n", svgLeft, svgTop+svgRows*svgRow+17, svgRows)
	}
	height := svgTop + p.rows*svgRow + svgMargin
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" font-family="monospace" font-size="11">
<style>
.back { fill: #fff } text { fill: #1b1f24 } .bar { fill: none; stroke: #d5dae0 } .at, .note { fill: #5c6670 } .at { text-anchor: end }
.m { stroke: #fff } .h { fill: url(#hole) } .p { fill: url(#pad) } .title { font-size: 14px; font-weight: bold }
</style>
<defs>
<pattern id="hole" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="2" height="6" fill="#c4392f" opacity=".6"/></pattern>
<pattern id="pad" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)"><rect width="2" height="6" fill="#8a6d1f" opacity=".6"/></pattern>
</defs>
<rect class="back" width="%[1]d" height="%[2]d"/>
<text class="title" x="%[3]d" y="26">%[4]s, %[5]d bytes</text>
%[6]s</svg>
`, svgLeft+svgWidth+svgMargin, height, svgMargin, escape(plainName(t)), t.Size(), p.body.Bytes())
	return err
}

// label is what a part of a layout is called.
func label(x part) string {
	switch {
	case x.kind == partHole:
		return "hole"
	case x.kind == partPadding:
		return "padding"
	case len(x.m.Name()) > 0:
		return string(x.m.Name())
	}
	return typeText(x.m.Type())
}

// describe is a part with its place and size.
func describe(x part) string {
	s := label(x)
	if x.kind == 0 && len(x.m.Name()) > 0 {
		s += ": " + typeText(x.m.Type())
	}
	if x.at%8 != 0 || x.size%8 != 0 {
		return fmt.Sprintf("%s, at byte %d, bit %d, %d bits", s, x.at/8, x.at%8, x.size)
	}
	return fmt.Sprintf("%s, at byte %d, %d bytes", s, x.at/8, x.size/8)
}

// fit is as much of a text as there is room for, "" for none.
func fit(s string, width float64) string {
	n := int(width / svgLetter)
	switch r := []rune(s); {
	case len(r) <= n:
		return s
	case n < 3:
		return ""
	default:
		return string(r[:n-1]) + "…"
	}
}

// escape is a text as XML has it, and nothing in it that is not shown.
func escape(s string) string {
	return html.EscapeString(message.OneLine(s)) // the same five characters as in HTML
}
