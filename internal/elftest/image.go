package elftest

// Image is an ELF file: header, program headers, contents, section table. The null
// section and, after Sections, .shstrtab are added.
type Image struct {
	Layout
	Type     int // e_type; 0 is Relocatable, or with Linked Executable
	Machine  int // e_machine; 0 is x86-64
	Entry    uint64
	Segments []Segment
	// Linked adds a stack segment and one around all sections with Alloc, which get
	// their addresses from it: byte 0 of the file is at LoadAddr.
	Linked   bool
	Sections []Section
	Align    int    // of contents, in bytes; 0 is 8
	Names    string // after the last name of .shstrtab
	Tail     string // after the section table
	// Extended puts the number of sections and the index of .shstrtab into the null
	// section, as is done where they do not fit into the header.
	Extended bool
}

// LoadAddr is the address of byte 0 of a linked image.
const LoadAddr = 0x1000

// Section is a section. Type 0 is Progbits.
type Section struct {
	Name    string
	Type    uint32
	Flags   uint64
	Addr    uint64
	Data    []byte
	Size    uint64 // 0 is len(Data)
	Link    uint32
	Info    uint32
	EntSize uint64
}

// Segment is a program header. Its bytes are Size of the file, at Off.
type Segment struct {
	Type, Flags          uint32
	Off, Addr            uint64
	Size, MemSize, Align uint64
}

// Image is the relocatable file of some sections.
func (l Layout) Image(sections ...Section) []byte {
	return Image{Layout: l, Sections: sections}.Bytes()
}

// Bytes is the file.
func (m Image) Bytes() []byte {
	sections := append([]Section{{}}, m.Sections...)
	sections = append(sections, Section{Name: ".shstrtab", Type: Strtab})
	last := len(sections) - 1
	for i := 1; i < last; i++ {
		if sections[i].Type == 0 {
			sections[i].Type = Progbits
		}
	}
	offsets, names := m.names(sections)
	sections[last].Data = append(names, m.Names...)

	segments := len(m.Segments)
	if m.Linked {
		segments += 2
	}
	start := m.HeaderSize() + segments*m.SegmentSize()
	body, places := m.contents(sections, start)
	if m.Linked {
		m.link(sections, places)
	}
	count, strIndex := len(sections), last
	if m.Extended || count >= extendedCount {
		sections[0].Size, sections[0].Link = uint64(count), uint32(strIndex)
		count, strIndex = 0, extendedIndex
	}
	b := m.header(uint64(start+len(body)), len(m.Segments), count, strIndex)
	for _, s := range m.Segments {
		b = m.segment(b, s)
	}
	b = append(b, body...)
	for i, s := range sections {
		b = m.section(b, offsets[i], places[i], s)
	}
	return append(b, m.Tail...)
}

// names is the name table of the sections and where each name is.
func (m Image) names(sections []Section) (offsets []uint32, names []byte) {
	names = []byte{0}
	for _, s := range sections {
		if s.Name == "" {
			offsets = append(offsets, 0)
			continue
		}
		offsets = append(offsets, uint32(len(names)))
		names = append(append(names, s.Name...), 0)
	}
	return offsets, names
}

// contents puts the sections one after another, the first after start, and returns where
// each is in the file. The gaps are not zero, so that a reader of them gets nothing
// useful.
func (m Image) contents(sections []Section, start int) (body []byte, places []uint64) {
	align := m.Align
	if align == 0 {
		align = 8
	}
	pad := func(align int) {
		for (start+len(body))%align != 0 {
			body = append(body, 0xcc)
		}
	}
	places = append(places, 0)
	for _, s := range sections[1:] {
		pad(align)
		places = append(places, uint64(start+len(body)))
		body = append(body, s.Data...)
	}
	pad(8)
	return body, places
}

// link adds the segments of a linked image and gives its sections their addresses.
func (m *Image) link(sections []Section, places []uint64) {
	load := Segment{Type: segmentLoad, Flags: 4, Align: 1}
	for i := range sections {
		s := &sections[i]
		if s.Flags&Alloc == 0 || s.Type == Nobits {
			continue
		}
		if load.Off == 0 {
			load.Off = places[i]
		}
		load.Size = places[i] + s.size() - load.Off
		s.Addr = LoadAddr + places[i]
	}
	load.Addr, load.MemSize = LoadAddr+load.Off, load.Size
	stack := Segment{Type: segmentStack, Flags: 4, Addr: LoadAddr, Align: 1}
	m.Segments = append(append([]Segment{}, m.Segments...), stack, load)
}

func (s *Section) size() uint64 {
	if s.Size == 0 {
		return uint64(len(s.Data))
	}
	return s.Size
}

// header is the ELF header.
func (m Image) header(sectionTable uint64, segments, count, strIndex int) []byte {
	class, order := byte(m.Pick(2, 1)), byte(1)
	if m.BigEndian() {
		order = 2
	}
	or := func(v, usual int) uint16 {
		if v == 0 {
			v = usual
		}
		return uint16(v)
	}
	typ, phoff := Relocatable, 0
	if m.Linked {
		typ = Executable
	}
	if segments > 0 {
		phoff = m.HeaderSize()
	}
	const x8664 = 62
	o := m.Order
	b := append([]byte("\x7fELF"), class, order, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	b = o.AppendUint16(b, or(m.Type, typ))
	b = o.AppendUint16(b, or(m.Machine, x8664))
	b = o.AppendUint32(b, 1)
	b = m.Word(m.Word(m.Word(b, m.Entry), uint64(phoff)), sectionTable)
	b = o.AppendUint32(b, 0)
	for _, v := range []int{m.HeaderSize(), m.SegmentSize(), segments, m.SectionSize(), count, strIndex} {
		b = o.AppendUint16(b, uint16(v))
	}
	return b
}

// segment appends a program header.
func (l Layout) segment(b []byte, s Segment) []byte {
	o := l.Order
	b = o.AppendUint32(b, s.Type)
	if l.Class64 {
		b = o.AppendUint32(b, s.Flags)
	}
	b = l.Word(l.Word(l.Word(b, s.Off), s.Addr), s.Addr)
	b = l.Word(l.Word(b, s.Size), s.MemSize)
	if !l.Class64 {
		b = o.AppendUint32(b, s.Flags)
	}
	return l.Word(b, s.Align)
}

// Loads is the program header of a segment that has a range of the file loaded.
func (l Layout) Loads(off, size uint64) []byte {
	return l.segment(nil, Segment{Type: segmentLoad, Flags: 4, Off: off, Addr: LoadAddr + off, Size: size, MemSize: size, Align: 1})
}

// section appends a section header.
func (l Layout) section(b []byte, name uint32, place uint64, s Section) []byte {
	o := l.Order
	b = o.AppendUint32(o.AppendUint32(b, name), s.Type)
	b = l.Word(l.Word(l.Word(l.Word(b, s.Flags), s.Addr), place), s.size())
	b = o.AppendUint32(o.AppendUint32(b, s.Link), s.Info)
	return l.Word(l.Word(b, 1), s.EntSize)
}
