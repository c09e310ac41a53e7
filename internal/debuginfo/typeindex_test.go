package debuginfo

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/elftest"
)

// typeUnit5 is a type unit of DWARF 5 that stands for a struct of this name, and its
// signature put into b, the bytes of .debug_info that begin with it.
func typeUnit5(name string) *dt.Unit {
	s := dt.N(dt.TagStructureType, dt.Name(name), dt.Size(4))
	return &dt.Unit{Type: 2, TypeDIE: s, Root: dt.N(0x41, dt.Language(0x1d), s)}
}

// TestTypeIndex: type units of .debug_info are found by signature, of equal ones the first;
// what no unit has led to comes in file order. So it is in a compressed section.
func TestTypeIndex(t *testing.T) {
	names := []string{"third", "first", "second", "first again"}
	signatures := []uint64{30, 10, 20, 10}
	units := []*dt.Unit{dt.CU()}
	for _, n := range names {
		units = append(units, typeUnit5(n))
	}
	file := &dt.File{Units: append(units, dt.CU())}
	for _, packed := range []bool{false, true} {
		debug := file.DebugSections()
		info := debug[0].Data
		at := uint32(0)
		for i := range file.Units {
			if i > 0 && i <= len(signatures) {
				binary.LittleEndian.PutUint64(info[at+12:], signatures[i-1])
			}
			at += 4 + binary.LittleEndian.Uint32(info[at:])
		}
		if packed {
			debug[0] = compressed(elftest.Little64, debug[0])
		}
		f := loaded(t, file.Image(debug), false)
		if f.HasTypes() {
			t.Error("there are type units before one was seen")
		}
		if f.SawType(); !f.HasTypes() {
			t.Error("there are no type units")
		}
		x, err := f.Types()
		if err != nil {
			t.Fatal(err)
		}
		if x.All() != 3 {
			t.Errorf("%d type units", x.All())
		}
		var c Cursor
		byPlace := map[uint64]uint32{}
		for k, sig := range []uint64{10, 20, 30} {
			i, place, ok, err := x.Find(sig)
			if i != k || !ok || err != nil {
				t.Fatalf("signature %d: %d, %v, %v", sig, i, ok, err)
			}
			header, err := x.Open(&c, uint32(i))
			if err != nil {
				t.Fatal(err)
			}
			byPlace[header] = uint32(i)
			_, have, ok := c.DecodeAt(place - header)
			if got := string(f.Names.Text(c.NameOf(have))); !ok || got != []string{"first", "second", "third"}[k] {
				t.Errorf("signature %d stands for %q", sig, got)
			}
		}
		for _, sig := range []uint64{0, 9, 11, 31} {
			if _, _, ok, err := x.Find(sig); ok || err != nil {
				t.Errorf("signature %d: %v, %v", sig, ok, err)
			}
		}
		if left := x.Unreached(); !slices.Equal(left, []uint32{2, 0, 1}) {
			t.Errorf("not reached: %d", left)
		}
		x.Reached(0)
		if left := x.Unreached(); !slices.Equal(left, []uint32{2, 1}) || !x.IsReached(0) || x.IsReached(1) {
			t.Errorf("not reached: %d", left)
		}
		if all, err := x.Packed(); all != nil || err != nil {
			t.Errorf("signatures of a package: %d, %v", all, err)
		}
		c.Free()
	}
}

// TestTypeSections: in a relocatable file each type unit has a section, and relocations of
// its own; a unit of another kind there is an error.
func TestTypeSections(t *testing.T) {
	order := binary.LittleEndian
	build := func(relas int, typeUnit bool) []byte {
		first := typeUnit5("alone")
		if !typeUnit {
			first = dt.CU()
		}
		// Of the file of both units, the first part is the section of the type unit.
		file := &dt.File{Type: elftest.Relocatable, Units: []*dt.Unit{first, {Root: dt.N(dt.TagCompileUnit, dt.Name("unit.c"))}},
			Symbols: []dt.Symbol{{Name: "str", Type: 3, Section: ".debug_str"}}}
		debug := file.DebugSections()
		n := 4 + order.Uint32(debug[0].Data)
		types := dt.Section{Name: ".debug_info", Flags: elfabi.SHFGroup, Data: slices.Clone(debug[0].Data[:n])}
		debug[0].Data = debug[0].Data[n:]
		debug = append(debug, types)
		index := uint32(len(debug) + 1)
		if typeUnit {
			// The name of the struct is behind its code.
			at := order.Uint32(types.Data[20:]) + 1
			rela := order.AppendUint64(order.AppendUint64(order.AppendUint64(nil, uint64(at)), 1<<32|10), uint64(order.Uint32(types.Data[at:])))
			order.PutUint32(types.Data[at:], 1)
			for range relas {
				debug = append(debug, dt.Section{Name: ".rela.debug_info", Type: elfabi.SHTRela, Info: index, Data: rela, EntSize: 24})
			}
		}
		return file.Image(debug)
	}
	f := loaded(t, build(1, true), false)
	if !f.HasTypes() {
		t.Error("no section of type units")
	}
	x, err := f.Types()
	if err != nil {
		t.Fatal(err)
	}
	i, place, ok, err := x.Find(dt.Signature)
	if !ok || err != nil || place < typesBase {
		t.Fatalf("place %#x, %v, %v", place, ok, err)
	}
	var c Cursor
	defer c.Free()
	header, err := x.Open(&c, uint32(i))
	if err != nil || header != typesBase {
		t.Fatalf("header at %#x, %v", header, err)
	}
	if _, have, ok := c.DecodeAt(place - header); !ok || string(f.Names.Text(c.NameOf(have))) != "alone" {
		t.Errorf("the type is called %q", f.Names.Text(c.NameOf(have)))
	}
	for _, bad := range []struct {
		data []byte
		err  string
	}{{build(2, true), "in: .rela.debug_info: a second relocation section of .debug_info"}, {build(0, false), "in: a second .debug_info section has a unit that is not a type unit, at 0x0"}} {
		f := loaded(t, bad.data, false)
		if _, err := f.Types(); err == nil || !strings.HasPrefix(err.Error(), bad.err) {
			t.Errorf("error %v, want %s", err, bad.err)
		}
	}
}
