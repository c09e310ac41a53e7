package encode_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/test/testfile"
)

// TestImportedTwice: a partial unit (dwz) is read in the place of its import and once more. Both readings
// have the types of a unit that is read once, whatever is left out of them or computed at their end:
// types that BTF has no kind for, void where C does not allow it, stubs for types of type units, and
// bit-fields of DWARF 2.
func TestImportedTwice(t *testing.T) {
	const typeUnit, partialUnit, typeUnitTag, atSignature, unspecifiedType = 2, 3, 0x41, 0x69, 0x3b
	reasons := map[string]func(user func(to *dt.DIE) *dt.DIE) []*dt.DIE{
		"nothing": func(func(to *dt.DIE) *dt.DIE) []*dt.DIE { return nil },
		"unencodable": func(user func(to *dt.DIE) *dt.DIE) []*dt.DIE {
			d := dt.N(dt.TagBaseType, dt.Name("complex"), dt.Size(16), dt.Encoding(3))
			return []*dt.DIE{d, user(d)}
		},
		"void": func(user func(to *dt.DIE) *dt.DIE) []*dt.DIE {
			d := dt.N(unspecifiedType, dt.Name("decltype(nullptr)"))
			return []*dt.DIE{d, user(d)}
		},
		"stub": func(user func(to *dt.DIE) *dt.DIE) []*dt.DIE {
			d := dt.N(dt.TagStructureType, dt.Declaration(), dt.Attr{At: atSignature, Form: dt.FormRefSig8, Val: dt.Signature})
			return []*dt.DIE{d, user(d)}
		},
	}
	inside := func(to *dt.DIE) *dt.DIE {
		c := dt.N(dt.TagBaseType, dt.Name("char"), dt.Size(1), dt.Encoding(6))
		return dt.N(dt.TagStructureType, dt.Name("user"), dt.Size(18), c, dt.N(dt.TagMember, dt.Name("m"), dt.Type(to), dt.MemberAt(0)),
			dt.N(dt.TagMember, dt.Name("c"), dt.Type(c), dt.MemberAt(16)), dt.N(dt.TagMember, dt.Name("d"), dt.Type(c), dt.MemberAt(17)))
	}
	pointer := func(to *dt.DIE) *dt.DIE { return dt.N(dt.TagPointerType, dt.Size(8), dt.Type(to)) }
	// dies returns types that get other ids if one before them is left out.
	dies := func() []*dt.DIE {
		i := dt.N(dt.TagBaseType, dt.Name("int"), dt.Size(4), dt.Encoding(5))
		s := dt.N(dt.TagStructureType, dt.Name("s"), dt.Size(16))
		p := pointer(s)
		s.Add(dt.N(dt.TagMember, dt.Name("i"), dt.Type(i), dt.MemberAt(0)), dt.N(dt.TagMember, dt.Name("next"), dt.Type(p), dt.MemberAt(8)))
		bits := dt.N(dt.TagStructureType, dt.Name("bits"), dt.Size(4))
		for k := range 3 {
			bits.Add(dt.N(dt.TagMember, dt.Name(string(rune('a'+k))), dt.Type(i), dt.Size(4), dt.BitSize(3), dt.Attr{At: dt.AtBitOffset, Val: 29 - 3*k}, dt.MemberAt(0)))
		}
		e := dt.N(dt.TagEnumerationType, dt.Name("e"), dt.Size(4), dt.N(dt.TagEnumerator, dt.Name("A"), dt.Const(7)))
		proto := dt.N(dt.TagSubroutineType, dt.Type(p), dt.N(dt.TagFormalParameter, dt.Type(i)), dt.N(dt.TagFormalParameter, dt.Type(e)), dt.N(dt.TagFormalParameter, dt.Type(p)))
		u := dt.N(dt.TagUnionType, dt.Name("u"), dt.Size(8), dt.N(dt.TagMember, dt.Name("p"), dt.Type(p)), dt.N(dt.TagMember, dt.Name("e"), dt.Type(e)))
		return []*dt.DIE{i, s, p, bits, e, proto, pointer(proto), u, dt.N(dt.TagTypedef, dt.Name("t"), dt.Type(bits))}
	}
	opt := encode.Options{Features: encode.DefaultFeatures, For: encode.ForKernel} // which leaves out void
	path := filepath.Join(t.TempDir(), "file")
	types := func(stub bool, units ...*dt.Unit) []string {
		if stub {
			s := dt.N(dt.TagStructureType, dt.Name("far"), dt.Size(8))
			units = append(units, &dt.Unit{Type: typeUnit, TypeDIE: s, Root: dt.N(typeUnitTag, dt.Language(0x1d), s)})
		}
		testfile.Write(t, path, (&dt.File{Units: units}).Bytes())
		text, _ := format(t, mustRun(t, []string{path}, opt))
		return typesOf(text)
	}
	for reason, first := range reasons {
		for where, user := range map[string]func(to *dt.DIE) *dt.DIE{"member": inside, "pointer": pointer} {
			want := types(reason == "stub", dt.CU(first(user), dies()))
			root := dt.N(dt.TagPartialUnit).Add(first(user), dies())
			got := types(reason == "stub", &dt.Unit{Type: partialUnit, Root: root},
				dt.CU(dt.N(dt.TagImportedUnit, dt.Attr{At: dt.AtImport, Form: dt.FormRefAddr, Val: root})))
			if !slices.Equal(got, want) {
				t.Errorf("%s, %s: (-want +got)\n%s", reason, where, cmp.Diff(want, got))
			}
		}
	}
}
