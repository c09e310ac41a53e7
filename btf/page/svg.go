package page

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"maps"
	"slices"

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
	svgKey    = 16 // from line to line of the legend
)

// svgRows is the largest number of rows in a picture. A line of text says that there are
// more.
const svgRows = 400

// svgParts bounds the parts of a picture: types without names may contain each other
// again and again.
const svgParts = 4_000

// SVG writes a picture of the struct or union with the id: a row for each cache line,
// members in proportion, holes and padding hatched. In place of a member without a name,
// its own members are drawn. Members of a union are in rows below each other.
func SVG(w io.Writer, v *view.View, id uint32, o Options) error {
	t := v.Type(id)
	if !t.IsComposite() {
		return ErrNotComposite
	}
	p := picture{line: 8 * uint64(o.line())}
	if t.Kind() == btf.KindUnion { // one row for all of it
		p.line = 8 * max(min(t.Size(), 1<<40), 1)
	}
	p.placeAll(t, 0, 0, 0)
	p.whole = 8 * min(t.Size(), 1<<40)
	p.draw()
	return p.write(w, t)
}

// picture gathers the parts of an SVG file, and then its rows.
type picture struct {
	line  uint64 // bits in a row
	whole uint64 // bits of the type
	parts []placed
	body  bytes.Buffer
	rows  int
	drawn [len(classes)]bool
	holes [2]bool // whether holes and padding are drawn
	cut   bool    // there are more parts
}

// placed is a part of the picture. Those that a union has at one place lie in layers.
type placed struct {
	part
	layer int
}

// placeAll adds the parts of t, which begins at a bit. It returns the lowest layer used.
func (p *picture) placeAll(t view.Type, base uint64, layer, depth int) (low int) {
	low = layer
	for k, x := range layout(t) {
		x.at += base
		at := layer
		if t.Kind() == btf.KindUnion && k > 0 {
			at = low + 1
		}
		low = max(low, p.place(x, at, depth))
	}
	return low
}

// place adds one part or, if it is a member without a name, what is in that.
func (p *picture) place(x part, layer, depth int) (low int) {
	if len(p.parts) >= svgParts {
		p.cut = true
		return layer
	}
	if x.kind == 0 && len(x.m.Name()) == 0 && depth < view.MaxDepth {
		if in := x.m.Type().Resolved(); in.IsComposite() && in.Vlen() > 0 {
			return p.placeAll(in, x.at, layer, depth+1)
		}
	}
	p.parts = append(p.parts, placed{x, layer})
	return layer
}

// span returns the first and the last line of a part. A part without a size at the very
// end belongs to the last line.
func (p *picture) span(x *placed) (first, last uint64) {
	first = x.at / p.line
	if x.size == 0 && x.at > 0 && x.at >= p.whole && x.at%p.line == 0 {
		first--
	}
	if x.size == 0 {
		return first, first
	}
	return first, (x.at + x.size - 1) / p.line
}

// draw draws the parts, line by line. Of a member with many full lines it shows the first
// and last two.
func (p *picture) draw() {
	layers := map[uint64]int{}
	for i := range p.parts {
		x := &p.parts[i]
		first, last := p.span(x)
		for n := first; n <= last; n++ {
			if last-first > 5 && n == first+2 {
				n = last - 1
			}
			layers[n] = max(layers[n], x.layer)
		}
	}
	lines := slices.Sorted(maps.Keys(layers))
	for i, n := range lines {
		if i > 0 && n > lines[i-1]+1 {
			p.note(fmt.Sprintf("… %s%s", counted(n-lines[i-1]-1, "more line"), p.over(lines[i-1], n)))
		}
		if p.rows+layers[n] >= svgRows {
			p.cut = true
			break
		}
		for layer := range layers[n] + 1 {
			p.row(n, layer)
		}
		for j := range p.parts {
			x := &p.parts[j]
			if first, last := p.span(x); first <= n && n <= last {
				p.block(x, n, p.rows-1-layers[n]+x.layer)
			}
		}
	}
	if p.cut {
		p.note(fmt.Sprintf("The picture ends after %s; there is more.", counted(uint64(p.rows), "row")))
	}
}

// over names what has lines between two others.
func (p *picture) over(from, to uint64) string {
	for i := range p.parts {
		if first, last := p.span(&p.parts[i]); first <= from && last >= to {
			return " of " + label(p.parts[i].part)
		}
	}
	return ""
}

