package inline

import (
	"encoding/binary"
	"errors"

	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/dwarf"
)

// Abbreviations as this package needs them: of the few tags that lead to inlined
// functions the attributes that say where they are. Package dwarf compiles its own
// for the walk over all DIEs, which does not look below inlined functions; what is
// of no interest here is stepped over by those.

// The attributes that are read, as indexes of die.
const (
	atOrigin = iota
	atLocation
	atConst
	atLowPC
	atEntryPC
	atEntryView
	atViews
	atRanges
	atSibling
	atRnglistsBase
	atRangesBase
	numAttrs
)

// attrIndex is the index of a DW_AT_ value, or -1.
func attrIndex(at uint64) int8 {
	switch at {
	case 0x01:
		return atSibling
	case 0x02:
		return atLocation
	case 0x11:
		return atLowPC
	case 0x1c:
		return atConst
	case 0x31:
		return atOrigin
	case 0x52:
		return atEntryPC
	case 0x55:
		return atRanges
	case 0x74:
		return atRnglistsBase
	case 0x2132: // DW_AT_GNU_ranges_base
		return atRangesBase
	case 0x2137: // DW_AT_GNU_locviews
		return atViews
	case 0x2138: // DW_AT_GNU_entry_view
		return atEntryView
	}
	return -1
}

// wanted are the attributes that are read of DIEs with a tag, as bits. ok says that the
// tag counts.
func wanted(tag dwarf.Tag) (attrs uint32, ok bool) {
	const code = 1<<atLowPC | 1<<atEntryPC | 1<<atRanges
	switch tag {
	case dwarf.TagInlinedSubroutine:
		return code | 1<<atOrigin | 1<<atEntryView, true
	case dwarf.TagFormalParameter:
		return 1<<atOrigin | 1<<atLocation | 1<<atConst | 1<<atViews, true
	case dwarf.TagSubprogram:
		return code | 1<<atSibling, true
	case dwarf.TagLexicalBlock:
		return 0, true
	case dwarf.TagCallSite, dwarf.TagGNUCallSite:
		return 1 << atSibling, true
	case dwarf.TagCompileUnit, dwarf.TagPartialUnit, dwarf.TagSkeletonUnit:
		return 1<<atLowPC | 1<<atRnglistsBase | 1<<atRangesBase | 1<<atSibling, true
	}
	return 0, false
}

// abbrev is an abbreviation of a tag that counts; of others there is only the tag.
type abbrev struct {
	tag      dwarf.Tag
	children bool
	read     bool   // its attributes are in specs
	have     uint32 // those that are wanted, as bits
	least    uint32 // bytes that its DIEs have at least
	first, n uint32 // of specs
}

// spec is an attribute of an abbreviation, or several that are stepped over.
type spec struct {
	value uint64 // of how asValue
	size  uint32 // in bytes
	form  dwarf.Form
	index int8 // of die, or -1
	how   how
}

// how says how an attribute is read.
type how uint8

const (
	over     how = iota // not at all
	byte1               // a number of so many bytes
	byte2               // likewise
	byte4               // likewise
	byte8               // likewise
	byteN               // a number of size bytes
	asValue             // it is in the abbreviation
	variable            // how long it is stands in the data
)

// abbrevs is the table of a unit.
type abbrevs struct {
	dense  []abbrev
	sparse map[uint64]abbrev
	specs  []spec
	// What the table was read for.
	file    *debuginfo.File
	off     uint64
	version uint16
	addr    uint8
	long    bool
}

// maxDense bounds the codes that have a place in abbrevs.dense.
const maxDense = 1 << 14

var errAbbrev = errors.New("abbreviation table of inlined functions cut off")

