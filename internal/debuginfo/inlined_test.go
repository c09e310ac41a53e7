package debuginfo

import (
	"encoding/binary"
	"testing"

	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/elfreloc"
)

// TestMovedNumbers: a ULEB128 of a list that stands for the difference of two symbols,
// by the relocation types of RISC-V (R_RISCV_SET_ULEB128, R_RISCV_SUB_ULEB128) and
// LoongArch (R_LARCH_ADD_ULEB128, R_LARCH_SUB_ULEB128).
func TestMovedNumbers(t *testing.T) {
	symtab := make([]byte, 3*24)
	for i, value := range []uint64{0, 0x140, 0x34} {
		binary.LittleEndian.PutUint16(symtab[24*i+6:], 1)
		binary.LittleEndian.PutUint64(symtab[24*i+8:], value)
	}
	b := []byte{0x04, 0x80, 0x00, 0x07, 0x80} // what stands before, the number, the next one, one cut off
	for machine, types := range map[uint16][2]uint64{243: {60, 61}, 258: {107, 108}} {
		var rela []byte
		for i, typ := range types {
			rela = binary.LittleEndian.AppendUint64(rela, 1)
			rela = binary.LittleEndian.AppendUint64(rela, uint64(i+1)<<32|typ)
			rela = binary.LittleEndian.AppendUint64(rela, 0)
		}
		o, err := elfreloc.NewObject(elfreloc.Format{Machine: machine, Class64: true}, symtab, nil, []uint64{0, 0x1000})
		if err != nil {
			t.Fatal(err)
		}
		rel, err := o.NewTable(".debug_loclists", uint64(len(b)), rela, true)
		if err != nil {
			t.Fatal(err)
		}
		c := Cursor{Position: Position{File: &File{Machine: machine, rel: &relocs{}}, Hdr: dwarf.Unit{Version: 5}}}
		c.File.rel.random[relLoclists] = rel
		r := Ranges{New: b, newRel: rel}
		for _, x := range []struct {
			at, next int
			want     uint64
		}{{0, 1, 4}, {1, 3, 0x10c}, {3, 4, 7}, {4, -1, 0}, {5, -1, 0}} {
			if v, next := ListULEB(&c, b, x.at); v != x.want || next != x.next {
				t.Errorf("machine %d, list, offset %d: %#x to %d, want %#x to %d", machine, x.at, v, next, x.want, x.next)
			}
			if v, next := r.ULEB(x.at); v != x.want || next != x.next {
				t.Errorf("machine %d, range, offset %d: %#x to %d, want %#x to %d", machine, x.at, v, next, x.want, x.next)
			}
		}
		if !MovedNumbers(c.File) {
			t.Errorf("machine %d: numbers do not move", machine)
		}
		if c.File.rel = nil; MovedNumbers(c.File) {
			t.Errorf("machine %d: numbers move in a file without relocations", machine)
		}
	}
	if elfreloc.NumbersMove(62) {
		t.Error("numbers move on x86-64")
	}
}