// row begins a row for a layer of a line.
func (p *picture) row(n uint64, layer int) {
	at, class := message.Grouped(n*p.line/8), "bar"
	if layer > 0 {
		at, class = "or", "bar or"
	}
	p.rows++
	p.text("at", svgLeft-8, at)
	there := min(max(p.whole, n*p.line)-n*p.line, p.line) // the last line ends with the type
	fmt.Fprintf(&p.body, `<rect class="%s" x="%d" y="%d" width="%.2f" height="%d"/>`+"\n",
		class, svgLeft, svgTop+(p.rows-1)*svgRow, float64(there)/float64(p.line)*svgWidth, svgBar)
}

// note has a line of text in place of a row.
func (p *picture) note(text string) {
	p.rows++
	p.text("note", svgLeft, text)
}

// text prints text in the last row.
func (p *picture) text(class string, x int, text string) {
	fmt.Fprintf(&p.body, `<text class="%s" x="%d" y="%d">%s</text>`+"\n", class, x, svgTop+(p.rows-1)*svgRow+17, escape(text))
}

// block draws the share of line n in a part, with the part's name if it fits.
func (p *picture) block(x *placed, n uint64, row int) {
	class := "m"
	switch {
	case x.kind == partHole:
		class, p.holes[0] = "h", true
	case x.kind == partPadding:
		class, p.holes[1] = "p", true
	case x.size == 0:
		class = "z"
	default:
		k := classOf(x.m.Type())
		p.drawn[k], class = true, fmt.Sprintf("m k%d", k)
	}
	from, to := max(x.at, n*p.line), min(x.at+x.size, (n+1)*p.line)
	px, pw := float64(from-n*p.line)/float64(p.line)*svgWidth, 0.0
	if to > from {
		pw = float64(to-from) / float64(p.line) * svgWidth
	}
	text := fit(label(x.part), pw-6)
	if class == "z" { // a mark or, where it covers nothing, its name
		if pw = 6; x.at >= p.whole {
			text = fit(label(x.part), svgWidth/4)
			pw = float64(len([]rune(text)))*svgLetter + 8
		}
		px = min(px, svgWidth-pw)
	}
	px += svgLeft
	faint := ""
	if pw < 4 && class != "z" { // else bits would be nothing but their frames
		faint = ` stroke-opacity=".4"`
	}
	y := svgTop + row*svgRow
	fmt.Fprintf(&p.body, `<rect class="%s" x="%.2f" y="%d" width="%.2f" height="%d"%s><title>%s</title></rect>`+"\n",
		class, px, y, pw, svgBar, faint, escape(describe(x.part)))
	if text != "" {
		class := ""
		if x.kind != 0 {
			class = ` class="over"` // the hatching
		}
		fmt.Fprintf(&p.body, `<text%s x="%.2f" y="%d">%s</text>`+"\n", class, px+3, y+17, escape(text))
	}
}

// legend says what the colours mean, and returns how many lines it takes.
func (p *picture) legend() (lines int) {
	x, y := float64(svgLeft), svgTop+p.rows*svgRow+4
	add := func(class, text string) {
		width := 30 + float64(len(text)+2)*svgLetter
		if lines == 0 || x+width > svgLeft+svgWidth {
			x, lines = svgLeft, lines+1
		}
		at := y + (lines-1)*svgKey
		fmt.Fprintf(&p.body, `<rect class="%s" x="%.1f" y="%d" width="22" height="11"/><text class="key" x="%.1f" y="%d">%s</text>`+"\n", class, x, at, x+27, at+10, text)
		x += width
	}
	for k, c := range classes {
		if p.drawn[k] {
			add(fmt.Sprintf("m k%d", k), c.name)
		}
	}
	if p.holes[0] {
		add("h", "hole")
	}
	if p.holes[1] {
		add("p", "padding")
	}
	return lines
}

func (p *picture) write(w io.Writer, t view.Type) error {
	keys := p.legend()
	height := svgTop + p.rows*svgRow + keys*svgKey + svgMargin
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" font-family="monospace" font-size="11">
<style>
%[7]s
</style>
<defs>
<pattern id="hole" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hole" width="2" height="6" opacity=".6"/></pattern>
<pattern id="pad" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)"><rect class="pad" width="2" height="6" opacity=".6"/></pattern>
</defs>
<rect class="back" width="%[1]d" height="%[2]d"/>
<text class="title" x="%[3]d" y="26">%[4]s, %[5]s</text>
%[6]s</svg>
`, svgLeft+svgWidth+svgMargin, height, svgMargin, escape(plainName(t)), counted(t.Size(), "byte"), p.body.Bytes(), svgStyle(p.drawn))
	return err
}

// label names a part of a layout.
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
	s += ", at byte " + message.Grouped(x.at/8)
	if x.at%8 != 0 || x.size%8 != 0 {
		return fmt.Sprintf("%s, bit %d, %s", s, x.at%8, counted(x.size, "bit"))
	}
	return s + ", " + counted(x.size/8, "byte")
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
