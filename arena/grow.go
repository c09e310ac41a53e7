package arena

import (
	"os"
	"unsafe"

	"github.com/edsrzf/mmap-go"
)

// How a Vec grows. A small one doubles. A large one gets addresses for several times as much
// as it needs, and memory for them in small steps: addresses cost nothing, whereas a mapping
// that has no place to grow is moved, and then the processor, or worse the host of a virtual
// machine, must learn anew where each page is. Memory that comes in steps takes two thirds of
// the time of memory that comes when a page is first touched.

const (
	// minBytes is the first size of a Vec; small Vecs cost one page run.
	minBytes = 16 << 10
	// reserveBytes is the size from which addresses are reserved: reserveTimes as many as are
	// needed, but not more than maxReserve beside them.
	reserveBytes = 128 << 10
	reserveTimes = 4
	maxReserve   = 64 << 20
	// step is how much memory a large Vec gets at a time.
	step = 16 << 10
	// minPopulate is for how many bytes a call of the system pays.
	minPopulate = 16 << 10
	// hugePage is the size of the pages that the system may give in place of small ones, on
	// most machines. Of others none is asked for.
	hugePage = 2 << 20
)

// pageSize is the size of a page of the system.
var pageSize = os.Getpagesize()

// more makes room for one element. It keeps Append small enough to be inlined.
func (v *Vec[T]) more() { v.grow(len(v.S) + 1) }

// grow makes room for need elements, which is more than there is.
func (v *Vec[T]) grow(need int) {
	var z T
	size := max(int(unsafe.Sizeof(z)), 1)
	checkType[T]()
	held := cap(v.S)
	want := held + held/2
	if held*size < 1<<20 {
		want = 2 * held
	}
	want = max(want, need, minBytes/size)
	if want*size < reserveBytes {
		v.remake(want*size, want)
		return
	}
	enough := min((need*size+step-1)/step*step/size, want) // whole steps
	if held*size/checkBytes != enough*size/checkBytes {
		if err := v.limit.Check((need - len(v.S)) * size); err != nil {
			panic(err)
		}
	}
	if bytes := want * size; enough*size > len(v.mem) {
		if need < want { // not a size that the caller knows
			bytes = min(reserveTimes*bytes, bytes+maxReserve)
		}
		v.remake(bytes, enough)
	} else {
		v.S = unsafe.Slice(unsafe.SliceData(v.S), enough)[:len(v.S)]
	}
	if (enough-held)*size <= step {
		v.populate(held, enough)
	}
}

// remake gets a mapping of so many bytes, of which n elements may be used now, and moves v
// there. If the system refuses, one without a reserve does, or the heap.
func (v *Vec[T]) remake(bytes, n int) {
	var z T
	need := n * max(int(unsafe.Sizeof(z)), 1)
	if bytes >= hugePage {
		bytes = (bytes + hugePage - 1) / hugePage * hugePage // then it begins at such a multiple
	}
	old, oldMem := v.S, v.mem
	if oldMem != nil {
		if m, err := remap(oldMem, bytes); err == nil {
			v.take(m, len(old), n)
			return
		}
	}
	m, err := mmap.MapRegion(nil, bytes, mmap.COPY, mmap.ANON, 0)
	if err != nil && bytes > need {
		m, err = mmap.MapRegion(nil, need, mmap.COPY, mmap.ANON, 0)
	}
	if err == nil {
		if len(m) >= hugePage {
			avoidHuge(m)
		}
		v.take(m, len(old), n)
	} else {
		v.mem = nil
		v.S = make([]T, len(old), n)
	}
	copy(v.S, old)
	if oldMem != nil {
		_ = oldMem.Unmap()
	}
}

// take makes m the memory of v, which has length elements and room for n.
func (v *Vec[T]) take(m mmap.MMap, length, n int) {
	v.mem = m
	v.S = unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData([]byte(m)))), n)[:length]
}

// Expect says that v will have about n elements, and more than sure. So many are given their
// memory at once, as far as that is whole huge pages, and the others addresses.
func (v *Vec[T]) Expect(n, sure int) {
	var z T
	size := max(int(unsafe.Sizeof(z)), 1)
	if sure = sure * size / hugePage * hugePage / size; sure <= cap(v.S) {
		return
	}
	checkType[T]()
	if err := v.limit.Check(sure * size); err != nil {
		panic(err)
	}
	// A place of its own: where a small page has been, there can be no huge one.
	w := Vec[T]{limit: v.limit}
	w.remake(n*size, sure)
	w.populate(0, sure)
	w.S = append(w.S, v.S...)
	v.Free()
	*v = w
}

// populate asks for the memory of the elements from index k on up to n.
func (v *Vec[T]) populate(k, n int) {
	var z T
	size := int(unsafe.Sizeof(z))
	from, to := k*size/pageSize*pageSize, n*size
	if v.mem == nil || to-from < minPopulate {
		return
	}
	if first := alignedHuge(v.mem, from); first+hugePage <= to {
		preferHuge(v.mem[first : first+(to-first)/hugePage*hugePage])
	}
	populate(v.mem[from:to])
}

// alignedHuge is the first index of mem, from the given one on, whose address is a multiple
// of hugePage.
func alignedHuge(mem []byte, from int) int {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(mem))) + uintptr(from)
	return from + int(-at%hugePage)
}
