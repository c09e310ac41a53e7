package inline

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTable compares a table with a map: records of all lengths, also empty ones and ones that begin like
// another, while the table grows several times.
func TestTable(t *testing.T) {
	var tab table
	defer tab.free()
	if i, ok := tab.find([]uint32{1}); ok {
		t.Fatalf("an empty table has record %d", i)
	}
	r := rand.New(rand.NewPCG(3, 5))
	indexes := map[string]uint32{}
	var all [][]uint32
	for range 9000 {
		w := make([]uint32, r.IntN(5))
		for i := range w {
			w[i] = uint32(r.IntN(12))
		}
		key := fmt.Sprint(w)
		want, known := indexes[key]
		if i, ok := tab.find(w); ok != known || known && i != want {
			t.Fatalf("find of %v: %d, %v; want %d, %v", w, i, ok, want, known)
		}
		if !known {
			want = uint32(len(all))
			indexes[key] = want
			all = append(all, w)
		}
		if i := tab.intern(w); i != want {
			t.Fatalf("%v has the index %d, want %d", w, i, want)
		}
		if tab.len() != len(all) {
			t.Fatalf("%d records, want %d", tab.len(), len(all))
		}
	}
	for i, w := range all {
		if got := tab.record(uint32(i)); !slices.Equal(got, w) {
			t.Fatalf("record %d is %v, want %v", i, got, w)
		}
	}
	// A quarter of the slots stays free, so that a search ends soon, and no more than that is taken in
	// vain: twice as many slots come when three of four are taken.
	if n, slots := tab.len(), len(tab.slots.S); 4*n > 3*slots || 8*n < 3*slots {
		t.Errorf("%d records in %d slots", n, slots)
	}
	if len(all) < 3000 {
		t.Errorf("only %d records: the table did not grow", len(all))
	}
}

// TestTableBounds: the table grows when three of four slots are taken, not sooner and not later.
func TestTableBounds(t *testing.T) {
	var tab table
	defer tab.free()
	for i := range uint32(768) {
		tab.intern([]uint32{i})
		if len(tab.slots.S) != 1024 {
			t.Fatalf("%d slots for %d records", len(tab.slots.S), i+1)
		}
	}
	if tab.intern([]uint32{768}); len(tab.slots.S) != 2048 {
		t.Errorf("%d slots for 769 records", len(tab.slots.S))
	}
}
