package rawdata

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/blocks"
	"github.com/btflite/btflite/btf/view"
	"github.com/btflite/btflite/internal/message"
)

// Printer prints records of one View.
type Printer struct {
	to   blocks.Writer
	v    *view.View
	lays *view.Layouts
	buf  []byte
	hex  bool

	long []byte // a record that is shorter than its struct, then zeros
	head int    // bytes of long that may not be zero

	around []uint32 // ids of the structs and unions around the one that is printed
	idle   int      // for unions without a name, in bytes of text that would have taken as long
}

// NewPrinter returns a Printer that writes to w, numbers in hexadecimal if hex is set.
func NewPrinter(w io.Writer, v *view.View, hex bool) *Printer {
	return &Printer{to: blocks.Writer{W: w}, v: v, lays: view.NewLayouts(v), hex: hex}
}

// Flush writes what is collected and returns the first error of the writer.
func (p *Printer) Flush() error {
	p.buf = p.to.All(p.buf)
	return p.to.Err
}

func (p *Printer) text(s string) { p.buf = append(p.buf, s...) }

// name adds a name or a string. What a terminal would obey in it is escaped.
func (p *Printer) name(s []byte) { p.text(message.OneLine(string(s))) }

// record is one that is printed. What the data lacks is zero.
type record struct {
	*Printer
	c    *Class
	data []byte
	real uint64 // bytes of data that are there
}

func (p *Printer) record(c *Class, t view.Type, data []byte) {
	before := len(p.buf)
	r := record{p, c, data, uint64(len(data))}
	if n := t.Size(); n > r.real {
		r.data = p.lengthened(data, n)
	}
	if t.Kind() == btf.KindStruct {
		r.members(t, 0, 0)
	} else {
		r.bytes(0, t.Size())
	}
	p.text(",\n")
	p.idle = max(0, p.idle-idleUnion*(len(p.buf)-before))
	if len(p.buf) >= blocks.Size {
		p.buf = p.to.Whole(p.buf)
	}
}

// lengthened returns data with zeros behind it, n bytes in all. They are valid until the next call. What
// it costs does not depend on n: a record of some bytes may be of a struct with megabytes.
func (p *Printer) lengthened(data []byte, n uint64) []byte {
	if uint64(len(p.long)) < n {
		p.long, p.head = make([]byte, n), 0
	}
	clear(p.long[:p.head])
	p.head = copy(p.long, data)
	return p.long[:n]
}

// maxDepth is how deep structs and unions are printed. One that is in itself is not printed
// there again.
const maxDepth = 64

// members adds a struct or union at an offset, in braces.
func (r record) members(t view.Type, at uint64, indent int) {
	r.text("{")
	r.inBraces(t, at, indent)
	r.text("\n")
	r.tabs(indent)
	r.text("}")
}

func (r record) tabs(n int) {
	for range n {
		r.text("\t")
	}
}

// inBraces adds the members: each with a name on a line of its own. The members of a
// union without a name are among the others, a struct without one has its brace at the
// end of the line before, as in pahole.
func (r record) inBraces(t view.Type, at uint64, indent int) {
	if r.to.Err == nil && len(r.buf)+r.idle > maxText {
		r.to.Err = fmt.Errorf("the text of a record of type %s has more than %d MiB: its members lie over each other", message.OneLine(string(r.c.Type.Name())), maxText>>20)
	}
	if len(r.around) == maxDepth || slices.Contains(r.around, t.ID) || r.to.Err != nil {
		return
	}
	r.around = append(r.around, t.ID)
	defer func() { r.around = r.around[:len(r.around)-1] }()
	l := r.lays.Of(t)
	for i := range l.Rows {
		m := &l.Rows[i]
		of, offset := m.Type(), at+m.Byte
		if m.NameOff == 0 && of.IsComposite() {
			if of.Kind() == btf.KindUnion {
				r.idle += idleUnion
				r.inBraces(of, offset, indent)
				continue
			}
			r.members(of, offset, indent+1)
			r.text(",")
			continue
		}
		r.text("\n")
		r.tabs(indent + 1)
		r.text(".")
		r.name(m.Name())
		r.text(" = ")
		r.value(m, t, at, indent+1, i == len(l.Rows)-1)
		r.text(",")
	}
	r.lays.Done(l)
}

// idleUnion is how much text a union without a name counts for. It takes time and may have no
// text. A byte of a record's text makes up for one.
const idleUnion = 64

// maxText is how much text one record may have. No compiler's struct comes near it; one that a
// file was made to have could take any time.
const maxText = 64 << 20

