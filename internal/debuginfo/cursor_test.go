package debuginfo

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/internal/dwarf"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/internal/elftest"
)

// TestUnits: names of all forms are read in all layouts, versions, and both sizes of offsets.
func TestUnits(t *testing.T) {
	for _, l := range elftest.Layouts {
		for version := 2; version <= 5; version++ {
			for _, wide := range []bool{false, true} {
				if wide && version < 3 {
					continue
				}
				forms := []int{dt.FormStrp, dt.FormString}
				if version == 5 {
					forms = append(forms, dt.FormStrx, dt.FormStrx1, dt.FormStrx4, dt.FormLineStrp)
				}
				var units []*dt.Unit
				var want []string
				for i, form := range forms {
					name := strings.Repeat("n", i) + "ame.c"
					units = append(units, &dt.Unit{Version: version, Dwarf64: wide, Root: dt.N(dt.TagCompileUnit, dt.Attr{At: dt.AtName, Form: form, Val: name},
						dt.N(dt.TagBaseType, dt.Attr{At: dt.AtName, Form: form, Val: "t"}, dt.Size(4)),
						dt.N(dt.TagBaseType, dt.Attr{At: dt.AtName, Form: form, Val: "longer"}, dt.Size(4)))})
					want = append(want, name, "t", "longer")
				}
				data := (&dt.File{Class32: !l.Class64, BigEndian: l.BigEndian(), Units: units}).Bytes()
				f := loaded(t, data, false)
				if got, err := unitNames(f); err != nil || !slices.Equal(got, want) {
					t.Errorf("%v, version %d, 64-bit DWARF %v: %q, %v", l, version, wide, got, err)
				}
			}
		}
	}
}

// TestUnitDefaults: where the parts of a unit begin that does not say so.
func TestUnitDefaults(t *testing.T) {
	for _, x := range []struct {
		version uint16
		wide    bool
		want    bases
	}{{5, false, bases{8, 8, 12}}, {5, true, bases{16, 16, 20}}, {4, false, bases{0, 0, 12}}, {4, true, bases{0, 0, 20}}} {
		var c Cursor
		c.Hdr.Version, c.Hdr.Dwarf64 = x.version, x.wide
		if c.unitDefaults(); c.bases != x.want {
			t.Errorf("version %d, 64-bit DWARF %v: %v", x.version, x.wide, c.bases)
		}
	}
}

// TestIndexed: an entry lies in its table as a whole.
func TestIndexed(t *testing.T) {
	table := make([]byte, 20)
	for _, x := range []struct {
		base, index, size, p uint64
		ok                   bool
	}{
		{0, 0, 4, 0, true}, {8, 2, 4, 16, true}, {8, 3, 4, 20, false}, {9, 2, 4, 17, false}, {0, 2, 8, 16, false}, {4, 1, 8, 12, true},
		{20, 0, 4, 20, false}, {21, 0, 4, 21, false}, {0, 21, 4, 0, false}, {0, 20, 4, 80, false}, {1 << 39, 1, 4, 1<<39 + 4, false},
	} {
		if p, ok := indexed(table, x.base, x.index, x.size); ok != x.ok || p != x.p {
			t.Errorf("%+v: %d, %v", x, p, ok)
		}
	}
}

// TestUnitErrors: an error of a unit names its place, and a unit without DIEs is not an
// error.
func TestUnitErrors(t *testing.T) {
	file := func(change func(info, abbrev []byte) []byte) []byte {
		f := &dt.File{Units: []*dt.Unit{{Root: dt.N(dt.TagCompileUnit, dt.Name("unit.c"), dt.N(dt.TagBaseType, dt.Name("int"), dt.Size(4)))}}}
		debug := f.DebugSections()
		debug[0].Data = change(debug[0].Data, debug[1].Data)
		return f.Image(debug)
	}
	const header = 12
	for _, x := range []struct {
		what   string
		change func(info, abbrev []byte) []byte
		want   []string
		err    string
	}{
		{"as it is", func(b, _ []byte) []byte { return b }, []string{"unit.c", "int"}, ""},
		{"padding", func(b, _ []byte) []byte { clear(b[header:]); return b }, []string{"none"}, ""},
		{"a DIE behind padding", func(b, _ []byte) []byte { b[header] = 0; return b }, nil, "in: .debug_info at 0x0, DIE 0x11: DIE behind the end of the unit's tree"},
		{"an unknown abbreviation", func(b, _ []byte) []byte { b[header] = 99; return b }, nil, "in: .debug_info at 0x0, DIE 0xc: "},
		{"a type first", func(b, _ []byte) []byte { b[header] = 2; return b }, nil, "in: .debug_info at 0x0, DIE 0xc: the first DIE of the unit is not a unit DIE"},
		{"cut off", func(b, _ []byte) []byte { b[0] = header - 4 + 3; return b[:header+3] }, nil, "in: .debug_info at 0x0, DIE 0xc: "},
		{"a name beyond .debug_str", func(b, _ []byte) []byte { b[header+2] = 99; return b }, []string{"", "int"}, "in: .debug_info at 0x0: a name lies beyond .debug_str"},
		{"a header that is cut off", func(b, _ []byte) []byte { return b[:header-3] }, nil, "in: "},
	} {
		f := loaded(t, file(x.change), false)
		got, err := unitNames(f)
		if !slices.Equal(got, x.want) || (err == nil) != (x.err == "") || err != nil && !strings.HasPrefix(err.Error(), x.err) {
			t.Errorf("%s: %q, %v", x.what, got, err)
		}
	}
}

