package elfobject

import (
	"encoding/binary"
	"maps"

	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/mmapelf"
)

// Change says what becomes of the sections of an object, by their indexes.
type Change struct {
	Drop map[int]bool
	Set  map[int]Contents
}

// Contents are the new contents of a section, not compressed. The header of the section
// tells of the old ones, which may be compressed and have the alignment of that form.
type Contents struct {
	Data  []byte
	Align uint64 // 0 if the alignment stays
}

// rewriter lays an object out anew.
type rewriter struct {
	*Object
	to   []int // new index by old one; 0 for what is dropped
	n    int   // sections that stay
	home int   // old index of the section that gets symbols of dropped ones
	out  []byte
	most uint64 // bytes that out may have before the section table
}

// slack is how much longer than twice the old file the new one may become, new contents aside.
// Sound sections do not overlap, and an assembler has aligned them in the old file too; only
// damaged headers ask for more.
const slack = 16 << 20

// Rewrite is the object with a change. Symbols of sections that are dropped stay, since
// the numbers of all others would change with them: they become symbols of the first
// section of Set. A section group loses what is dropped, and goes with its last section.
// Errors: ErrShape, if something that stays needs what is dropped.
func (o *Object) Rewrite(c Change) ([]byte, error) {
	if err := o.dropGroups(&c); err != nil {
		return nil, err
	}
	r := &rewriter{Object: o, to: make([]int, len(o.f.Sections)), home: -1, most: 2*uint64(len(o.raw)) + slack}
	for _, s := range c.Set {
		r.most += uint64(len(s.Data))
	}
	for i := range o.f.Sections {
		if !c.Drop[i] {
			r.to[i] = r.n
			r.n++
		}
		if _, ok := c.Set[i]; ok && r.home < 0 {
			r.home = i
		}
	}
	if r.home < 0 {
		return nil, shape("nothing is set")
	}
	head := 52
	if o.f.Class64 {
		head = 64
	}
	if len(o.raw) < head {
		return nil, shape("no header")
	}
	r.out = append(make([]byte, 0, len(o.raw)), o.raw[:head]...)
	headers := make([]byte, 0, r.n*r.headerSize())
	for i := range o.f.Sections {
		if c.Drop[i] {
			continue
		}
		h, err := r.section(&o.f.Sections[i], c)
		if err != nil {
			return nil, err
		}
		headers = append(headers, h...)
	}
	r.align(8)
	at := uint64(len(r.out))
	r.out = append(r.out, headers...)
	r.patchHeader(at)
	return r.out, nil
}

// exists reports whether the file has a section with this index. An index from a damaged file may
// be negative as an int of 32 bits.
func (r *rewriter) exists(i uint32) bool { return uint64(i) < uint64(len(r.to)) }

// fits reports whether out may have n more bytes at a multiple of align.
func (r *rewriter) fits(align uint64, n int) bool {
	at, gap := uint64(len(r.out)), uint64(0)
	if at > r.most {
		return false
	}
	free := r.most - at
	if align > 1 {
		gap = (align - at%align) % align
	}
	return gap <= free && uint64(n) <= free-gap
}

// align appends zeros up to a multiple of n.
func (r *rewriter) align(n uint64) {
	for n > 1 && uint64(len(r.out))%n != 0 {
		r.out = append(r.out, 0)
	}
}

// patchHeader sets the place and number of section headers, and the section of
// their names.
func (r *rewriter) patchHeader(at uint64) {
	o := r.order
	if r.f.Class64 {
		o.PutUint64(r.out[40:], at)
		o.PutUint16(r.out[60:], uint16(r.n))
		o.PutUint16(r.out[62:], uint16(r.to[o.Uint16(r.out[62:])]))
		return
	}
	o.PutUint32(r.out[32:], uint32(at))
	o.PutUint16(r.out[48:], uint16(r.n))
	o.PutUint16(r.out[50:], uint16(r.to[o.Uint16(r.out[50:])]))
}

// section appends the contents of s, and returns its header.
func (r *rewriter) section(s *mmapelf.Section, c Change) ([]byte, error) {
	now := *s // with the values of the new header
	contents, set := c.Set[s.Index]
	data := contents.Data
	switch {
	case set:
		now.Flags &^= elfabi.SHFCompressed
		if contents.Align != 0 {
			now.Align = contents.Align
		}
	case s.Type != elfabi.SHTNull && s.Type != elfabi.SHTNobits:
		if s.Offset > uint64(len(r.raw)) || uint64(len(r.raw))-s.Offset < s.Size {
			return nil, shape("%s: its contents lie beyond the file", s.Name)
		}
		data = r.raw[s.Offset:][:s.Size]
	}
	if r.exists(s.Link) && s.Link != 0 {
		if c.Drop[int(s.Link)] {
			return nil, shape("%s needs a section that is dropped", s.Name)
		}
		now.Link = uint32(r.to[s.Link])
	}
	if s.Type == elfabi.SHTRel || s.Type == elfabi.SHTRela || s.Flags&elfabi.SHFInfoLink != 0 {
		if !r.exists(s.Info) || c.Drop[int(s.Info)] {
			return nil, shape("%s is about a section that is dropped", s.Name)
		}
		now.Info = uint32(r.to[s.Info])
	}
	switch s.Type {
	case elfabi.SHTSymtab:
		data = r.symbols(c)
	case elfabi.SHTGroup:
		var err error
		if data, err = r.group(s, data, c); err != nil {
			return nil, err
		}
	}
	if s.Type != elfabi.SHTNull {
		if !r.fits(now.Align, len(data)) {
			return nil, shape("%s makes the file too large", s.Name)
		}
		r.align(now.Align)
		now.Offset = uint64(len(r.out))
		r.out = append(r.out, data...)
	}
	if s.Type != elfabi.SHTNobits && s.Type != elfabi.SHTNull {
		now.Size = uint64(len(data))
	}
	return r.header(&now)
}

