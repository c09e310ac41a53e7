package elfobject

import (
	"bytes"
	"slices"
	"testing"

	"github.com/btflite/btflite/internal/elftest"
	"github.com/btflite/btflite/mmapelf"
)

const (
	machineMIPS = 8
	machineSH   = 42
)

// The sections of relocated.
const (
	target = 1 + iota
	other
	relocs
	symbols
	objectNames
	objectSections
)

// entry is a relocation in the form of the specification: Elf64_Rela has 64 bits of information
// with the symbol in the upper half, Elf32_Rela 32 with the type in the lowest 8.
func entry(l elftest.Layout, b []byte, typ int, off uint64, symbol, kind uint32, addend int64) []byte {
	b = l.Word(b, off)
	if l.Class64 {
		b = l.Order.AppendUint64(b, uint64(symbol)<<32|uint64(kind))
	} else {
		b = l.Order.AppendUint32(b, symbol<<8|kind)
	}
	if typ == typeRela {
		b = l.Word(b, uint64(addend))
	}
	return b
}

// relocated is an object whose section target has 16 bytes and the relocations in data.
func relocated(l elftest.Layout, machine, typ int, data []byte) []byte {
	contents := l.Order.AppendUint32([]byte("1234"), 0xfffffffe)
	return elftest.Image{Layout: l, Machine: machine, Sections: []elftest.Section{
		{Name: ".target", Data: append(contents, "12345678"...)},
		{Name: ".other", Flags: flagMerge, Data: []byte("other")},
		{Name: ".relocs", Type: uint32(typ), Link: symbols, Info: target, Data: data},
		{Name: ".symtab", Type: elftest.Symtab, Data: twoSymbols(l)},
	}}.Bytes()
}

// twoSymbols are symbols of the sections of relocated.
func twoSymbols(l elftest.Layout) (b []byte) {
	for i, section := range []uint16{0, target, other, objectNames, objectSections, 0xfff1} {
		b = l.Symbol(b, elftest.Symbol{Name: 0x99, Info: 1, Section: section, Value: 0x1122334455667700 + uint64(i), Size: 5})
	}
	return append(b, 1, 2, 3)
}

// relocsOf are the relocations of target.
func relocsOf(t *testing.T, b []byte) *Relocs {
	t.Helper()
	o := object(t, b)
	r, err := o.Relocs(&o.f.Sections[target])
	if err != nil || r == nil {
		t.Fatalf("relocations %v, %v", r, err)
	}
	return r
}

// layoutsOf are the layouts in which a machine has relocations of a type.
func layoutsOf(machine, typ int) (all []elftest.Layout) {
	for _, l := range elftest.Layouts {
		if l.Class64 && (typ == typeRel || machine == machineSH || machine == machineMIPS && !l.BigEndian()) {
			continue
		}
		all = append(all, l)
	}
	return all
}

// TestRelocs: relocations are found by offset in whatever order they lie, with all of their
// fields, and are written as they are read.
func TestRelocs(t *testing.T) {
	offsets := []uint64{4, 0, 8, 12}
	for _, c := range []struct {
		machine, typ int
		inPlace      bool
	}{
		{0, typeRela, false}, {0, typeRel, true}, {machineMIPS, typeRela, false}, {machineMIPS, typeRel, true}, {machineSH, typeRela, true},
	} {
		for _, l := range layoutsOf(c.machine, c.typ) {
			for _, sorted := range []bool{false, true} {
				offsets := slices.Clone(offsets)
				if sorted {
					slices.Sort(offsets)
				}
				var data []byte
				for _, off := range offsets {
					data = entry(l, data, c.typ, off, 0xabcd00+uint32(off), 0xe0+uint32(off), -3-int64(off))
				}
				r := relocsOf(t, relocated(l, c.machine, c.typ, data))
				if r.InPlace() != c.inPlace || r.Section.Index != relocs || (r.order == nil) != sorted {
					t.Errorf("%v, machine %d, type %d: in place %v, section %d, order %v", l, c.machine, c.typ, r.InPlace(), r.Section.Index, r.order)
				}
				for _, off := range offsets {
					checkReloc(t, l, r, off, c.typ, c.inPlace)
				}
				for _, off := range []uint64{1, 3, 5, 13, 16, 1 << 40} {
					if got, ok := r.At(off); ok {
						t.Errorf("%v: a relocation %+v at %d", l, got, off)
					}
				}
			}
		}
	}
}

