package inline_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/btflite/btflite/internal/debuginfo"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/internal/inline"
	"github.com/btflite/btflite/internal/names"
	"github.com/btflite/btflite/internal/unit"
	"github.com/btflite/btflite/mmapelf"
)

// Attributes that only DIEs with code have.
const (
	atEntryPC    = 0x52
	atRanges     = 0x55
	formRnglistx = 0x23
)

// read reads the units of a file and returns the sites, one a line: the name of the function, where the
// body begins, and for each parameter its name and place.
func read(t *testing.T, f *dt.File) string {
	t.Helper()
	table := new(names.Table)
	table.Use(names.NewPool(nil, nil))
	file, err := debuginfo.Open(&mmapelf.Source{Path: "in", Data: f.Bytes()}, debuginfo.Settings{Names: table, Scarce: func(uint64) bool { return false }})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Load(false); err != nil {
		t.Fatal(err)
	}
	var all, one inline.Reader
	defer all.Free()
	defer one.Free()
	r := &unit.Reader{In: &unit.Input{File: file, ArrayIndex: new(atomic.Uint32)}}
	r.Init(nil)
	defer r.Free()
	name := func(place uint64) string {
		off, have, ok := place-r.Cursor.Hdr.Off, uint32(0), false
		if off < uint64(len(r.Cursor.Hdr.Data)) {
			_, have, ok = r.Cursor.DecodeAt(off)
		}
		if place == 0 || !ok {
			return fmt.Sprintf("%#x", place)
		}
		return string(file.Names.Text(r.Cursor.NameOf(have)))
	}
	var b strings.Builder
	for {
		r.Reset()
		one.Reset(1 << 20)
		r.Unit.Inline = &one
		ok, err := file.Next(&r.Cursor)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		p, _, err := r.Start()
		if err == nil {
			err = r.Read(p)
		}
		if err != nil {
			fmt.Fprintln(&b, err)
			continue
		}
		for _, s := range one.Sites.S {
			fmt.Fprintf(&b, "%s at %#x:", name(s.Origin), s.Addr)
			for _, p := range one.Params.S[s.First:][:s.N] {
				fmt.Fprintf(&b, " %s %s", name(p.Origin), place(p.Place))
			}
			fmt.Fprintln(&b)
		}
		if one.Base() != r.Cursor.Hdr.Off {
			t.Errorf("base %#x of the unit at %#x", one.Base(), r.Cursor.Hdr.Off)
		}
		first, params := len(all.Sites.S), uint32(len(all.Params.S))
		all.Add(&one)
		for i, s := range all.Sites.S[first:] {
			if want := one.Sites.S[i]; s.First != want.First+params || s.N != want.N || s.Addr != want.Addr {
				t.Errorf("site %d of all is %+v, from %+v behind %d parameters", i, s, want, params)
			}
		}
	}
	return b.String()
}

func place(p inline.Place) string {
	switch p.Kind {
	case inline.Missing:
		return "(" + p.Why.String() + ")"
	case inline.Const:
		return fmt.Sprintf("%#x", p.Value)
	case inline.Register:
		return fmt.Sprintf("reg%d", p.Reg)
	}
	return fmt.Sprintf("%+v", p)
}

// caller is a unit with the functions add(a, b) and none(), and the function f with sites.
type caller struct {
	unit               *dt.Unit
	f, add, none, a, b *dt.DIE
}

func newCaller(version int, dwarf64 bool, attrs ...any) *caller {
	i := dt.N(dt.TagBaseType, dt.Name("int"), dt.Size(4), dt.Encoding(5))
	c := new(caller)
	c.a, c.b = dt.N(dt.TagFormalParameter, dt.Name("a"), dt.Type(i)), dt.N(dt.TagFormalParameter, dt.Name("b"), dt.Type(i))
	c.add = dt.N(dt.TagSubprogram, dt.Name("add"), dt.Inline(), dt.Type(i), c.a, c.b)
	c.none = dt.N(dt.TagSubprogram, dt.Name("none"), dt.Inline())
	c.f = dt.N(dt.TagSubprogram, dt.Name("f"), at(0x10))
	c.unit = dt.CU(i, c.add, c.none, c.f)
	c.unit.Version, c.unit.Dwarf64 = version, dwarf64
	c.unit.Root.Add(attrs...)
	return c
}

func at(n uint64) dt.Attr { return dt.LowPC(dt.TextAddr + n) }

