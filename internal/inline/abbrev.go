package inline

import (
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

// abbrev is an abbreviation of a tag that counts; of others there is only the tag.
type abbrev struct {
	tag      dwarf.Tag
	children bool
	read     bool   // its attributes are in specs
	first, n uint32 // of specs
}

// spec is an attribute of an abbreviation, or several that are stepped over.
type spec struct {
	value    int64  // of DW_FORM_implicit_const
	size     uint32 // in bytes, unless variable is set
	form     dwarf.Form
	index    int8 // of die, or -1
	variable bool
}

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
		a := abbrev{tag: dwarf.Tag(tag), children: b[p] != 0, read: isRead(dwarf.Tag(tag)), first: uint32(len(t.specs))}
		if p = t.attributes(b, p+1, a.read); p < 0 {
			return false
		}
		a.n = uint32(len(t.specs)) - a.first
		t.put(code, a)
	}
}

// attributes reads the attributes of an abbreviation, and adds them if they are wanted. It
// returns where they end, or -1 if b ends first.
func (t *abbrevs) attributes(b []byte, p int, wanted bool) int {
	first := len(t.specs)
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
		s := spec{form: dwarf.Form(form)}
		if s.form == dwarf.FormImplicitConst {
			if s.value, p = dwarf.SLEB(b, p); p < 0 {
				return -1
			}
		}
		if wanted {
			s.index = attrIndex(at)
			t.add(s, first)
		}
	}
}

// add adds an attribute to the abbreviation whose attributes begin at first.
func (t *abbrevs) add(s spec, first int) {
	n := t.sizeOf(s.form)
	s.size, s.variable = uint32(max(n, 0)), n < 0
	if k := len(t.specs); k > first && s.index < 0 && !s.variable && t.specs[k-1].index < 0 && !t.specs[k-1].variable {
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

// isRead reports whether the attributes of DIEs with the tag are of interest.
func isRead(tag dwarf.Tag) bool {
	switch tag {
	case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine, dwarf.TagFormalParameter, dwarf.TagLexicalBlock,
		dwarf.TagCallSite, dwarf.TagGNUCallSite, dwarf.TagCompileUnit, dwarf.TagPartialUnit, dwarf.TagSkeletonUnit:
		return true
	}
	return false
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
	d.have = 0
	specs := t.specs[a.first:][:a.n]
	for i := range specs {
		s := &specs[i]
		switch {
		case s.variable:
			v := dwarf.Value{Form: s.form}
			if p = readValue(c, b, p, &v); p < 0 || p > len(b) {
				return -1
			}
			if s.index >= 0 {
				d.have |= 1 << s.index
				d.v[s.index] = v
			}
			continue
		case uint64(s.size) > uint64(len(b)-p):
			return -1
		case s.index >= 0:
			v := &d.v[s.index]
			v.Form = s.form
			switch s.form {
			case dwarf.FormImplicitConst:
				v.U = uint64(s.value)
			case dwarf.FormFlagPresent:
				v.U = 1
			default:
				v.U = number(b[p:p+int(s.size)], c.File.BigEndian)
			}
			d.have |= 1 << s.index
		}
		p += int(s.size)
	}
	return p
}
