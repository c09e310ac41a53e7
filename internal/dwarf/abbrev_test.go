package dwarf

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// describe writes what Compile made of an abbreviation.
func describe(a *Abbrev) string {
	var w []string
	for _, x := range []struct {
		name string
		is   bool
	}{{"children", a.Children}, {"fixed", a.Fixed}, {"direct", a.Direct}, {"inline", a.Inline}, {"plain", a.Plain}, {"cross", a.Cross()}} {
		if x.is {
			w = append(w, x.name)
		}
	}
	if a.Fixed || a.Inline {
		w = append(w, fmt.Sprintf("size %d", a.Size))
	}
	if a.Direct || a.Inline {
		for i, s := range a.Slots {
			if s != (Slot{}) {
				w = append(w, fmt.Sprintf("%d:%x@%d+%d", i, s.Mask, s.Off, s.Const))
			}
		}
	}
	if a.NameBase != 0 {
		w = append(w, fmt.Sprintf("base %d", a.NameBase))
	}
	return strings.Join(w, " ")
}

// many returns n attributes that no plan reads.
func many(n int, f Form) []at { return slices.Repeat([]at{{attr: 0x8a, form: f}}, n) }

// TestCompile: which values an abbreviation's slots lead to.
func TestCompile(t *testing.T) {
	name, typ := at{attr: atName, form: FormStrp}, at{attr: atType, form: FormRef4}
	inline := at{attr: atName, form: FormString}
	loc := func(f Form) at { return at{attr: atDataMemberLoc, form: f} }
	implicit := func(attr uint64, b ...byte) at { return at{attr, FormImplicitConst, b} }
	for _, c := range []struct {
		name  string
		u     Unit
		tag   Tag
		kids  bool
		attrs []at
		want  string
	}{
		{"nothing", Unit{}, TagBaseType, false, nil, "fixed direct size 0"},
		{"children", Unit{}, TagStructureType, true, []at{name}, "children fixed direct size 4 0:ffffffff@0+0 base 7"},
		{"member", Unit{}, TagMember, false, []at{name, {attr: 0x8a, form: FormData2}, typ, loc(FormData1)},
			"fixed direct plain size 11 0:ffffffff@0+0 1:ffffffff@6+0 2:ff@10+0 base 7"},
		{"member with an offset of 4 bytes is not plain", Unit{}, TagMember, false, []at{name, typ, loc(FormData4)},
			"fixed direct size 12 0:ffffffff@0+0 1:ffffffff@4+0 2:ffffffff@8+0 base 7"},
		{"member with children is not plain", Unit{}, TagMember, true, []at{name}, "children fixed direct size 4 0:ffffffff@0+0 base 7"},
		{"bit-field is not plain", Unit{}, TagMember, false, []at{{attr: atBitSize, form: FormData1}, {attr: atDataBitOffset, form: FormData2}},
			"fixed direct size 3 3:ff@0+0 4:ffff@1+0"},
		{"slot at the end of what is plain", Unit{}, TagMember, false, append(many(24, FormData1), typ), "fixed direct plain size 28 1:ffffffff@24+0"},
		{"slot behind what is plain", Unit{}, TagMember, false, append(many(25, FormData1), typ), "fixed direct size 29 1:ffffffff@25+0"},
		{"name in front", Unit{}, TagMember, false, []at{inline, typ, loc(FormData2)}, "inline plain size 6 1:ffffffff@0+0 2:ffff@4+0"},
		{"name not in front", Unit{}, TagMember, false, []at{typ, inline}, ""},
		{"name in front and another string", Unit{}, TagMember, false, []at{inline, {attr: 0x8a, form: FormString}}, ""},
		{"name twice", Unit{}, TagMember, false, []at{name, {attr: atName, form: FormData1}}, "fixed direct size 5 0:ffffffff@0+0 base 7"},
		{"name of 64-bit DWARF", Unit{Dwarf64: true}, TagTypedef, false, []at{name}, "fixed size 8"},
		{"name by index", Unit{}, TagTypedef, false, []at{{attr: atName, form: FormStrx1}}, "fixed size 1"},
		{"name is not a number", Unit{}, TagTypedef, false, []at{{attr: atName, form: FormData4}}, "fixed size 4"},
		{"number is no name", Unit{}, TagBaseType, false, []at{{attr: atByteSize, form: FormStrp}}, "fixed size 4"},
		{"type is not a number", Unit{}, TagTypedef, false, []at{{attr: atType, form: FormData4}}, "fixed size 4"},
		{"number is no reference", Unit{}, TagBaseType, false, []at{{attr: atByteSize, form: FormRef4}}, "fixed size 4"},
		{"references", Unit{}, TagFormalParameter, false, []at{{attr: atType, form: FormRef1}, {attr: atAbstractOrigin, form: FormRef2}},
			"fixed direct size 3 1:ff@0+0 2:ffff@1+0"},
		{"origin is not a number", Unit{}, TagFormalParameter, false, []at{{attr: atAbstractOrigin, form: FormData4}}, "fixed size 4"},
		{"location list", Unit{}, TagFormalParameter, false, []at{{attr: atLocation, form: FormSecOffset}}, "fixed direct size 4 3:ffffffff@0+0"},
		{"location list of 64-bit DWARF", Unit{Dwarf64: true}, TagFormalParameter, false, []at{{attr: atLocation, form: FormSecOffset}}, "fixed size 8"},
		{"location is not a number", Unit{}, TagFormalParameter, false, []at{{attr: atLocation, form: FormData4}}, "fixed size 4"},
		{"number is no list", Unit{}, TagBaseType, false, []at{{attr: atByteSize, form: FormSecOffset}}, "fixed size 4"},
		{"value without a slot", Unit{}, TagMember, false, []at{{attr: atByteSize, form: FormData1}}, "fixed size 1"},
		{"sibling", Unit{}, TagLabel, false, []at{{attr: atSibling, form: FormRef4}}, "fixed direct size 4 2:ffffffff@0+0"},
		{"flags", Unit{}, TagStructureType, false, []at{{attr: atDeclaration, form: FormFlagPresent}}, "fixed direct size 0 3:0@0+1"},
		{"flag of a byte", Unit{}, TagStructureType, false, []at{{attr: atDeclaration, form: FormFlag}}, "fixed direct size 1 3:ff@0+0"},
		{"implicit 0", Unit{}, TagBaseType, false, []at{implicit(atByteSize, 0)}, "fixed direct size 0"},
		{"implicit 65535", Unit{}, TagBaseType, false, []at{implicit(atByteSize, 0xff, 0xff, 3)}, "fixed direct size 0 2:0@0+65535"},
		{"implicit 65536", Unit{}, TagBaseType, false, []at{implicit(atByteSize, 0x80, 0x80, 4)}, "fixed size 0"},
		{"implicit -1", Unit{}, TagBaseType, false, []at{implicit(atByteSize, 0x7f)}, "fixed size 0"},
		{"implicit type", Unit{}, TagTypedef, false, []at{implicit(atType, 1)}, "fixed size 0"},
		{"implicit location", Unit{}, TagFormalParameter, false, []at{implicit(atLocation, 1)}, "fixed size 0"},
		{"reference by section offset", Unit{}, TagTypedef, false, []at{{attr: atType, form: FormRefAddr}}, "fixed cross size 4"},
		{"unread reference by section offset", Unit{}, TagTypedef, false, []at{{attr: 0x8a, form: FormRefAddr}}, "fixed direct size 4"},
		{"as large as slots allow", Unit{}, TagTypedef, false, slices.Concat(many(0xfef0/16, FormData16), many(12, FormData1), []at{typ}),
			"fixed direct size 65280 1:ffffffff@65276+0"},
		{"larger, slot behind", Unit{}, TagTypedef, false, slices.Concat(many(0xfef0/16, FormData16), many(13, FormData1), []at{typ}), "fixed size 65281"},
		{"larger, slot in front", Unit{}, TagTypedef, false, slices.Concat([]at{typ}, many(0xff00/16, FormData16)), "fixed size 65284"},
		{"name in front, as large as slots allow", Unit{}, TagTypedef, false, slices.Concat([]at{inline}, many(0xff00/16, FormData16)), "inline size 65280"},
		{"name in front, larger", Unit{}, TagTypedef, false, slices.Concat([]at{inline, {attr: 0x8a, form: FormData1}}, many(0xff00/16, FormData16)), ""},
	} {
		c.u.Version, c.u.AddrSize = 5, 8
		var table Abbrevs
		if err := table.Compile(append(declare(1, c.tag, c.kids, c.attrs...), 0), &c.u, Types, 7); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := describe(table.Lookup(1))
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestCompileRefuses: a table without an end or with impossible contents is an error.
func TestCompileRefuses(t *testing.T) {
	u := &Unit{Version: 5, AddrSize: 8, AbbrevOff: 3}
	good := slices.Concat([]byte{9, 9, 9}, declare(300, TagMember, true, at{attr: atName, form: FormStrp},
		at{attr: 0x2130, form: FormGNUStrIndex}, at{atByteSize, FormImplicitConst, []byte{0x80, 1}}), declare(1, TagVariable, false), []byte{0})
	var table Abbrevs
	if err := table.Compile(good, u, Types, 0); err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(good); n++ {
		want := "abbreviation table cut off"
		if n <= 3 {
			want = "abbreviation table beyond the section"
		}
		if err := new(Abbrevs).Compile(good[:n:n], u, Types, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d of %d bytes: error %v, want %q", n, len(good), err, want)
		}
	}
	for _, c := range []struct {
		in   []byte
		want string
	}{
		{[]byte{1, 0, 0, 0, 0, 0}, ".debug_abbrev+0x3: abbreviation 1 has tag 0"},
		{[]byte{1, 0xff, 0xff, 3, 0, 0, 0, 0}, ""},
		{[]byte{1, 0x80, 0x80, 4, 0, 0, 0, 0}, ".debug_abbrev+0x3: abbreviation 1 has tag 65536"},
		{[]byte{1, 1, 2, 0, 0, 0}, ".debug_abbrev+0x3: abbreviation 1 has children flag 2"},
		{[]byte{1, 1, 0, 1, 2, 0, 0, 0}, "abbreviation 1: unknown form 2"},
		{[]byte{1, 1, 0, 1, 0x80, 0x80, 4, 0, 0, 0}, "abbreviation 1: form 65536"},
		{[]byte{1, 1, 0, 1, 0, 0, 0, 0}, "abbreviation 1: unknown form 0"},
		{[]byte{1, 1, 0, 0, 0x0b, 0, 0, 0}, ""}, // attribute 0 with a form does not end the list
	} {
		err := new(Abbrevs).Compile(append([]byte{9, 9, 9}, c.in...), u, Types, 0)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%x: error %v, want %q", c.in, err, c.want)
		}
	}
	constants := func(n int) error {
		one := declare(1, TagSubprogram, false, at{atDeclaration, FormImplicitConst, []byte{0x80, 0x80, 0x04}})
		return new(Abbrevs).Compile(append(bytes.Repeat(one, n), 0), &Unit{Version: 5, AddrSize: 8}, Types, 0)
	}
	if err := constants(0x10000); err != nil {
		t.Error(err)
	}
	if err := constants(0x10001); err == nil || !strings.Contains(err.Error(), "too many constants") {
		t.Errorf("constants beyond 65536: error %v", err)
	}
}

// TestLookup: codes near each other have a place in the table, codes far out
// are found all the same, and of two with one code the first counts.
func TestLookup(t *testing.T) {
	u := &Unit{Version: 5, AddrSize: 8}
	sec := slices.Concat(declare(1, TagMember, false), declare(1, TagVariable, false), declare(3, TagEnumerator, false),
		declare(1<<40, TagTypedef, false), declare(1<<40, TagVariable, false),
		declare(1024+4*5-1, TagBaseType, false), declare(1024+4*6, TagUnionType, false), []byte{0})
	var table Abbrevs
	if err := table.Compile(sec, u, Types, 0); err != nil {
		t.Fatal(err)
	}
	for code, want := range map[uint64]Tag{0: 0, 1: TagMember, 2: 0, 3: TagEnumerator, 1 << 40: TagTypedef, 1<<40 + 1: 0, 1043: TagBaseType, 1048: TagUnionType, 1044: 0} {
		a := table.Lookup(code)
		if a == nil && want != 0 || a != nil && a.Tag != want {
			t.Errorf("code %d: %+v, want tag %#x", code, a, want)
		}
	}
	if n := len(table.Dense()); n != 1044 {
		t.Errorf("the table has %d places, want 1044", n)
	}
	if n := table.Work(); n != uint64(len(sec)) {
		t.Errorf("%d bytes were read of %d", n, len(sec))
	}
	if table.Work() != 0 {
		t.Error("Work counts twice")
	}
}

// TestCompileKeeps: the same table for the same kind of unit is not read again,
// any other is.
func TestCompileKeeps(t *testing.T) {
	one := append(declare(1, TagTypedef, false, at{attr: atName, form: FormStrp}), 0)
	sec := append(bytes.Clone(one), one...)
	first := Unit{Version: 4, AddrSize: 8}
	for name, change := range map[string]func(u *Unit, nameBase *uint32, sec *[]byte){
		"":           func(*Unit, *uint32, *[]byte) {},
		"offset":     func(u *Unit, _ *uint32, _ *[]byte) { u.AbbrevOff = uint64(len(one)) },
		"version":    func(u *Unit, _ *uint32, _ *[]byte) { u.Version = 5 },
		"address":    func(u *Unit, _ *uint32, _ *[]byte) { u.AddrSize = 4 },
		"64-bit":     func(u *Unit, _ *uint32, _ *[]byte) { u.Dwarf64 = true },
		"byte order": func(u *Unit, _ *uint32, _ *[]byte) { u.BigEndian = true },
		"names":      func(_ *Unit, n *uint32, _ *[]byte) { *n = 8 },
		"file":       func(_ *Unit, _ *uint32, s *[]byte) { *s = bytes.Clone(*s) },
		"section":    func(_ *Unit, _ *uint32, s *[]byte) { *s = append(bytes.Clone(*s), 0) },
	} {
		var table Abbrevs
		if err := table.Compile(sec, &first, Types, 7); err != nil {
			t.Fatal(err)
		}
		table.Work()
		u, nameBase, in := first, uint32(7), sec
		change(&u, &nameBase, &in)
		if err := table.Compile(in, &u, Types, nameBase); err != nil {
			t.Fatal(err)
		}
		if read := table.Work() != 0; read != (name != "") {
			t.Errorf("other %q: read again %v", name, read)
		}
	}
	var table Abbrevs
	for range 2 {
		if err := table.Compile(sec, &first, Types, 7); err != nil {
			t.Fatal(err)
		}
		table.Forget()
	}
	if n := table.Work(); n != uint64(2*len(one)) {
		t.Errorf("after Forget %d bytes were read, want %d", n, 2*len(one))
	}
}

// TestCross: forms that a unit alone is not enough for.
func TestCross(t *testing.T) {
	for _, c := range []struct {
		tag  Tag
		form Form
		want bool
	}{
		{TagTypedef, FormRef4, false}, {TagTypedef, FormRefSig8, false}, {TagTypedef, FormRefAddr, true},
		{TagTypedef, FormGNURefAlt, true}, {TagTypedef, FormRefSup4, true}, {TagTypedef, FormRefSup8, true},
		{TagTypedef, FormGNUStrpAlt, true}, {TagTypedef, FormStrpSup, true}, {TagImportedUnit, FormRef4, true},
	} {
		for _, attr := range []uint64{atType, 0x8a} {
			var table Abbrevs
			if err := table.Compile(append(declare(1, c.tag, false, at{attr: attr, form: c.form}), 0), &Unit{Version: 5, AddrSize: 8}, Types, 0); err != nil {
				t.Fatal(err)
			}
			if table.Cross() != c.want {
				t.Errorf("tag %#x, form %#x: %v, want %v", c.tag, c.form, table.Cross(), c.want)
			}
		}
	}
}

// TestSkips: a run of unread bytes longer than one step of a program.
func TestSkips(t *testing.T) {
	const n = 0xffff + 40
	var table Abbrevs
	attrs := append(many(n/16, FormData16), many(n%16, FormData1)...)
	u := &Unit{Version: 5, AddrSize: 8}
	if err := table.Compile(append(declare(1, TagSubprogram, false, append(attrs, at{attr: atName, form: FormStrx1})...), 0), u, Types, 0); err != nil {
		t.Fatal(err)
	}
	data := append(make([]byte, n), 5)
	var out Values
	if next, _ := table.Decode(table.Lookup(1), data, 0, &out); next != n+1 || out[VName].U != 5 {
		t.Errorf("ends at %d of %d, name %d", next, n+1, out[VName].U)
	}
}
