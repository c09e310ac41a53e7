//go:build linux

package hostile

import (
	"bytes"
	"encoding/binary"
	"strings"

	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
)

// Tags, attributes and forms that dwarftest has no names for.
const (
	tagTypeUnit = 0x41

	atTypeOffset = 0x00 // only in headers
	atImport     = 0x18

	formGNURefAlt = 0x1f20
)

var le = binary.LittleEndian

// i4 is the type int that every file starts with.
func newInt() *dt.DIE {
	return dt.N(dt.TagBaseType, dt.Name("int"), dt.Size(4), dt.Encoding(5))
}

// named is a DIE with a name and a type, both optional.
func named(tag int, name string, t *dt.DIE, parts ...any) *dt.DIE {
	d := dt.N(tag)
	if name != "" {
		d.Add(dt.Name(name))
	}
	if t != nil {
		d.Add(dt.Type(t))
	}
	return d.Add(parts...)
}

func ptr(t *dt.DIE) *dt.DIE                  { return named(dt.TagPointerType, "", t) }
func typedef(name string, t *dt.DIE) *dt.DIE { return named(dt.TagTypedef, name, t) }
func structure(name string, size int, parts ...any) *dt.DIE {
	return named(dt.TagStructureType, name, nil, dt.Size(size)).Add(parts...)
}
func member(name string, t *dt.DIE, off int, parts ...any) *dt.DIE {
	return named(dt.TagMember, name, t, dt.MemberAt(off)).Add(parts...)
}
func array(t *dt.DIE, uppers ...int) *dt.DIE {
	d := named(dt.TagArrayType, "", t)
	for _, n := range uppers {
		d.Add(dt.N(dt.TagSubrangeType, dt.Upper(n)))
	}
	return d
}
func value(name string, v int) *dt.DIE { return dt.N(dt.TagEnumerator, dt.Name(name), dt.Const(v)) }

// raw is an attribute of these bytes, whatever its form says.
func raw(at, form int, b ...byte) dt.Attr { return dt.Attr{At: at, Form: form, Val: dt.Raw(b)} }

// raw4 is raw with a number of four bytes.
func raw4(at, form int, v uint32) dt.Attr { return raw(at, form, le.AppendUint32(nil, v)...) }

// good is a small legal set of types and a function.
func good() []*dt.DIE {
	i := newInt()
	s := structure("item", 16, member("count", i, 0))
	p := ptr(s)
	s.Add(member("next", p, 8))
	return []*dt.DIE{i, s, p, typedef("item_t", s), array(i, 3),
		named(dt.TagEnumerationType, "color", nil, dt.Size(4), value("RED", 0), value("BLUE", 1)),
		named(dt.TagSubprogram, "count_items", i, dt.External(), dt.LowPC(dt.TextAddr+0x10), named(dt.TagFormalParameter, "first", p, dt.Location(0x55)))}
}

// goodFile is a file of one unit with good and more.
func goodFile(parts ...any) *dt.File {
	return &dt.File{Units: []*dt.Unit{goodUnit(parts...)}, Symbols: []dt.Symbol{dt.Func("count_items", dt.TextAddr+0x10)}}
}

func goodUnit(parts ...any) *dt.Unit {
	u := dt.CU(good())
	u.Root.Add(parts...)
	return u
}

func control() []byte { return goodFile().Bytes() }

// with is a case of the good types and more DIEs.
func with(parts ...any) func() []byte {
	return func() []byte { return goodFile(parts...).Bytes() }
}

// made is with for DIEs that take time or refer to each other.
func made(parts func() []any) func() []byte {
	return func() []byte { return goodFile(parts()...).Bytes() }
}

// sections are the debug sections of a file by name.
type sections struct{ all []dt.Section }

// at is the section of a name; its Data may be replaced.
func (s *sections) at(name string) *dt.Section {
	for i := range s.all {
		if s.all[i].Name == name {
			return &s.all[i]
		}
	}
	s.all = append(s.all, dt.Section{Name: name, Type: 1})
	return &s.all[len(s.all)-1]
}

