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
// The view numbers of GCC stand before a list, outside of it. The variant with views
// inside (DW_LLE_GNU_view_pair) is off by default, and elfutils does not know it either. Next
// reads it only after UseAddresses.

// DW_LLE_ values.
const (
	LLEEndOfList       = 0x00
	LLEBaseAddressx    = 0x01
	LLEStartxEndx      = 0x02
	LLEStartxLength    = 0x03
	LLEOffsetPair      = 0x04
	LLEDefaultLocation = 0x05
	LLEBaseAddress     = 0x06
	LLEStartEnd        = 0x07
	LLEStartLength     = 0x08
	LLEGNUViewPair     = 0x09
)

// ListAddresses says how the addresses in location lists are read.
type ListAddresses struct {
	// Base is the address that offsets count from, until a list names another one.
	Base uint64
	// Indexed returns the address at an index of .debug_addr. If it is nil, the index is taken
	// for the address.
	Indexed func(index uint64) uint64
	// Address and Number read values that may have relocations, at an offset of the section:
	// an address, and a ULEB128 number with the offset after it. They are nil if the section has
	// no relocations.
	Address func(at int) (v uint64, ok bool)
	Number  func(at int) (v uint64, next int)
}

// Range is where an expression of a list holds.
type Range struct {
	From, To uint64    // addresses; To is exclusive
	Always   bool      // it holds where no other does (DW_LLE_default_location)
	Viewed   bool      // Views is set
	Views    [2]uint64 // view numbers of From and To
}

// maxBases is how many entries may come before one with an expression.
const maxBases = 1 << 10

// LocList steps through the expressions of one location list. It is a plain value that
// allocates nothing unless there is an error.
type LocList struct {
	Range // of the last entry, after UseAddresses

	data   []byte
	off    int
	f      ExprFormat
	ranges bool // entries have no expressions
	base   uint64
	how    *ListAddresses
	err    *Error
	done   bool
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

// NewRangeList returns a LocList for a list of address ranges (section 7.25), in .debug_rnglists for a
// unit of DWARF 5 and in .debug_ranges for an older one. Its entries look like the entries of a location
// list without their expressions.
func NewRangeList(section []byte, off uint64, f ExprFormat) LocList {
	f.Split = false // they are in the main file
	l := NewLocList(section, off, f)
	l.ranges = true
	return l
}

// UseAddresses makes Next set Range. Call it before the first Next.
func (l *LocList) UseAddresses(how *ListAddresses) { l.how, l.base = how, how.Base }

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
	l.Viewed = false
	for range maxBases {
		if expr, ok = l.entry(); ok || l.done {
			return expr, ok
		}
	}
	return l.fail("location list without expressions")
}

// entry reads one entry. ok says that it has an expression.
func (l *LocList) entry() (expr []byte, ok bool) {
	switch {
	case l.f.Version >= 5:
		return l.entry5()
	case l.f.Split:
		return l.entrySplit()
	}
	return l.entry2()
}

// entry2 is entry for DWARF 2 to 4.
func (l *LocList) entry2() ([]byte, bool) {
	n := int(l.f.AddrSize)
	ones := ^uint64(0) >> (64 - 8*uint(n&15))
	begin, p := l.address(l.off)
	end, p := l.address(p)
	switch {
	case p < 0:
		return l.fail("location list entry cut off")
	case begin == ones:
		l.off, l.base = p, end
		return nil, false
	case begin == 0 && end == 0:
		l.done = true
		return nil, false
	case l.ranges:
		l.off, l.From, l.To = p, l.base+begin, l.base+end
		return nil, true
	case len(l.data)-p < 2:
		return l.fail("location list entry cut off")
	}
	l.From, l.To = l.base+begin, l.base+end
	return l.expr(p+2, fixedUint(l.data[p:p+2], l.f.BigEndian))
}

