package view

import (
	"math/bits"
	"reflect"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
)

// TestFacts: the facts that Layouts caches agree with the types.
func TestFacts(t *testing.T) {
	v := sample(t)
	s := NewLayouts(v)
	slots := map[uint32]bool{}
	aligns := []uint8{1, 4, 1, 8, 8, 8, 8, 8, 8, 8, 8, 4, 8, 1, 1, 4, 4, 1, 1, 8} // by id
	for x := range v.All() {
		f := s.fact(x.ID)
		if f.kind != x.Kind() || f.size != x.Size() || f.align != aligns[x.ID] {
			t.Errorf("%d %s: %+v, want size %d, alignment %d", x.ID, x.Kind(), *f, x.Size(), aligns[x.ID])
		}
		if slot := s.Slot(x.ID); slot == 0 || slots[slot] || s.facts.at(slot) != f {
			t.Errorf("%d has slot %d", x.ID, slot)
		}
		slots[s.Slot(x.ID)] = true
	}
	if f := s.fact(v.Count() + 7); f.kind != btf.KindVoid || f.size != 0 || f.align != 1 {
		t.Errorf("of a type that does not exist: %+v", *f)
	}
}

// TestFactsOfLoops: types that refer to themselves, and long ways from type to type.
func TestFactsOfLoops(t *testing.T) {
	b := btftest.New()
	add := func(name string, k btf.Kind, vlen, third uint32, extra ...uint32) uint32 {
		return b.Add(name, btf.Info(k, vlen, false), third, extra...)
	}
	long := add("long", btf.KindInt, 0, 8, 64)
	add("loop", btf.KindTypedef, 0, long+2)                                     // 2
	add("", btf.KindConst, 0, long+1)                                           // 3
	add("", btf.KindArray, 0, 0, 2, long, 3)                                    // 4
	add("self", btf.KindStruct, 2, 16, b.Str("in"), 5, 0, b.Str("n"), long, 64) // 5
	none := add("none", btf.KindStruct, 0, 1)                                   // 6
	add("", btf.KindArray, 0, 0, none, long, 3)                                 // 7
	last := long
	const chain = 600
	for range chain {
		last = add("", btf.KindVolatile, 0, last)
	}
	for range chain {
		last = add("nested", btf.KindStruct, 1, 8, b.Str("in"), last, 0)
	}
	s := NewLayouts(New(b.Blob(t)))
	for id, want := range map[uint32][2]uint64{2: {0, 1}, 3: {0, 1}, 4: {0, 1}, 5: {16, 8}, none: {0, 1}, none + 1: {3, 1}, long: {8, 8}} {
		if f := s.fact(id); f.size != want[0] || uint64(f.align) != want[1] {
			t.Errorf("%d: %+v, want %v", id, *f, want)
		}
	}
	if f := s.fact(last); f.size != 8 {
		t.Errorf("the outermost of %d structs: %+v", chain, *f)
	}
}

// TestSums: more summaries than a page has.
func TestSums(t *testing.T) {
	var s sums
	if n := s.keep(Summary{}); n == 0 || s.at(n) != (Summary{}) || s.at(0) != (Summary{}) {
		t.Errorf("nothing unused is at %d", n)
	}
	for i := range 3 * sumPage {
		sum := Summary{Holes: i + 1}
		if n := s.keep(sum); s.at(n) != sum || n < 2 {
			t.Fatalf("%d: %+v at %d", i, s.at(n), n)
		}
	}
	if s.at(2) != (Summary{Holes: 1}) {
		t.Errorf("the first one is %+v", s.at(2))
	}
}

// TestPageSizes: the sizes that the comments on pages state.
func TestPageSizes(t *testing.T) {
	if n := reflect.TypeFor[[factPage]fact]().Size(); n != 6<<10 {
		t.Errorf("a page of facts has %d bytes", n)
	}
	if n := reflect.TypeFor[[sumPage]Summary]().Size(); bits.UintSize == 64 && n != 5<<10 {
		t.Errorf("a page of summaries has %d bytes", n)
	}
}
