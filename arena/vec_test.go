package arena

import "testing"

func TestVecKeepsElementsWhenItGrows(t *testing.T) {
	var v Vec[[3]uint32]
	defer v.Free()
	const n = 100000
	for i := range uint32(n) {
		v.Append([3]uint32{i, i + 1, i + 2})
	}
	if len(v.S) != n {
		t.Fatalf("len %d, want %d", len(v.S), n)
	}
	for i, e := range v.S {
		if u := uint32(i); e != [3]uint32{u, u + 1, u + 2} {
			t.Fatalf("element %d is %v", i, e)
		}
	}
}

func TestVecResizeZeroesReusedMemory(t *testing.T) {
	var v Vec[uint64]
	defer v.Free()
	for range 1000 {
		v.Append(^uint64(0))
	}
	v.Reset()
	v.Resize(500)
	for i, x := range v.S {
		if x != 0 {
			t.Fatalf("element %d is %x after Reset and Resize", i, x)
		}
	}
}

func TestVecResizeZeroesMemoryThatItMoves(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		var v Vec[uint64]
		defer v.Free()
		for range 3000 {
			v.Append(^uint64(0))
		}
		v.S = v.S[:10]
		if n := 40 * cap(v.S); sparse {
			v.ResizeSparse(n)
		} else {
			v.Resize(n)
		}
		for i, x := range v.S {
			if want := i < 10; (x == ^uint64(0)) != want || x != 0 && !want {
				t.Fatalf("sparse %v: element %d is %x", sparse, i, x)
			}
		}
	}
}

func TestVecPopulate(t *testing.T) {
	var v Vec[uint64]
	defer v.Free()
	v.Append(7)
	v.Populate(1 << 20)
	if len(v.S) != 1 || v.S[0] != 7 || cap(v.S) < 1<<20 {
		t.Fatalf("length %d, room for %d", len(v.S), cap(v.S))
	}
	v.Resize(1 << 20)
	for i, x := range v.S[1:] {
		if x != 0 {
			t.Fatalf("element %d is %x", i+1, x)
		}
	}
}

func TestVecTrimFreesOnlyLargeVecs(t *testing.T) {
	var v Vec[byte]
	defer v.Free()
	v.Extend(1 << 20)
	v.Trim(2 << 20)
	if v.Bytes() == 0 {
		t.Fatal("small Vec was freed")
	}
	v.Trim(1 << 10)
	if v.Bytes() != 0 || len(v.S) != 0 {
		t.Fatalf("large Vec still holds %d bytes", v.Bytes())
	}
	v.Append(7)
	if v.S[0] != 7 {
		t.Fatal("Vec unusable after Trim")
	}
}

func TestVecRefusesPointers(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Fatal("a Vec of a type with pointers was made")
		}
	}()
	var v Vec[struct{ p *int }]
	v.Append(struct{ p *int }{})
}

func TestVecSteadyStateAllocatesNothing(t *testing.T) {
	var v Vec[uint32]
	defer v.Free()
	v.Grow(5000)
	if n := testing.AllocsPerRun(100, func() {
		v.Reset()
		for i := range uint32(5000) {
			v.Append(i)
		}
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}
