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

// TestSpareIsFreed: when a limit is reached, no mapping is kept.
func TestSpareIsFreed(t *testing.T) {
	var v Vec[byte]
	v.Resize(1)
	v.Free()
	if m := takeSpare(spareSizes[0]); m == nil {
		t.Fatal("no mapping was kept")
	} else {
		giveBack(m)
	}
	var l Limit
	l.Set(Bounds{Bytes: 1, Used: func() uint64 { return 2 }, Reclaim: func() {}})
	if l.Check(1) == nil {
		t.Error("no error above the limit")
	}
	for k := range spareSizes {
		if m := takeSpare(spareSizes[k]); m != nil {
			t.Errorf("a mapping of %d bytes is kept", len(m))
		}
	}
}
