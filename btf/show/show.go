// Package show prints types of BTF as C with offsets, sizes, holes and cache
// lines, in the text of pahole 1.32.
//
// The rules of the text were found by running pahole. Where it prints what cannot
// be meant (an array of pointers to functions, a pointer to an array), this
// package prints the same, so that the texts can be compared.
package show

import (
	"errors"
	"io"
	"math/bits"
	"strconv"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/internal/message"
)

// Printer prints types of one View.
type Printer struct {
	v         *view.View
	opt       Options
	w         io.Writer
	err       error
	buf       []byte
	lays      *view.Layouts
	line      uint64            // size of a cache line
	odd       bool              // names are looked at before they are printed
	at        uint64            // the cache line that has been entered last
	again     map[uint32]uint64 // by type: how many more are like it
	written   int               // bytes that have gone to w
	most      int               // bytes of text, then it ends with an error
	held      bool              // the text is looked at again: it is not written yet
	uncounted int               // bytes of the last closing brace's attribute of alignment
	noted     bool              // a note stands behind the last member
}

// bufSize is how much text is collected before it is written.
const bufSize = 64 << 10

// New returns a Printer that writes to w.
func New(w io.Writer, v *view.View, opt Options) *Printer {
	p := &Printer{v: v, opt: opt, w: w, line: 64, lays: view.NewLayouts(v), odd: hasOddNames(v.Blob())}
	p.most = mostText
	for b := v.Blob(); b != nil; b = b.Base {
		p.most += mostPerByte * (4*len(b.Words) + len(b.Strings))
	}
	if opt.CacheLine > 0 {
		p.line = uint64(opt.CacheLine)
		p.lays.CacheLine = p.line
	}
	return p
}

// Flush writes what is collected and returns the first error of the writer.
func (p *Printer) Flush() error {
	p.written += len(p.buf)
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
	for p.pos()-start < n {
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

// hex adds n in hexadecimal, as C's %#x does, right-justified in width.
func (p *Printer) hex(n uint64, width int) {
	if n == 0 {
		p.number(0, width)
		return
	}
	digits := (bits.Len64(n) + 3) / 4
	for range width - digits - len("0x") {
		p.buf = append(p.buf, ' ')
	}
	p.text("0x")
	p.buf = strconv.AppendUint(p.buf, n, 16)
}

// full writes what is collected if it is much, and tells whether to stop.
func (p *Printer) full() bool { return p.over() || len(p.buf) >= bufSize && p.Flush() != nil }

// pos is how many bytes have been printed.
func (p *Printer) pos() int { return p.written + len(p.buf) }

// errTooLong is the error for BTF that was made to become endless text: structs
// that contain each other, twice each.
var errTooLong = errors.New("btf: the text of its types has no end: they contain or refer to each other too often")

// The most text: with -E the types of a kernel need 7 bytes for each byte of BTF.
const (
	mostText    = 1 << 20
	mostPerByte = 128 // of BTF
)

// over tells whether there is more text than types can need, or an error.
func (p *Printer) over() bool {
	if p.err == nil && p.pos() > p.most {
		p.err = errTooLong
	}
	return p.err != nil
}
