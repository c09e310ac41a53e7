package verify

import "bytes"

// Classes of bytes, by the kernel's ctype table (Latin-1).
const (
	byteOther  = iota // control characters, 0x80-0x9f
	bytePrint         // printable, no part of an identifier
	byteDigit         // may continue an identifier
	byteLetter        // may begin one: letters, '_' and '.'
)

var byteClass = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= '0' && c <= '9':
			t[c] = byteDigit
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c == '.',
			c >= 0xc0 && c != 0xd7 && c != 0xf7:
			t[c] = byteLetter
		case c >= ' ' && c <= '~', c >= 0xa0:
			t[c] = bytePrint
		}
	}
	return t
}()

// strEnd is the first string offset behind the own strings.
func (c *checker) strEnd() uint32 { return c.strStart + uint32(len(c.strings)) }

// from returns the string at an offset that exists; it ends at a NUL or with
// the slice.
func (c *checker) from(off uint32) []byte {
	if off < c.strStart {
		return c.base.NameBytes(off)
	}
	if i := off - c.strStart; i < uint32(len(c.strings)) {
		return c.strings[i:]
	}
	return nil // the empty name of split BTF without strings
}

// name is the string at an offset, without its NUL; nil if the offset does not
// exist.
func (c *checker) name(off uint32) []byte {
	if off >= c.strEnd() {
		return nil
	}
	s := c.from(off)
	if n := bytes.IndexByte(s, 0); n >= 0 {
		s = s[:n]
	}
	return s
}

// identifier reports whether a legal identifier begins at an offset that exists.
func (c *checker) identifier(off uint32) bool {
	i := off - c.strStart
	return off >= c.strStart && c.idents[i>>6]>>(i&63)&1 != 0 || isIdentifier(c.from(off))
}

// isIdentifier looks at the string that s begins with.
func isIdentifier(s []byte) bool {
	if len(s) == 0 || byteClass[s[0]] != byteLetter {
		return false
	}
	for i, b := range s {
		if byteClass[b] < byteDigit {
			return b == 0 && i <= maxName
		}
		if i == maxName {
			return false
		}
	}
	return true
}

// isSectionName reports whether s begins with a legal name of a DATASEC.
func isSectionName(s []byte) bool {
	for i, b := range s {
		if byteClass[b] == byteOther {
			return b == 0 && i > 0 && i <= maxName
		}
		if i == maxName {
			return false
		}
	}
	return len(s) > 0
}
