package callconv

import "github.com/btflite/btflite/internal/elfreloc"

// Lists is the section that location lists are in.
type Lists struct {
	Data []byte // .debug_loclists from DWARF 5 on, else .debug_loc
	// More, if set, returns the section with more than have bytes, if it has more. It is for
	// sections that are expanded while they are read.
	More  func(have int) ([]byte, error)
	Reloc *elfreloc.Table // of .debug_loc, or nil
	Both  [2][]byte       // .debug_loc and .debug_loclists; Functions.Formats choose one for Data

	err error  // of reading or relocating
	buf []byte // for lists that are relocated, kept from unit to unit
}

// Reset turns to another unit's lists.
func (l *Lists) Reset(data []byte, more func(have int) ([]byte, error)) {
	*l = Lists{Data: data, More: more, buf: l.buf}
}

// Err returns the error of reading or relocating lists.
func (l *Lists) Err() error { return l.err }

// choose takes the one of Both that units of a DWARF version use.
func (l *Lists) choose(version uint16) {
	l.Data = l.Both[0]
	if version >= 5 {
		l.Data = l.Both[1]
	}
}

// extend makes Data longer if the section has more, and reports whether it did.
func (l *Lists) extend() bool {
	if l.More == nil {
		return false
	}
	m, err := l.More(len(l.Data))
	if err != nil {
		l.err = err
		return false
	}
	before := len(l.Data)
	l.Data = m
	return len(m) != before
}
