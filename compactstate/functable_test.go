package compactstate

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/btflite/btflite/arena"
)

// sym is an STT_FUNC symbol of a test file.
type sym struct {
	name  string
	value uint64
}

// addFile adds a file with these symbols to t.
func addFile(t *FuncTable, syms ...sym) {
	strtab := []byte{0}
	offs := make([]uint32, len(syms))
	for i, s := range syms {
		offs[i] = uint32(len(strtab))
		strtab = append(append(strtab, s.name...), 0)
	}
	t.BeginFile(strtab)
	for i, s := range syms {
		t.Add(offs[i], s.value)
	}
	t.Seal()
}

func tableOf(syms ...sym) *FuncTable {
	t := NewFuncTable(0, nil, nil)
	addFile(t, syms...)
	return t
}

func TestBaseNameEndsAtFirstDot(t *testing.T) {
	for _, tt := range []struct{ symbol, base string }{
		{"f", "f"},
		{"f.isra.0", "f"},
		{"f.constprop.0.isra.1", "f"},
		{"f.llvm.123", "f"},
		{"puts@GLIBC_2.2.5", "puts@GLIBC_2"},
		{".lead", ""},
		{"coldplay", "coldplay"},
		{"a_part", "a_part"},
	} {
		ft := tableOf(sym{tt.symbol, 1})
		e := ft.Lookup([]byte(tt.base))
		if e == 0 {
			t.Errorf("%s: no entry %q", tt.symbol, tt.base)
			continue
		}
		if got := string(ft.Name(e)); got != tt.base {
			t.Errorf("%s: entry has name %q, want %q", tt.symbol, got, tt.base)
		}
		if tt.base != tt.symbol && ft.Lookup([]byte(tt.symbol)) != 0 {
			t.Errorf("%s: found by its full name", tt.symbol)
		}
	}
}

func TestColdAndPartSymbolsAreLeftOut(t *testing.T) {
	for _, name := range []string{"f.cold", "f.cold.1", "f.part.0", "f.particle", "f.a.coldx", "f.isra.0.part.3"} {
		if ft := tableOf(sym{name, 1}); ft.Len() != 0 || ft.Lookup([]byte("f")) != 0 {
			t.Errorf("%s makes an entry", name)
		}
	}
}

func TestSymbolWithoutTerminatedNameIsLeftOut(t *testing.T) {
	ft := NewFuncTable(0, nil, nil)
	ft.Add(1, 1) // no file yet
	ft.BeginFile([]byte("\x00f\x00tail"))
	for _, off := range []uint32{3, 6, 7, 8, 1 << 31, 1<<32 - 1} {
		ft.Add(off, 1)
	}
	ft.Seal()
	if ft.Len() != 0 {
		t.Errorf("%d entries, want 0", ft.Len())
	}
	ft.Add(1, 1)
	if ft.Len() != 1 {
		t.Errorf("%d entries, want 1", ft.Len())
	}
}

// TestLengthOfNames: what a call costs is said in bytes of names, also of those that
// are left out; the name may be empty.
func TestLengthOfNames(t *testing.T) {
	const strtab = "\x00f\x00g.cold\x00long_name\x00tail"
	all := []Symbol{{0, 1}, {1, 1}, {3, 2}, {10, 3}, {20, 4}, {1, 5}}
	want := []int{0, 1, 6, 9, 0, 1}
	ft := NewFuncTable(0, nil, nil)
	ft.BeginFile([]byte(strtab))
	sum := 0
	for i, s := range all {
		if got := ft.Add(s.Name, s.Value); got != want[i] {
			t.Errorf("symbol %d: %d bytes, want %d", i, got, want[i])
		}
		sum += want[i]
	}
	if ft.Len() != 3 || ft.Lookup(nil) == 0 {
		t.Errorf("%d entries, the empty name is entry %d", ft.Len(), ft.Lookup(nil))
	}
	ft = NewFuncTable(0, nil, nil)
	ft.BeginFile([]byte(strtab))
	if got := ft.AddAll(all); got != sum || ft.Len() != 3 {
		t.Errorf("all at once: %d bytes and %d entries, want %d and 3", got, ft.Len(), sum)
	}
}

