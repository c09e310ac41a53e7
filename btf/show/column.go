package show

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/ctype"
	"github.com/btflite/btflite/btf/view"
)

// columns caches the text of each type as it appears before the names of members, because
// most types have several members.
type columns struct {
	v      *view.View
	lays   *view.Layouts
	off    bool                  // types are written out, so that the text depends on the member
	pages  []*[columnPage]column // by view.Layouts.Slot
	pieces [][]byte              // of textSize bytes, the last one not yet
}

// forget drops all texts. They may have names that types no longer have.
func (c *columns) forget() { c.pages, c.pieces = nil, nil }

// columnPage is how many columns a page has: 4 KiB.
const columnPage = 512

// textSize is how many bytes of text there are in one piece.
const textSize = 32 << 10

// mostPieces is how many pieces there may be: kernels need 20.
const mostPieces = 1 << 12

// of returns the text of x with at least n bytes, including the blanks at its end.
func (c *columns) of(x *column, n int) []byte {
	return c.pieces[x.at/textSize][x.at%textSize:][:max(int(x.size), n)]
}

// column is a part of columns.pieces: the text of a type, of size bytes, and the blanks
// that the widest column needs after it.
type column struct {
	at    uint32
	size  uint8
	least uint8 // with fewer columns for types the blanks are counted another way
	state columnState
}

// columnState reports whether the text of a column is cached.
type columnState uint8

const (
	unknownColumn columnState = iota
	noColumn                  // the text depends on the member, or is too long
	sameColumn                // it is always the same
	constColumn               // so it is, and it begins with const
)

// longestColumn is the most bytes of a text that is kept.
const longestColumn = 200

// text is the text of the type in a slot and the blanks up to the name of its member,
// if it does not depend on the member; else nil.
func (c *columns) text(slot, id uint32, typeWidth int) []byte {
	x := c.column(slot, id)
	if x.state == noColumn || typeWidth < int(x.least) {
		return nil
	}
	return c.of(x, max(int(x.size), typeWidth)+1)
}

// column is the column of the type with the id, which has the slot.
func (c *columns) column(slot, id uint32) *column {
	for slot/columnPage >= uint32(len(c.pages)) {
		c.pages = append(c.pages, new([columnPage]column))
	}
	x := &c.pages[slot/columnPage][slot%columnPage]
	if x.state == unknownColumn {
		c.find(x, c.v.Type(id))
	}
	return x
}

// known appends the text of a type as a parameter, if it has a column. There, const has a
// blank after it.
func (c *columns) known(dst []byte, id uint32) ([]byte, bool) {
	x := c.column(c.lays.Slot(id), id)
	if x.state != sameColumn {
		return dst, false
	}
	return append(dst, c.of(x, 0)...), true
}

// find makes the text of t. The blanks after it are counted from the end of the words
// const and struct.
func (c *columns) find(x *column, t view.Type) {
	x.state = noColumn
	last := len(c.pieces) - 1
	if c.off || last == mostPieces || !isPlain(t) {
		return
	}
	if last < 0 || textSize-len(c.pieces[last]) < longestColumn+len(spaces) {
		c.pieces = append(c.pieces, make([]byte, 0, textSize))
		last++
	}
	text, consts := c.pieces[last], 0
	w := ctype.Writer{Text: text, Limit: len(text) + longestColumn, Escape: appendPrintable}
	for range view.MaxDepth {
		if t.Kind() != btf.KindConst {
			break
		}
		w.Put("const ")
		consts++
		t = t.Target()
	}
	if w.Type(t); w.Cut {
		return
	}
	n := len(w.Text) - len(text)
	x.at, x.size, x.state = uint32(last*textSize+len(text)), uint8(n), sameColumn
	x.least = uint8(min(consts*len("const ")+len(t.Keyword()), 0xff))
	if consts > 0 {
		x.state = constColumn
	}
	c.pieces[last] = append(w.Text, spaces[:max(typeWidth-n, 0)+1]...)
}

// isPlain reports whether the whole declaration of t stands before the name of a member of type t.
func isPlain(t view.Type) bool {
	for range view.MaxDepth {
		switch t.Kind() {
		case btf.KindConst:
			t = t.Target()
		case btf.KindTypeTag:
			if !t.IsQualified() {
				return true
			}
			t = t.Target()
		case btf.KindArray:
			return false
		case btf.KindPtr:
			of := pointee(t)
			return of.Kind() != btf.KindFuncProto && !unnamed(of)
		default:
			return !unnamed(t)
		}
	}
	return false
}
