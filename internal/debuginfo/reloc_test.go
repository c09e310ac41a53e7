package debuginfo

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/elftest"
	"github.com/btflite/btflite/mmapelf"
)

// TestLayout: sections that are loaded lie behind each other, each at its alignment.
func TestLayout(t *testing.T) {
	got := layout([]mmapelf.Section{
		{}, {Flags: elfabi.SHFAlloc, Size: 3}, {Flags: elfabi.SHFAlloc, Align: 16, Size: 5}, {Size: 100, Align: 4},
		{Flags: elfabi.SHFAlloc, Align: 1, Size: 1}, {Flags: elfabi.SHFAlloc, Align: 8, Size: 8}, {Flags: elfabi.SHFAlloc, Align: 8},
	})
	if want := []uint64{0, 0x10000, 0x10010, 0, 0x10015, 0x10018, 0x10020}; !slices.Equal(got, want) {
		t.Errorf("%#x, want %#x", got, want)
	}
}

// openBytes opens and loads a file in memory.
func openBytes(t *testing.T, data []byte, whole bool) (*File, error) {
	t.Helper()
	f, err := Open(&mmapelf.Source{Path: "in", Data: data}, plenty(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	if err := f.Look(); err != nil {
		t.Fatal(err)
	}
	return f, f.Load(whole)
}

// loaded returns the file of an image, with its sections loaded.
func loaded(t *testing.T, data []byte, whole bool) *File {
	t.Helper()
	f, err := openBytes(t, data, whole)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// unitNames reads all units of a file and gives the names of their DIEs.
func unitNames(f *File) (all []string, err error) {
	var c Cursor
	defer c.Free()
	var p Passage
	for {
		c.Reset(0)
		ok, err := f.Next(&c)
		if !ok {
			return all, err
		}
		p.Ahead(&c, c.Hdr.End())
		if err := c.Start(); err != nil {
			return all, err
		}
		a, next, _, err := c.UnitDIE()
		if err != nil {
			return all, err
		}
		if a == nil {
			all = append(all, "none")
		} else {
			all = append(all, string(f.Names.Text(c.Name)))
		}
		for e := c.Entries(next); a != nil && e.Next() && e.Abbrev != nil; {
			off := uint64(e.Off)
			_, have, ok := c.DecodeAt(off)
			if !ok {
				return all, fmt.Errorf("DIE %#x cannot be read", off)
			}
			all = append(all, string(f.Names.Text(c.NameOf(have))))
			if !e.Decode() {
				return all, EntryError(&c.Position, &e)
			}
		}
		if err := c.CheckNames(); err != nil {
			return all, err
		}
		p.Behind(&c, 0, false)
		c.Seq++
	}
}

// compressed makes a section compressed.
func compressed(l elftest.Layout, s dt.Section) dt.Section {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(s.Data)
	_ = w.Close()
	s.Flags |= elftest.Compressed
	s.Data = l.CompressedAs(1, uint64(len(s.Data)), b.Bytes())
	return s
}

// relocatable is a file of two units; see relocatableOf.
func relocatable(wrong func(rela []byte) []byte, change func(debug []dt.Section) []dt.Section) []byte {
	return relocatableOf([]string{"first.c", "second.c"}, wrong, change)
}

// relocatableOf is a file of units with these names, each of a name and a base type with a name, in
// which all offsets of names and abbreviations are made by relocations; change changes them.
func relocatableOf(units []string, wrong func(rela []byte) []byte, change func(debug []dt.Section) []dt.Section) []byte {
	file := &dt.File{Type: elftest.Relocatable,
		Symbols: []dt.Symbol{{Name: "abbrev", Type: 3, Section: ".debug_abbrev"}, {Name: "str", Type: 3, Section: ".debug_str"}}}
	for _, name := range units {
		file.Units = append(file.Units, &dt.Unit{Root: dt.N(dt.TagCompileUnit, dt.Name(name), dt.N(dt.TagBaseType, dt.Name(name+"_type"), dt.Size(4)))})
	}
	debug := file.DebugSections()
	info := debug[0].Data
	order := binary.LittleEndian
	var rela []byte
	move := func(at int, symbol uint64) {
		rela = order.AppendUint64(rela, uint64(at))
		rela = order.AppendUint64(rela, symbol<<32|10) // R_X86_64_32
		rela = order.AppendUint64(rela, uint64(order.Uint32(info[at:])))
		order.PutUint32(info[at:], 0)
	}
	for off := 0; off < len(info); {
		end := off + 4 + int(order.Uint32(info[off:]))
		move(off+8, 1)
		move(off+13, 2)
		move(off+18, 2)
		off = end
	}
	if wrong != nil {
		rela = wrong(rela)
	}
	debug = append(debug, dt.Section{Name: ".rela.debug_info", Type: elfabi.SHTRela, Data: rela, Info: 2, EntSize: 24})
	if change != nil {
		debug = change(debug)
	}
	return file.Image(debug)
}

// TestRelocatedUnits: the units of a relocatable file are read with their relocations, in
// whatever order these are and whatever is compressed. Damage is an error.
func TestRelocatedUnits(t *testing.T) {
	want := []string{"first.c", "first.c_type", "second.c", "second.c_type"}
	reversed := func(rela []byte) []byte {
		var b []byte
		for at := len(rela) - 24; at >= 0; at -= 24 {
			b = append(b, rela[at:at+24]...)
		}
		return b
	}
	compress := func(names ...string) func([]dt.Section) []dt.Section {
		return func(debug []dt.Section) []dt.Section {
			for i, s := range debug {
				if slices.Contains(names, s.Name) {
					debug[i] = compressed(elftest.Little64, s)
				}
			}
			return debug
		}
	}
	for _, x := range []struct {
		what   string
		wrong  func([]byte) []byte
		change func([]dt.Section) []dt.Section
		err    string
	}{
		{"in order", nil, nil, ""}, {"in reverse", reversed, nil, ""},
		{"compressed", nil, compress(".debug_info", ".debug_abbrev", ".debug_str", ".rela.debug_info"), ""},
		{"with compressed relocations", reversed, compress(".rela.debug_info"), ""},
		{"with compressed names", nil, compress(".debug_str"), ""},
		{"among sections that only look like them", nil, func(d []dt.Section) []dt.Section {
			return slices.Insert(d, 3, dt.Section{Name: ".like", Info: 2, Data: make([]byte, 24)},
				dt.Section{Name: ".rela.gone", Type: elfabi.SHTRela, Info: 999, Data: make([]byte, 24)})
		}, ""},
		{"twice", nil, func(d []dt.Section) []dt.Section { return append(d, d[len(d)-1]) }, "in: .rela.debug_info: a second relocation section of .debug_info"},
		{"compact", nil, func(d []dt.Section) []dt.Section {
			d[len(d)-1].Type = elfabi.SHTCrel
			return d
		}, "in: .rela.debug_info: compact relocations (CREL) are not known"},
		{"cut off", func(b []byte) []byte { return b[:len(b)-1] }, nil, "in: .rela.debug_info: "},
		{"out of the section", func(b []byte) []byte { b[5*24+1] = 1; return b }, nil, "in: "},
		{"by an unknown symbol", func(b []byte) []byte { b[12] = 9; return b }, nil, "in: "},
	} {
		for _, whole := range []bool{false, true} {
			f, err := openBytes(t, relocatable(x.wrong, x.change), whole)
			var got []string
			if err == nil {
				got, err = unitNames(f)
			}
			switch {
			case x.err == "" && (err != nil || !slices.Equal(got, want)):
				t.Errorf("%s, whole %v: %q, %v", x.what, whole, got, err)
			case x.err != "" && (err == nil || !strings.HasPrefix(err.Error(), x.err)):
				t.Errorf("%s, whole %v: %q, error %v", x.what, whole, got, err)
			}
			if x.err != "" {
				continue
			}
			r := f.rel
			stored := func(name string) bool { return f.Dwarf.Section(name).Flags&elfabi.SHFCompressed == 0 }
			if (r.inInfo.sec != nil) != stored(".rela.debug_info") || (r.inStr.sec != nil) != stored(".debug_str") {
				t.Errorf("%s: given back as they are read: relocations %v, names %v", x.what, r.inInfo.sec != nil, r.inStr.sec != nil)
			}
			if r.str != uint32(f.Dwarf.Section(".debug_str").Index) || !f.Names.ByText || !f.Relocatable() || f.ListRelocs() != nil {
				t.Errorf("%s: section of names %d, by text %v", x.what, r.str, f.Names.ByText)
			}
			streams := !whole && !stored(".debug_info")
			if (f.inOrder.info.stream != nil) != streams || (f.inOrder.abbrev.stream != nil) != streams {
				t.Errorf("%s, whole %v: sections are expanded as they are read: %v", x.what, whole, !streams)
			}
		}
	}
}

// TestFirstLook: a first look through the units gives back all that it has read, up to a step, so a
// large file takes no more memory than a small one. A second look begins at the start again.
func TestFirstLook(t *testing.T) {
	var units []string
	for i := range 20_000 {
		units = append(units, fmt.Sprintf("unit-with-a-long-name-%d.c", i))
	}
	f := loaded(t, relocatableOf(units, nil, nil), true)
	sections := map[string]*section{".debug_info": &f.inOrder.info, ".debug_abbrev": &f.inOrder.abbrev, ".rela.debug_info": &f.rel.inInfo, ".debug_str": &f.rel.inStr}
	for range 2 {
		var c Cursor
		for c.Reset(0); ; c.Reset(0) {
			if ok, err := f.Next(&c); !ok {
				if err != nil {
					t.Fatal(err)
				}
				break
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			f.Passed(&c)
		}
		c.Free()
		for name, s := range sections {
			if size := f.section(name).Size; s.given == 0 || s.given+f.releaseStep() < size {
				t.Errorf("%s: %d bytes of %d are given back", name, s.given, size)
			}
		}
		f.Rewind()
		for name, s := range sections {
			if s.given != 0 {
				t.Errorf("%s: the second look begins at %d", name, s.given)
			}
		}
	}
}

// TestNumbers: a number of a list lies in its section as a whole, in the byte order of the
// file, and with its relocation if there is one.
func TestNumbers(t *testing.T) {
	for _, big := range []bool{false, true} {
		c := Cursor{Position: Position{File: &File{BigEndian: big}}}
		c.Hdr.AddrSize = 4
		b := []byte{1, 2, 3, 4, 5, 6, 7, 8, 9}
		r := Ranges{Old: b, New: b[1:]}
		o := elfabi.Order(big)
		for _, x := range []struct {
			at, n uint64
			ok    bool
		}{{0, 8, true}, {1, 8, true}, {2, 8, false}, {0, 4, true}, {5, 4, true}, {6, 4, false}, {9, 4, false}, {10, 4, false}, {1 << 63, 4, false}, {0, 2, false}, {0, 5, false}} {
			want := uint64(0)
			if x.ok && x.n == 8 {
				want = o.Uint64(b[x.at:])
			} else if x.ok {
				want = uint64(o.Uint32(b[x.at:]))
			}
			if v, ok := c.number(nil, new(nearby), b, x.at, x.n); v != want || ok != x.ok {
				t.Errorf("%d bytes at %d: %#x, %v, want %#x", x.n, x.at, v, ok, want)
			}
			if x.ok {
				if v := c.relocated(relAddr, b, x.at, x.n); v != want {
					t.Errorf("%d bytes at %d of a section without relocations: %#x, want %#x", x.n, x.at, v, want)
				}
			}
		}
		for _, v5 := range []bool{false, true} {
			want := uint64(o.Uint32(b))
			if v5 {
				want = uint64(o.Uint32(b[1:]))
			}
			if v, ok := r.Address(&c, v5, 0); v != want || !ok {
				t.Errorf("address of a range: %#x, %v", v, ok)
			}
		}
		if v, ok := c.ListAddress(b, 5); v != uint64(o.Uint32(b[5:])) || !ok {
			t.Errorf("address of a list: %#x, %v", v, ok)
		}
		c.Hdr.Dwarf64 = true
		if v, ok := r.Offset(&c, 0); v != o.Uint64(b[1:]) || !ok {
			t.Errorf("offset in 64-bit DWARF: %#x, %v", v, ok)
		}
	}
}

// TestRelocatedRanges: addresses of ranges in a relocatable file come from relocations.
func TestRelocatedRanges(t *testing.T) {
	order := binary.LittleEndian
	ranges := dt.Section{Name: ".debug_ranges", Data: make([]byte, 24)}
	order.PutUint64(ranges.Data[16:], 77)
	var rela []byte
	for i, addend := range []uint64{0x40, 0x50} {
		at := 8 - 8*i                                                                                        // in reverse
		rela = order.AppendUint64(order.AppendUint64(order.AppendUint64(rela, uint64(at)), 1<<32|1), addend) // R_X86_64_64
	}
	file := &dt.File{Type: elftest.Relocatable, Units: []*dt.Unit{dt.CU()}, Symbols: []dt.Symbol{{Name: "text", Type: 3, Section: ".text"}}}
	debug := file.DebugSections()
	debug = append(debug, ranges)
	info := uint32(len(debug) + 1)
	debug = append(debug, dt.Section{Name: ".rela.text", Type: elfabi.SHTRela, Info: 1, EntSize: 24},
		dt.Section{Name: ".like", Data: rela, Info: info}, dt.Section{Name: ".rela.debug_ranges", Type: elfabi.SHTRela, Data: rela, Info: info, EntSize: 24})
	f := loaded(t, file.Image(debug), false)
	r, err := LoadRanges(f)
	if err != nil {
		t.Fatal(err)
	}
	c := Cursor{Position: Position{File: f}}
	c.Hdr.AddrSize = 8
	for _, x := range []struct{ at, want uint64 }{{0, firstAddr + 0x50}, {8, firstAddr + 0x40}, {16, 77}, {8, firstAddr + 0x40}, {0, firstAddr + 0x50}} {
		if v, ok := r.Address(&c, false, x.at); v != x.want || !ok {
			t.Errorf("address at %d: %#x, %v, want %#x", x.at, v, ok, x.want)
		}
	}
	if f.Addresses()[1] != firstAddr || r.New != nil || r.newRel != nil {
		t.Error("ranges of DWARF 5 in a file without them")
	}
	ReleaseLists(f)
}

// TestLook: abbreviations that end inside of one are damaged. The end of the last table may
// be missing.
func TestLook(t *testing.T) {
	file := &dt.File{Units: []*dt.Unit{dt.CU()}}
	for cut, want := range []bool{false, false, true, true} {
		debug := file.DebugSections()
		debug[1].Data = debug[1].Data[:len(debug[1].Data)-cut]
		f, err := openBytes(t, file.Image(debug), false)
		if err != nil || f.Damaged != want || f.Names.ByText != want {
			t.Errorf("%d bytes are missing: damaged %v, names by text %v, %v", cut, f.Damaged, f.Names.ByText, err)
		}
	}
}

// TestSaysMore: numbers that BTF has no kind for are found by their names, if the names can be read
// without expanding them.
func TestSaysMore(t *testing.T) {
	file := func(name string) *dt.File {
		return &dt.File{Units: []*dt.Unit{dt.CU(dt.N(dt.TagBaseType, dt.Name(name), dt.Size(8)))}}
	}
	names := func(sections []dt.Section, change func(dt.Section) []dt.Section) (changed []dt.Section) {
		for _, s := range sections {
			if s.Name == ".debug_str" {
				changed = append(changed, change(s)...)
			} else {
				changed = append(changed, s)
			}
		}
		return changed
	}
	for _, x := range []struct {
		what, name string
		change     func(dt.Section) []dt.Section // of .debug_str
		want       bool
	}{
		{"a number of C", "double", nil, false},
		{"a complex number", "complex double", nil, true},
		{"a number of any bits", "_BitInt(5)", nil, true},
		{"compressed names", "complex double", func(s dt.Section) []dt.Section { return []dt.Section{compressed(elftest.Of(true, false), s)} }, false},
		{"no names", "double", func(s dt.Section) []dt.Section { return nil }, false},
	} {
		f := file(x.name)
		sections := f.DebugSections()
		if x.change != nil {
			sections = names(sections, x.change)
		}
		got, err := SaysMore(&mmapelf.Source{Path: "in", Data: f.Image(sections)})
		if err != nil || got != x.want {
			t.Errorf("%s: %v, %v", x.what, got, err)
		}
	}
}
