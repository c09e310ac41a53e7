package elfwrite

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/message"
)

// Where the contents go.
//
// The layout that this package makes is a tail at the end of the file:
//
//	contents     of each section at a multiple of 8, in the order given
//	name table   directly behind, if it had to grow for a new name
//	section table at the next multiple of 8, if a section was added
//	end of file
//
// Nothing in front of the tail is moved or dropped, so bytes that no header
// mentions (an old section table, a signature) stay.
//
//   - No section of that name: a tail is added.
//   - The sections to be set already are such a tail: the tail is written again. So
//     the same contents give the same file, and longer contents make the file grow
//     only by the difference.
//   - Contents of the old size: written over the old ones.
//   - The section is loaded (SHF_ALLOC, and a PT_LOAD has its bytes): written
//     over the old ones, filled up to their size (Section.Fill) or with zeros
//     behind. Larger contents are refused: elsewhere they would not be loaded,
//     and the segment would still have the old ones.
//   - Otherwise the contents are added at the end and the section header is
//     pointed there; that is a tail of contents only. SHF_ALLOC and the address
//     of a linked file's section, which no segment has, go.
//
// Old bytes are written over only if nothing else claims them. Relocations of the old contents go.

// plan says where the parts of the new file go, as file offsets.
type plan struct {
	keep      int64     // so many bytes at the start are copied from the old file
	contents  []content // one for each section to be set, in the order given
	moveNames bool      // the name table is written, at names
	names     int64
	shoff     int64
	end       int64 // size of the new file
}

// content is the place of the contents of one section.
type content struct {
	off, size int64
	filled    bool  // written by Fill
	zero      int64 // bytes to clear behind the contents
}

// writer returns what produces the contents of s for c.
func (c *content) writer(s *Section) func(io.Writer) error {
	if c.filled {
		return func(w io.Writer) error { return s.Fill(w, c.size) }
	}
	return s.Write
}

// NoRoomError is the error of contents that are larger than the place of a
// section that is loaded with a segment. Sizes are in bytes.
type NoRoomError struct {
	Section   string
	Has, Need int64
}

func (e *NoRoomError) Error() string {
	return fmt.Sprintf("section %s is loaded with the program and has room for %d bytes there, not for %d", message.OneLine(e.Section), e.Has, e.Need)
}

// tail is the end of the file if plan can reuse it: it has some of the sections to be
// set, followed by the tables.
type tail struct {
	off          int64 // where it begins; behind the file if there is none
	members      []int // section numbers
	names, table bool  // the tables are part of it
}

// plan decides on the layout and changes the tables of m to match.
func (m *image) plan(sections []Section) (*plan, error) {
	index, err := m.lookUp(sections)
	if err != nil {
		return nil, err
	}
	if err := m.checkContents(index); err != nil {
		return nil, err
	}
	p := &plan{keep: m.size, shoff: int64(m.shoff), end: m.size, contents: make([]content, len(sections))}
	t := m.findTail(index)
	if len(t.members) > 0 {
		p.keep = t.off
	}
	// Decide this while the tables still describe the old file.
	inPlace := make([]bool, len(sections))
	for k, i := range index {
		if i < 0 {
			continue
		}
		loaded, err := m.checkLoaded(i)
		if err != nil {
			return nil, fmt.Errorf("section %s: %w", message.OneLine(sections[k].Name), err)
		}
		inPlace[k] = !slices.Contains(t.members, i) && m.fitsInPlace(i, uint64(sections[k].Size))
		if loaded && !inPlace[k] {
			return nil, &NoRoomError{sections[k].Name, int64(m.section(i).size), sections[k].Size}
		}
	}
	p.end = t.off
	appended := false
	for k := range sections {
		size := sections[k].Size
		i := index[k]
		if inPlace[k] {
			s := m.section(i)
			c := content{off: int64(s.off), size: size, zero: int64(s.size) - size}
			if c.zero > 0 && sections[k].Fill != nil {
				c.size, c.filled, c.zero = int64(s.size), true, 0
			}
			p.contents[k] = c
			m.setContents(i, span{s.off, uint64(c.size)})
			continue
		}
		appended = true
		p.end = align8(p.end)
		at := span{uint64(p.end), uint64(size)}
		p.contents[k] = content{off: p.end, size: size}
		p.end += size
		switch {
		case i < 0:
			nameOff, grown := m.addName(sections[k].Name)
			m.setSection(m.addSection(), shdr{name: nameOff, typ: elfabi.SHTProgbits, align: 1, span: at})
			t.names = t.names || grown
			t.table = true
		case slices.Contains(t.members, i):
			m.setContents(i, at)
		default:
			m.repoint(i, at)
			m.setContents(i, at)
			s := m.section(i)
			s.align = 1
			m.setSection(i, s)
		}
		if p.end < int64(at.off) {
			return nil, errors.New("contents are too large together")
		}
	}
	m.dropRelocs(index)
	if appended {
		m.placeTables(p, t)
	} else {
		p.end = m.size
	}
	if !m.class64 && p.end > 1<<32-1 {
		return nil, errors.New("file would be larger than a 32-bit ELF file can be")
	}
	return p, nil
}

