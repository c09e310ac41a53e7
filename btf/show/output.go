package show

import (
	"errors"
	"io"
	"math/bits"
	"strconv"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/message"
)

// output collects text, writes it in large pieces, and remembers the first error.
type output struct {
	w       io.Writer
	err     error
	buf     []byte
	odd     bool // names are looked at before they are printed
	written int  // bytes that have gone to w
	most    int  // bytes of text, then it ends with an error
}

// bufSize is how much text is collected before it is written.
const bufSize = 64 << 10

// Flush writes what is collected and returns the first error of the writer.
func (o *output) Flush() error {
	o.written += len(o.buf)
	if o.err == nil && len(o.buf) > 0 {
		_, o.err = o.w.Write(o.buf)
	}
	o.buf = o.buf[:0]
	return o.err
}

// text adds s.
func (o *output) text(s string) { o.buf = append(o.buf, s...) }

// name adds a name. What a terminal would obey in it is escaped.
func (o *output) name(name []byte) {
	if o.odd {
		o.text(message.OneLine(string(name)))
		return
	}
	o.buf = append(o.buf, name...)
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
func (o *output) pad(start, n int) {
	n = max(n, -n)
	for o.pos()-start < n {
		o.buf = append(o.buf, ' ')
	}
}

// tabs adds n tabs.
func (o *output) tabs(n int) {
	for range n {
		o.buf = append(o.buf, '\t')
	}
}

// number adds n, right-justified in width.
func (o *output) number(n uint64, width int) {
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
		o.buf = append(o.buf, ' ')
	}
	o.buf = append(o.buf, d[i:]...)
}

// hex adds n in hexadecimal, as C's %#x does, right-justified in width.
func (o *output) hex(n uint64, width int) {
	if n == 0 {
		o.number(0, width)
		return
	}
	digits := (bits.Len64(n) + 3) / 4
	for range width - digits - len("0x") {
		o.buf = append(o.buf, ' ')
	}
	o.text("0x")
	o.buf = strconv.AppendUint(o.buf, n, 16)
}

// full writes what is collected if it is much, and tells whether to stop.
func (o *output) full() bool { return o.over() || len(o.buf) >= bufSize && o.Flush() != nil }

// pos is how many bytes have been printed.
func (o *output) pos() int { return o.written + len(o.buf) }

// errTooLong is the error for BTF that was made to become endless text: structs
// that contain each other, twice each.
var errTooLong = errors.New("btf: the text of its types has no end: they contain or refer to each other too often")

// The most text: with -E the types of a kernel need 7 bytes for each byte of BTF.
const (
	mostText    = 1 << 20
	mostPerByte = 128 // of BTF
)

// over tells whether there is more text than types can need, or an error.
func (o *output) over() bool {
	if o.err == nil && o.pos() > o.most {
		o.err = errTooLong
	}
	return o.err != nil
}
