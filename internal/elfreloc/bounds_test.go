package elfreloc

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/btflite/btflite/internal/elfabi"
)

// TestSymbolBounds: the last symbol, the last extended index and the last section are
// found, and nothing after them.
func TestSymbolBounds(t *testing.T) {
	for _, class64 := range []bool{false, true} {
		for _, big := range []bool{false, true} {
			o := &Object{class64: class64, order: binary.LittleEndian}
			if big {
				o.order = binary.BigEndian
			}
			size, value, shndx := symSize32, 4, 14
			if class64 {
				size, value, shndx = symSize64, 8, 6
			}
			add := func(v uint64, section uint16) {
				b := make([]byte, size)
				o.order.PutUint16(b[shndx:], section)
				if class64 {
					o.order.PutUint64(b[value:], v)
				} else {
					o.order.PutUint32(b[value:], uint32(v))
				}
				o.symtab = append(o.symtab, b...)
			}
			for _, s := range []uint16{elfabi.SHNUndef, 1, 2, elfabi.SHNLoReserve, elfabi.SHNAbs, elfabi.SHNXindex, 0xfeff, elfabi.SHNXindex} {
				add(0x50, s)
			}
			o.addrs = []uint64{0, 0x1000}
			o.extended = make([]byte, 6*4)
			o.order.PutUint32(o.extended[5*4:], 1)
			for i, want := range []struct {
				value, addr uint64
				section     uint32
				ok          bool
			}{
				{0, 0, 0, true}, {0x50, 0x1000, 1, true}, {ok: false}, {0, 0, 0, true}, {0x50, 0, 0, true}, {0x50, 0x1000, 1, true}, {ok: false}, {ok: false}, {ok: false},
			} {
				v, addr, section, err := o.symbol(uint32(i))
				if (err == nil) != want.ok || want.ok && (v != want.value || addr != want.addr || section != want.section) {
					t.Errorf("64 bits %v, symbol %d: %#x, %#x, %d, %v; want %+v", class64, i, v, addr, section, err, want)
				}
			}
			if _, _, _, err := o.symbol(math.MaxUint32); err == nil {
				t.Error("the last possible symbol is there")
			}
			o.extended = o.extended[:len(o.extended)-1]
			if _, _, _, err := o.symbol(5); err == nil {
				t.Error("an extended index that is cut is read")
			}
		}
	}
}

// TestSearchFindsTheFirst: of every offset, from every entry before it.
func TestSearchFindsTheFirst(t *testing.T) {
	o := &Object{class64: true, order: binary.LittleEndian}
	var data []byte
	offs := []uint64{0, 0, 3, 3, 3, 8}
	for i := range uint64(40) {
		offs = append(offs, 10+i/2)
	}
	for _, off := range offs {
		data = append(binary.LittleEndian.AppendUint64(data, off), make([]byte, 8)...)
	}
	table, err := o.NewTable(".x", 100, data, false)
	if err != nil {
		t.Fatal(err)
	}
	for off := range uint64(40) {
		first := 0
		for first < len(offs) && offs[first] < off {
			first++
		}
		for from := -1; from <= len(offs)+1; from++ {
			want := min(max(first, from), len(offs))
			if got := table.Search(from, off); got != want {
				t.Errorf("offset %d from %d: %d, want %d", off, from, got, want)
			}
		}
	}
	for n := range 49 {
		for _, c := range []struct {
			class64, rela bool
			size          int
		}{{false, false, 8}, {false, true, 12}, {true, false, 16}, {true, true, 24}} {
			o := &Object{class64: c.class64, order: binary.LittleEndian}
			table, err := o.NewTable(".x", 100, make([]byte, n), c.rela)
			if (err == nil) != (n%c.size == 0) || err == nil && (table.Len() != n/c.size || table.EntrySize() != c.size) {
				t.Errorf("%d bytes, entries of %d: %v", n, c.size, err)
			}
		}
	}
}