// TestDecodeAt: a DIE is read at any place of its unit, and at no other.
func TestDecodeAt(t *testing.T) {
	f := loaded(t, (&dt.File{Units: []*dt.Unit{dt.CU(dt.N(dt.TagBaseType, dt.Name("int"), dt.Size(4)))}}).Bytes(), false)
	var c Cursor
	defer c.Free()
	if ok, err := f.Next(&c); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	_, next, _, err := c.UnitDIE()
	if err != nil {
		t.Fatal(err)
	}
	first, size := uint64(c.Hdr.First), uint64(len(c.Hdr.Data))
	for off, want := range map[uint64]bool{first: true, uint64(next): true, first - 1: false, 0: false, size - 1: false, size: false, size + 1: false, 1 << 63: false} {
		class, _, ok := c.DecodeAt(off)
		if ok != want || want && (class == dwarf.ClassUnit) != (off == first) {
			t.Errorf("offset %d of %d: class %v, %v", off, size, class, ok)
		}
	}
	for off := range first { // some of these bytes are codes of abbreviations
		if _, _, ok := c.DecodeAt(off); ok {
			t.Errorf("a DIE at byte %d of the header", off)
		}
	}
	for _, x := range []struct {
		off, n uint64
		ok     bool
	}{{0, 1, true}, {0, uint64(len(f.other.abbrev)), true}, {1, uint64(len(f.other.abbrev)), false}, {uint64(len(f.other.abbrev)), 0, true}, {uint64(len(f.other.abbrev)) + 1, 0, false}} {
		if b, ok, err := c.FromAbbrevs(x.off, x.n); ok != x.ok || err != nil || ok && len(b) != int(x.n) {
			t.Errorf("%d bytes of abbreviations at %d: %d, %v, %v", x.n, x.off, len(b), ok, err)
		}
	}
	const from = 3
	left := uint64(len(f.other.abbrev)) - from
	for _, x := range []struct {
		off, n uint64
		ok     bool
	}{{0, left, true}, {0, left + 1, false}, {1, left, false}, {left, 0, true}, {left, 1, false}, {left + 1, 0, false}, {0, 1 << 63, false}} {
		c.Hdr.AbbrevOff = from
		if b, ok, err := c.FromAbbrevs(x.off, x.n); ok != x.ok || err != nil || ok && len(b) != int(x.n) {
			t.Errorf("%d bytes of abbreviations at %d behind %d: %d, %v, %v", x.n, x.off, from, len(b), ok, err)
		}
	}
	c.Hdr.AbbrevOff = 0
	at := c.Save()
	c.Hdr, c.Name, c.bases = dwarf.Unit{}, 1, bases{1, 2, 3}
	c.UseAddresses(&at)
	if c.bases.addr != at.bases.addr || c.str != 1 {
		t.Error("addresses of another unit")
	}
	if c.Restore(at); c.Hdr.Off != at.hdr.Off || c.Name != at.name || c.bases != at.bases {
		t.Error("the unit does not come back")
	}
}

// TestErrorText: an error says the file, the unit, the DIE and the name, as far as it has them.
func TestErrorText(t *testing.T) {
	for _, x := range []struct {
		e    Error
		want string
	}{
		{Error{File: "in", Section: ".debug_info", What: "bad"}, "in: .debug_info at 0x0: bad"},
		{Error{File: "in", Section: ".debug_info", Unit: "u", UnitOff: 16, Offset: 32, Name: "n", What: "bad"}, `in: .debug_info: CU "u" at 0x10, DIE 0x20, "n": bad`},
	} {
		if got := x.e.Error(); got != x.want {
			t.Errorf("%s, want %s", got, x.want)
		}
	}
	for in, want := range map[string]string{"": `""`, "a ~": `"a ~"`, "\x1f": `"\x1f"`, "\x7f": `"\x7f"`, "a\"": `"a\""`, "\\": `"\\"`, "\xe9": `"\xe9"`} {
		if got := Quote([]byte(in)); got != want {
			t.Errorf("%q is shown as %s", in, got)
		}
	}
}

// TestNoDwarf: a file without .debug_info has signs of having lost it, or never had it.
func TestNoDwarf(t *testing.T) {
	for _, x := range []struct {
		sections []dt.Section
		want     string
		lines    bool
	}{
		{nil, ErrNoDwarf.Error(), false},
		{[]dt.Section{{Name: ".debug_line", Data: []byte{1}}}, ErrNoDwarf.Error(), true},
		{[]dt.Section{{Name: ".zdebug_frame", Data: []byte{1}}}, ErrNoDwarf.Error(), true},
		{[]dt.Section{{Name: ".debug_line"}}, ErrNoDwarf.Error(), false},
		{[]dt.Section{{Name: ".debug_line", Data: []byte{1}}, {Name: ".debug_abbrev", Data: []byte{1}}}, "section .debug_abbrev without .debug_info", false},
		{[]dt.Section{{Name: ".debug_abbrev"}}, ErrNoDwarf.Error(), false},
		{[]dt.Section{{Name: ".debug_abbrev", Data: []byte{1}}, {Name: ltoPrefix + ".debug_info", Data: []byte{1}}}, ErrNoDwarf.Error(), false},
		{[]dt.Section{{Name: ".debug_info", Type: elftest.Nobits, Size: 9}}, "section .debug_info is empty, or its contents are in another file (SHT_NOBITS)", false},
	} {
		f := withSections(t, x.sections)
		if err := f.NoDwarf(); err.Error() != "in: "+x.want || errors.Is(err, ErrNoDwarf) != (x.want == ErrNoDwarf.Error()) {
			t.Errorf("%v: %v", x.sections, err)
		}
		if f.OnlyLines() != x.lines {
			t.Errorf("%v: only lines %v", x.sections, !x.lines)
		}
	}
}
