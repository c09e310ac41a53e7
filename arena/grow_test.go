package arena

import (
	"runtime"
	"testing"
	"unsafe"
)

// TestVecGrowsInPlace: a large Vec has addresses to grow into, room for little more than it
// needs, and keeps what it has.
func TestVecGrowsInPlace(t *testing.T) {
	var v Vec[uint64]
	defer v.Free()
	next := uint64(0)
	appendTo := func(bytes int) {
		for len(v.S)*8 < bytes {
			v.Append(next)
			next++
			if room := (cap(v.S) - len(v.S)) * 8; len(v.S)*8 > reserveBytes && room > step {
				t.Fatalf("%d bytes have room for %d more", len(v.S)*8, room)
			}
		}
	}
	appendTo(reserveBytes + 8)
	place := unsafe.SliceData(v.S)
	appendTo(reserveTimes * reserveBytes)
	if runtime.GOOS == "linux" && unsafe.SliceData(v.S) != place {
		t.Error("moved although there were addresses left")
	}
	appendTo(3 * hugePage)
	for i, x := range v.S {
		if x != uint64(i) {
			t.Fatalf("element %d is %d", i, x)
		}
	}
}

// TestVecOddElements: elements that do not fill whole pages, and one that is larger than a
// step of memory.
func TestVecOddElements(t *testing.T) {
	var odd Vec[[7]byte]
	defer odd.Free()
	for i := range 300000 {
		odd.Append([7]byte{6: byte(i)})
	}
	var large Vec[[3*step + 1]byte]
	defer large.Free()
	for i := range 20 {
		large.Append([3*step + 1]byte{3 * step: byte(i)})
	}
	for i := range odd.S {
		if odd.S[i][6] != byte(i) {
			t.Fatalf("element %d of 7 bytes ends with %d", i, odd.S[i][6])
		}
	}
	for i := range large.S {
		if large.S[i][3*step] != byte(i) {
			t.Fatalf("element %d of %d bytes ends with %d", i, len(large.S[i]), large.S[i][3*step])
		}
	}
}

// TestVecAlignedHuge: the first huge page is at a multiple of its size, and memory that was
// asked for as huge pages is zero.
func TestVecAlignedHuge(t *testing.T) {
	var v Vec[byte]
	defer v.Free()
	v.Populate(3*hugePage + 12345)
	for _, from := range []int{0, 1, hugePage - 1, hugePage, hugePage + 4096} {
		first := alignedHuge(v.mem, from)
		at := uintptr(unsafe.Pointer(&v.mem[first]))
		if first < from || first-from >= hugePage || at%hugePage != 0 {
			t.Errorf("from %d: the first huge page is at %d, address %x", from, first, at)
		}
	}
	v.S = v.S[:cap(v.S)]
	for i := range v.S {
		if v.S[i] != 0 {
			t.Fatalf("byte %d is %x", i, v.S[i])
		}
	}
}

// TestVecExpect: what is there stays, a Vec that comes to less than a huge page is left alone,
// and one that comes to more than was expected grows on.
func TestVecExpect(t *testing.T) {
	var v Vec[uint32]
	defer v.Free()
	v.Append(1)
	v.Expect(1000, 900)
	if cap(v.S)*4 > minBytes {
		t.Errorf("room for %d", cap(v.S))
	}
	v.Expect(hugePage, hugePage/2-1)
	if want := hugePage / 4; cap(v.S) != want {
		t.Errorf("room for %d, want %d", cap(v.S), want)
	}
	for i := uint32(1); i < hugePage*3/2; i++ {
		v.Append(i + 1)
	}
	for i, x := range v.S {
		if x != uint32(i+1) {
			t.Fatalf("element %d is %d", i, x)
		}
	}
	place := unsafe.SliceData(v.S)
	if v.Expect(hugePage, hugePage); unsafe.SliceData(v.S) != place {
		t.Error("moved for what it has")
	}
}
