package unit

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
)

// entries is how many DIEs d is made of, zeros at the ends of children included.
func entries(d *dt.DIE) int {
	n := 1
	for _, c := range d.Children {
		n += entries(c)
	}
	if len(d.Children) > 0 || d.KeepChildren {
		n++
	}
	return n
}

// TestCutOff: a unit that ends in the middle of a DIE is an error; it may end behind one,
// as it may for pahole, and nothing behind its end is looked at.
func TestCutOff(t *testing.T) {
	for _, c := range readCases() {
		for _, way := range readWays[:3] {
			f := way.image(c.dies())
			debug := f.DebugSections()
			info := debug[0].Data
			whole := 0
			for n := len(info) - 1; n >= 4; n-- {
				if f.BigEndian {
					binary.BigEndian.PutUint32(info, uint32(n-4))
				} else {
					binary.LittleEndian.PutUint32(info, uint32(n-4))
				}
				debug[0].Data = info[:n]
				if _, _, err := readImage(t, f.Image(debug), all); err == nil {
					whole++
				}
			}
			if most := entries(f.Units[0].Root); whole > most {
				t.Errorf("%s, %s: no error for %d lengths; the unit has %d DIEs and zeros", c.what, way.what, whole, most)
			}
		}
	}
}

// TestReadErrors: what BTF cannot hold, or no compiler writes, and what is just within
// the bounds.
func TestReadErrors(t *testing.T) {
	i := dt.N(dt.TagBaseType, dt.Name("int"), dt.Size(4), dt.Encoding(5))
	member := func(parts ...any) *dt.DIE { return dt.N(dt.TagMember, dt.Name("m"), dt.Type(i)).Add(parts...) }
	in := func(tag int, parts ...any) *dt.DIE { return dt.N(tag, dt.Name("s"), dt.Size(8)).Add(parts...) }
	sized := func(size int64, parts ...any) *dt.DIE {
		return dt.N(dt.TagStructureType, dt.Name("s"), dt.Attr{At: dt.AtByteSize, Val: size}).Add(parts...)
	}
	s := func(parts ...any) *dt.DIE { return in(dt.TagStructureType, parts...) }
	u := func(parts ...any) *dt.DIE { return in(dt.TagUnionType, parts...) }
	many := func(n int) *dt.DIE {
		d := dt.N(dt.TagEnumerationType, dt.Name("e"), dt.Size(4))
		for range n {
			d.Add(dt.N(dt.TagEnumerator, dt.Name("A"), dt.Const(1)))
		}
		return d
	}
	ref := func(n int) dt.Attr { return dt.Attr{At: dt.AtType, Form: dt.FormRef4, Val: n} }
	long := all
	long.LongVlen = true
	for _, c := range []struct {
		what string
		die  *dt.DIE
		o    Options
		want string // "" is none
	}{
		{"offset", s(member(dt.MemberAt(1<<29 - 1))), all, ""},
		{"offset too large", s(member(dt.MemberAt(1 << 29))), all, "member at an offset over 536870911 bytes"},
		{"union", u(member(dt.MemberAt(0))), all, ""},
		{"offset in a union", u(member(dt.MemberAt(1))), all, "union member at an offset that is not 0"},
		{"offset of a bit-field", s(member(dt.BitAt(0xffffff), dt.BitSize(1))), all, ""},
		{"offset of a bit-field too large", s(member(dt.BitAt(0x1000000), dt.BitSize(1))), all, "bit-field offset over 16777215 bits"},
		{"size of a bit-field", s(member(dt.BitAt(0), dt.BitSize(255))), all, ""},
		{"size of a bit-field too large", s(member(dt.BitAt(0), dt.BitSize(257))), all, "bit-field of over 255 bits"},
		{"size of a bit-field as large as a type", sized(32, member(dt.BitAt(0), dt.BitSize(256))), all, ""},
		{"size of a bit-field larger than its struct", sized(31, member(dt.BitAt(0), dt.BitSize(256))), all, "bit-field of over 255 bits"},
		{"bit-field as large as a type, without a whole byte", sized(64, member(dt.BitAt(3), dt.BitSize(256))), all, "member at a bit offset that is not a whole byte"},
		{"bits of whole bytes", s(member(dt.BitAt(8))), all, ""},
		{"bits without a whole byte", s(member(dt.BitAt(9))), all, "member at a bit offset that is not a whole byte"},
		{"typedef without a name", dt.N(dt.TagTypedef, dt.Type(i)), all, "typedef without a name"},
		{"enumerator without a name", dt.N(dt.TagEnumerationType, dt.Size(4), dt.N(dt.TagEnumerator, dt.Const(1))), all, "enumerator without a name"},
		{"base type without a name", dt.N(dt.TagBaseType, dt.Size(4), dt.Encoding(5)), all, "base type without a name"},
		{"reference out of the unit", dt.N(dt.TagPointerType, ref(1<<20)), all, "reference leads out of the unit"},
		{"reference of a member", s(dt.N(dt.TagMember, ref(1<<20), dt.MemberAt(0))), all, "reference leads out of the unit"},
		{"reference of an array", dt.N(dt.TagArrayType, ref(1<<20), dt.N(dt.TagSubrangeType, dt.Upper(1))), all, "reference leads out of the unit"},
		{"reference of a parameter", dt.N(dt.TagSubroutineType, dt.N(dt.TagFormalParameter, ref(1<<20))), all, "reference leads out of the unit"},
		{"many", many(MaxVlen), all, ""},
		{"too many", many(MaxVlen + 1), all, "65536 enumerators are more than the 65535 that the vlen of BTF holds"},
		{"too many for older releases", many(MaxVlen + 1), long, ""},
		{"large size", sized(1<<29, member(dt.MemberAt(0))), all, ""},
		{"small offsets in a large size", sized(1<<31, member(dt.MemberAt(0)), member(dt.MemberAt(1<<29-1))), all, ""},
		{"large offset in a large size", sized(1<<31, member(dt.MemberAt(0)), member(dt.MemberAt(1<<29))), all, "member at an offset over 536870911 bytes"},
		{"offset of 2 GiB in a larger size", sized(1<<32-1, member(dt.MemberAt(0)), member(dt.Attr{At: dt.AtMemberLocation, Val: int64(1) << 31})), all, "member at an offset over 536870911 bytes"},
		{"offset of 33 bits", sized(1<<31, member(dt.MemberAt(0)), member(dt.Attr{At: dt.AtDataBitOffset, Val: int64(1) << 32})), all, "member at an offset over 536870911 bytes"},
		{"size of 33 bits", dt.N(dt.TagStructureType, dt.Name("s"), dt.Attr{At: dt.AtByteSize, Val: int64(1) << 32}), all, "size over 4294967295 bytes"},
		{"value of 33 bits", dt.N(dt.TagEnumerationType, dt.Name("e"), dt.Size(4), dt.N(dt.TagEnumerator, dt.Name("A"), dt.Const(int64(1)<<32))), all, "enumerator does not fit in 32 bits"},
		{"value of 32 bits", dt.N(dt.TagEnumerationType, dt.Name("e"), dt.Size(4), dt.N(dt.TagEnumerator, dt.Name("A"), dt.Const(int64(1)<<32-1))), all, ""},
	} {
		for _, bigEndian := range []bool{false, true} {
			f := dt.File{BigEndian: bigEndian, Units: []*dt.Unit{dt.CU(i, c.die)}}
			if bigEndian {
				f.Machine = dt.MachineS390
			}
			_, _, err := readUnit(t, &f, c.o)
			switch {
			case c.want == "" && err != nil:
				t.Errorf("%s: %v", c.what, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%s, big-endian %v: error %v, want %q", c.what, bigEndian, err, c.want)
			}
		}
	}
}

// TestBadNames: a name that is not an offset in .debug_str is an error wherever it
// stands, even if it would become the token 0, which stands for a missing name.
func TestBadNames(t *testing.T) {
	i := dt.N(dt.TagBaseType, dt.Name("int"), dt.Size(4), dt.Encoding(5))
	for what, in := range map[string]func(name dt.Attr) *dt.DIE{
		"member": func(name dt.Attr) *dt.DIE {
			m := func(name dt.Attr) *dt.DIE { return dt.N(dt.TagMember, name, dt.Type(i), dt.MemberAt(0)) }
			return dt.N(dt.TagStructureType, dt.Name("s"), dt.Size(4), m(dt.Name("a")), m(name), m(dt.Name("b")), m(dt.Name("c")), m(dt.Name("d")), m(dt.Name("e")))
		},
		"struct":    func(name dt.Attr) *dt.DIE { return dt.N(dt.TagStructureType, name, dt.Size(4)) },
		"union":     func(name dt.Attr) *dt.DIE { return dt.N(dt.TagUnionType, name, dt.Size(4)) },
		"typedef":   func(name dt.Attr) *dt.DIE { return dt.N(dt.TagTypedef, name, dt.Type(i)) },
		"base type": func(name dt.Attr) *dt.DIE { return dt.N(dt.TagBaseType, name, dt.Size(4), dt.Encoding(5)) },
		"enum":      func(name dt.Attr) *dt.DIE { return dt.N(dt.TagEnumerationType, name, dt.Size(4)) },
		"enumerator": func(name dt.Attr) *dt.DIE {
			return dt.N(dt.TagEnumerationType, dt.Size(4), dt.N(dt.TagEnumerator, name, dt.Const(1)))
		},
		"parameter": func(name dt.Attr) *dt.DIE {
			return dt.N(dt.TagSubroutineType, dt.N(dt.TagFormalParameter, name, dt.Type(i)))
		},
		"function": func(name dt.Attr) *dt.DIE { return dt.N(dt.TagSubprogram, name, dt.Type(i)) },
	} {
		for _, bigEndian := range []bool{false, true} {
			try := func(offset uint32) error {
				raw := binary.LittleEndian.AppendUint32(nil, offset)
				f := dt.File{}
				if bigEndian {
					raw, f = binary.BigEndian.AppendUint32(nil, offset), dt.File{BigEndian: true, Machine: dt.MachineS390}
				}
				// Enough stands behind it for the loops that read many DIEs at once.
				f.Units = []*dt.Unit{dt.CU(i, in(dt.Attr{At: dt.AtName, Form: dt.FormStrp, Val: dt.Raw(raw)}), slices.Repeat([]*dt.DIE{dt.N(dt.TagPointerType)}, 64))}
				_, _, err := readUnit(t, &f, all)
				return err
			}
			if err := try(1); err != nil {
				t.Errorf("%s, big-endian %v: %v", what, bigEndian, err)
			}
			for k := uint32(1); k <= 8; k++ {
				for _, offset := range []uint32{-k, 0x7ffffff0 + k} {
					if err := try(offset); err == nil || !strings.Contains(err.Error(), "name") {
						t.Errorf("%s, big-endian %v, offset %#x: error %v", what, bigEndian, offset, err)
					}
				}
			}
		}
	}
}

// TestImports: a DIE that imports a unit says which; without DW_AT_import it imports none.
func TestImports(t *testing.T) {
	partial := dt.N(dt.TagBaseType, dt.Name("int"), dt.Size(4), dt.Encoding(5))
	root := dt.N(dt.TagPartialUnit, partial)
	one := dt.N(dt.TagImportedUnit, dt.Attr{At: dt.AtImport, Form: dt.FormRefAddr, Val: root})
	f := dt.File{Units: []*dt.Unit{dt.CU(one, dt.N(dt.TagImportedUnit), one, dt.N(dt.TagPointerType)), {Type: 3, Root: root}}}
	r, _, err := readUnit(t, &f, all)
	if err != nil || len(r.group.imports.S) != 2 {
		t.Errorf("%d imports, want 2; %v", len(r.group.imports.S), err)
	}
}
