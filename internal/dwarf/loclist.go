package dwarf

// Location lists. Before DWARF 5 a list in .debug_loc is a run of
//
//	begin  address size     all ones: the entry ends after end, a new base address
//	end    address size     begin = end = 0: end of the list, nothing follows
//	length 2
//	expression
//
// and in DWARF 5 a list in .debug_loclists (section 7.7.3) is a run of
//
//	DW_LLE_ 1, operands by kind, and for all kinds that describe a location:
//	length ULEB128
//	expression
//
// The view numbers of GCC stand before a list, outside of it; the variant with
// views inside (DW_LLE_GNU_view_pair) is off by default and not known to
// elfutils either.

// DW_LLE_ values.
const (
	lleEndOfList       = 0x00
	lleBaseAddressx    = 0x01
	lleStartxEndx      = 0x02
	lleStartxLength    = 0x03
	lleOffsetPair      = 0x04
	lleDefaultLocation = 0x05
	lleBaseAddress     = 0x06
	lleStartEnd        = 0x07
	lleStartLength     = 0x08
)

// LocList steps through the expressions of one location list; the address
// ranges that they hold for are not decoded. It is a plain value that
// allocates nothing unless there is an error.
type LocList struct {
	data []byte
	off  int
	f    ExprFormat
	err  *Error
	done bool
}

// NewLocList returns a LocList at offset off of section, which is the contents
// of .debug_loclists for a unit of DWARF 5 and of .debug_loc for an older one.
// If the section is absent (empty), the list has no entries.
func NewLocList(section []byte, off uint64, f ExprFormat) LocList {
	l := LocList{data: section, f: f}
	switch {
	case len(section) == 0:
		l.done = true
	case off >= uint64(len(section)):
		l.err = &Error{Section: l.section(), Offset: off, What: "location list beyond the section"}
		l.done = true
	default:
		l.off = int(off)
	}
	return l
}

// Err returns the fault that ended the list early, a *Error, or nil.
func (l *LocList) Err() error {
	if l.err == nil {
		return nil
	}
	return l.err
}

// Next returns the expression of the next entry, which may be empty, and
// reports whether there was one. The expression aliases the section.
func (l *LocList) Next() (expr []byte, ok bool) {
	if l.done {
		return nil, false
	}
	switch {
	case l.f.Version >= 5:
		return l.next5()
	case l.f.Split:
		return l.nextSplit()
	}
	return l.next2()
}

// next2 is Next for DWARF 2 to 4.
func (l *LocList) next2() ([]byte, bool) {
	n := int(l.f.AddrSize)
	ones := ^uint64(0) >> (64 - 8*uint(n&15))
	for {
		if len(l.data)-l.off < 2*n || n == 0 || n > 8 {
			return l.fail("location list entry cut off")
		}
		begin := fixedUint(l.data[l.off:l.off+n], l.f.BigEndian)
		end := fixedUint(l.data[l.off+n:l.off+2*n], l.f.BigEndian)
		if begin == ones {
			l.off += 2 * n
			continue
		}
		if begin == 0 && end == 0 {
			l.done = true
			return nil, false
		}
		p := l.off + 2*n
		if len(l.data)-p < 2 {
			return l.fail("location list entry cut off")
		}
		return l.expr(p+2, fixedUint(l.data[p:p+2], l.f.BigEndian))
	}
}

// nextSplit is Next for .debug_loc.dwo before DWARF 5: kinds as in DWARF 5,
// but for a length of 4 bytes, offset pairs of 4 bytes each and the size of
// the expression in 2 bytes.
func (l *LocList) nextSplit() ([]byte, bool) {
	for {
		if l.off >= len(l.data) {
			return l.fail("location list without end")
		}
		p := l.off + 1
		kind := l.data[l.off]
		switch kind {
		case lleEndOfList:
			l.done = true
			return nil, false
		case lleBaseAddressx:
			_, p = ULEB(l.data, p)
		case lleStartxEndx:
			if _, p = ULEB(l.data, p); p >= 0 {
				_, p = ULEB(l.data, p)
			}
		case lleStartxLength:
			if _, p = ULEB(l.data, p); p >= 0 {
				p += 4
			}
		case lleOffsetPair:
			p += 8
		default:
			return l.fail("unknown kind of location list entry")
		}
		if p < 0 || p > len(l.data) {
			return l.fail("location list entry cut off")
		}
		if kind == lleBaseAddressx {
			l.off = p
			continue
		}
		if len(l.data)-p < 2 {
			return l.fail("location list entry cut off")
		}
		return l.expr(p+2, fixedUint(l.data[p:p+2], l.f.BigEndian))
	}
}

// next5 is Next for DWARF 5.
func (l *LocList) next5() ([]byte, bool) {
	for {
		if l.off >= len(l.data) {
			return l.fail("location list without end")
		}
		n := int(l.f.AddrSize)
		p := l.off + 1
		base := false
		switch l.data[l.off] {
		case lleEndOfList:
			l.done = true
			return nil, false
		case lleBaseAddressx:
			_, p = ULEB(l.data, p)
			base = true
		case lleBaseAddress:
			p += n
			base = true
		case lleStartxEndx, lleStartxLength, lleOffsetPair:
			if _, p = ULEB(l.data, p); p >= 0 {
				_, p = ULEB(l.data, p)
			}
		case lleDefaultLocation:
		case lleStartEnd:
			p += 2 * n
		case lleStartLength:
			_, p = ULEB(l.data, p+n)
		default:
			return l.fail("unknown kind of location list entry")
		}
		if p < 0 || p > len(l.data) {
			return l.fail("location list entry cut off")
		}
		if base {
			l.off = p
			continue
		}
		size, p := ULEB(l.data, p)
		if p < 0 {
			return l.fail("location list entry cut off")
		}
		return l.expr(p, size)
	}
}

// expr returns the size bytes at p as an entry's expression and steps over it.
func (l *LocList) expr(p int, size uint64) ([]byte, bool) {
	if size > uint64(len(l.data)-p) {
		return l.fail("location expression goes beyond the section")
	}
	l.off = p + int(size)
	return l.data[p:l.off:l.off], true
}

func (l *LocList) fail(what string) ([]byte, bool) {
	l.done = true
	l.err = &Error{Section: l.section(), Offset: uint64(l.off), What: what}
	return nil, false
}

func (l *LocList) section() string {
	if l.f.Version >= 5 {
		return ".debug_loclists"
	}
	return ".debug_loc"
}
