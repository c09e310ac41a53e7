package show

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/blocks"
	"github.com/btflite/btflite/internal/message"
)

// output collects text and writes it in large pieces.
type output struct {
	to    blocks.Writer
	buf   []byte
	cut   int   // tabs that were left out: see mostTabs
	limit limit // of the text, then it ends with an error
	held  bool  // the text is looked at again: it is not written yet
}

// mostHeld is how much text is held. More is made by structs that contain each other over and
// over.
const mostHeld = 4 << 20

// flush writes what is collected and returns the first error of the writer.
func (o *output) flush() error {
	o.buf = o.to.All(o.buf)
	return o.to.Err
}

func (o *output) text(s string) { o.buf = append(o.buf, s...) }

// name adds a name. What a terminal would obey in it is escaped.
func (o *output) name(name []byte) { o.buf = appendPrintable(o.buf, name) }

// appendPrintable appends a name. What a terminal would obey in it is escaped.
func appendPrintable(dst, name []byte) []byte {
	if btf.IsPlain(name) {
		return append(dst, name...)
	}
	return append(dst, message.OneLine(string(name))...)
}

// orAnonymous is the name, or what stands for none.
func orAnonymous(name []byte) []byte {
	if len(name) > 0 {
		return name
	}
	return []byte("(anonymous)")
}

// pad adds spaces until n bytes have come since start, or -n if n is negative, as
// in C's printf.
func (o *output) pad(start, n int) {
	n = max(n, -n) - (o.pos() - start)
	for ; n > len(spaces); n -= len(spaces) {
		o.buf = append(o.buf, spaces...)
	}
	if n > 0 {
		o.buf = append(o.buf, spaces[:n]...)
	}
}

const spaces = "                                                                "

// tabs adds n tabs, as appendTabs does.
func (o *output) tabs(n int) {
	o.buf = appendTabs(o.buf, n)
	o.cut += max(n-mostTabs, 0)
}

// mostTabs is how many tabs a line begins with, however deep it is.
const mostTabs = 16

// appendTabs adds n tabs, but no more than mostTabs. Most structs need one.
func appendTabs(b []byte, n int) []byte {
	for range min(n, mostTabs) {
		b = append(b, '\t')
	}
	return b
}

// number adds n, right-justified in width.
func (o *output) number(n uint64, width int) {
	if width <= 1 {
		o.buf = strconv.AppendUint(o.buf, n, 10)
		return
	}
	for digits, more := 1, n; ; digits++ {
		if more /= 10; more == 0 {
			width = max(width, digits)
			break
		}
	}
	o.buf = append(o.buf, spaces[:width]...)
	digits(o.buf[len(o.buf)-width:], n)
}

// digits writes n, right-justified, into b.
func digits(b []byte, n uint64) {
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = byte('0' + n%10)
		if n /= 10; n == 0 {
			return
		}
	}
}

// five is the first number of more than five digits.
const five = 100_000

// appendPlace adds the comment with an offset and a size, both below five, each
// right-justified in five columns.
func appendPlace(b []byte, at, size uint64) []byte {
	o := binary.LittleEndian
	b = o.AppendUint64(b, '/'|'*'<<8|' '<<16|inFive(at)<<24)
	b = o.AppendUint64(b, ' '|inFive(size)<<8|' '<<48|'*'<<56)
	return append(b, '/', '\n')
}

// inFive is the text of n, right-justified in five bytes, the first one the lowest.
func inFive(n uint64) uint64 {
	text, shift, m := uint64(0x2020202020), 4*8, uint32(n)
	for ; m >= 10; m /= 10 { // most numbers have one digit, which needs no division
		text += uint64(m%10+'0'-' ') << (shift & 63)
		shift -= 8
	}
	return text + uint64(m+'0'-' ')<<(shift&63)
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

// count adds "1 byte" or "2 bytes".
func (o *output) count(n uint64, word string) {
	o.number(n, 0)
	o.text(" ")
	o.text(word)
	if n != 1 {
		o.text("s")
	}
}

// note adds a part of a comment with a number, at the indentation.
func (o *output) note(indent int, what string, n uint64, rest string) {
	b := append(appendTabs(o.buf, indent), what...)
	o.buf = append(strconv.AppendUint(b, n, 10), rest...)
}

// full writes the collected text if it is long, and reports whether to stop. Text that is
// held is written only if there is too much of it, and is no longer held then.
func (o *output) full() bool {
	if o.held && len(o.buf) < mostHeld {
		return o.to.Err != nil
	}
	o.held = false
	if o.to.Err == nil && len(o.buf) >= blocks.Size && !o.over() {
		o.buf = o.to.Whole(o.buf)
	}
	return o.to.Err != nil
}

// pos is how many bytes have been printed, with tabs that were left out: these count in
// the width of a column.
func (o *output) pos() int { return o.to.Written + len(o.buf) + o.cut }

// over reports whether there is more text than types can need, or an error.
func (o *output) over() bool {
	if o.to.Err == nil && o.to.Written+len(o.buf) > o.limit.end {
		o.to.Err = o.limit.beyond()
	}
	return o.to.Err != nil
}

// errTooLong is the error for BTF that was made to become endless text: structs
// that contain each other, twice each.
var errTooLong = errors.New("btf: the text of its types has no end: they contain or refer to each other too often")

// errTooMuch is the error for BTF that was made to become very much text, though each type has an
// end.
var errTooMuch = errors.New("btf: the text of its types is too much: they contain each other too deep and too often")

// errTooDeep is the error for types that contain themselves, or that are deeper in each other than
// in any program.
var errTooDeep = fmt.Errorf("btf: more than %d types are in each other: they contain themselves, or no program has them", maxIndent)

// limit is how much text there may be.
type limit struct {
	all, one int // bytes of all types, of one type
	end      int // bytes up to which the text of the type in work may reach
}

// All types together may have mostTexts bytes of text, and one type may have mostText. Both limits
// grow by mostPerByte for each byte of BTF. All types of a kernel together need 7 bytes for each byte
// of BTF with -E. A chain of N structs in each other needs more: each line is indented by up to N
// columns, so one struct has text of the order of N² bytes, and the whole chain of N³. The limits have
// room for maxIndent such structs. If each struct contains the next one twice, a few lines of BTF
// become more text than any limit allows. The limit of one type ends that early.
const (
	mostTexts   = 1 << 30
	mostText    = 1 << 20
	mostPerByte = 128
)

// limitFor is the limit for so many bytes of BTF.
func limitFor(n int) limit {
	more := min(uint64(n)*mostPerByte, math.MaxInt/4) // so that text beyond the limit can be counted on 32-bit hosts, too
	l := limit{all: mostTexts + int(more), one: mostText + int(min(more, mostTexts))}
	l.begin(0)
	return l
}

// begin notes that the text of a type begins after so many bytes.
func (l *limit) begin(at int) { l.end = at + min(l.one, l.all-at) }

// beyond is the error for text that goes on behind the end.
func (l *limit) beyond() error {
	if l.end == l.all {
		return errTooMuch
	}
	return errTooLong
}
