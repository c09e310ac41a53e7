package dwarf_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/btflite/btflite/internal/dwarf"
)

// lineTable is a header of a line number program with two folders and three files.
func lineTable(version uint16, dwarf64, bigEndian bool) []byte {
	var bo binary.AppendByteOrder = binary.LittleEndian
	if bigEndian {
		bo = binary.BigEndian
	}
	var b []byte
	b = bo.AppendUint16(b, version)
	if version == 5 {
		b = append(b, 8, 0)
	}
	if dwarf64 {
		b = bo.AppendUint64(b, 0)
	} else {
		b = bo.AppendUint32(b, 0)
	}
	b = append(b, 1)
	if version >= 4 {
		b = append(b, 1)
	}
	b = append(b, 1, 0xfb, 14, 4, 0, 1, 1)
	if version < 5 {
		b = append(b, "inc\x00/usr/include\x00\x00"...)
		b = append(b, "a.c\x00\x00\x00\x00b.h\x00\x01\x00\x00c.h\x00\x02\x07\x80\x01\x00"...)
	} else {
		b = append(b, 1, 1, 0x08, 3)
		b = append(b, "/home\x00inc\x00/usr/include\x00"...)
		b = append(b, 3, 1, 0x08, 2, 0x0b, 5, 0x1e, 4)
		for i, name := range []string{"a.c", "b.h", "c.h"} {
			b = append(append(append(b, name...), 0, byte(i)), make([]byte, 16)...)
		}
	}
	if dwarf64 {
		return append(bo.AppendUint64([]byte{255, 255, 255, 255}, uint64(len(b))), b...)
	}
	return append(bo.AppendUint32(nil, uint32(len(b))), b...)
}

func TestLineFile(t *testing.T) {
	for version := uint16(2); version <= 5; version++ {
		for _, wide := range []bool{false, true} {
			for _, big := range []bool{false, true} {
				section := append([]byte("before"), lineTable(version, wide, big)...)
				want := []string{"||", "||a.c", "|inc|b.h", "|/usr/include|c.h", "||"}
				if version == 5 {
					want = []string{"/home||a.c", "/home|inc|b.h", "/home|/usr/include|c.h", "||"}
				}
				for i, w := range want {
					f, ok := dwarf.LineFile(section, 6, big, uint64(i), nil)
					if got := fmt.Sprintf("%s|%s|%s", f.CompDir, f.Dir, f.Name); got != w || ok != (w != "||") {
						t.Errorf("version %d, 64-bit %v, big-endian %v: file %d is %s, want %s", version, wide, big, i, got, w)
					}
				}
				for n := range section {
					if f, ok := dwarf.LineFile(section[:n], 6, big, 3, nil); ok {
						t.Errorf("version %d: %d of %d bytes: %s", version, n, len(section), f.Name)
					}
				}
			}
		}
	}
}