// load makes t the table of the unit at c.
func (t *abbrevs) load(c *debuginfo.Cursor) error {
	h := &c.Hdr
	if t.file == c.File && t.off == h.AbbrevOff && t.version == h.Version && t.addr == h.AddrSize && t.long == h.Dwarf64 {
		return nil
	}
	t.file, t.off, t.version, t.addr, t.long = nil, h.AbbrevOff, h.Version, h.AddrSize, h.Dwarf64
	for n := uint64(margin); ; n *= 4 {
		b, all, err := c.AbbrevTable(n)
		if err != nil {
			return err
		}
		if t.parse(b) {
			t.file = c.File
			return nil
		}
		if all || n > 1<<30 {
			return errAbbrev
		}
	}
}

// parse reads the table at the start of b; false if b ends before it does.
func (t *abbrevs) parse(b []byte) bool {
	clear(t.dense)
	t.dense, t.specs, t.sparse = t.dense[:0], t.specs[:0], nil
	for p := 0; ; {
		var code, tag uint64
		if code, p = dwarf.ULEB(b, p); p < 0 || code == 0 {
			return p >= 0
		}
		if tag, p = dwarf.ULEB(b, p); p < 0 || p >= len(b) {
			return false
		}
		a := abbrev{tag: dwarf.Tag(tag), children: b[p] != 0, first: uint32(len(t.specs))}
		p++
		var attrs uint32
		if attrs, a.read = wanted(a.tag); a.read {
			p = t.attributes(b, p, attrs, &a)
		} else {
			p = overAttributes(b, p)
		}
		if p < 0 {
			return false
		}
		a.n = uint32(len(t.specs)) - a.first
		t.put(code, a)
	}
}

// overAttributes returns where the attributes of an abbreviation end, or -1 if b ends
// first.
func overAttributes(b []byte, p int) int {
	for {
		for uint(p)+1 < uint(len(b)) && b[p]|b[p+1] < 0x80 && b[p+1] != byte(dwarf.FormImplicitConst) {
			if p += 2; b[p-2]|b[p-1] == 0 {
				return p
			}
		}
		at, q := dwarf.ULEB(b, p)
		form, q := dwarf.ULEB(b, q)
		if dwarf.Form(form) == dwarf.FormImplicitConst {
			_, q = dwarf.SLEB(b, q)
		}
		if q < 0 || at == 0 && form == 0 {
			return q
		}
		p = q
	}
}

// attributes reads the attributes of an abbreviation of which some are wanted. It returns
// where they end, or -1 if b ends first.
func (t *abbrevs) attributes(b []byte, p int, attrs uint32, a *abbrev) int {
	for {
		var at, form uint64
		if uint(p)+1 < uint(len(b)) && b[p]|b[p+1] < 0x80 {
			at, form = uint64(b[p]), uint64(b[p+1])
			p += 2
		} else {
			at, p = dwarf.ULEB(b, p)
			if form, p = dwarf.ULEB(b, p); p < 0 {
				return -1
			}
		}
		if at == 0 && form == 0 {
			return p
		}
		s := spec{form: dwarf.Form(form), index: -1}
		if s.form == dwarf.FormImplicitConst {
			var v int64
			if v, p = dwarf.SLEB(b, p); p < 0 {
				return -1
			}
			s.value = uint64(v)
		}
		if i := attrIndex(at); i >= 0 && attrs>>i&1 != 0 {
			s.index = i
			a.have |= 1 << i
		}
		t.add(s, a)
	}
}

// add adds an attribute to an abbreviation.
func (t *abbrevs) add(s spec, a *abbrev) {
	n := t.sizeOf(s.form)
	switch {
	case n < 0:
		s.how, n = variable, 1
	case s.index < 0:
		s.how = over
	case s.form == dwarf.FormImplicitConst:
		s.how = asValue
	case s.form == dwarf.FormFlagPresent:
		s.how, s.value = asValue, 1
	case n == 1:
		s.how = byte1
	case n == 2:
		s.how = byte2
	case n == 4:
		s.how = byte4
	case n == 8:
		s.how = byte8
	default:
		s.how = byteN
	}
	s.size = uint32(n)
	a.least += s.size
	if k := uint32(len(t.specs)); s.how == over && k > a.first && t.specs[k-1].how == over {
		t.specs[k-1].size += s.size
		return
	}
	t.specs = append(t.specs, s)
}

