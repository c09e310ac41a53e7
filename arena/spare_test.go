package arena

import "testing"

// TestSpareIsZero: memory that another Vec had is zero where a Vec promises it, for all sizes
// around those that are kept.
func TestSpareIsZero(t *testing.T) {
	for bytes := 4 << 10; bytes <= 160<<10; bytes += 4 << 10 {
		var dirty [2 * spareEach]Vec[uint32]
		for i := range dirty {
			for range bytes / 4 {
				dirty[i].Append(0xdeadbeef)
			}
		}
		for i := range dirty {
			dirty[i].Free()
		}
		var v, w Vec[uint32]
		v.Resize(bytes / 4)
		w.Resize(bytes / 4)
		for i := range v.S {
			if v.S[i]|w.S[i] != 0 {
				t.Fatalf("%d bytes: element %d is %#x and %#x", bytes, i, v.S[i], w.S[i])
			}
		}
		v.S[0] = 1
		if w.S[0] != 0 {
			t.Fatalf("%d bytes: two Vecs have the same memory", bytes)
		}
		v.Free()
		w.Free()
	}
	kept := 0
	for k, held := range spare.held {
		kept += len(held)
		if len(held) > spareEach {
			t.Errorf("%d mappings of %d bytes are kept", len(held), spareSizes[k])
		}
	}
	if kept == 0 {
		t.Error("no mapping is kept")
	}
}