// lineTable5 is a header in DWARF 5 whose tables of names are tables.
func lineTable5(tables ...byte) []byte {
	b := append([]byte{5, 0, 8, 0, 0, 0, 0, 0, 1, 1, 1, 0xfb, 14, 1}, tables...)
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// TestLineStrings: a string in another section is asked for by the place of its offset,
// and only for the wanted file.
func TestLineStrings(t *testing.T) {
	section := lineTable5(
		1, 1, 0x1f, 2, // folders: path, line_strp
		0xa0, 0, 0, 0, 0xa1, 0, 0, 0,
		3, 1, 0x0e, 2, 0x0b, 0x03, 0x0e, // files: path, strp; folder, data1; 3, strp
		2,
		0xb0, 0, 0, 0, 0, 0xc0, 0, 0, 0,
		0xb1, 0, 0, 0, 1, 0xc1, 0, 0, 0)
	for number, want := range []struct {
		name  string
		asked int
	}{{"/a0||eb0", 2}, {"/a0|/a1|eb1", 3}, {"||", 1}} {
		asked := 0
		f, ok := dwarf.LineFile(section, 0, false, uint64(number), func(form dwarf.Form, at uint64, size int) []byte {
			asked++
			if size != 4 {
				t.Errorf("an offset of %d bytes", size)
			}
			if form == dwarf.FormLineStrp {
				return fmt.Appendf(nil, "/%x", section[at])
			}
			return fmt.Appendf(nil, "%x%x", form, section[at])
		})
		if got := fmt.Sprintf("%s|%s|%s", f.CompDir, f.Dir, f.Name); got != want.name || ok != (want.name != "||") || asked != want.asked {
			t.Errorf("file %d: %s, %v, asked %d times; want %s, %d", number, got, ok, asked, want.name, want.asked)
		}
	}
	if f, ok := dwarf.LineFile(section, 0, false, 0, nil); ok {
		t.Errorf("without other sections: %s", f.Name)
	}
}

// TestLineFileRefuses: headers that name no file.
func TestLineFileRefuses(t *testing.T) {
	good := lineTable5(0, 0, 1, 1, 8, 1, 'a', 0)
	if f, ok := dwarf.LineFile(good, 0, false, 0, nil); !ok || string(f.Name) != "a" {
		t.Fatalf("%s, %v", f.Name, ok)
	}
	changed := func(at int, b byte) []byte {
		section := append([]byte{}, good...)
		section[at] = b
		return section
	}
	for name, section := range map[string][]byte{
		"nothing":                     {},
		"version 1":                   changed(4, 1),
		"version 6":                   changed(4, 6),
		"longer than the section":     changed(0, good[0]+1),
		"shorter than its tables":     changed(0, good[0]-1),
		"more opcodes than bytes":     changed(4+13, 200),
		"unknown form":                lineTable5(0, 0, 1, 1, 2, 1, 'a', 0),
		"no formats":                  lineTable5(0, 0, 0, 1, 'a', 0),
		"no path":                     lineTable5(0, 0, 1, 2, 0x0b, 1, 1),
		"no name":                     lineTable5(0, 0, 1, 1, 8, 1, 0),
		"entries of no bytes":         lineTable5(1, 2, 0x19, 0xff, 0xff, 0xff, 0x7f, 1, 1, 8, 1, 'a', 0),
		"files of no bytes":           lineTable5(0, 0, 1, 1, 0x19, 0xff, 0xff, 0xff, 0x7f),
		"the folders are cut off":     lineTable5(1, 1, 8, 2, 'a', 0, 'b'),
		"a name without an end":       lineTable5(0, 0, 1, 1, 8, 1, 'a'),
		"64-bit length, without it":   {255, 255, 255, 255, 0, 0},
		"64-bit, longer than section": append([]byte{255, 255, 255, 255, 100, 0, 0, 0, 0, 0, 0, 0}, good[4:]...),
	} {
		if f, ok := dwarf.LineFile(section, 0, false, 0, nil); ok {
			t.Errorf("%s: %q", name, f.Name)
		}
	}
	for _, off := range []uint64{uint64(len(good)), uint64(len(good)) + 1, 1 << 63} {
		if _, ok := dwarf.LineFile(good, off, false, 0, nil); ok {
			t.Errorf("a header at %d of %d", off, len(good))
		}
	}
	if f, ok := dwarf.LineFile(changed(4+13, 0), 0, false, 0, nil); !ok || string(f.Name) != "a" {
		t.Errorf("a table of no opcodes: %q, %v", f.Name, ok)
	}
}

// FuzzLineFile: any bytes give a name of theirs or none, and soon.
func FuzzLineFile(f *testing.F) {
	for version := uint16(2); version <= 5; version++ {
		f.Add(lineTable(version, version&1 == 0, version&2 == 0), uint64(1), version&2 == 0)
	}
	f.Fuzz(func(t *testing.T, section []byte, number uint64, bigEndian bool) {
		text := func(form dwarf.Form, at uint64, size int) []byte {
			if at+uint64(size) > uint64(len(section)) || size != 4 && size != 8 {
				t.Fatalf("offset of %d bytes at %d of %d", size, at, len(section))
			}
			return nil
		}
		for _, off := range []uint64{0, number, uint64(len(section) / 2)} {
			if x, ok := dwarf.LineFile(section, off, bigEndian, number, text); ok && len(x.Name) == 0 {
				t.Fatal("a file without a name")
			}
		}
	})
}

// FuzzDecls: any abbreviations and DIEs are read within their bytes.
func FuzzDecls(f *testing.F) {
	infos, abbrevs, shapes := seeds()
	for i := range infos {
		f.Add(abbrevs[i], infos[i], infos[i][4], shapes[i])
	}
	f.Fuzz(func(t *testing.T, abbrev, data []byte, version, shape byte) {
		u := dwarf.Unit{Data: data, Version: uint16(2 + version%4), AddrSize: 8, Dwarf64: shape&1 != 0, BigEndian: shape&4 != 0}
		var d dwarf.Abbrevs
		if d.Compile(abbrev, &u, dwarf.Places, 0) != nil {
			return
		}
		for off := -1; off <= len(data); off++ {
			d.Decl(data, off)
		}
	})
}
