// Package arena holds the memory that would trouble a garbage collector: flat,
// pointer-free arrays outside the Go heap.
//
// There are two users. The tables of one compile unit live in Vecs that are
// Reset when the unit is done, so that steady state allocates nothing. The
// tables of the whole run (types, strings, indexes) live in Vecs that grow in
// place of a heap slice: growing gives the old pages back at once, where a
// heap slice would keep them until the next collection, and the collector's
// headroom (as much again as is live) does not apply to them.
//
// This package is the one home of unsafe. The argument: a Vec's memory is an
// anonymous private mapping, page-aligned and zeroed, so that any pointer-free
// T is aligned and valid in it; the element type is checked to hold no
// pointers when the Vec first grows; and the memory is reached only through
// the slice S, whose length and capacity lie inside the mapping.
package arena

import (
	"reflect"
	"unsafe"

	"github.com/edsrzf/mmap-go"
)

// Vec is a growable array of a pointer-free type outside the Go heap. The zero
// value is empty and ready to use. Slices taken from S are valid until the
// next call that may grow, trim or free the Vec, and no longer: their memory
// is unmapped then.
type Vec[T any] struct {
	// S holds the elements. Callers may read and write elements and may cut S
	// shorter; they must grow it only by the methods.
	S     []T
	mem   mmap.MMap // nil: S is on the heap (mapping failed) or empty
	limit *Limit    // nil: none
}

func (v *Vec[T]) setLimit(l *Limit) { v.limit = l }

// Limit is the limit of the Vec.
func (v *Vec[T]) Limit() *Limit { return v.limit }

// CheckLimit is Limit.Check for the limit of the Vec.
func (v *Vec[T]) CheckLimit(n int) error { return v.limit.Check(n) }

// Another returns an empty Vec with the same limit.
func (v *Vec[T]) Another() Vec[T] { return Vec[T]{limit: v.limit} }

// minBytes is the first size of a Vec; small Vecs cost one page run.
const minBytes = 16 << 10

// Append adds x at the end.
func (v *Vec[T]) Append(x T) {
	if len(v.S) == cap(v.S) {
		v.more()
	}
	v.S = append(v.S, x) // in place: there is room
}

// Extend adds n elements at the end and returns them; their content is
// whatever the memory held.
func (v *Vec[T]) Extend(n int) []T {
	k := len(v.S)
	if n > cap(v.S)-k {
		v.grow(k + n)
	}
	v.S = v.S[:k+n]
	return v.S[k : k+n : k+n]
}

// AppendSlice adds the elements of x at the end.
func (v *Vec[T]) AppendSlice(x []T) { copy(v.Extend(len(x)), x) }

// Grow makes room for n elements in all, which are to come soon, without
// changing the length.
func (v *Vec[T]) Grow(n int) {
	if n > cap(v.S) {
		v.grow(n)
	}
}

// Resize sets the length to n. Elements beyond the old length are zero.
func (v *Vec[T]) Resize(n int) {
	if k := len(v.S); n > cap(v.S) {
		v.ResizeSparse(n)
		v.populate(k, n)
		return
	}
	v.ResizeSparse(n)
}

// ResizeSparse is Resize for elements of which many will not be used: new memory
// is taken when it is.
func (v *Vec[T]) ResizeSparse(n int) {
	k, used := len(v.S), cap(v.S)
	if n > used {
		v.grow(n) // what is new is zero
	}
	v.S = v.S[:n]
	if used = min(used, n); used > k {
		clear(v.S[k:used])
	}
}

// Populate is Grow for elements that will all be used soon: the system gives the
// memory at once, which takes less time than page by page.
func (v *Vec[T]) Populate(n int) {
	if n > cap(v.S) {
		v.grow(n)
		v.populate(len(v.S), n)
	}
}

// populate asks for the memory of the elements from index k on up to n.
func (v *Vec[T]) populate(k, n int) {
	var z T
	size := int(unsafe.Sizeof(z))
	from, to := k*size/populateAlign*populateAlign, n*size
	if v.mem != nil && to-from >= minPopulate {
		populate(v.mem[from:to])
	}
}

// minPopulate is for how many bytes a call of the system pays.
const minPopulate = 32 << 10

// populateAlign is a multiple of the size of a page on all systems.
const populateAlign = 64 << 10

// Reset empties the Vec and keeps its memory.
func (v *Vec[T]) Reset() { v.S = v.S[:0] }

// Trim empties the Vec and gives its memory back if it holds more than
// maxBytes: the hook against one huge unit that would pin its memory.
func (v *Vec[T]) Trim(maxBytes int) {
	var z T
	if cap(v.S)*int(unsafe.Sizeof(z)) > maxBytes {
		v.Free()
		return
	}
	v.Reset()
}

// Free gives the memory back. The Vec is empty and usable afterwards.
func (v *Vec[T]) Free() {
	v.S = nil
	if v.mem != nil {
		_ = v.mem.Unmap() // an anonymous mapping: nothing to lose
		v.mem = nil
	}
}

// Bytes is the memory held, in bytes.
func (v *Vec[T]) Bytes() int {
	var z T
	return cap(v.S) * int(unsafe.Sizeof(z))
}

// more makes room for one element. It keeps Append small enough to be inlined.
func (v *Vec[T]) more() { v.grow(len(v.S) + 1) }

func (v *Vec[T]) grow(need int) {
	var z T
	size := int(unsafe.Sizeof(z))
	if hasPointers(reflect.TypeFor[T]()) {
		panic("arena: element type holds pointers")
	}
	want := cap(v.S) + cap(v.S)/2
	if v.Bytes() < 1<<20 {
		want = 2 * cap(v.S)
	}
	want = max(want, need, minBytes/max(size, 1))
	if want*size >= checkBytes {
		if err := v.limit.Check((need - len(v.S)) * size); err != nil {
			panic(err)
		}
	}
	old, oldMem := v.S, v.mem
	if oldMem != nil {
		if m, err := remap(oldMem, want*size); err == nil {
			v.take(m, len(old))
			return
		}
	}
	if m, err := mmap.MapRegion(nil, want*size, mmap.COPY, mmap.ANON, 0); err == nil {
		v.take(m, len(old))
	} else {
		v.mem = nil
		v.S = make([]T, len(old), want)
	}
	copy(v.S, old)
	if oldMem != nil {
		_ = oldMem.Unmap()
	}
}

// take makes m the memory of v, which has n elements.
func (v *Vec[T]) take(m mmap.MMap, n int) {
	var z T
	v.mem = m
	v.S = unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData([]byte(m)))), len(m)/max(int(unsafe.Sizeof(z)), 1))[:n]
}

func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64:
		return false
	case reflect.Array:
		return hasPointers(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	}
	return true
}