// lookUp checks the sections to be set and returns the number that each has in
// the file, -1 for a new one.
func (m *image) lookUp(sections []Section) ([]int, error) {
	index := make([]int, len(sections))
	for k, s := range sections {
		if s.Name == "" || strings.Contains(s.Name, nameEnd) {
			return nil, fmt.Errorf("bad section name %q", s.Name)
		}
		if s.Size < 0 || s.Size > 1<<61 {
			return nil, fmt.Errorf("bad size of section %s: %d", message.OneLine(s.Name), s.Size)
		}
		if slices.ContainsFunc(sections[:k], func(o Section) bool { return o.Name == s.Name }) {
			return nil, fmt.Errorf("section %s is given twice", message.OneLine(s.Name))
		}
		index[k] = m.find(s.Name)
		if index[k] == m.strIndex {
			return nil, fmt.Errorf("section %s is the section name table and cannot be replaced", message.OneLine(s.Name))
		}
	}
	return index, nil
}

// placeTables puts the tables that move behind the contents.
func (m *image) placeTables(p *plan, t tail) {
	if t.names {
		p.moveNames = true
		p.names = p.end
		m.repoint(m.strIndex, span{uint64(p.names), uint64(len(m.names))})
		p.end += int64(len(m.names))
	}
	if t.table {
		p.shoff = align8(p.end)
		m.setShoff(uint64(p.shoff))
		p.end = p.shoff + int64(len(m.shdrs))
	}
}

// dropRelocs empties the sections with relocations of the sections in index. Compilers write such
// relocations for .BTF. They fit the old contents: a linker would spoil the new ones by them.
func (m *image) dropRelocs(index []int) {
	for i := range m.count {
		s := m.section(i)
		switch s.typ {
		case elfabi.SHTRel, elfabi.SHTRela, elfabi.SHTCrel:
			if s.flags&elfabi.SHFAlloc == 0 && s.info != 0 && slices.Contains(index, int(s.info)) {
				s.size = 0
				m.setSection(i, s)
			}
		}
	}
}

// setContents makes section i hold the bytes at, as they are.
func (m *image) setContents(i int, at span) {
	s := m.section(i)
	s.typ = elfabi.SHTProgbits
	s.flags &^= elfabi.SHFCompressed
	s.span = at
	m.setSection(i, s)
}

// repoint moves section i, which no segment loads, to another place of the file.
// In a linked file no address belongs to it there.
func (m *image) repoint(i int, to span) {
	s := m.section(i)
	if m.fileType() != elfabi.ETRel {
		s.flags &^= elfabi.SHFAlloc
		s.addr = 0
	}
	s.span = to
	m.setSection(i, s)
}

// findTail finds the longest tail that sections of index make up.
func (m *image) findTail(index []int) tail {
	var known []int
	for _, i := range index {
		if i >= 0 {
			known = append(known, i)
		}
	}
	slices.SortStableFunc(known, func(a, b int) int { return cmp.Compare(m.section(a).off, m.section(b).off) })
	for ; len(known) > 0; known = known[1:] {
		if names, table, ok := m.isTail(known); ok {
			return tail{int64(m.section(known[0]).off), known, names, table}
		}
	}
	return tail{off: m.size}
}