func TestAmbiguousAddress(t *testing.T) {
	last := sym{"zzz", 1}
	for _, tt := range []struct {
		name   string
		values []uint64
		want   bool
	}{
		{"one", []uint64{5}, false},
		{"equal", []uint64{5, 5, 5}, false},
		{"different", []uint64{5, 6}, true},
		{"different at the end", []uint64{5, 5, 5, 6}, true},
		{"different and back", []uint64{5, 6, 5, 5}, true},
		{"leading zeros", []uint64{0, 0, 5}, false},
		{"later zero", []uint64{5, 0}, true},
		{"zero between", []uint64{5, 0, 5}, true},
		{"zeros", []uint64{0, 0}, false},
	} {
		var syms []sym
		for _, v := range tt.values {
			syms = append(syms, sym{"f", v})
		}
		ft := tableOf(append(syms, last)...)
		if got := ft.Ambiguous(ft.Lookup([]byte("f"))); got != tt.want {
			t.Errorf("%s: ambiguous is %v, want %v", tt.name, got, tt.want)
		}
		// Without zzz, f sorts last and is never ambiguous.
		ft = tableOf(append(syms, sym{"a", 1}, sym{"e.x", 1})...)
		if ft.Ambiguous(ft.Lookup([]byte("f"))) {
			t.Errorf("%s: last entry is ambiguous", tt.name)
		}
	}
}

func TestLastEntryIsDecidedByBaseNameAndFile(t *testing.T) {
	ft := NewFuncTable(0, nil, nil)
	addFile(ft, sym{"b", 1}, sym{"b.isra.0", 2}, sym{"a", 1}, sym{"a", 2})
	b, a := ft.Lookup([]byte("b")), ft.Lookup([]byte("a"))
	addFile(ft, sym{"b", 1}, sym{"b", 2}, sym{"c", 1}, sym{"c.x", 2}, sym{"d.cold", 3})
	b2, c2 := ft.Lookup([]byte("b")), ft.Lookup([]byte("c"))
	for _, tt := range []struct {
		name string
		e    uint32
		want bool
	}{{"a", a, true}, {"b", b, false}, {"b of file 2", b2, true}, {"c of file 2", c2, false}} {
		if got := ft.Ambiguous(tt.e); got != tt.want {
			t.Errorf("%s: ambiguous is %v, want %v", tt.name, got, tt.want)
		}
	}
}

// Symbols of padding are left out, and the table says if one is asked for.
func TestPadding(t *testing.T) {
	syms := []sym{{"A", 1}, {"__pfx_A", 2}, {"A", 3}, {"__cfi_A.x", 4}, {"__pfx_", 5}}
	ft := tableOf(syms...)
	if a := ft.Lookup([]byte("A")); ft.Len() != 2 || !ft.Ambiguous(a) || ft.Lookup([]byte("__pfx_")) == 0 || ft.NeedsPadding() {
		t.Errorf("%d entries, ambiguous %v, needs padding %v", ft.Len(), ft.Ambiguous(a), ft.NeedsPadding())
	}
	if ft.Lookup([]byte("__cfi_B")) != 0 || !ft.NeedsPadding() {
		t.Error("nobody says that a name was asked for")
	}
	ft = NewFuncTable(0, nil, nil)
	ft.KeepPadding()
	addFile(ft, syms...)
	if ft.Len() != 4 || ft.Lookup([]byte("__pfx_A")) == 0 || ft.Lookup([]byte("__cfi_A")) == 0 || ft.NeedsPadding() {
		t.Errorf("%d entries with padding", ft.Len())
	}
	ft = tableOf(sym{"f", 1})
	if ft.Lookup([]byte("__pfx_f")) != 0 || ft.NeedsPadding() {
		t.Error("a table without padding needs it")
	}
}