func (s *sections) info() *dt.Section   { return s.at(".debug_info") }
func (s *sections) abbrev() *dt.Section { return s.at(".debug_abbrev") }

// drop removes a section.
func (s *sections) drop(name string) {
	for i := range s.all {
		if s.all[i].Name == name {
			s.all = append(s.all[:i], s.all[i+1:]...)
			return
		}
	}
}

// damaged is the good file, with more DIEs, after damage to its debug sections.
func damaged(damage func(*sections), parts ...any) func() []byte {
	return func() []byte {
		f := goodFile(parts...)
		s := &sections{f.DebugSections()}
		damage(s)
		return f.Image(s.all)
	}
}

// elfImage is an ELF file to be patched.
type elfImage struct{ data []byte }

func (e *elfImage) shoff() uint64 { return le.Uint64(e.data[40:]) }

// header is the section header of a name, 64 bytes of the image.
func (e *elfImage) header(name string) []byte {
	n := int(le.Uint16(e.data[60:]))
	entry := func(i int) []byte { return e.data[e.shoff()+uint64(i)*64:][:64] }
	names := e.data[le.Uint64(entry(n - 1)[24:]):]
	for i := range n {
		if h := entry(i); strings.HasPrefix(string(names[le.Uint32(h):][:len(name)+1]), name+"\x00") {
			return h
		}
	}
	panic("no section " + name)
}

// Offsets in a section header.
const (
	shName    = 0
	shType    = 4
	shOffset  = 24
	shSize    = 32
	shLink    = 40
	shEntsize = 56
)

// patched is the good file after changes to its ELF headers.
func patched(patch func(*elfImage)) func() []byte {
	return func() []byte {
		e := &elfImage{control()}
		patch(e)
		return e.data
	}
}

// patchedHeader is patched for a number of 4 or 8 bytes in the ELF header or a
// section header.
func patchedHeader(section string, off, size int, v uint64) func() []byte {
	return patched(func(e *elfImage) {
		h := e.data
		if section != "" {
			h = e.header(section)
		}
		var b [8]byte
		le.PutUint64(b[:], v)
		copy(h[off:off+size], b[:size])
	})
}

func uleb(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }

// abbreviation is one entry of .debug_abbrev; pairs are attributes and forms.
func abbreviation(code uint64, tag int, children bool, pairs ...int) []byte {
	b := uleb(uleb(nil, code), uint64(tag))
	if children {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	for _, p := range pairs {
		b = uleb(b, uint64(p))
	}
	return append(b, 0, 0)
}

// unit4 is a unit of DWARF 4 with the given DIEs.
func unit4(dies []byte) []byte {
	b := le.AppendUint32(nil, uint32(7+len(dies)))
	b = le.AppendUint16(b, 4)
	b = append(le.AppendUint32(b, 0), 8)
	return append(b, dies...)
}

// rawFile is a file of these sections.
func rawFile(info, abbrev []byte, more ...dt.Section) []byte {
	f := &dt.File{Symbols: []dt.Symbol{dt.Func("count_items", dt.TextAddr+0x10)}}
	return f.Image(append([]dt.Section{{Name: ".debug_info", Data: info}, {Name: ".debug_abbrev", Data: abbrev}}, more...))
}

// cuAbbrev declares a compile unit with children as code 1, without attributes,
// and an int as code 2 (name in the data, size, encoding).
func cuAbbrev() []byte {
	return append(abbreviation(1, dt.TagCompileUnit, true),
		abbreviation(2, dt.TagBaseType, false, dt.AtName, dt.FormString, dt.AtByteSize, dt.FormData1, dt.AtEncoding, dt.FormData1)...)
}

// rawInt is an int of code 2.
func rawInt(name string) []byte { return append(append([]byte{2}, name...), 0, 4, 5) }

// join puts pieces together.
func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