// value adds the value of a member of t, which is at an offset. The last member may be a
// flexible array: it has the rest of the record.
func (r record) value(m *view.Row, t view.Type, at uint64, indent int, last bool) {
	of, offset := m.Type(), at+m.Byte
	switch {
	case of.IsComposite():
		r.members(of, offset, indent)
		return
	case t.ID == r.c.Type.ID && r.c.kind != nil && m.Byte == r.c.kind.Byte && m.NameOff == r.c.kind.NameOff:
		if name := r.c.kindName(number(r.v, m, r.data[min(at, uint64(len(r.data))):])); name != "" {
			r.text(name)
			return
		}
	}
	n := of.Size()
	plain := behindTypedefs(of)
	if _, count := plain.Elem(); plain.Kind() == btf.KindArray && count == 0 && last && r.c.size != nil {
		n = max(r.real, offset) - offset
	}
	if size, ok := wordSize(plain); ok && size != 0 {
		r.number(signed(number(r.v, m, r.data[min(at, uint64(len(r.data))):]), m))
		return
	}
	if plain.Kind() == btf.KindArray {
		elem := plain.Behind(btf.Arrays)
		direct, _ := of.Elem()
		if elem.Kind() == btf.KindInt && string(elem.Name()) == "char" {
			r.string(offset, n)
			return
		}
		if size, ok := wordSize(behindTypedefs(direct)); ok && of.Kind() == btf.KindArray {
			r.list(offset, n, size)
			return
		}
	}
	r.bytes(offset, n)
}

// behindTypedefs follows typedefs only. It stops at const and volatile, as pahole does.
func behindTypedefs(t view.Type) view.Type { return t.Behind(btf.Typedefs) }

// wordSize is the size of what is printed as a number.
func wordSize(t view.Type) (uint64, bool) {
	if k := t.Kind(); k != btf.KindInt && k != btf.KindFloat {
		return 0, false
	}
	switch n := t.Size(); n {
	case 1, 2, 4, 8:
		return n, true
	}
	return 0, false
}

// slice is n bytes of the record from an offset, fewer where it has fewer.
func (r record) slice(offset, n uint64) []byte {
	if offset >= uint64(len(r.data)) {
		return nil
	}
	b := r.data[offset:]
	return b[:min(n, uint64(len(b)))]
}

// bytes adds n bytes in hexadecimal.
func (r record) bytes(offset, n uint64) {
	for i, b := range r.slice(offset, n) {
		if i > 0 {
			r.text(" ")
		}
		const digits = "0123456789abcdef"
		r.buf = append(r.buf, '0', 'x', digits[b>>4], digits[b&15])
	}
}

// string adds n bytes up to a zero in quotes.
func (r record) string(offset, n uint64) {
	b := r.slice(offset, n)
	if end := bytes.IndexByte(b, 0); end >= 0 {
		b = b[:end]
	}
	r.text(`"`)
	r.name(b)
	r.text(`"`)
}

// list adds n bytes of numbers in braces.
func (r record) list(offset, n, size uint64) {
	b := r.slice(offset, n)
	r.text("{ ")
	for i := 0; uint64(len(b)) >= size; i, b = i+1, b[size:] {
		if i > 0 {
			r.text(", ")
		}
		r.number(extend(word(r.v, b, size), 8*uint32(size)))
	}
	r.text(" }")
}

// number adds n. pahole prints all numbers as if they had a sign.
func (r record) number(n int64) {
	switch {
	case !r.hex:
		r.buf = strconv.AppendInt(r.buf, n, 10)
	case n == 0:
		r.text("0")
	default:
		r.text("0x")
		r.buf = strconv.AppendUint(r.buf, uint64(n), 16)
	}
}

// word is a number of 1, 2, 4 or 8 bytes.
func word(v *view.View, b []byte, size uint64) uint64 {
	order := btf.Order(v.Blob().BigEndian)
	switch size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(order.Uint16(b))
	case 4:
		return uint64(order.Uint32(b))
	}
	return order.Uint64(b)
}

// number is the value of a member, which has a word size, in the data of its struct; 0 if
// that has not all of it.
func number(v *view.View, m *view.Row, data []byte) uint64 {
	size := m.Size
	if end := m.Byte + size; end < size || end > uint64(len(data)) {
		return 0
	}
	n := word(v, data[m.Byte:], size)
	if m.Bits == 0 || uint64(m.Bit+m.Bits) > 8*size {
		return n
	}
	if v.Blob().BigEndian {
		n >>= 8*uint32(size) - m.Bit - m.Bits
	} else {
		n >>= m.Bit
	}
	return n & (1<<m.Bits - 1)
}

// signed is the value of a member with the sign that pahole gives it: bit-fields have
// none.
func signed(n uint64, m *view.Row) int64 {
	if m.Bits != 0 {
		return int64(n)
	}
	return extend(n, 8*uint32(m.Size))
}

func extend(n uint64, bits uint32) int64 { return int64(n<<(64-bits)) >> (64 - bits) }
