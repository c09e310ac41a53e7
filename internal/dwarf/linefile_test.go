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
		var d dwarf.Decls
		var a dwarf.Abbrevs
		whole := d.Index(abbrev, &u)
		if a.Compile(abbrev, &u, 0) == nil && !whole {
			t.Fatal("Compile has accepted what Index has not")
		}
		for off := -1; off <= len(data); off++ {
			d.Read(data, off)
		}
	})
}