// site adds a site of add.
func (c *caller) site(parts ...any) *dt.DIE {
	s := dt.N(dt.TagInlinedSubroutine, dt.Origin(c.add)).Add(parts...)
	c.f.Add(s)
	return s
}

func param(of *dt.DIE, parts ...any) *dt.DIE {
	return dt.N(dt.TagFormalParameter, dt.Origin(of)).Add(parts...)
}

// TestSites: what a site has, and what it has not.
func TestSites(t *testing.T) {
	entry := func(form int, v any) dt.Attr { return dt.Attr{At: atEntryPC, Form: form, Val: v} }
	for _, x := range []struct {
		name string
		make func(c *caller)
		want string
	}{
		{"address", func(c *caller) { c.site(at(0x20)) }, "add at 0x10020:\n"},
		{"no address", func(c *caller) { c.site() }, "add at 0x0:\n"},
		{"no origin", func(c *caller) { c.f.Add(dt.N(dt.TagInlinedSubroutine, at(0x20))) }, "0x0 at 0x10020:\n"},
		{"entry as an address", func(c *caller) { c.site(at(0x20), entry(0, dt.Addr(dt.TextAddr+0x24))) }, "add at 0x10024:\n"},
		{"entry as a distance", func(c *caller) { c.site(at(0x20), entry(dt.FormUdata, 6)) }, "add at 0x10026:\n"},
		{"entry as a distance of one byte", func(c *caller) { c.site(at(0x20), entry(dt.FormData1, 6)) }, "add at 0x10026:\n"},
		{"entry at address zero", func(c *caller) { c.site(at(0x20), entry(0, dt.Addr(0))) }, "add at 0x10020:\n"},
		{"distance from nothing", func(c *caller) { c.site(entry(dt.FormUdata, 6)) }, "add at 0x6:\n"},
		{"function without an address", func(c *caller) { c.f.Attrs = c.f.Attrs[:1]; c.site(at(0x20)) }, ""},
		{"in a block", func(c *caller) {
			s := dt.N(dt.TagInlinedSubroutine, dt.Origin(c.none), at(0x30))
			c.f.Add(dt.N(dt.TagLexicalBlock, dt.N(dt.TagLexicalBlock, s)))
			c.site(at(0x40))
		}, "none at 0x10030:\nadd at 0x10040:\n"},
		{"one in the other", func(c *caller) {
			c.site(at(0x20), param(c.a, dt.Location(0x53)), dt.N(dt.TagInlinedSubroutine, dt.Origin(c.none), at(0x24)))
			c.site(at(0x30), param(c.b, dt.Location(0x54)))
		}, "add at 0x10020: a reg3\nnone at 0x10024:\nadd at 0x10030: b reg4\n"},
		{"a parameter behind an inner site", func(c *caller) {
			c.site(at(0x20), dt.N(dt.TagInlinedSubroutine, dt.Origin(c.none), at(0x24)), param(c.a, dt.Location(0x53)))
		}, "add at 0x10020:\nnone at 0x10024:\n"},
		{"parameters of the function around", func(c *caller) {
			c.f.Add(param(c.a, dt.Location(0x53)))
			c.site(at(0x20))
		}, "add at 0x10020:\n"},
		{"a parameter in a block of the site", func(c *caller) {
			c.site(at(0x20), dt.N(dt.TagLexicalBlock, param(c.a, dt.Location(0x53))), param(c.b, dt.Location(0x54)))
		}, "add at 0x10020: b reg4\n"},
		{"children of a parameter", func(c *caller) {
			p := param(c.a, dt.Location(0x53))
			p.Children = []*dt.DIE{dt.N(dt.TagFormalParameter, dt.Name("inner"))}
			c.site(at(0x20), p, param(c.b, dt.Location(0x54)))
		}, "add at 0x10020: a reg3 b reg4\n"},
		{"constants", func(c *caller) {
			c.site(at(0x20), param(c.a, dt.Attr{At: dt.AtConstValue, Form: dt.FormSdata, Val: -2}), param(c.b, dt.Attr{At: dt.AtConstValue, Form: dt.FormData2, Val: 7}))
		}, "add at 0x10020: a 0xfffffffffffffffe b 0x7\n"},
		{"bytes", func(c *caller) {
			c.site(at(0x20), param(c.a, dt.Attr{At: dt.AtConstValue, Form: dt.FormBlock1, Val: []byte{1, 2}}),
				param(c.b, dt.Attr{At: dt.AtConstValue, Form: dt.FormBlock1, Val: []byte{}}))
		}, "add at 0x10020: a 0x201 b (" + inline.WrongSize.String() + ")\n"},
		{"as many bytes as there may be, and one more", func(c *caller) {
			c.site(at(0x20), param(c.a, dt.Attr{At: dt.AtConstValue, Form: dt.FormBlock1, Val: []byte{9, 0, 0, 0, 0, 0, 0, 9}}),
				param(c.b, dt.Attr{At: dt.AtConstValue, Form: dt.FormBlock1, Val: make([]byte, 9)}))
		}, "add at 0x10020: a 0x900000000000009 b (" + inline.WrongSize.String() + ")\n"},
		{"no place, and no address", func(c *caller) {
			c.site(at(0x20), param(c.a))
			c.site(param(c.a, dt.Location(0x53)))
		}, "add at 0x10020: a (" + inline.NoLocation.String() + ")\nadd at 0x0: a (" + inline.NoLocation.String() + ")\n"},
		{"before the call, where both begin and elsewhere", func(c *caller) {
			// DW_OP_entry_value of register 5.
			c.site(at(0x10), param(c.a, dt.Location(0xa3, 1, 0x55, 0x9f)))
			c.site(at(0x14), param(c.a, dt.Location(0xa3, 1, 0x55, 0x9f)))
		}, "add at 0x10010: a reg5\nadd at 0x10014: a (" + inline.EntryValue.String() + ")\n"},
		{"declarations and inline copies have no sites", func(c *caller) {
			c.f.Add(dt.Inline())
			c.site(at(0x20))
		}, ""},
		{"too many parameters", func(c *caller) {
			s := c.site(at(0x20))
			for range 1100 {
				s.Add(param(c.a, dt.Location(0x53)))
			}
		}, "add at 0x10020:" + strings.Repeat(" a reg3", 1024) + "\n"},
	} {
		for _, version := range []int{4, 5} {
			for _, big := range []bool{false, true} {
				c := newCaller(version, false, at(0))
				x.make(c)
				want := x.want
				if big {
					want = strings.Replace(want, "0x201", "0x102", 1)
				}
				// The same unit twice: places count from the start of .debug_info.
				again := newCaller(version, false, at(0))
				x.make(again)
				got := read(t, &dt.File{BigEndian: big, Units: []*dt.Unit{c.unit, again.unit}})
				if diff := cmp.Diff(want+want, got); diff != "" {
					t.Errorf("%s, DWARF %d, big-endian %v:\n%s", x.name, version, big, diff)
				}
			}
		}
	}
}