func TestSymbolOfAddress(t *testing.T) {
	ft := tableOf(
		sym{"f", 0x10}, sym{"f.constprop.0", 0x20}, sym{"f", 0x30}, sym{"f.isra.0", 0x30},
		sym{"f.llvm.1", 0x40}, sym{"f.x.isra.2", 0x40}, sym{"f.isra.9", 0}, sym{"g", 0x50}, sym{"f.llvm.5", 0x60},
	)
	for _, tt := range []struct {
		addr      uint64
		match     bool
		optimized bool
		sym       string
	}{
		{0x10, true, false, ""},
		{0x20, true, true, "f.constprop.0"},
		{0x30, true, true, "f.isra.0"}, // any symbol with the address counts
		{0x40, true, true, "f.llvm.1"}, // the first with a dot
		{0x50, false, false, ""},       // of another entry
		{0x60, true, false, "f.llvm.5"},
		{0x70, false, false, ""},
		{0, true, false, ""}, // no address equals value 0, but has no symbol
	} {
		match, optimized, s := ft.Symbol(ft.Lookup([]byte("f")), tt.addr)
		if match != tt.match || optimized != tt.optimized || string(ft.SymbolName(s)) != tt.sym {
			t.Errorf("%#x: %v, %v, %q; want %v, %v, %q", tt.addr, match, optimized, ft.SymbolName(s), tt.match, tt.optimized, tt.sym)
		}
	}
	if match, _, _ := ft.Symbol(ft.Lookup([]byte("g")), 0); match {
		t.Error("g: address 0 matches without a symbol of value 0")
	}
}

func TestFilesDoNotShareEntries(t *testing.T) {
	ft := NewFuncTable(0, nil, nil)
	addFile(ft, sym{"f", 1}, sym{"g", 2})
	f1, g1 := ft.Lookup([]byte("f")), ft.Lookup([]byte("g"))
	addFile(ft)
	if ft.Lookup([]byte("f")) != 0 {
		t.Error("empty file has entry f")
	}
	addFile(ft, sym{"f.isra.0", 3}, sym{"h", 4})
	f3, h3 := ft.Lookup([]byte("f")), ft.Lookup([]byte("h"))
	if f1 == f3 || ft.Lookup([]byte("g")) != 0 {
		t.Error("entries of different files are shared")
	}
	if ft.Len() != 4 {
		t.Errorf("%d entries, want 4", ft.Len())
	}
	for e, want := range map[uint32]string{f1: "f", g1: "g", f3: "f", h3: "h", 0: "", 99: ""} {
		if got := string(ft.Name(e)); got != want {
			t.Errorf("entry %d has name %q, want %q", e, got, want)
		}
	}
	if f1 >= f3 {
		t.Error("entries do not ascend with files")
	}
	if got := string(ft.SymbolName(f3)); got != "f.isra.0" {
		t.Errorf("symbol of file 3 is %q", got)
	}
}

// TestAheadReadsTheCurrentFileOnly: what an earlier file has left behind is not
// followed, whatever of it lies where a name of the current file would.
func TestAheadReadsTheCurrentFileOnly(t *testing.T) {
	names, strtab, offs := kernelLike(5000)
	ft := NewFuncTable(0, nil, nil)
	ft.BeginFile(strtab)
	for i, off := range offs {
		ft.Add(off, uint64(i))
	}
	ft.Seal()
	for _, syms := range [][]sym{{{"f", 1}, {"g", 2}}, nil} {
		addFile(ft, syms...)
		ft.Ahead(names)
		ft.Ahead([][]byte{[]byte("f"), nil, []byte("g")})
		for _, name := range names {
			if ft.Lookup(name) != 0 {
				t.Fatalf("%s of the first file is found", name)
			}
		}
	}
}

// TestFreeSlotsOfAnIndexHoldNothing: neither after it was cleared nor after it grew.
func TestFreeSlotsOfAnIndexHoldNothing(t *testing.T) {
	x := newIndex(0, nil)
	hash := func(ref uint32) uint64 { return uint64(ref) * 0x9e3779b97f4a7c15 }
	for round, n := range []uint32{1000, 3, 0, 5000} {
		x.clear()
		for ref := uint32(1); ref <= n; ref++ {
			x.insert(hash(ref), ref, hash)
		}
		used := uint32(0)
		for pos, tag := range x.tags {
			if (tag == 0) != (x.refs[pos] == 0) {
				t.Fatalf("round %d: slot %d has tag %d and reference %d", round, pos, tag, x.refs[pos])
			}
			if tag != 0 {
				used++
			}
		}
		if used != n || x.used != int(n) {
			t.Errorf("round %d: %d slots in use, %d counted, want %d", round, used, x.used, n)
		}
	}
}

