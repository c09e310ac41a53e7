package dwarf

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// field is a number of a header and its size in bytes.
type field struct {
	size int
	v    uint64
}

// pack writes fields in a byte order.
func pack(bigEndian bool, fields ...field) (b []byte) {
	for _, f := range fields {
		var w [8]byte
		if bigEndian {
			binary.BigEndian.PutUint64(w[:], f.v)
			b = append(b, w[8-f.size:]...)
		} else {
			binary.LittleEndian.PutUint64(w[:], f.v)
			b = append(b, w[:f.size]...)
		}
	}
	return b
}

// withLength puts the unit_length in front of body.
func withLength(bigEndian, dwarf64 bool, body []byte) []byte {
	if dwarf64 {
		return append(pack(bigEndian, field{4, 0xffffffff}, field{8, uint64(len(body))}), body...)
	}
	return append(pack(bigEndian, field{4, uint64(len(body))}), body...)
}

// unitCase is a kind of unit header and what it must be read as.
type unitCase struct {
	name  string
	types bool // in .debug_types
	wide  bool // 64-bit DWARF
	body  func(osz int) []field
	want  string
}

// The fields after the length. Offsets are 0x11 (abbreviations) and, if the header has
// them, signature 0x22 with type offset 1, and the id 0x33.
var unitCases = []unitCase{
	{"DWARF 2", false, false, func(o int) []field { return []field{{2, 2}, {o, 0x11}, {1, 4}} },
		"v2 abbrev 11 addr 4 type 0 sig 0+0 id 0 wide false"},
	{"DWARF 4, 64-bit", false, true, func(o int) []field { return []field{{2, 4}, {o, 0x11}, {1, 8}} },
		"v4 abbrev 11 addr 8 type 0 sig 0+0 id 0 wide true"},
	{"type unit of DWARF 4", true, false, func(o int) []field { return []field{{2, 4}, {o, 0x11}, {1, 8}, {8, 0x22}, {o, 1}} },
		"v4 abbrev 11 addr 8 type 0 sig 22+1 id 0 wide false"},
	{"type unit of DWARF 4, 64-bit", true, true, func(o int) []field { return []field{{2, 4}, {o, 0x11}, {1, 8}, {8, 0x22}, {o, 1}} },
		"v4 abbrev 11 addr 8 type 0 sig 22+1 id 0 wide true"},
	{"compile unit", false, false, func(o int) []field { return []field{{2, 5}, {1, 1}, {1, 2}, {o, 0x11}} },
		"v5 abbrev 11 addr 2 type 1 sig 0+0 id 0 wide false"},
	{"partial unit, 64-bit", false, true, func(o int) []field { return []field{{2, 5}, {1, 3}, {1, 1}, {o, 0x11}} },
		"v5 abbrev 11 addr 1 type 3 sig 0+0 id 0 wide true"},
	{"type unit", false, false, func(o int) []field { return []field{{2, 5}, {1, 2}, {1, 8}, {o, 0x11}, {8, 0x22}, {o, 1}} },
		"v5 abbrev 11 addr 8 type 2 sig 22+1 id 0 wide false"},
	{"split type unit, 64-bit", false, true, func(o int) []field { return []field{{2, 5}, {1, 6}, {1, 8}, {o, 0x11}, {8, 0x22}, {o, 1}} },
		"v5 abbrev 11 addr 8 type 6 sig 22+1 id 0 wide true"},
	{"skeleton", false, false, func(o int) []field { return []field{{2, 5}, {1, 4}, {1, 8}, {o, 0x11}, {8, 0x33}} },
		"v5 abbrev 11 addr 8 type 4 sig 0+0 id 33 wide false"},
	{"split unit", false, false, func(o int) []field { return []field{{2, 5}, {1, 5}, {1, 8}, {o, 0x11}, {8, 0x33}} },
		"v5 abbrev 11 addr 8 type 5 sig 0+0 id 33 wide false"},
}

// readAs reads the unit at off of .debug_info or .debug_types.
func readAs(types bool, b []byte, off uint64, bigEndian bool) (u Unit, err error) {
	if types {
		err = ReadTypeUnit(b, off, bigEndian, &u)
	} else {
		err = ReadUnit(b, off, bigEndian, &u)
	}
	return u, err
}

