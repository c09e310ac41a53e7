// Package show prints types of BTF as C with offsets, sizes, holes and cache
// lines, in the text of pahole 1.32.
//
// The rules of the text were found by running pahole. Where it prints what cannot
// be meant (an array of pointers to functions, a pointer to an array), this
// package prints the same, so that the texts can be compared.
package show

import (
	"io"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/internal/message"
)

// Options say how types are printed. The zero value is as pahole prints without
// options.
type Options struct {
	CacheLine int // bytes; 0: 64
}

// Printer prints types of one View.
type Printer struct {
	v         *view.View
	opt       Options
	w         io.Writer
	err       error
	buf       []byte
	lays      *view.Layouts
	line      uint64 // size of a cache line
	odd       bool   // names are looked at before they are printed
	at        uint64 // the cache line that has been entered last
	uncounted int    // bytes of the last closing brace's attribute of alignment
	noted     bool   // a note stands behind the last member
}

// bufSize is how much text is collected before it is written.
const bufSize = 64 << 10

// New returns a Printer that writes to w.
func New(w io.Writer, v *view.View, opt Options) *Printer {
	p := &Printer{v: v, opt: opt, w: w, line: 64, lays: view.NewLayouts(v), odd: hasOddNames(v.Blob())}
	if opt.CacheLine > 0 {
		p.line = uint64(opt.CacheLine)
	}
	return p
}

// Flush writes what is collected and returns the first error of the writer.
func (p *Printer) Flush() error {
	if p.err == nil && len(p.buf) > 0 {
		_, p.err = p.w.Write(p.buf)
	}
	p.buf = p.buf[:0]
	return p.err
}

// text adds s.
func (p *Printer) text(s string) { p.buf = append(p.buf, s...) }

// name adds a name. What a terminal would obey in it is escaped.
func (p *Printer) name(name []byte) {
	if p.odd {
		p.text(message.OneLine(string(name)))
		return
	}
	p.buf = append(p.buf, name...)
}

// hasOddNames tells whether a name of b may have anything but printable ASCII.
func hasOddNames(b *btf.Blob) bool {
	for ; b != nil; b = b.Base {
		for _, c := range b.Strings {
			if c-1 < 0x1f || c >= 0x7f {
				return true
			}
		}
	}
	return false
}

// pad adds spaces until n bytes have come since start, or -n if n is negative, as
// in C's printf.
func (p *Printer) pad(start, n int) {
	n = max(n, -n)
	for len(p.buf)-start < n {
		p.buf = append(p.buf, ' ')
	}
}

// tabs adds n tabs.
func (p *Printer) tabs(n int) {
	for range n {
		p.buf = append(p.buf, '\t')
	}
}

// number adds n, right-justified in width.
func (p *Printer) number(n uint64, width int) {
	var d [20]byte
	i := len(d)
	for {
		i--
		d[i] = byte('0' + n%10)
		n /= 10
		if n == 0 {
			break
		}
	}
	for range width - (len(d) - i) {
		p.buf = append(p.buf, ' ')
	}
	p.buf = append(p.buf, d[i:]...)
}

// All prints every struct and union that has a name, in the order of ids.
func (p *Printer) All() error {
	known := newSeen()
	for t := range p.v.Own() {
		if !t.IsComposite() || len(t.Name()) == 0 || !known.add(t) {
			continue
		}
		p.Type(t)
		if len(p.buf) >= bufSize && p.Flush() != nil {
			break
		}
	}
	return p.Flush()
}

// Type prints one struct or union.
func (p *Printer) Type(t view.Type) {
	p.at = 0
	width := 21
	if t.Kind() == btf.KindUnion {
		width = 19
	}
	p.composite(t, form{typeWidth: 26, nameWidth: width, top: true, inUnion: t.Kind() == btf.KindUnion})
	p.text(";\n")
}