func TestKfuncFlags(t *testing.T) {
	ft := tableOf(sym{"f", 1}, sym{"f", 2}, sym{"g", 1})
	f, g := ft.Lookup([]byte("f")), ft.Lookup([]byte("g"))
	ft.SetKfunc(0, 1)
	ft.SetKfunc(99, 1)
	ft.SetKfunc(f, 7)
	ft.SetKfunc(f, 1<<12)
	if flags, ok := ft.Kfunc(f); !ok || flags != 1<<12 {
		t.Errorf("f: %#x, %v", flags, ok)
	}
	if _, ok := ft.Kfunc(g); ok {
		t.Error("g is a kfunc")
	}
	if !ft.Ambiguous(f) || string(ft.Name(f)) != "f" || ft.Lookup([]byte("f")) != f {
		t.Error("marking f changed the entry")
	}
}

// kernelLike returns n symbols with names of typical length, 1/16 of which have
// a suffix, and a file's string table for them.
func kernelLike(n int) (names [][]byte, strtab []byte, offs []uint32) {
	strtab = []byte{0}
	for i := range n {
		name := fmt.Sprintf("%s_subsystem_%d_op", strings.Repeat("x", i%7), i)
		names = append(names, []byte(name))
		offs = append(offs, uint32(len(strtab)))
		if i%16 == 0 {
			name += ".constprop.0"
		}
		strtab = append(append(strtab, name...), 0)
	}
	return names, strtab, offs
}

func TestManySymbols(t *testing.T) {
	const n = 107_000
	names, strtab, offs := kernelLike(n)
	for _, hint := range []int{-1, 0, n} {
		ft := NewFuncTable(hint, nil, nil)
		ft.BeginFile(strtab)
		for i, off := range offs {
			ft.Add(off, uint64(i))
		}
		ft.Seal()
		if ft.Len() != n {
			t.Fatalf("%d entries, want %d", ft.Len(), n)
		}
		if hint == n && ft.Bytes() > 4<<20 {
			t.Errorf("table takes %d bytes, more than 4 MiB", ft.Bytes())
		}
		var wg sync.WaitGroup
		for range 2 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for _, name := range names {
					if e := ft.Lookup(name); !bytes.Equal(ft.Name(e), name) {
						t.Errorf("look-up of %s gives %q", name, ft.Name(e))
						return
					}
					if ft.Lookup(name[:len(name)-1]) != 0 {
						t.Errorf("a part of %s is found", name)
						return
					}
				}
			}()
		}
		wg.Wait()
	}
}

func BenchmarkLookupKernelFunctions(b *testing.B) {
	const n = 107_000
	names, strtab, offs := kernelLike(n)
	ft := NewFuncTable(n, nil, nil)
	ft.BeginFile(strtab)
	for i, off := range offs {
		ft.Add(off, uint64(i))
	}
	ft.Seal()
	for _, bb := range []struct {
		name string
		cut  int
	}{{"hit", 0}, {"miss", 1}} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i = (i + 7919) % n
				name := names[i]
				if e := ft.Lookup(name[:len(name)-bb.cut]); (e != 0) != (bb.cut == 0) {
					b.Fatal("wrong answer")
				}
			}
		})
	}
}

// TestWithoutPadding: symbols of padding are not counted. A name that is nothing but a prefix does
// not stand for padding, but the count need not be exact.
func TestWithoutPadding(t *testing.T) {
	strtab := []byte("\x00f\x00__pfx_f\x00__cfi_f\x00__pfx_\x00__pf_x_f\x00__pfx_g.cold\x00__cfi_")
	var symbols []Symbol
	for off := range uint32(len(strtab) + 3) {
		symbols = append(symbols, Symbol{Name: off})
	}
	n := WithoutPadding(strtab, symbols, new(arena.Touched))
	if want := len(symbols) - 4; n != want {
		t.Errorf("%d of %d symbols, want %d", n, len(symbols), want)
	}
}