// checkReloc wants the relocation of TestRelocs at an offset.
func checkReloc(t *testing.T, l elftest.Layout, r *Relocs, off uint64, typ int, inPlace bool) {
	t.Helper()
	want := Reloc{Off: off, Symbol: 0xabcd00 + uint32(off), Type: 0xe0 + uint32(off), Addend: -3 - int64(off)}
	written := want.Addend
	if inPlace {
		written = 0
		want.Addend = map[uint64]int64{
			0: int64(l.Order.Uint32([]byte("1234"))), 4: -2, 8: int64(l.Order.Uint32([]byte("1234"))), 12: int64(l.Order.Uint32([]byte("5678"))),
		}[off]
	}
	got, ok := r.At(off)
	if !ok || got != want {
		t.Errorf("%v, type %d: relocation %+v, %v, want %+v", l, typ, got, ok, want)
	}
	if b := r.Append([]byte("x"), got); !bytes.Equal(b, entry(l, []byte("x"), typ, off, want.Symbol, want.Type, written)) {
		t.Errorf("%v, type %d: written as % x", l, typ, b)
	}
}

// TestRelocsPairs: a field with two relocations has none that counts, wherever the pair lies.
func TestRelocsPairs(t *testing.T) {
	for _, l := range elftest.Layouts {
		for _, offsets := range [][]uint64{{0, 0, 4}, {0, 4, 4}, {4, 0, 4}, {0, 4, 0}, {0, 4, 4, 8}, {8, 4, 4, 0}, {4}, {}} {
			var data []byte
			count := map[uint64]int{}
			for _, off := range offsets {
				data = entry(l, data, typeRela, off, 1, 2, 3)
				count[off]++
			}
			r := relocsOf(t, relocated(l, 0, typeRela, data))
			for _, off := range []uint64{0, 4, 8, 12} {
				if got, ok := r.At(off); ok != (count[off] == 1) || ok && got.Off != off {
					t.Errorf("%v, relocations at %v: %+v, %v at %d", l, offsets, got, ok, off)
				}
			}
		}
	}
}

// TestRelocsBounds: an addend in place lies in the section.
func TestRelocsBounds(t *testing.T) {
	for _, l := range layoutsOf(0, typeRel) {
		var data []byte
		for _, off := range []uint64{12, 13, 15, 16, 17, 20, 0xfffffffc} {
			data = entry(l, data, typeRel, off, 1, 2, 0)
		}
		r := relocsOf(t, relocated(l, 0, typeRel, data))
		for _, off := range []uint64{12, 13, 15, 16, 17, 20, 0xfffffffc} {
			if got, ok := r.At(off); ok != (off == 12) {
				t.Errorf("%v: %+v, %v at %d", l, got, ok, off)
			}
		}
	}
}

// TestRelocsNone: a section without relocations has none and no error, also if a number of
// another section would fit.
func TestRelocsNone(t *testing.T) {
	for _, l := range elftest.Layouts {
		o := object(t, relocated(l, 0, typeRela, nil))
		if r, err := o.Relocs(&o.f.Sections[other]); r != nil || err != nil {
			t.Errorf("%v: %v, %v", l, r, err)
		}
		o = object(t, relocated(l, 0, elftest.Progbits, nil))
		if r, err := o.Relocs(&o.f.Sections[target]); r != nil || err != nil {
			t.Errorf("%v: contents as relocations: %v, %v", l, r, err)
		}
	}
}

// TestRelocsRefuses: damaged relocations, and such as no machine has.
func TestRelocsRefuses(t *testing.T) {
	for _, l := range elftest.Layouts {
		for _, typ := range []int{typeRela, typeRel} {
			whole := entry(l, nil, typ, 0, 1, 2, 3)
			o := object(t, relocated(l, 0, typ, whole[:len(whole)-1]))
			_, err := o.Relocs(&o.f.Sections[target])
			refused(t, l.String(), err, "bytes are not a whole number of relocations")

			o = object(t, relocated(l, 0, typ, whole))
			o.f.Sections[relocs].Size = 1 << 30
			if _, err := o.Relocs(&o.f.Sections[target]); err == nil {
				t.Errorf("%v: relocations beyond the file pass", l)
			}
			o.f.Sections[relocs].Size = uint64(len(whole))
			o.f.Sections[target].Size = 1 << 30
			_, err = o.Relocs(&o.f.Sections[target])
			switch {
			case typ == typeRel && l.Class64:
				refused(t, l.String(), err, "SHT_REL on a machine of 64 bits")
			case (err != nil) != (typ == typeRel):
				t.Errorf("%v, type %d: contents beyond the file: %v", l, typ, err)
			}
		}
	}
}

