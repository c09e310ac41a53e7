package debuginfo

import (
	"encoding/binary"
	"maps"
	"strings"
	"testing"

	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
)

// packIndexOf is an index of these ids and columns; part k of row r is at 100*r+k and has
// 10*r+k bytes. Each id has the slot that the standard gives it.
func packIndexOf(o binary.AppendByteOrder, version uint32, slots int, columns []uint32, ids ...uint64) []byte {
	var b []byte
	if version == 5 {
		b = o.AppendUint16(o.AppendUint16(b, 5), 0)
	} else {
		b = o.AppendUint32(b, version)
	}
	for _, n := range []int{len(columns), len(ids), slots} {
		b = o.AppendUint32(b, uint32(n))
	}
	rows, at := make([]uint32, slots), make([]uint64, slots)
	for row, id := range ids {
		k := int(id % uint64(slots))
		for rows[k] != 0 {
			k = (k + int(id>>32%uint64(slots)|1)) % slots
		}
		rows[k], at[k] = uint32(row+1), id
	}
	for _, id := range at {
		b = o.AppendUint64(b, id)
	}
	for _, r := range rows {
		b = o.AppendUint32(b, r)
	}
	for _, c := range columns {
		b = o.AppendUint32(b, c)
	}
	for _, by := range []int{100, 10} {
		for row := range ids {
			for k := range columns {
				b = o.AppendUint32(b, uint32(by*(row+1)+k))
			}
		}
	}
	return b
}

// TestPackIndex: every id is found with its parts of the sections, in both versions and
// byte orders, also where slots are taken; no other id is.
func TestPackIndex(t *testing.T) {
	ids := []uint64{7, 15, 1<<32 | 7, 3<<32 | 15, 0, 2 << 32}
	for _, big := range []bool{false, true} {
		o := binary.AppendByteOrder(binary.LittleEndian)
		if big {
			o = binary.BigEndian
		}
		for version, sections := range map[uint32][]string{
			2: {".debug_info", ".debug_types", ".debug_abbrev", ".debug_line", ".debug_loc", ".debug_str_offsets", "", "", ""},
			5: {".debug_info", ".debug_types", ".debug_abbrev", ".debug_line", ".debug_loclists", ".debug_str_offsets", "", ".debug_rnglists", ""},
		} {
			columns := []uint32{1, 2, 3, 4, 5, 6, 7, 8, 9}
			b := packIndexOf(o, version, 8, columns, ids...)
			e := withSection(t, dt.Section{Name: ".debug_cu_index", Data: b}, big).ELF
			for row, id := range ids {
				want := map[string]span64{}
				for k, name := range sections {
					if name != "" {
						want[name] = span64{uint64(100*(row+1) + k), uint64(10*(row+1) + k)}
					}
				}
				if got, err := indexEntry(e, ".debug_cu_index", id); err != nil || !maps.Equal(got, want) {
					t.Errorf("version %d, id %#x: %v, %v, want %v", version, id, got, err, want)
				}
			}
			for _, id := range []uint64{1, 8, 23, 2<<32 | 7, 1 << 63} {
				if got, err := indexEntry(e, ".debug_cu_index", id); got != nil || err != nil {
					t.Errorf("version %d, id %#x: %v, %v", version, id, got, err)
				}
			}
		}
	}
}

// TestPackIndexErrors: an index that is cut off, of an unknown version or size is refused.
func TestPackIndexErrors(t *testing.T) {
	o := binary.LittleEndian
	good := packIndexOf(o, 5, 2, []uint32{1, 3}, 7)
	with := func(at int, v uint32) []byte {
		b := append([]byte(nil), good...)
		o.PutUint32(b[at:], v)
		return b
	}
	for _, x := range []struct {
		what string
		b    []byte
		err  string
	}{
		{"as it is", good, ""}, {"and more", append(with(0, 5), 0), ""}, {"cut off", good[:len(good)-1], "cut off"}, {"a header alone", with(4, 0)[:16], "cut off"},
		{"no header", good[:15], "cut off"}, {"version 3", with(0, 3), "unknown version 3"}, {"three slots", append(with(12, 3), make([]byte, 12)...), "3 slots, no power of two"},
		{"many columns", append(with(4, 33), make([]byte, 1000)...), "cut off"}, {"32 columns", append(with(4, 32), make([]byte, 1000)...), ""},
		{"nothing in it", make([]byte, 16), "unknown version 0"},
	} {
		e := withSection(t, dt.Section{Name: ".debug_tu_index", Data: x.b}, false).ELF
		_, err := indexEntry(e, ".debug_tu_index", 8)
		if (err == nil) != (x.err == "") || err != nil && err.Error() != "in: .debug_tu_index: "+x.err {
			t.Errorf("%s: %v", x.what, err)
		}
	}
	if _, err := indexEntry(withSection(t, dt.Section{Name: ".other"}, false).ELF, ".debug_cu_index", 7); err == nil || !strings.Contains(err.Error(), "no .debug_cu_index") {
		t.Errorf("no index: %v", err)
	}
	// A row that the index does not have.
	bad := append([]byte(nil), good...)
	o.PutUint32(bad[16+16+4*1:], 2)
	if parts, err := indexEntry(withSection(t, dt.Section{Name: ".debug_cu_index", Data: bad}, false).ELF, ".debug_cu_index", 7); parts != nil || err != nil {
		t.Errorf("a row behind the last one: %v, %v", parts, err)
	}
}

// TestPartOf: a part lies in its section; without a row it is all of the section.
func TestPartOf(t *testing.T) {
	p := pack{whole: map[string][]byte{".s": []byte("0123456789")}}
	if b, err := p.partOf("in", ".s", nil); string(b) != "0123456789" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	for _, x := range []struct {
		off, size uint64
		want      string
		ok        bool
	}{{0, 10, "0123456789", true}, {2, 3, "234", true}, {2, 8, "23456789", true}, {10, 0, "", true}, {2, 9, "", false}, {10, 1, "", false}, {11, 0, "", false}, {1 << 63, 1 << 63, "", false}} {
		if b, err := p.partOf("in", ".s", map[string]span64{".s": {x.off, x.size}}); string(b) != x.want || (err == nil) != x.ok {
			t.Errorf("%+v: %q, %v", x, b, err)
		}
	}
}