// TestSiteRanges: a site with ranges begins where the first range does, in all forms of DWARF 4 and 5. A list
// without a range, or one that is damaged, gives no address.
func TestSiteRanges(t *testing.T) {
	word := func(size int, vs ...uint64) (b []byte) {
		for _, v := range vs {
			if b = binary.LittleEndian.AppendUint64(b, v); size == 4 {
				b = b[:len(b)-4]
			}
		}
		return b
	}
	ones := func(size int) uint64 { return ^uint64(0) >> (64 - 8*size) }
	type row struct {
		name    string
		version int
		list    func(size int) []byte
		want    uint64
	}
	rows := []row{
		{"old", 4, func(n int) []byte { return word(n, 0x20, 0x24, 0x8, 0xc, 0, 0) }, 0x10020},
		{"old: begins where the unit does", 4, func(n int) []byte { return word(n, 0, 0x24, 0, 0) }, 0x10000},
		{"old: another base", 4, func(n int) []byte { return word(n, ones(n), 0x12000, 0x20, 0x24, 0, 0) }, 0x12020},
		{"old: empty", 4, func(n int) []byte { return word(n, 0, 0) }, 0},
		{"old: cut off in a range", 4, func(n int) []byte { return word(n, 0x20) }, 0},
		{"old: cut off behind a base", 4, func(n int) []byte { return word(n, ones(n), 0x12000) }, 0},
		{"old: as many bases as are read", 4, func(n int) []byte {
			return append(bytes.Repeat(word(n, ones(n), 0x12000), 1<<10-1), word(n, 0x20, 0x24)...)
		}, 0x12020},
		{"old: one more", 4, func(n int) []byte {
			return append(bytes.Repeat(word(n, ones(n), 0x12000), 1<<10), word(n, 0x20, 0x24)...)
		}, 0},
		{"offsets", 5, func(int) []byte { return []byte{rleOffsetPair, 0x20, 0x24, 0} }, 0x10020},
		{"offset of two bytes", 5, func(int) []byte { return []byte{rleOffsetPair, 0xa0, 0x01, 0xa4, 0x01, 0} }, 0x100a0},
		{"offset without end", 5, func(int) []byte { return []byte{rleOffsetPair, 0x80} }, 0},
		{"base", 5, func(n int) []byte {
			return append(append([]byte{rleBaseAddress}, word(n, 0x12000)...), rleOffsetPair, 0x20, 0x24, 0)
		}, 0x12020},
		{"base without a range", 5, func(n int) []byte { return append(append([]byte{rleBaseAddress}, word(n, 0x12000)...), 0) }, 0},
		{"base cut off", 5, func(int) []byte { return []byte{rleBaseAddress, 1, 2} }, 0},
		{"start and end", 5, func(n int) []byte { return append(append([]byte{rleStartEnd}, word(n, 0x10030, 0x10034)...), 0) }, 0x10030},
		{"start and length", 5, func(n int) []byte { return append(append([]byte{rleStartLength}, word(n, 0x10030)...), 4, 0) }, 0x10030},
		{"start cut off", 5, func(int) []byte { return []byte{rleStartLength, 1} }, 0},
		{"empty", 5, func(int) []byte { return []byte{0} }, 0},
		{"unknown kind", 5, func(int) []byte { return []byte{0x20, 1, 2} }, 0},
		{"nothing", 5, func(int) []byte { return nil }, 0},
		{"as many bases as are read", 5, func(n int) []byte {
			return append(bytes.Repeat(append([]byte{rleBaseAddress}, word(n, 0x12000)...), 1<<10-1), rleOffsetPair, 0x20, 0x24)
		}, 0x12020},
		{"one more", 5, func(n int) []byte {
			return append(bytes.Repeat(append([]byte{rleBaseAddress}, word(n, 0x12000)...), 1<<10), rleOffsetPair, 0x20, 0x24)
		}, 0},
	}
	for _, x := range rows {
		for _, size := range []int{4, 8} {
			for _, dwarf64 := range []bool{false, true} {
				header, offsets := 12, 4
				if dwarf64 {
					header, offsets = 20, 8
				}
				list := x.list(size)
				name, data := ".debug_ranges", append(make([]byte, header), list...)
				// A table with two offsets, which count from the table. The second one is the list's.
				index := make([]byte, 2*offsets)
				index[offsets] = byte(2 * offsets)
				if x.version == 5 {
					name, data = ".debug_rnglists", append(append(make([]byte, header), index...), list...)
				}
				c := newCaller(x.version, dwarf64, at(0))
				c.site(dt.Attr{At: atRanges, Form: dt.FormSecOffset, Val: len(data) - len(list)})
				want := fmt.Sprintf("add at %#x:\n", x.want)
				if x.version == 5 {
					c.site(dt.Attr{At: atRanges, Form: formRnglistx, Val: dt.Raw{1}})
					c.site(dt.Attr{At: atRanges, Form: formRnglistx, Val: dt.Raw{0xff, 0x7f}})
					want += want + "add at 0x0:\n"
				}
				f := &dt.File{Class32: size == 4, Units: []*dt.Unit{c.unit}, Sections: []dt.Section{{Name: name, Type: 1, Data: data}}}
				if diff := cmp.Diff(want, read(t, f)); diff != "" {
					t.Errorf("%s, addresses of %d bytes, 64-bit DWARF %v:\n%s", x.name, size, dwarf64, diff)
				}
			}
		}
	}
}

// TestSiteDepth: sites lie in each other up to a bound.
func TestSiteDepth(t *testing.T) {
	for _, deep := range []int{2000, 3000} {
		c := newCaller(5, false, at(0))
		in := c.f
		for range deep {
			next := dt.N(dt.TagInlinedSubroutine, dt.Origin(c.none), at(0x20))
			in.Add(next)
			in = next
		}
		got := read(t, &dt.File{Units: []*dt.Unit{c.unit}})
		if deep > 2048 {
			if !strings.Contains(got, "DIE tree too deep") {
				t.Errorf("%d deep: %.80q", deep, got)
			}
		} else if n := strings.Count(got, "none at 0x10020:\n"); n != deep {
			t.Errorf("%d deep: %d sites", deep, n)
		}
	}
}

// DW_RLE_ values (DWARF 5, section 7.25).
const (
	rleOffsetPair  = 0x4
	rleBaseAddress = 0x5
	rleStartEnd    = 0x6
	rleStartLength = 0x7
)
