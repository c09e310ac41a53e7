package dwarf

import "encoding/binary"

// The header of a line number program (DWARF 5, section 6.2.4): only the names of
// files are read.

// FileName is the name of a file in the header of a line number program.
type FileName struct {
	// CompDir is the folder of the compilation, nil before DWARF 5. Dir, which may be
	// relative to it, is nil for a file in that folder.
	CompDir, Dir, Name []byte
}

// LineStrings returns the string of a field that is in another section. The field is at offset at of
// .debug_line and has size bytes: the string's offset, which may need a relocation. form says which
// section has the string: DW_FORM_strp or DW_FORM_line_strp.
type LineStrings func(form Form, at uint64, size int) []byte

// LineFile returns the file with a number in the line number program at off of the
// .debug_line section. It reports false if there is none or the header is damaged. text may
// be nil; then names in other sections are missing. The names alias the sections.
func LineFile(section []byte, off uint64, bigEndian bool, number uint64, text LineStrings) (FileName, bool) {
	h := lineHeader{abbrevCursor: abbrevCursor{b: section}, text: text}
	if off > uint64(len(section)) || !h.start(int(off), bigEndian) {
		return FileName{}, false
	}
	if h.version < 5 {
		return h.oldFile(number)
	}
	return h.file(number)
}

// lineHeader reads a header. Numbers of a fixed size have the byte order of t's format.
type lineHeader struct {
	abbrevCursor
	t       Abbrevs // for its format only
	version uint16
	text    LineStrings
}

// start reads the fields before the tables of names. It reports false if the header is damaged or has
// an unknown version.
func (h *lineHeader) start(at int, bigEndian bool) bool {
	h.p = at
	var bo binary.ByteOrder = binary.LittleEndian
	if bigEndian {
		bo = binary.BigEndian
	}
	h.t.bigEndian = bigEndian
	length := uint64(bo.Uint32(h.take(4)))
	if length == 0xffffffff {
		h.t.dwarf64 = true
		length = bo.Uint64(h.take(8))
	}
	if h.bad || length > uint64(len(h.b)-h.p) {
		return false
	}
	h.b = h.b[:h.p+int(length)]
	h.version = bo.Uint16(h.take(2))
	h.t.version = h.version
	if h.bad || h.version < 2 || h.version > 5 {
		return false
	}
	if h.version == 5 {
		h.t.addrSize = h.u8()
		h.u8() // segment selectors
	}
	h.take(4 + 4*int(b2u(h.t.dwarf64))) // length of the header
	h.take(4 + int(b2u(h.version >= 4)))
	if codes := h.u8(); codes > 0 {
		h.take(int(codes) - 1)
	}
	return !h.bad
}

func b2u(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// take returns the next n bytes, and goes on after them. At the end it returns zeros, and sets bad.
func (h *lineHeader) take(n int) []byte {
	if len(h.b)-h.p < n {
		h.bad = true
		return make([]byte, n)
	}
	h.p += n
	return h.b[h.p-n : h.p]
}

// string reads a string, nil for the empty one.
func (h *lineHeader) string() []byte {
	for i := h.p; i < len(h.b); i++ {
		if h.b[i] == 0 {
			s := h.b[h.p:i]
			h.p = i + 1
			if len(s) == 0 {
				return nil
			}
			return s
		}
	}
	h.bad = true
	return nil
}

// oldFile returns the file with a number before DWARF 5, where numbers begin with 1.
func (h *lineHeader) oldFile(number uint64) (f FileName, ok bool) {
	dirs := h.p
	for h.string() != nil {
	}
	for i := uint64(1); ; i++ {
		f.Name = h.string()
		dir := h.uleb()
		if f.Name == nil || h.bad {
			return FileName{}, false
		}
		h.uleb() // time
		h.uleb() // size
		if i != number {
			continue
		}
		h.p, h.bad = dirs, false
		for k := uint64(1); k <= dir; k++ {
			if f.Dir = h.string(); f.Dir == nil {
				break
			}
		}
		return f, true
	}
}

// DW_LNCT_ values: what a field of DWARF 5 holds (section 7.22).
const (
	lnctPath = 1
	lnctDir  = 2
)

// file returns the file with a number in DWARF 5, where numbers begin with 0.
func (h *lineHeader) file(number uint64) (f FileName, ok bool) {
	dirs := *h
	_, comp, _ := h.table(0, true)
	dir, name, ok := h.table(number, false)
	if !ok {
		return FileName{}, false
	}
	f.CompDir, f.Name = comp, name
	if dir != 0 {
		_, f.Dir, _ = dirs.table(dir, true)
	}
	return f, true
}

// table reads entry number of a table of names. With whole, it also reads the entries after it, to
// reach the end of the table.
func (h *lineHeader) table(number uint64, whole bool) (dir uint64, name []byte, ok bool) {
	formats := int(h.u8())
	at := h.p
	for range 2 * formats {
		h.uleb()
	}
	count := h.uleb()
	for i := uint64(0); i < count && !h.bad && (whole || i <= number) && formats > 0; i++ {
		c, start := abbrevCursor{b: h.b, p: at}, h.p
		for range formats {
			what, form := c.uleb(), Form(c.uleb())
			text, v := h.field(form, what == lnctPath && i == number)
			if i != number {
				continue
			}
			switch what {
			case lnctPath:
				name, ok = text, true
			case lnctDir:
				dir = v
			}
		}
		h.bad = h.bad || h.p == start // it takes no bytes, and count can be any number
	}
	return dir, name, ok && !h.bad && len(name) > 0
}

// field reads a field of an entry. The text is looked up if it is wanted.
func (h *lineHeader) field(form Form, wanted bool) (text []byte, v uint64) {
	if form == FormString {
		return h.string(), 0
	}
	at := h.p
	x, next := h.t.value(form, h.b, h.p)
	if next < 0 {
		h.bad = true
		return nil, 0
	}
	h.p = next
	if wanted && h.text != nil {
		switch form {
		case FormStrp, FormLineStrp:
			text = h.text(form, uint64(at), next-at)
		}
	}
	return text, x.Numeric()
}
