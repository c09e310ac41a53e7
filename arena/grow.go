package arena

import (
	"math/bits"
	"os"
	"unsafe"

	"github.com/edsrzf/mmap-go"
)

// A small Vec doubles when it grows. A large one reserves addresses for several times its size,
// which costs nothing, and takes memory for them in small steps. Without the reserve, a mapping
// may have to move, and then the processor, or worse the host of a virtual machine, must look up
// each page again. To take memory in steps needs two thirds of the time of taking each page when
// it is first touched.

const (
	// minBytes is the size in bytes of a Vec's first mapping.
	minBytes = 16 << 10
	// reserveBytes is the size from which addresses are reserved: reserveTimes as many as are
	// needed, but at most maxReserve more.
	reserveBytes = 128 << 10
	reserveTimes = 4
	maxReserve   = 64 << 20
	// step is how much memory a large Vec gets at a time.
	step = 16 << 10
	// minPopulate is how many bytes are worth a system call.
	minPopulate = 16 << 10
	// hugePage is the size of huge pages on most machines. Other sizes are not used.
	hugePage = 2 << 20
)

// pageSize is the size of a page of the system.
var pageSize = os.Getpagesize()

// growOne makes room for one element. It keeps Append small enough to be inlined.
func (v *Vec[T]) growOne() { v.grow(len(v.S) + 1) }

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
	if bytes := want * size; bytes < reserveBytes {
		if rounded := 1 << bits.Len(uint(bytes-1)); rounded < reserveBytes {
			bytes = rounded // a size that is kept
		}
		v.remake(bytes, bytes/size)
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

// remake moves v to a mapping of so many bytes, with memory for n elements now. If the
// system refuses, it tries a mapping without a reserve, and then the heap.
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
	var err error
	m := takeSpare(bytes)
	if m == nil {
		m, err = mmap.MapRegion(nil, bytes, mmap.COPY, mmap.ANON, 0)
	}
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
	v.unmap(oldMem)
}

// take makes m the memory of v, which has length elements and room for n.
func (v *Vec[T]) take(m mmap.MMap, length, n int) {
	v.mem = m
	v.S = unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData([]byte(m)))), n)[:length]
}

// Expect makes room for about n elements. At least sure will be used: they get memory at
// once, as far as it fills huge pages. The others get addresses.
func (v *Vec[T]) Expect(n, sure int) {
	var z T
	size := max(int(unsafe.Sizeof(z)), 1)
	if sure = sure * size / hugePage * hugePage / size; sure <= cap(v.S) {
		return
	}
	checkType[T]()
	w := Vec[T]{limit: v.limit}
	v.limit.takeLarge(sure*size, func() {
		if err := v.limit.Check(sure * size); err != nil {
			panic(err)
		}
		// Make a new mapping: a range that has had small pages gets no huge ones.
		w.remake(n*size, sure)
		w.populate(0, sure)
	})
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

// alignedHuge returns the first index of mem, not below from, whose address is a multiple
// of hugePage.
func alignedHuge(mem []byte, from int) int {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(mem))) + uintptr(from)
	return from + int(-at%hugePage)
}