// TestSymbols: values of symbols, and whether they are in a section that the linker merges.
func TestSymbols(t *testing.T) {
	for _, l := range elftest.Layouts {
		o := object(t, relocated(l, 0, typeRela, nil))
		for i, merged := range []bool{false, false, true, false, false, false, true, true} {
			value := 0x1122334455667700 + uint64(i)
			if !l.Class64 {
				value = uint64(uint32(value))
			}
			if i >= 6 {
				value = 0
			}
			if got, is := o.Value(uint32(i)), o.Merged(uint32(i)); got != value || is != merged {
				t.Errorf("%v, symbol %d: value %#x, merged %v; want %#x, %v", l, i, got, is, value, merged)
			}
		}
		for _, i := range hugeIndexes {
			if value, merged := o.Value(i), o.Merged(i); value != 0 || !merged {
				t.Errorf("%v, symbol %d: value %#x, merged %v", l, i, value, merged)
			}
		}
		b := relocated(l, 0, typeRela, nil)
		set(l, b, symbols, sizeField, uint64(3*l.SymbolSize()))
		o = object(t, b)
		if last, none := o.Value(2), o.Value(3); last&0xff != 2 || none != 0 {
			t.Errorf("%v: the last symbol of a table has the value %#x, the one behind it %#x", l, last, none)
		}
	}
}

// TestNewRefuses: objects of forms that are not rewritten.
func TestNewRefuses(t *testing.T) {
	symtab := elftest.Section{Name: ".symtab", Type: elftest.Symtab}
	many := make([]elftest.Section, 0xff00-4)
	for _, l := range elftest.Layouts {
		for _, c := range []struct {
			name  string
			image elftest.Image
			want  string // "" if New takes it
		}{
			{"object", elftest.Image{Sections: []elftest.Section{symtab}}, ""},
			{"program", elftest.Image{Type: elftest.Executable, Sections: []elftest.Section{symtab}}, "not relocatable"},
			{"no symbols", elftest.Image{Sections: []elftest.Section{{Name: ".text"}}}, "no symbol table"},
			{"two tables", elftest.Image{Sections: []elftest.Section{symtab, symtab}}, "two symbol tables"},
			{"indexes", elftest.Image{Sections: []elftest.Section{symtab, {Type: elftest.SymtabShndx}}}, "more than 65,000 sections"},
			{"many sections", elftest.Image{Sections: append(many, symtab)}, ""},
			{"too many sections", elftest.Image{Sections: append(many, symtab, symtab)}, "it has 65280 sections"},
		} {
			c.image.Layout = l
			f, err := mmapelf.New("a.o", c.image.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			switch _, err = New(f); {
			case c.want != "":
				refused(t, l.String()+" "+c.name, err, c.want)
			case err != nil:
				t.Errorf("%v %s: %v", l, c.name, err)
			}
		}
		f, err := mmapelf.New("a.o", relocated(l, machineMIPS, typeRela, nil))
		if err != nil {
			t.Fatal(err)
		}
		switch _, err = New(f); {
		case l == elftest.Little64:
			refused(t, l.String(), err, "little-endian MIPS64")
		case err != nil:
			t.Errorf("%v: %v", l, err)
		}
		b := relocated(l, 0, typeRela, nil)
		set(l, b, symbols, sizeField, uint64(len(b)))
		if f, err = mmapelf.New("a.o", b); err != nil {
			t.Fatal(err)
		}
		if _, err = New(f); err == nil {
			t.Errorf("%v: symbols beyond the file pass", l)
		}
	}
}

// TestNewHeader: the file header has the number of the sections, the size of their headers and
// the section of their names itself.
func TestNewHeader(t *testing.T) {
	for _, l := range elftest.Layouts {
		const numbers = "the numbers of the section table are not in the header"
		sections := elftest.Image{Layout: l, Sections: []elftest.Section{{Name: ".symtab", Type: elftest.Symtab}}}
		count := l.Counts() + 6
		for _, c := range []struct {
			name   string
			damage func(b []byte)
			want   string // "" if New takes it
		}{
			{"whole", func([]byte) {}, ""},
			{"no names", func(b []byte) { l.Put(b, count+2, 2, 0) }, ""},
			{"count", func(b []byte) {
				set(l, b, 0, sizeField, 3)
				l.Put(b, count, 2, 0)
			}, numbers},
			{"names", func(b []byte) {
				set(l, b, 0, linkField, 2)
				l.Put(b, count+2, 2, 0xffff)
			}, numbers},
			{"size", func(b []byte) {
				l.Put(b, count-2, 2, uint64(l.SectionSize()+1))
				l.Put(b, count, 2, 2)
				l.Put(b, count+2, 2, 0)
			}, numbers},
		} {
			b := sections.Bytes()
			c.damage(b)
			f, err := mmapelf.New("a.o", b)
			if err != nil {
				t.Fatal(l, c.name, err)
			}
			if c.name == "size" { // what lies at the shifted place is not a symbol table
				f.Sections[1] = mmapelf.Section{Index: 1, Type: elftest.Symtab}
			}
			switch _, err = New(f); {
			case c.want != "":
				refused(t, l.String()+" "+c.name, err, c.want)
			case err != nil:
				t.Errorf("%v %s: %v", l, c.name, err)
			}
		}
	}
}
