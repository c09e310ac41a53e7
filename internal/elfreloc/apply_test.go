package elfreloc

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/btflite/btflite/internal/elfabi"
)

// rel is a relocation of a test.
type rel struct {
	off    uint64
	sym    uint32
	typ    uint32 // MIPS64: the first of three types, others in the upper bytes
	addend int64
}

// Symbols of all tests: 0 null, 1 at 0x30 of section 1, 2 at 0x8 of section 2,
// 3 undefined, 4 absolute 0x1234, 5 common, 6 in section 3 by extended index,
// 7 in section 9, which does not exist.
var testAddrs = []uint64{0, 0x10000, 0x20000, 0}

func symbols(f Format) (symtab, extended []byte) {
	o := order(f)
	for _, s := range []struct {
		value uint64
		shndx uint16
	}{{0, 0}, {0x30, 1}, {0x8, 2}, {0, 0}, {0x1234, elfabi.SHNAbs}, {8, 0xfff2}, {0x77, elfabi.SHNXindex}, {1, 9}} {
		b := make([]byte, symSize32)
		if f.Class64 {
			b = make([]byte, symSize64)
			o.PutUint16(b[6:], s.shndx)
			o.PutUint64(b[8:], s.value)
		} else {
			o.PutUint32(b[4:], uint32(s.value))
			o.PutUint16(b[14:], s.shndx)
		}
		symtab = append(symtab, b...)
	}
	extended = make([]byte, 4*8)
	o.PutUint32(extended[4*6:], 3)
	return symtab, extended
}

// byteOrder has the methods of both orders of encoding/binary.
type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

