package dwarf_test

import (
	"testing"

	"github.com/btflite/btflite/internal/dwarf"
)

// FuzzReadTypeUnit: as FuzzReadUnit, for units of .debug_types and, in
// .debug_info, type, skeleton and split units.
func FuzzReadTypeUnit(f *testing.F) {
	infos, _, shapes := seeds()
	for i, b := range infos {
		f.Add(b, shapes[i]&4 != 0)
	}
	f.Add([]byte("\x18\x00\x00\x00\x04\x00\x00\x00\x00\x00\x08\x01\x02\x03\x04\x05\x06\x07\x08\x17\x00\x00\x00\x01\x02\x03\x04\x00"), false)
	f.Add([]byte("\x15\x00\x00\x00\x05\x00\x02\x08\x00\x00\x00\x00\x01\x02\x03\x04\x05\x06\x07\x08\x18\x00\x00\x00\x01"), false)
	f.Fuzz(func(t *testing.T, types []byte, bigEndian bool) {
		var u dwarf.Unit
		for off := uint64(0); off < uint64(len(types)); off = u.End() {
			if err := dwarf.ReadTypeUnit(types, off, bigEndian, &u); err != nil {
				break
			}
			if u.End() <= off || u.End() > uint64(len(types)) || u.First > len(u.Data) || u.TypeOff > uint64(len(u.Data)) || !u.IsType() || u.Version > 4 {
				t.Fatalf("unit %+v of %d bytes at %d", u, len(types), off)
			}
		}
		for off := uint64(0); off < uint64(len(types)); off = u.End() {
			if err := dwarf.ReadUnit(types, off, bigEndian, &u); err != nil {
				break
			}
			if u.End() <= off || u.First > len(u.Data) || u.TypeOff > uint64(len(u.Data)) || u.IsType() != (u.Type == 2 || u.Type == 6) {
				t.Fatalf("unit %+v of %d bytes at %d", u, len(types), off)
			}
		}
	})
}
