package show

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// texts caches the text of each type as it appears before the names of members, because
// most types have several members. The cache is dropped when types are renamed.
type texts struct {
	pages  []*[columnPage]column // by view.Layouts.Slot
	pieces [][]byte              // of textSize bytes, the last one not yet
}

// columns finds texts and keeps them.
type columns struct{ *Printer }

// columnPage is how many columns a page has: 4 KiB.
const columnPage = 512

// textSize is how many bytes of text there are in one piece.
const textSize = 32 << 10

// mostPieces is how many pieces there may be: kernels need 20.
const mostPieces = 1 << 12

// of returns the text of c with at least n bytes, including the blanks at its end.
func (all *texts) of(c *column, n int) []byte {
	return all.pieces[c.at/textSize][c.at%textSize:][:max(int(c.size), n)]
}

// column is a part of texts.pieces: the text of a type, of size bytes, and the blanks
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
func (p columns) text(slot, id uint32, typeWidth int) []byte {
	c := p.column(slot, id)
	if c.state == noColumn || typeWidth < int(c.least) {
		return nil
	}
	return p.texts.of(c, max(int(c.size), typeWidth)+1)
}

// column is the column of the type with the id, which has the slot.
func (p columns) column(slot, id uint32) *column {
	all := &p.texts
	for slot/columnPage >= uint32(len(all.pages)) {
		all.pages = append(all.pages, new([columnPage]column))
	}
	c := &all.pages[slot/columnPage][slot%columnPage]
	if c.state == unknownColumn {
		p.find(c, p.v.Type(id))
	}
	return c
}

// known appends the text of a type as a parameter, if it has a column. There, const has a
// blank after it.
func (p columns) known(dst []byte, id uint32) ([]byte, bool) {
	c := p.column(p.lays.Slot(id), id)
	if c.state != sameColumn {
		return dst, false
	}
	return append(dst, p.texts.of(c, 0)...), true
}

// find makes the text of t. The blanks after it are counted from the end of the words
// const and struct.
func (p columns) find(c *column, t view.Type) {
	c.state = noColumn
	all, consts := &p.texts, 0
	last := len(all.pieces) - 1
	if p.opt.Expand || p.opt.Pointers || last == mostPieces || !isPlain(t) {
		return
	}
	if last < 0 || textSize-len(all.pieces[last]) < longestColumn+len(spaces) {
		all.pieces = append(all.pieces, make([]byte, 0, textSize))
		last++
	}
	text := all.pieces[last]
	w := p.writer()
	w.Text, w.Limit, w.Known = text, len(text)+longestColumn, nil
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
	c.at, c.size, c.state = uint32(last*textSize+len(text)), uint8(n), sameColumn
	c.least = uint8(min(consts*len("const ")+len(tagOf(t)), 0xff))
	if consts > 0 {
		c.state = constColumn
	}
	all.pieces[last] = append(w.Text, spaces[:max(typeWidth-n, 0)+1]...)
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

// tagOf is the word before the name of a struct, union or enum, with a blank.
func tagOf(t view.Type) string {
	switch t.Kind() {
	case btf.KindStruct:
		return "struct "
	case btf.KindUnion:
		return "union "
	case btf.KindEnum, btf.KindEnum64:
		return "enum "
	case btf.KindFwd:
		if t.Flag() {
			return "union "
		}
		return "struct "
	}
	return ""
}
