package show

import "testing"

// TestFirsts: the table finds its entries, however full it is, and the hash 0.
func TestFirsts(t *testing.T) {
	var f firsts
	const n = 5000
	hash := func(i uint32) uint32 { return i * 2654435761 &^ 1 }
	for i := range uint32(n) {
		if old, ok := f.add(hash(i), i+1); ok {
			t.Fatalf("%d is there already, as %d", i, old)
		}
	}
	for i := range uint32(n) {
		for _, want := range []uint32{i + 1, 0, 0} {
			if old, ok := f.add(hash(i), 7); !ok || old != want {
				t.Fatalf("%d: %d %v, want %d", i, old, ok, want)
			}
		}
	}
	if f.used != n || len(f.slots) < n {
		t.Errorf("%d slots, %d in use", len(f.slots), f.used)
	}
}
