package declared

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/internal/dwarf"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/mmapelf"
	"github.com/btflite/btflite/test/testfile"
)

// atDeclLine is DW_AT_decl_line.
const atDeclLine = 0x3b

// line is a DW_AT_decl_line.
func line(n int) dt.Attr { return dt.Attr{At: atDeclLine, Val: n} }

// unit is a unit of a name with DIEs.
func unit(name string, lang int, parts ...any) *dt.Unit {
	return &dt.Unit{Root: dt.N(dt.TagCompileUnit, dt.Name(name), dt.Language(lang)).Add(parts...)}
}

// record is a struct or union of 8 bytes with members of the names.
func record(tag int, name string, at int, members string) *dt.DIE {
	d := dt.N(tag, dt.Size(8), line(at))
	if name != "" {
		d.Add(dt.Name(name))
	}
	for m := range strings.FieldsSeq(members) {
		d.Add(dt.N(dt.TagMember, dt.Name(m), dt.MemberAt(0)))
	}
	return d
}

// shape is the shape of members.
func shape(members string) (s Shape) {
	for m := range strings.FieldsSeq(members) {
		s = s.With([]byte(m))
	}
	return s
}

// file has types of one name in several units, in functions, and in each other.
func file() dt.File {
	const c11, rust = 0x1d, 0x1c
	inner := record(dt.TagStructureType, "inner", 31, "i")
	return dt.File{Units: []*dt.Unit{
		unit("a.c", c11,
			dt.N(dt.TagStructureType, dt.Name("s"), dt.Declaration(), line(1)),
			dt.N(dt.TagTypedef, dt.Name("s"), line(2)),
			record(dt.TagUnionType, "s", 3, "a b"),
			dt.N(dt.TagSubprogram, dt.Name("f")).Add(dt.N(dt.TagLexicalBlock).Add(record(dt.TagStructureType, "local", 4, "l")))),
		unit("b.rs", rust, record(dt.TagStructureType, "s", 11, "a b"), record(dt.TagStructureType, "", 12, "x")),
		unit("c.c", c11, record(dt.TagStructureType, "s", 21, "b a"), record(dt.TagStructureType, "s", 22, "a b"),
			record(dt.TagClassType, "outer", 30, "o").Add(inner, dt.N(dt.TagMember, dt.Name("p"))),
			dt.N(dt.TagEnumerationType, dt.Name("e"), dt.Size(8), line(40)).Add(dt.N(dt.TagEnumerator, dt.Name("E1"), dt.Const(1)))),
	}}
}

func TestSearch(t *testing.T) {
	f := file()
	image := f.Bytes()
	const none = "none"
	for _, x := range []struct {
		name, members string
		tag           dwarf.Tag
		size          uint64
		unit          string
		line          uint64
		search        Search
	}{
		{name: "s", tag: dwarf.TagTypedef, unit: "a.c", line: 2},
		{name: "s", members: "a b", tag: dwarf.TagUnionType, size: 8, unit: "a.c", line: 3},
		{name: "s", members: "a b", tag: dwarf.TagStructureType, size: 8, unit: "b.rs", line: 11},
		{name: "s", members: "b a", tag: dwarf.TagStructureType, size: 8, unit: "c.c", line: 21},
		{name: "s", members: "b a", tag: dwarf.TagStructureType, size: 4, unit: "b.rs", line: 11}, // the first one
		{name: "s", members: "a", tag: dwarf.TagEnumerationType, size: 8, unit: none},             // no enum
		{name: "", members: "x", tag: dwarf.TagStructureType, size: 8, unit: "b.rs", line: 12},
		{name: "", members: "y", tag: dwarf.TagStructureType, size: 8, unit: none}, // another one
		{name: "local", members: "l", tag: dwarf.TagStructureType, size: 8, unit: "a.c", line: 4},
		{name: "outer", members: "o p", tag: dwarf.TagStructureType, size: 8, unit: "c.c", line: 30},
		{name: "inner", members: "i", tag: dwarf.TagStructureType, size: 8, unit: "c.c", line: 31},
		{name: "e", members: "E1", tag: dwarf.TagEnumerationType, size: 8, unit: "c.c", line: 40},
		{name: "s", members: "a b", tag: 0x13, size: 8, unit: "c.c", line: 22, search: Search{Lang: []uint16{0x1d}}},
		{name: "s", members: "a b", tag: 0x13, size: 8, unit: "c.c", line: 22, search: Search{LangExclude: []uint16{0x1c}}},
		{name: "s", members: "a b", tag: 0x13, size: 8, unit: "c.c", line: 22, search: Search{CUExclude: "b."}},
	} {
		s, want := x.search, Type{x.tag, x.size, shape(x.members)}
		s.Add([]byte("nothing"), want)
		s.Add([]byte(x.name), want)
		if err := s.In(&mmapelf.Source{Path: "in", Data: image}); err != nil {
			t.Fatal(err)
		}
		at, ok := s.Place([]byte(x.name), want)
		if x.unit == none {
			if ok {
				t.Errorf("%q {%s}: found in %+v", x.name, x.members, at)
			}
			continue
		}
		if !ok || at.Unit != x.unit || at.Line != x.line || at.Offset == 0 {
			t.Errorf("%q {%s}: %+v, want %s:%d", x.name, x.members, at, x.unit, x.line)
		}
		if _, ok := s.Place([]byte("nothing"), want); ok {
			t.Error("found what is not there")
		}
	}
}

