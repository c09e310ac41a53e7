package verify

import (
	"bytes"
	"fmt"

	"github.com/btflite/btflite/btf"
)

// texts are the strings that name offsets refer to: first the base's, then the blob's
// own.
type texts struct {
	base   *btf.Blob // or nil
	start  uint32    // offset of own[0]
	own    []byte
	idents []uint64     // by own string offset, a bit: a string begins here, an identifier
	stop   func() error // see Rules.Stop; or nil
}

// ended returns the error that ends the check, or nil. After an error, results so far are
// meaningless.
func (t *texts) ended() error {
	if t.stop == nil {
		return nil
	}
	return t.stop()
}

// endedAt calls ended at each n-th step of a loop. n is a power of two, and i counts the steps.
func (t *texts) endedAt(i, n int) bool { return i&(n-1) == n-1 && t.ended() != nil }

// A check asks from time to time whether it has to end: after askTypes types, after askElements
// elements of one type, and after askBytes bytes of strings. Each takes some milliseconds. All are
// powers of two.
const (
	askTypes    = 1 << 10
	askElements = 1 << 14
	askBytes    = 1 << 20
)

// strEnd returns the first string offset after the own strings.
func (t *texts) strEnd() uint32 { return t.start + uint32(len(t.own)) }

// from returns the string at an offset that exists; it ends at a NUL or with
// the slice.
func (t *texts) from(off uint32) []byte {
	if off < t.start {
		return t.base.NameBytes(off)
	}
	if i := off - t.start; i < uint32(len(t.own)) {
		return t.own[i:]
	}
	return nil // the empty name of split BTF without strings
}

// name is the string at an offset, without its NUL; nil if the offset does not
// exist.
func (t *texts) name(off uint32) []byte {
	if off >= t.strEnd() {
		return nil
	}
	s := t.from(off)
	if n := bytes.IndexByte(s, 0); n >= 0 {
		s = s[:n]
	}
	return s
}

// element names the i-th element of a record.
func (t *texts) element(what string, i int, name uint32) string {
	s := t.name(name)
	if len(s) == 0 {
		return fmt.Sprintf("%s %d: ", what, i)
	}
	return fmt.Sprintf("%s %d %s: ", what, i, quote(string(s)))
}

// identifier reports whether a legal identifier begins at an offset that exists.
func (t *texts) identifier(off uint32) bool {
	i := off - t.start
	return off >= t.start && t.idents[i>>6]>>(i&63)&1 != 0 || isIdentifier(t.from(off))
}

// What name a record has.
const (
	nameAny      = iota
	nameNone     // none
	nameOptional // none or an identifier
	nameNeeded   // an identifier
	nameText     // any text, not empty
	nameSection
)

// nameFits reports whether the name at a string offset that exists is of the
// wanted class.
func (t *texts) nameFits(class uint8, off uint32) bool {
	switch class {
	case nameNone:
		return off == 0
	case nameOptional:
		return off == 0 || t.identifier(off)
	case nameNeeded:
		return off != 0 && t.identifier(off)
	case nameText:
		return off != 0 && len(t.from(off)) > 0 && t.from(off)[0] != 0
	case nameSection:
		return off != 0 && isSectionName(t.from(off))
	}
	return true
}

// nameRule says why a name is not of the wanted class.
func (t *texts) nameRule(class uint8, off uint32) string {
	s := t.name(off)
	switch {
	case class == nameNone:
		return "has a name, must have none"
	case len(s) == 0:
		return "has no name, must have one"
	case len(s) > maxName:
		return fmt.Sprintf("name of %d bytes, at most %d are allowed", len(s), maxName)
	case class == nameSection:
		return "name is not valid for a section"
	}
	return "name is not a C identifier"
}