// header is the header of a section, in the file that is read, with the values of s.
func (r *rewriter) header(s *mmapelf.Section) ([]byte, error) {
	o, n := r.order, r.headerSize()
	old, err := r.oldHeader(s.Index)
	if err != nil {
		return nil, err
	}
	h := append(make([]byte, 0, n), old...)
	if r.f.Class64 {
		o.PutUint64(h[8:], s.Flags)
		o.PutUint64(h[24:], s.Offset)
		o.PutUint64(h[32:], s.Size)
		o.PutUint32(h[40:], s.Link)
		o.PutUint32(h[44:], s.Info)
		o.PutUint64(h[48:], s.Align)
		return h, nil
	}
	o.PutUint32(h[8:], uint32(s.Flags))
	o.PutUint32(h[16:], uint32(s.Offset))
	o.PutUint32(h[20:], uint32(s.Size))
	o.PutUint32(h[24:], s.Link)
	o.PutUint32(h[28:], s.Info)
	o.PutUint32(h[32:], uint32(s.Align))
	return h, nil
}

// oldHeader is the header of section i in the file.
func (r *rewriter) oldHeader(i int) ([]byte, error) {
	n := uint64(r.headerSize())
	var shoff uint64
	if r.f.Class64 {
		shoff = r.order.Uint64(r.raw[40:])
	} else {
		shoff = uint64(r.order.Uint32(r.raw[32:]))
	}
	at := shoff + uint64(i)*n
	if at < shoff || at > uint64(len(r.raw)) || uint64(len(r.raw))-at < n {
		return nil, shape("section header %d lies beyond the file", i)
	}
	return r.raw[at:][:n], nil
}

// symbols is the symbol table with new indexes of sections.
func (r *rewriter) symbols(c Change) []byte {
	data := append([]byte(nil), r.syms...)
	size, at := r.symbolSize(), r.sectionAt()
	for off := 0; off+size <= len(data); off += size {
		s := data[off:][:size]
		k := int(r.order.Uint16(s[at:]))
		switch {
		case k == 0 || k >= elfabi.SHNLoReserve || k >= len(r.to):
			continue
		case c.Drop[k]:
			clearValue(s, r.order, r.f.Class64)
			k = r.home
		}
		r.order.PutUint16(s[at:], uint16(r.to[k]))
	}
	return data
}

// clearValue sets value and size of a symbol to 0.
func clearValue(s []byte, o binary.ByteOrder, class64 bool) {
	if class64 {
		o.PutUint64(s[8:], 0)
		o.PutUint64(s[16:], 0)
		return
	}
	o.PutUint32(s[4:], 0)
	o.PutUint32(s[8:], 0)
}

// dropGroups drops section groups whose sections are all dropped.
func (o *Object) dropGroups(c *Change) error {
	drop := make(map[int]bool, len(c.Drop))
	maps.Copy(drop, c.Drop)
	for i := range o.f.Sections {
		s := &o.f.Sections[i]
		if s.Type != elfabi.SHTGroup {
			continue
		}
		data, err := o.f.Data(s)
		if err != nil {
			return err
		}
		if stay := o.groupOf(data, func(k uint32) bool { return !c.Drop[int(k)] }); len(stay) == 0 && len(data) > 4 {
			drop[i] = true
		}
	}
	c.Drop = drop
	return nil
}

// groupOf are the sections in the contents of a section group that keep wants. The
// contents are flags and the indexes of the sections, 32 bits each (gABI, section groups).
func (o *Object) groupOf(data []byte, keep func(uint32) bool) (stay []uint32) {
	for off := 4; off+4 <= len(data); off += 4 {
		if k := o.order.Uint32(data[off:]); keep(k) {
			stay = append(stay, k)
		}
	}
	return stay
}

// group is the contents of a section group with new indexes.
func (r *rewriter) group(s *mmapelf.Section, data []byte, c Change) ([]byte, error) {
	if len(data) < 4 {
		return nil, shape("%s: a section group without flags", s.Name)
	}
	out := append([]byte(nil), data[:4]...)
	for _, k := range r.groupOf(data, func(k uint32) bool { return !c.Drop[int(k)] }) {
		if !r.exists(k) {
			return nil, shape("%s: a section of a group is not there", s.Name)
		}
		out = appendUint32(r.order, out, uint32(r.to[k]))
	}
	return out, nil
}
