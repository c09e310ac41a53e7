package dwarf_test

import (
	"testing"

	"github.com/btflite/btflite/internal/dwarf"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
)

// seeds are sections of small units of all versions and shapes.
func seeds() (infos, abbrevs [][]byte, shapes []byte) {
	for version := 2; version <= 5; version++ {
		for shape := range 8 {
			i := dt.N(dt.TagBaseType, dt.Name("int"), dt.Size(4), dt.Encoding(5))
			s := dt.N(dt.TagStructureType, dt.Name("s"), dt.Size(8), dt.N(dt.TagMember, dt.NameInline("x"), dt.Type(i), dt.MemberAt(0)),
				dt.N(dt.TagMember, dt.Name("b"), dt.Type(i), dt.BitAt(32), dt.BitSize(3)))
			u := dt.CU(i, s, dt.N(dt.TagTypedef, dt.Name("t"), dt.Type(s)), dt.N(dt.TagSubprogram, dt.Name("f"), dt.LowPC(dt.TextAddr),
				dt.N(dt.TagFormalParameter, dt.Name("a"), dt.Type(i), dt.Location(0x55))),
				dt.N(dt.TagEnumerationType, dt.Size(4), dt.N(dt.TagEnumerator, dt.Name("E"), dt.Attr{At: dt.AtConstValue, Form: dt.FormImplicitConst, Val: -1})))
			u.Version, u.Dwarf64 = version, shape&1 != 0 && version > 2
			f := dt.File{Class32: shape&2 != 0, BigEndian: shape&4 != 0, Units: []*dt.Unit{u}}
			d := f.DebugSections()
			infos, abbrevs, shapes = append(infos, d[0].Data), append(abbrevs, d[1].Data), append(shapes, byte(shape))
		}
	}
	return infos, abbrevs, shapes
}

// FuzzReadUnit: a header is refused or lies within the section, and units
// follow each other.
func FuzzReadUnit(f *testing.F) {
	infos, _, shapes := seeds()
	for i, b := range infos {
		f.Add(b, shapes[i]&4 != 0)
		f.Add(append(append([]byte{}, b...), b...), shapes[i]&4 != 0)
	}
	f.Fuzz(func(t *testing.T, info []byte, bigEndian bool) {
		var u dwarf.Unit
		for off := uint64(0); off < uint64(len(info)); off = u.End() {
			if err := dwarf.ReadUnit(info, off, bigEndian, &u); err != nil {
				if err.Error() == "" {
					t.Error("error without text")
				}
				return
			}
			if u.Off != off || u.End() <= off || u.End() > uint64(len(info)) || u.First < 11 || u.First > len(u.Data) ||
				u.Version < 2 || u.Version > 5 || u.BigEndian != bigEndian {
				t.Fatalf("unit %+v of %d bytes at %d", u, len(info), off)
			}
		}
	})
}

// FuzzAbbrevs compiles a table and reads DIEs with it: nothing is read beyond
// the data, decoding consumes the fixed sizes, and a table that is
// compiled into used memory, from declarations that are known, is the same.
func FuzzAbbrevs(f *testing.F) {
	infos, abbrevs, shapes := seeds()
	for i := range infos {
		f.Add(abbrevs[i], infos[i], infos[i][4], shapes[i])
	}
	f.Fuzz(func(t *testing.T, abbrev, data []byte, version, shape byte) {
		u := dwarf.Unit{Data: data, Version: uint16(2 + version%4), AddrSize: 8, Dwarf64: shape&1 != 0, BigEndian: shape&4 != 0}
		if shape&2 != 0 {
			u.AddrSize = 4
		}
		var fresh dwarf.Abbrevs
		used := dwarf.Abbrevs{Cache: dwarf.NewAbbrevCache(dwarf.Types, 7)}
		other := u
		other.Version = 2 + u.Version%4
		_ = used.Compile(abbrevs[0], &other, dwarf.Types, 7)
		_ = used.Compile(abbrev, &u, dwarf.Types, 7)
		used.Forget()
		err, again := fresh.Compile(abbrev, &u, dwarf.Types, 7), used.Compile(abbrev, &u, dwarf.Types, 7)
		if (err == nil) != (again == nil) || err != nil && err.Error() != again.Error() {
			t.Fatalf("fresh: %v, used memory: %v", err, again)
		}
		if err != nil {
			return
		}
		var v, w dwarf.Values
		for p, n := 0, 0; p < len(data) && n < 1000; n++ {
			code, q := dwarf.ULEB(data, p)
			if q < 0 {
				return
			}
			if q <= p || q > len(data) {
				t.Fatalf("LEB128 at %d ends at %d of %d", p, q, len(data))
			}
			a, b := fresh.Lookup(code), used.Lookup(code)
			if (a == nil) != (b == nil) {
				t.Fatalf("code %d: fresh %v, used memory %v", code, a, b)
			}
			if a == nil {
				p = q
				continue
			}
			if a.Direct && !a.Fixed {
				t.Fatal("direct, not fixed")
			}
			for _, s := range a.Slots {
				if a.Direct && s.Mask != 0 && uint32(s.Off) >= a.Size {
					t.Fatalf("slot at %d of %d bytes", s.Off, a.Size)
				}
			}
			next, have := fresh.Decode(a, data, q, &v)
			next2, have2 := used.Decode(b, data, q, &w)
			if next != next2 || have != have2 {
				t.Fatalf("decode: %d %x, with used memory %d %x", next, have, next2, have2)
			}
			if next < 0 {
				if a.Fixed && q+int(a.Size) <= len(data) {
					t.Fatalf("%d bytes do not fit in %d", a.Size, len(data)-q)
				}
				return
			}
			if next < q || next > len(data) || a.Fixed && next != q+int(a.Size) {
				t.Fatalf("DIE at %d of %d bytes ends at %d, size %d", q, len(data), next, a.Size)
			}
			for i := range v {
				if have>>i&1 == 0 {
					continue
				}
				if v[i] != w[i] {
					t.Fatalf("value %d: %v, with used memory %v", i, v[i], w[i])
				}
				if off, n, ok := v[i].Block(); ok && (off < q || off+n > next) {
					t.Fatalf("block %d+%d of a DIE at %d-%d", off, n, q, next)
				}
			}
			p = next
		}
	})
}