// TestReadUnit reads each kind of header after other bytes, at the end of the data and
// cut at each byte, in both byte orders.
func TestReadUnit(t *testing.T) {
	for _, c := range unitCases {
		for _, big := range []bool{false, true} {
			osz := 4
			if c.wide {
				osz = 8
			}
			body := pack(big, c.body(osz)...)
			for _, extra := range []int{0, 1, 5} {
				unit := withLength(big, c.wide, append(slices.Clone(body), make([]byte, extra)...))
				section := slices.Concat([]byte("before"), unit, []byte("behind"))
				u, err := readAs(c.types, section, 6, big)
				if err != nil {
					t.Errorf("%s, %d bytes of DIEs: %v", c.name, extra, err)
					continue
				}
				got := fmt.Sprintf("v%d abbrev %x addr %d type %d sig %x+%d id %x wide %v",
					u.Version, u.AbbrevOff, u.AddrSize, u.Type, u.Signature, u.TypeOff, u.DwoID, u.Dwarf64)
				if got != c.want {
					t.Errorf("%s: got %s, want %s", c.name, got, c.want)
				}
				if string(u.Data) != string(unit) || u.First != len(unit)-extra || u.End() != uint64(6+len(unit)) ||
					u.BigEndian != big || u.OffsetSize() != osz || u.IsType() != strings.Contains(c.want, "sig 22") {
					t.Errorf("%s: unit %+v of %d bytes, first DIE at %d", c.name, u, len(unit), len(unit)-extra)
				}
			}
			unit := withLength(big, c.wide, body)
			for n := range unit {
				if _, err := readAs(c.types, unit[:n], 0, big); err == nil {
					t.Errorf("%s: no error for %d bytes of %d", c.name, n, len(unit))
				}
			}
			for n := range body { // the length says that the header is cut
				short := append(withLength(big, c.wide, body[:n]), make([]byte, 40)...)
				if _, err := readAs(c.types, short, 0, big); err == nil {
					t.Errorf("%s: no error for a unit of %d bytes, header of %d", c.name, n, len(body))
				}
			}
		}
	}
}

func TestReadUnitRefuses(t *testing.T) {
	old := func(version, addr uint64) []byte { return pack(false, field{2, version}, field{4, 0}, field{1, addr}) }
	typeAt := func(off uint64) []byte {
		return withLength(false, false, append(pack(false, field{2, 4}, field{4, 0}, field{1, 8}, field{8, 0}, field{4, off}), 0, 0))
	}
	for _, c := range []struct {
		name  string
		types bool
		in    []byte
		want  string
	}{
		{"reserved length", false, append(pack(false, field{4, 0xfffffff0}), make([]byte, 40)...), "reserved unit length"},
		{"last reserved length", false, append(pack(false, field{4, 0xfffffffe}), make([]byte, 40)...), "reserved unit length"},
		{"length below the reserved ones", false, append(pack(false, field{4, 0xffffffef}), make([]byte, 40)...), "beyond the section"},
		{"64-bit length beyond the section", false, append(pack(false, field{4, 0xffffffff}, field{8, 1 << 63}), make([]byte, 40)...), "beyond the section"},
		{"length one beyond the section", false, append(pack(false, field{4, 10}), make([]byte, 9)...), "beyond the section"},
		{"version 1", false, withLength(false, false, append(old(1, 8), 0)), "unknown DWARF version 1"},
		{"version 6", false, withLength(false, false, append(old(6, 8), 0)), "unknown DWARF version 6"},
		{"type unit of version 5", true, withLength(false, false, append(old(5, 8), make([]byte, 12)...)), "DWARF 5 has no .debug_types"},
		{"address size 3", false, withLength(false, false, append(old(4, 3), 0)), "address size 3"},
		{"address size 0", false, withLength(false, false, append(old(4, 0), 0)), "address size 0"},
		{"unit type 7", false, withLength(false, false, pack(false, field{2, 5}, field{1, 7}, field{1, 8}, field{4, 0}, field{8, 0})), "unknown unit type 7"},
		{"type at the end of its unit", true, typeAt(25), ""},
		{"type behind its unit", true, typeAt(26), "type lies beyond its unit"},
	} {
		_, err := readAs(c.types, c.in, 0, false)
		if got := fmt.Sprint(err); c.want == "" && err != nil || !strings.Contains(got, c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		} else if section := map[bool]string{false: ".debug_info+0x0", true: ".debug_types+0x0"}[c.types]; err != nil && !strings.HasPrefix(got, section) {
			t.Errorf("%s: error %v does not name %s", c.name, err, section)
		}
	}
	for _, types := range []bool{false, true} {
		for _, off := range []uint64{20, 21, 1 << 63} {
			if _, err := readAs(types, make([]byte, 20), off, false); err == nil {
				t.Errorf("no error for a unit at %d of 20 bytes", off)
			}
		}
	}
	var u Unit
	if err := ReadUnit(make([]byte, 20), 21, true, &u); err == nil || !strings.Contains(err.Error(), "unit header beyond the section") {
		t.Errorf("unit beyond the section: error %v", err)
	}
}