// entrySplit is entry for .debug_loc.dwo before DWARF 5: kinds as in DWARF 5,
// but for a length of 4 bytes, offset pairs of 4 bytes each and the size of
// the expression in 2 bytes.
func (l *LocList) entrySplit() ([]byte, bool) {
	if l.off >= len(l.data) {
		return l.fail("location list without end")
	}
	p := l.off + 1
	kind := l.data[l.off]
	switch kind {
	case LLEEndOfList:
		l.done = true
		return nil, false
	case LLEBaseAddressx:
		l.base, p = l.indexed(p)
	case LLEStartxEndx:
		l.From, p = l.indexed(p)
		l.To, p = l.indexed(p)
	case LLEStartxLength:
		l.From, p = l.indexed(p)
		l.To, p = l.number4(p)
		l.To += l.From
	case LLEOffsetPair:
		l.From, p = l.number4(p)
		l.To, p = l.number4(p)
		l.From, l.To = l.base+l.From, l.base+l.To
	default:
		return l.fail("unknown kind of location list entry")
	}
	switch {
	case p < 0:
		return l.fail("location list entry cut off")
	case kind == LLEBaseAddressx:
		l.off = p
		return nil, false
	case len(l.data)-p < 2:
		return l.fail("location list entry cut off")
	}
	return l.expr(p+2, fixedUint(l.data[p:p+2], l.f.BigEndian))
}

// entry5 is entry for DWARF 5. An entry without an expression only changes the base address or the
// views.
func (l *LocList) entry5() ([]byte, bool) {
	if l.off >= len(l.data) {
		return l.fail("location list without end")
	}
	p := l.off + 1
	located := true
	l.Always = false
	kind := l.data[l.off]
	if l.ranges && kind >= LLEDefaultLocation { // DW_RLE_ has no such kind
		if kind++; kind > LLEStartLength {
			return l.fail("unknown kind of address range")
		}
	}
	switch kind {
	case LLEEndOfList:
		l.done = true
		return nil, false
	case LLEBaseAddressx:
		l.base, p = l.indexed(p)
		located = false
	case LLEBaseAddress:
		l.base, p = l.address(p)
		located = false
	case LLEStartxEndx:
		l.From, p = l.indexed(p)
		l.To, p = l.indexed(p)
	case LLEStartxLength:
		l.From, p = l.indexed(p)
		l.To, p = l.number(p)
		l.To += l.From
	case LLEOffsetPair:
		l.From, p = l.number(p)
		l.To, p = l.number(p)
		l.From, l.To = l.base+l.From, l.base+l.To
	case LLEDefaultLocation:
		l.Always = true
	case LLEStartEnd:
		l.From, p = l.address(p)
		l.To, p = l.address(p)
	case LLEStartLength:
		l.From, p = l.address(p)
		l.To, p = l.number(p)
		l.To += l.From
	case LLEGNUViewPair:
		if l.how == nil {
			return l.fail("unknown kind of location list entry")
		}
		l.Views[0], p = l.uleb(p)
		l.Views[1], p = l.uleb(p)
		located, l.Viewed = false, true
	default:
		return l.fail("unknown kind of location list entry")
	}
	if p < 0 {
		return l.fail("location list entry cut off")
	}
	if !located || l.ranges {
		l.off = p
		return nil, located
	}
	size, p := ULEB(l.data, p)
	if p < 0 {
		return l.fail("location list entry cut off")
	}
	return l.expr(p, size)
}

// uleb, number, number4, address and indexed read an operand at p and return where it ends,
// -1 if the section ends first or p is negative.

func (l *LocList) uleb(p int) (uint64, int) {
	if p < 0 {
		return 0, p
	}
	return ULEB(l.data, p)
}

func (l *LocList) number(p int) (uint64, int) {
	if l.how != nil && l.how.Number != nil && p >= 0 {
		return l.how.Number(p)
	}
	if p >= 0 && p+1 < len(l.data) { // nearly all have one or two bytes
		x, y := l.data[p], l.data[p+1]
		if x < 0x80 {
			return uint64(x), p + 1
		} else if y < 0x80 {
			return uint64(x&0x7f) | uint64(y)<<7, p + 2
		}
	}
	return l.uleb(p)
}

func (l *LocList) number4(p int) (uint64, int) {
	if p < 0 || len(l.data)-p < 4 {
		return 0, -1
	}
	return fixedUint(l.data[p:p+4], l.f.BigEndian), p + 4
}

func (l *LocList) address(p int) (uint64, int) {
	n := int(l.f.AddrSize)
	if p < 0 || len(l.data)-p < n || n == 0 || n > 8 {
		return 0, -1
	}
	if l.how == nil || l.how.Address == nil {
		return fixedUint(l.data[p:p+n], l.f.BigEndian), p + n
	}
	if v, ok := l.how.Address(p); ok {
		return v, p + n
	}
	return 0, -1
}

func (l *LocList) indexed(p int) (uint64, int) {
	v, p := l.uleb(p)
	if l.how != nil && l.how.Indexed != nil && p >= 0 {
		v = l.how.Indexed(v)
	}
	return v, p
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