// isTail reports whether sections, in order of their offsets, make up a tail at
// the end of the file, and whether the name table and the section table are
// part of it.
func (m *image) isTail(sections []int) (names, table, ok bool) {
	file := span{0, uint64(m.size)}
	end := m.section(sections[0]).off
	for _, i := range sections {
		s := m.section(i)
		if s.typ == elfabi.SHTNobits || s.off%8 != 0 || !file.contains(s.span) || s.off != uint64(align8(int64(end))) {
			return false, false, false
		}
		end = s.off + s.size
	}
	if str := m.section(m.strIndex); str.off == end && str.size > 0 {
		names = true
		end += str.size // the name table was checked to lie in the file
	}
	if end != file.size {
		table = true
		if m.shoff != uint64(align8(int64(end))) || m.shoff+uint64(len(m.shdrs)) != file.size {
			return false, false, false
		}
	}
	start := m.section(sections[0]).off
	at := span{start, file.size - start}
	if !table && at.overlaps(m.tableSpan()) {
		return false, false, false
	}
	for j := range m.count {
		s := m.section(j)
		switch {
		case slices.Contains(sections, j):
			if m.claimed(&s, at) {
				return false, false, false
			}
		case names && j == m.strIndex:
		case at.overlaps(s.live()):
			return false, false, false
		}
	}
	return names, table, true
}

// fitsInPlace reports whether size bytes can be written over the contents of
// section i.
func (m *image) fitsInPlace(i int, size uint64) bool {
	s := m.section(i)
	if s.typ == elfabi.SHTNobits || !(span{0, uint64(m.size)}).contains(s.span) {
		return false
	}
	if m.loadOf(&s) != nil {
		if size > s.size {
			return false
		}
	} else if size != s.size || m.claimed(&s, s.span) {
		return false
	}
	if s.overlaps(m.tableSpan()) || m.headersIn(s.span) {
		return false
	}
	for j := range m.count {
		other := m.section(j)
		if j != i && s.overlaps(other.live()) {
			return false
		}
	}
	return true
}

// loadOf returns the segment that loads s, or nil.
func (m *image) loadOf(s *shdr) *load {
	if s.flags&elfabi.SHFAlloc == 0 || s.typ == elfabi.SHTNobits || s.size == 0 {
		return nil
	}
	for i := range m.loads {
		if m.loads[i].contains(s.span) {
			return &m.loads[i]
		}
	}
	return nil
}

// checkLoaded reports whether a segment loads section i. It is an error if the
// segment has other bytes at the section's address: writing to either place
// would leave the other as it is.
func (m *image) checkLoaded(i int) (bool, error) {
	s := m.section(i)
	at := m.loadOf(&s)
	if at == nil || m.fileType() == elfabi.ETRel {
		return false, nil
	}
	if s.addr-at.addr != s.off-at.off {
		return false, fmt.Errorf("its bytes are at %#x of the file, but the segment loads those at %#x to its address %#x; a program that moved it has damaged the file",
			s.off, at.off+s.addr-at.addr, s.addr)
	}
	return true, nil
}

// claimed reports whether the bytes at, which section s starts, belong to a
// header or are loaded with s. Without SHF_ALLOC s is not meant to be loaded,
// even where a segment has its bytes: files of separate debug information keep
// the program headers of the file they were made from, which say nothing about
// their own bytes.
func (m *image) claimed(s *shdr, at span) bool {
	if m.headersIn(at) {
		return true
	}
	if s.flags&elfabi.SHFAlloc == 0 {
		return false
	}
	for _, seg := range m.segments {
		if at.overlaps(seg) {
			return true
		}
	}
	return false
}

// headersIn reports whether at has a byte of the ELF or program headers.
func (m *image) headersIn(at span) bool {
	return at.overlaps(m.phdrs) || at.overlaps(span{0, uint64(len(m.ehdr))})
}

// tableSpan returns the place of the section table.
func (m *image) tableSpan() span { return span{m.shoff, uint64(len(m.shdrs))} }

// align8 rounds n up to a multiple of 8.
func align8(n int64) int64 { return (n + 7) &^ 7 }