// sizeOf is the size of a form in bytes, or -1 if that is in the data.
func (t *abbrevs) sizeOf(f dwarf.Form) int {
	offset := 4
	if t.long {
		offset = 8
	}
	switch f {
	case dwarf.FormAddr:
		return int(t.addr)
	case dwarf.FormFlagPresent, dwarf.FormImplicitConst:
		return 0
	case dwarf.FormData1, dwarf.FormRef1, dwarf.FormFlag, dwarf.FormStrx1, dwarf.FormAddrx1:
		return 1
	case dwarf.FormData2, dwarf.FormRef2, dwarf.FormStrx2, dwarf.FormAddrx2:
		return 2
	case dwarf.FormStrx3, dwarf.FormAddrx3:
		return 3
	case dwarf.FormData4, dwarf.FormRef4, dwarf.FormStrx4, dwarf.FormAddrx4, dwarf.FormRefSup4:
		return 4
	case dwarf.FormData8, dwarf.FormRef8, dwarf.FormRefSig8, dwarf.FormRefSup8:
		return 8
	case dwarf.FormSecOffset, dwarf.FormStrp, dwarf.FormLineStrp, dwarf.FormStrpSup, dwarf.FormGNURefAlt, dwarf.FormGNUStrpAlt:
		return offset
	case dwarf.FormRefAddr:
		if t.version <= 2 {
			return int(t.addr)
		}
		return offset
	}
	return -1
}

func (t *abbrevs) put(code uint64, a abbrev) {
	if code >= maxDense {
		if t.sparse == nil {
			t.sparse = make(map[uint64]abbrev)
		}
		t.sparse[code] = a
		return
	}
	for uint64(len(t.dense)) <= code {
		t.dense = append(t.dense, abbrev{})
	}
	t.dense[code] = a
}

func (t *abbrevs) lookup(code uint64) *abbrev {
	if code < uint64(len(t.dense)) {
		if a := &t.dense[code]; a.tag != 0 {
			return a
		}
		return nil
	}
	if a, ok := t.sparse[code]; ok {
		return &a
	}
	return nil
}

// die is a DIE whose attributes have been read.
type die struct {
	have uint32
	v    [numAttrs]dwarf.Value // as Value has it: blocks are offset<<32 | length
}

func (d *die) has(i int) bool { return d.have>>i&1 != 0 }

// decode reads the attributes of a DIE with abbreviation a at b[p:]. It returns where
// they end; -1 if b ends first or a form is not known.
func (t *abbrevs) decode(a *abbrev, c *debuginfo.Cursor, b []byte, p int, d *die) int {
	if len(b)-p < int(a.least) {
		return -1
	}
	d.have = a.have
	specs := t.specs[a.first:][:a.n]
	big := c.File.BigEndian
	for i := range specs {
		s := &specs[i]
		if s.how == over {
			if p += int(s.size); p > len(b) {
				return -1
			}
			continue
		}
		v := dwarf.Value{Form: s.form}
		switch rest := b[p:]; {
		case s.how == asValue:
			v.U = s.value
		case s.how == variable:
			if p = readValue(c, b, p, &v); p < 0 || p > len(b) {
				return -1
			}
			if s.index >= 0 {
				d.v[s.index] = v
			}
			continue
		case len(rest) < int(s.size):
			return -1
		case big, s.how == byteN:
			v.U = number(rest[:s.size], big)
		case s.how == byte4:
			v.U = uint64(binary.LittleEndian.Uint32(rest))
		case s.how == byte8:
			v.U = binary.LittleEndian.Uint64(rest)
		case s.how == byte2:
			v.U = uint64(binary.LittleEndian.Uint16(rest))
		default:
			v.U = uint64(rest[0])
		}
		d.v[s.index] = v
		p += int(s.size)
	}
	return p
}