// TestSearchEnds: after the last type is found, nothing more is read.
func TestSearchEnds(t *testing.T) {
	f := file()
	const unknown = 9
	f.Units[2].Version = unknown
	in := mmapelf.Source{Path: "in", Data: f.Bytes()}
	var s Search
	if err := s.In(&mmapelf.Source{Path: "nowhere"}); err != nil {
		t.Errorf("nothing is looked for: %v", err)
	}
	s.Add([]byte("s"), Type{Tag: dwarf.TagTypedef})
	if err := s.In(&in); err != nil || s.left != 0 {
		t.Errorf("%d left, %v", s.left, err)
	}
	s.Add([]byte("nothing"), Type{Tag: dwarf.TagTypedef})
	if err := s.In(&in); err == nil || !strings.Contains(err.Error(), "in: .debug_info") {
		t.Errorf("%v", err)
	}
}

// TestSearchElsewhere: types are found in .dwo files, in a .dwp, in type units, in the alternate
// file of dwz and in a separate debug file, where
// the same program has them without.
func TestSearchElsewhere(t *testing.T) {
	types := []struct {
		name string
		tag  dwarf.Tag
		at   string
	}{
		{"node", dwarf.TagStructureType, "shared.h:18"}, {"own", dwarf.TagStructureType, "other.c:6"},
		{"tiny", dwarf.TagEnumerationType, "types.c:11"}, {"flag_t", dwarf.TagTypedef, "types.c:5"},
	}
	for _, path := range []string{
		"golden/x86-gcc5.elf", "splitdwarf/x86-gcc4/prog", "splitdwarf/x86-gcc5/prog", "splitdwarf/x86-clang5-dwp/prog",
		"splitdwarf/x86-gcc4-types/prog", "splitdwarf/x86-gcc5-types/prog", "splitdwarf/x86-gcc4-types-dwp/prog",
		"typeunits/x86-gcc4.elf", "typeunits/x86-gcc5.elf",
		"typeunits/x86-gcc4-r.elf", "typeunits/x86-gcc5-r.elf", "typeunits/x86-gcc5-r-nogroups.elf", "typeunits/x86-gcc5-zstd.elf",
		"typeunits/s390x-gcc5.elf", "dwz/x86-gcc5-sup.elf", "debugfile/x86-gcc5.elf",
	} {
		path = "../../encode/testdata/" + path
		var s Search
		for _, x := range types {
			s.Add([]byte(x.name), Type{Tag: x.tag})
		}
		if err := s.In(&mmapelf.Source{Path: path}); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		for _, x := range types {
			at, ok := s.Place([]byte(x.name), Type{Tag: x.tag})
			if got := fmt.Sprintf("%s:%d", filepath.Base(at.File), at.Line); got != x.at || !ok || at.Offset == 0 {
				t.Errorf("%s: %s is at %s, want %s", path, x.name, got, x.at)
			}
		}
	}
}

// TestSearchMutants: damage gives an error or places, and no panic.
func TestSearchMutants(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	failed := 0
	for _, path := range []string{"x86-gcc5", "s390x-gcc4-r", "x86-clang5", "i386-gcc4-zgnu"} {
		image := testfile.Read(t, "../../encode/testdata/golden/"+path+".elf")
		for range 400 {
			b := bytes.Clone(image)
			for range 1 + r.IntN(8) {
				b[r.IntN(len(b))] = byte(r.Uint32())
			}
			var s Search
			for _, name := range []string{"list_head", "u64", "nothing"} {
				for _, tag := range []dwarf.Tag{dwarf.TagStructureType, dwarf.TagTypedef} {
					s.Add([]byte(name), Type{Tag: tag})
				}
			}
			if err := s.In(&mmapelf.Source{Path: "in", Data: b}); err != nil {
				failed++
			}
		}
	}
	if failed == 0 || failed == 4*400 {
		t.Errorf("%d of %d failed", failed, 4*400)
	}
}
