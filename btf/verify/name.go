package verify

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

// IsIdentifier tells whether kernels take a name as an identifier. '.' counts as a letter.
func IsIdentifier(name []byte) bool {
	if len(name) == 0 || len(name) > maxName || byteClass[name[0]] != byteLetter {
		return false
	}
	for _, b := range name {
		if byteClass[b] < byteDigit {
			return false
		}
	}
	return true
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
