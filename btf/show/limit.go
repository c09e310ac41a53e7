package show

import (
	"errors"
	"fmt"
	"math"
)

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
	more := min(uint64(n)*mostPerByte, math.MaxInt-mostTexts)
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