func order(f Format) byteOrder {
	if f.BigEndian {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// encode writes relocations as a file of format f has them.
func encode(f Format, rela bool, rels []rel) []byte {
	var b []byte
	o := order(f)
	for _, r := range rels {
		if !f.Class64 {
			b = o.AppendUint32(o.AppendUint32(b, uint32(r.off)), r.sym<<8|r.typ)
			if rela {
				b = o.AppendUint32(b, uint32(r.addend))
			}
			continue
		}
		b = o.AppendUint64(b, r.off)
		if f.Machine == elfabi.EMMIPS {
			b = o.AppendUint32(b, r.sym)
			b = append(b, byte(r.typ>>24), byte(r.typ>>16), byte(r.typ>>8), byte(r.typ))
		} else {
			b = o.AppendUint64(b, uint64(r.sym)<<32|uint64(r.typ))
		}
		if rela {
			b = o.AppendUint64(b, uint64(r.addend))
		}
	}
	return b
}

func newTable(t testing.TB, f Format, rela bool, size int, rels []rel) *Table {
	t.Helper()
	symtab, extended := symbols(f)
	o, err := NewObject(f, symtab, extended, testAddrs)
	if err != nil {
		t.Fatal(err)
	}
	x, err := o.NewTable(".debug_info", uint64(size), encode(f, rela, rels), rela)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

var (
	x8664    = Format{elfabi.EMX8664, true, false}
	i386     = Format{elfabi.EM386, false, false}
	arm      = Format{elfabi.EMARM, false, false}
	aarch64  = Format{elfabi.EMAArch64, true, false}
	s390x    = Format{elfabi.EMS390, true, true}
	ppc      = Format{elfabi.EMPPC, false, true}
	ppc64    = Format{elfabi.EMPPC64, true, true}
	ppc64le  = Format{elfabi.EMPPC64, true, false}
	mips     = Format{elfabi.EMMIPS, false, true}
	mipsel   = Format{elfabi.EMMIPS, false, false}
	mips64   = Format{elfabi.EMMIPS, true, true}
	mips64el = Format{elfabi.EMMIPS, true, false}
	riscv64  = Format{elfabi.EMRISCV, true, false}
	riscv32  = Format{elfabi.EMRISCV, false, false}
	sparc64  = Format{elfabi.EMSPARCV9, true, true}
	loong64  = Format{elfabi.EMLoongArch, true, false}
)

// TestApply: the formulas of the psABI documents, by machine.
func TestApply(t *testing.T) {
	for _, c := range []struct {
		name     string
		f        Format
		rela     bool
		rels     []rel
		in, want string // hex
	}{
		{"x86-64 32", x8664, true, []rel{{2, 1, 10, 4}}, "ffffffffffffffff", "ffff34000100ffff"},
		{"x86-64 32S", x8664, true, []rel{{0, 1, 11, -0x34}}, "00000000", "fcff0000"},
		{"x86-64 64", x8664, true, []rel{{0, 2, 1, 1}}, "ffffffffffffffff", "0900020000000000"},
		{"x86-64 16, 8", x8664, true, []rel{{0, 1, 12, 1}, {2, 1, 14, 2}}, "ffffffff", "310032ff"},
		{"x86-64 none", x8664, true, []rel{{0, 1, 0, 7}}, "0102", "0102"},
		{"x86-64 TLS", x8664, true, []rel{{0, 1, 17, 1}, {8, 1, 21, 2}}, "000000000000000000000000", "310000000000000032000000"},
		{"x86-64 no place", x8664, true, []rel{{0, 3, 10, 5}, {4, 4, 10, 1}, {8, 5, 10, 6}, {12, 6, 10, 1}, {16, 0, 10, 3}},
			"0000000000000000000000000000000000000000", "0500000035120000060000007800000003000000"},
		{"x86-64 REL", x8664, false, []rel{{0, 1, 10, 0}}, "04000000", "34000100"},
		{"i386 in place", i386, false, []rel{{0, 1, 1, 0}, {4, 1, 20, 0}, {6, 1, 22, 0}, {7, 1, 32, 0}}, "0400000001000202000000", "3400010031003232000000"},
		{"arm in place", arm, false, []rel{{0, 2, 2, 0}, {4, 2, 5, 0}, {6, 2, 8, 0}, {7, 2, 106, 0}}, "fcffffff0100020300000000", "0400020009000a0b00000000"},
		{"aarch64", aarch64, true, []rel{{0, 1, 257, 1}, {8, 1, 258, 2}, {12, 1, 259, 3}, {14, 1, 256, 0}}, "0000000000000000000000000000ff", "310001000000000032000100" + "3300ff"},
		{"aarch64 TLS", aarch64, true, []rel{{0, 1, 1029, 1}}, "0000000000000000", "3100000000000000"},
		{"s390x", s390x, true, []rel{{0, 1, 22, 1}, {8, 1, 4, 2}, {12, 1, 3, 3}, {14, 1, 1, 4}}, "000000000000000000000000000000", "000000000001003100010032003334"},
		{"s390x TLS", s390x, true, []rel{{0, 1, 53, 1}, {8, 1, 52, 2}}, "000000000000000000000000", "000000000000003100000032"},
		{"ppc", ppc, true, []rel{{0, 1, 1, 1}, {4, 1, 3, 2}, {6, 1, 78, 3}}, "00000000000000000000", "00010031003200000033"},
		{"ppc64", ppc64, true, []rel{{0, 1, 38, 1}, {8, 1, 1, 2}, {12, 1, 78, 3}}, "0000000000000000000000000000000000000000", "0000000000010031000100320000000000000033"},
		{"ppc64le", ppc64le, true, []rel{{1, 1, 43, 1}}, "000000000000000000", "003100010000000000"},
		{"mips in place", mips, false, []rel{{0, 1, 2, 0}}, "00000004", "00010034"},
		{"mipsel in place", mipsel, false, []rel{{0, 1, 2, 0}}, "04000000", "34000100"},
		{"mips64", mips64, true, []rel{{0, 1, 18, 4}, {8, 1, 2, 5}}, "000000000000000000000000", "000000000001003400010035"},
		{"mips64el", mips64el, true, []rel{{0, 1, 18, 4}, {8, 1, 2, 5}}, "000000000000000000000000", "340001000000000035000100"},
		{"mips64el in place", mips64el, false, []rel{{0, 2, 18, 0}, {8, 1, 41, 0}}, "01000000000000000100000000000000", "09000200000000003100000000000000"},
		{"sparc64", sparc64, true, []rel{{0, 1, 32, 1}, {8, 1, 3, 2}, {12, 1, 2, 3}, {14, 1, 1, 4}}, "000000000000000000000000000000", "000000000001003100010032003334"},
		{"sparc64 unaligned", sparc64, true, []rel{{1, 1, 54, 1}, {9, 1, 23, 2}, {13, 1, 55, 3}}, "000000000000000000000000000000", "000000000000010031000100320033"},
		{"sparc64 TLS", sparc64, true, []rel{{0, 1, 77, 1}, {8, 1, 76, 2}}, "000000000000000000000000", "000000000000003100000032"},
		{"riscv plain", riscv64, true, []rel{{0, 1, 2, 1}, {8, 1, 1, 2}, {12, 1, 51, 0}, {12, 1, 56, 3}}, "00000000000000000000000000000000", "31000100000000003200010033000100"},
		{"riscv32", riscv32, true, []rel{{0, 1, 1, 1}, {4, 2, 35, 0}, {4, 1, 39, 0}}, "0000000000000000", "31000100d8ff0000"},
		{"riscv add, sub", riscv64, true, []rel{{0, 2, 36, 1}, {0, 1, 40, 0}, {8, 2, 35, 1}, {8, 1, 39, 0}, {12, 2, 34, 1}, {12, 1, 38, 0}, {14, 2, 33, 1}, {14, 1, 37, 0}},
			"010000000000000000000000000000", "daff000000000000d9ff0000d9ffd9"},
		{"riscv set, sub", riscv64, true, []rel{{0, 1, 54, 9}, {0, 1, 37, 0}, {1, 1, 55, 0x109}, {1, 1, 38, 0}}, "ffffff", "090901"},
		{"riscv 6 bits", riscv64, true, []rel{{0, 1, 53, 9}, {0, 1, 52, 0}, {1, 1, 53, 0}, {1, 1, 52, 1}}, "c0bf", "c9bf"},
		{"riscv ULEB128", riscv64, true, []rel{{1, 2, 60, 0}, {1, 1, 61, 0}, {4, 1, 60, 0x10}, {4, 1, 61, 0}, {5, 1, 60, 0x10}, {5, 1, 61, 0}},
			"ff8080000080000000", "ffd8ff031090000000"},
		{"loongarch plain", loong64, true, []rel{{0, 1, 2, 1}, {8, 1, 1, 2}, {12, 1, 100, 0}}, "000000000000000000000000ff", "310001000000000032000100ff"},
		{"loongarch add, sub", loong64, true, []rel{{0, 2, 51, 1}, {0, 1, 56, 0}, {8, 2, 50, 1}, {8, 1, 55, 0}, {12, 2, 49, 1}, {12, 1, 54, 0}, {15, 2, 48, 0}, {15, 1, 53, 0}, {17, 2, 47, 0}, {17, 1, 52, 0}},
			"000000000000000000000000000000000000", "d9ff000000000000d9ff0000d9ff00d8ffd8"},
		{"loongarch 6 bits", loong64, true, []rel{{0, 1, 105, 9}, {0, 1, 106, 0}, {1, 4, 105, 0x3d}, {1, 4, 106, 0}}, "c044", "c941"},
		{"loongarch ULEB128", loong64, true, []rel{{0, 2, 107, 0}, {0, 1, 108, 0}}, "8080808000", "d8ff838000"},
	} {
		in, err1 := hex.DecodeString(c.in)
		want, err2 := hex.DecodeString(c.want)
		if err1 != nil || err2 != nil || len(in) != len(want) {
			t.Fatalf("%s: bad test", c.name)
		}
		x := newTable(t, c.f, c.rela, len(in), c.rels)
		if err := x.Apply(in, 0, 0, x.Len()); err != nil || !bytes.Equal(in, want) {
			t.Errorf("%s: %x, want %x (%v)", c.name, in, want, err)
		}
	}
}

// TestApplyErrors: an error says what cannot be applied, and where.
func TestApplyErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		f    Format
		r    rel
		want string
	}{
		{"unknown type", x8664, rel{4, 1, 200, 0}, ".debug_info+0x4: relocation of type 200"},
		{"PC-relative", x8664, rel{4, 1, 2, 0}, "type 2"},
		{"type beyond all", x8664, rel{4, 1, 1 << 31, 0}, "type 2147483648"},
		{"no symbol", x8664, rel{4, 8, 10, 0}, "symbol 8 of 8"},
		{"huge symbol", x8664, rel{4, 1<<32 - 1, 10, 0}, "symbol 4294967295"},
		{"no section", x8664, rel{4, 7, 10, 0}, "section 9 of 4"},
		{"offset", x8664, rel{16, 1, 10, 0}, "beyond the section"},
		{"field", x8664, rel{13, 1, 10, 0}, "goes beyond the section"},
		{"huge offset", x8664, rel{1<<64 - 2, 1, 10, 0}, "beyond the section"},
		{"no symbol, 32-bit", i386, rel{4, 8, 1, 0}, "symbol 8 of 8"},
		{"field, 32-bit", mips, rel{13, 1, 2, 0}, "goes beyond the section"},
		{"compound", mips64, rel{0, 1, 5<<16 | 24<<8 | 7, 0}, "compound"},
		{"compound, little endian", mips64el, rel{0, 1, 5<<16 | 24<<8 | 7, 0}, "compound"},
		{"second type, little endian", mips64el, rel{0, 1, 24<<8 | 7, 0}, "compound"},
		{"third type, little endian", mips64el, rel{0, 1, 5<<16 | 7, 0}, "compound"},
		{"ULEB128", riscv64, rel{14, 1, 60, 0}, "number goes beyond"},
	} {
		b := bytes.Repeat([]byte{0x80}, 16)
		x := newTable(t, c.f, true, len(b), []rel{c.r})
		if err := x.Apply(b, 0, 0, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := NewObject(Format{Machine: 999}, nil, nil, nil); err == nil {
		t.Error("unknown machine: no error")
	}
	o, _ := NewObject(x8664, nil, nil, nil)
	if _, err := o.NewTable("x", 8, make([]byte, 25), true); err == nil {
		t.Error("cut table: no error")
	}
}

// TestRanges: a section relocated range by range is the section relocated as a
// whole, whatever the order of the entries.
func TestRanges(t *testing.T) {
	const n = 300
	for _, f := range []Format{x8664, riscv64} {
		var rels []rel
		for i := range uint64(n) {
			rels = append(rels, rel{i * 8, 1, 1, int64(i)})
			if f == x8664 {
				rels[i].typ = 10
			}
		}
		whole := make([]byte, n*8)
		x := newTable(t, f, true, len(whole), rels)
		if err := x.Apply(whole, 0, 0, x.Len()); err != nil {
			t.Fatal(err)
		}
		if x.Sort(); x.order != nil {
			t.Error("entries in order were sorted")
		}
		shuffled := append([]rel(nil), rels[100:]...)
		shuffled = append(shuffled, rels[:100]...)
		for _, rels := range [][]rel{rels, shuffled} {
			x := newTable(t, f, true, len(whole), rels)
			ordered := x.Ordered(0, 150) && x.Ordered(150, n)
			if x.Sort(); ordered != (rels[0].off == 0) || ordered != (x.order == nil) {
				t.Errorf("ordered: %v; index: %v", ordered, x.order != nil)
			}
			for _, size := range []int{8, 24, 1000, n * 8} {
				next := 0
				for off := 0; off < len(whole); off += size {
					b := make([]byte, min(size, len(whole)-off))
					last := x.Search(next, uint64(off+len(b)))
					if again := x.Search(0, uint64(off)); again != next {
						t.Fatalf("Search(0, %d) = %d, want %d", off, again, next)
					}
					if err := x.Apply(b, uint64(off), next, last); err != nil || !bytes.Equal(b, whole[off:off+len(b)]) {
						t.Fatalf("size %d, offset %d: differs (%v)", size, off, err)
					}
					next = last
				}
			}
		}
		y := newTable(t, f, true, len(whole), shuffled)
		if err := y.Apply(make([]byte, 80), 0, 0, 10); !errors.Is(err, ErrOrder) {
			t.Errorf("entries out of order: error %v", err)
		}
	}
}

// TestOrdered: one entry too early is noticed wherever it is, and two entries of one field, as RISC-V has
// them, are in order.
func TestOrdered(t *testing.T) {
	for _, f := range []Format{x8664, s390x, riscv64, riscv32} {
		for at := range 40 {
			rels := make([]rel, 40)
			for i := range rels {
				rels[i] = rel{uint64(i) * 8, 1, 1, 0}
			}
			rels[at].off = rels[max(at, 1)-1].off
			if !newTable(t, f, true, 4096, rels).Ordered(0, len(rels)) {
				t.Errorf("%+v: entry %d has the offset of the one before: not ordered", f, at)
			}
			rels[at].off = 39*8 + 1
			if got := newTable(t, f, true, 4096, rels).Ordered(0, len(rels)); got != (at == len(rels)-1) {
				t.Errorf("%+v: entry %d is behind those that follow: ordered %v", f, at, got)
			}
		}
	}
}

// TestCutField: a field that the end of the range cuts off stays as it is.
func TestCutField(t *testing.T) {
	for _, at := range []uint64{6, 8} { // the second ends with the section
		x := newTable(t, x8664, true, 16, []rel{{at, 1, 1, 0}})
		b := make([]byte, 10)
		if err := x.Apply(b, 0, 0, 1); err != nil || !bytes.Equal(b, make([]byte, 10)) {
			t.Errorf("field at %d: %x, %v", at, b, err)
		}
	}
	u := newTable(t, riscv64, true, 16, []rel{{0, 1, 60, 0}})
	b := []byte{0x80, 0x80}
	if err := u.Apply(b, 0, 0, 1); err != nil || !bytes.Equal(b, []byte{0x80, 0x80}) {
		t.Errorf("%x, %v", b, err)
	}
}

// TestFast: the way that the common format goes gives what the general one does,
// entry by entry, up to the first error.
func TestFast(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	types := []uint32{10, 10, 10, 1, 1, 0, 11, 2, 200, 1<<32 - 1}
	syms := []uint32{1, 2, 1, 3, 4, 6, 65, 1<<32 - 1}
	for range 3000 {
		size, off := 1+r.IntN(100), uint64(r.IntN(2)*64)
		rels := make([]rel, r.IntN(40))
		good := r.IntN(4) // with fewer kinds of entries, errors come later
		for i := range rels {
			rels[i] = rel{off + uint64(r.IntN(size)), syms[r.IntN(2+2*good)], types[r.IntN(4+2*good)], int64(r.Uint64() >> (1 + r.IntN(60)))}
		}
		x := newTable(t, x8664, true, int(off)+size+r.IntN(8), rels)
		x.o.symtab = append(x.o.symtab, make([]byte, 60*symSize64)...)
		fast, general := bytes.Repeat([]byte{0x5a}, size), bytes.Repeat([]byte{0x5a}, size)
		want := Span{Section: 1, Low: ^uint64(0)}
		var wantErr error
		for i := 0; i < len(rels) && wantErr == nil; i++ {
			e := x.at(i)
			wantErr = x.one(general, off, &e)
			if at := e.off - off; wantErr == nil && (e.typ == 10 || e.typ == 11) && e.sym == 1 && at+8 <= uint64(size) {
				to := 0x10030 + e.addend
				want.Low, want.High = min(want.Low, to), max(want.High, to)
			}
		}
		got := Span{Section: 1}
		err := x.ApplySpan(fast, off, 0, len(rels), &got)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || !bytes.Equal(fast, general) || got != want {
			t.Fatalf("%+v in %d bytes from %d: %x, %v, %v; want %x, %v, %v", rels, size, off, fast, got, err, general, want, wantErr)
		}
	}
}

// FuzzApply: any relocations and symbols give a result or an error, and write
// only to the copy.
func FuzzApply(f *testing.F) {
	formats := []Format{x8664, i386, arm, aarch64, s390x, ppc, ppc64, mips, mips64, mips64el, riscv64, loong64}
	for i, x := range formats {
		symtab, _ := symbols(x)
		f.Add(byte(i), true, encode(x, true, []rel{{1, 1, 2, 3}, {4, 2, 1, 3}, {5, 2, 60, 3}, {5, 2, 108, 3}}), symtab, uint16(3))
	}
	f.Fuzz(func(t *testing.T, format byte, rela bool, data, symtab []byte, off uint16) {
		o, err := NewObject(formats[int(format)%len(formats)], symtab, nil, testAddrs)
		if err != nil {
			t.Fatal(err)
		}
		x, err := o.NewTable("fuzz", 64, data, rela)
		if err != nil {
			return
		}
		x.Sort()
		off %= 64
		all := bytes.Repeat([]byte{0x81}, 64)
		end := min(int(off)+16, 64)
		first := x.Search(0, uint64(off))
		last := x.Search(first, uint64(end))
		if first > last || last > x.Len() {
			t.Fatalf("entries %d to %d of %d", first, last, x.Len())
		}
		if err := x.Apply(all[off:end:end], uint64(off), first, last); errors.Is(err, ErrOrder) {
			t.Error("Search gives entries outside of the range")
		}
		for i, c := range all {
			if (i < int(off) || i >= end) && c != 0x81 {
				t.Errorf("byte %d outside of %d to %d written", i, off, end)
			}
		}
	})
}
