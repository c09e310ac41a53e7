package elfwrite

import (
	"errors"
	"fmt"
	"strings"
)

// Where the contents go.
//
// The layout that this package makes is a tail at the end of the file:
//
//	contents     at a multiple of 8
//	name table   directly behind, if it had to grow for the new name
//	section table at the next multiple of 8, if a section was added
//	end of file
//
// Nothing in front of the tail is moved or dropped, so bytes that no header
// mentions (an old section table, a signature) stay.
//
//   - No section of that name: a tail is added.
//   - The section starts such a tail: the tail is written anew. So the same
//     contents give the same file, and other contents do not make it grow by
//     more than they are longer.
//   - Contents of the old size: written over the old ones.
//   - The section is loaded (SHF_ALLOC, and a PT_LOAD has its bytes) and the
//     contents are shorter: written over the old ones, the rest is zeroed.
//   - Otherwise the contents are added at the end and the section header is
//     pointed there; that is a tail of contents only. A section that was
//     loaded loses SHF_ALLOC and its address, since the loaded image keeps
//     the old bytes.
//
// Old bytes are written over only if nothing else claims them.

// plan says where the parts of the new file go, as file offsets.
type plan struct {
	keep      int64 // the first keep bytes are those of the old file
	content   int64
	size      int64 // of the contents
	zero      int64 // bytes to clear behind the contents
	moveNames bool  // the name table is written, at names
	names     int64
	shoff     int64
	end       int64 // size of the new file
}

// plan decides on the layout and changes the tables of m to match.
func (m *image) plan(name string, size int64) (*plan, error) {
	if name == "" || strings.Contains(name, nameEnd) {
		return nil, fmt.Errorf("bad section name %q", name)
	}
	if size < 0 || size > 1<<62 {
		return nil, fmt.Errorf("bad size of section %s: %d", quoteOdd(name), size)
	}
	i := m.find(name)
	if err := m.checkContents(i); err != nil {
		return nil, err
	}
	p := &plan{keep: m.size, size: size, shoff: int64(m.shoff), end: m.size}
	switch {
	case i < 0:
		m.planNew(p, name)
	case i == m.strIndex:
		return nil, fmt.Errorf("section %s is the section name table and cannot be replaced", quoteOdd(name))
	default:
		m.planReplace(p, i)
	}
	if !m.class64 && p.end > 1<<32-1 {
		return nil, errors.New("file would be larger than a 32-bit ELF file can be")
	}
	return p, nil
}

// planNew adds a section and a tail.
func (m *image) planNew(p *plan, name string) {
	nameOff, grown := m.addName(name)
	i := m.addSection()
	p.content = align8(m.size)
	m.setSection(i, shdr{name: nameOff, typ: shtProgbits, align: 1,
		span: span{uint64(p.content), uint64(p.size)}})
	m.planTail(p, grown, true)
}

// planTail places what follows the contents.
func (m *image) planTail(p *plan, names, table bool) {
	p.end = p.content + p.size
	if names {
		p.moveNames = true
		p.names = p.end
		m.repoint(m.strIndex, span{uint64(p.names), uint64(len(m.names))})
		p.end += int64(len(m.names))
	}
	if table {
		p.shoff = align8(p.end)
		m.setShoff(uint64(p.shoff))
		p.end = p.shoff + int64(len(m.shdrs))
	}
}

// planReplace gives section i new contents.
func (m *image) planReplace(p *plan, i int) {
	s := m.section(i)
	if names, table, ok := m.tailAt(i); ok {
		p.keep = int64(s.off)
		p.content = p.keep
		s.typ = shtProgbits
		s.flags &^= shfCompressed
		s.size = uint64(p.size)
		m.setSection(i, s)
		m.planTail(p, names, table)
		return
	}
	if m.fitsInPlace(i, uint64(p.size)) {
		p.content = int64(s.off)
		p.zero = int64(s.size) - p.size
		s.typ = shtProgbits
		s.flags &^= shfCompressed
		s.size = uint64(p.size)
		m.setSection(i, s)
		return
	}
	p.content = align8(m.size)
	m.repoint(i, span{uint64(p.content), uint64(p.size)})
	s = m.section(i)
	s.typ = shtProgbits
	s.flags &^= shfCompressed
	s.align = 1
	m.setSection(i, s)
	m.planTail(p, false, false)
}

// repoint moves section i to another place of the file. In a linked file its
// bytes are then outside every segment, so it is not loaded any more.
func (m *image) repoint(i int, to span) {
	s := m.section(i)
	if m.fileType() != etRel {
		s.flags &^= shfAlloc
		s.addr = 0
	}
	s.span = to
	m.setSection(i, s)
}

// tailAt reports whether section i starts a tail at the end of the file, and
// whether the name table and the section table are part of it.
func (m *image) tailAt(i int) (names, table, ok bool) {
	s := m.section(i)
	file := span{0, uint64(m.size)}
	if s.typ == shtNobits || s.off%8 != 0 || !file.contains(s.span) {
		return false, false, false
	}
	end := s.off + s.size
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
	tail := span{s.off, file.size - s.off}
	if !table && tail.overlaps(m.tableSpan()) || m.claimed(&s, tail) {
		return false, false, false
	}
	for j := range m.count {
		if j == i || names && j == m.strIndex {
			continue
		}
		other := m.section(j)
		if tail.overlaps(other.live()) {
			return false, false, false
		}
	}
	return names, table, true
}

// fitsInPlace reports whether size bytes can be written over the contents of
// section i.
func (m *image) fitsInPlace(i int, size uint64) bool {
	s := m.section(i)
	if s.typ == shtNobits || !(span{0, uint64(m.size)}).contains(s.span) {
		return false
	}
	if m.loaded(&s) {
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

// loaded reports whether the bytes of s are part of a loaded segment.
func (m *image) loaded(s *shdr) bool {
	if s.flags&shfAlloc == 0 {
		return false
	}
	for _, at := range m.loads {
		if at.contains(s.span) {
			return true
		}
	}
	return false
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
	if s.flags&shfAlloc == 0 {
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
func (m *image) tableSpan() span {
	return span{m.shoff, uint64(len(m.shdrs))}
}

// align8 rounds n up to a multiple of 8.
func align8(n int64) int64 {
	return (n + 7) &^ 7
}
