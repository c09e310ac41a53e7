// Package arena holds the memory that would trouble a garbage collector: flat,
// pointer-free arrays outside the Go heap.
//
// There are two users. The tables of one compile unit are Vecs that are Reset when
// the unit is done, so that later units allocate nothing. The tables of the whole run
// (types, strings, indexes) are Vecs that grow. A Vec that grows gives its old pages
// back at once, while a heap slice keeps them until the next collection. Vecs also
// need no headroom for the collector, which is as large as the heap. Tables whose
// sizes are known before lie side by side in a Block.
//
// In a virtual machine, a run that took memory page by page would spend a fifth of its
// time on that. So a Vec takes memory that is sure to be used in larger parts, and a
// large Vec does not move (grow.go).
//
// Only this package uses unsafe. The argument why that is safe: a Vec's memory is an
// anonymous private mapping, page-aligned and zeroed, or an aligned part of one
// (Block), and may begin with pages of a file (Share), so that any pointer-free T
// is aligned and valid in it; the element type is checked to hold no pointers when
// the Vec first grows; and the memory is reached only through the slice S, whose
// length and capacity lie inside the mapping.
//
// The stable API is package btflite. What it does not use of this package may change.
package arena

import (
	"reflect"
	"unsafe"

	"github.com/edsrzf/mmap-go"
)

// Vec is a growable array of a pointer-free type outside the Go heap. The zero
// value is empty and ready to use. Slices taken from S are valid until the
// next call that may grow, trim or free the Vec, and no longer: their memory
// is unmapped then, or belongs to another Vec.
type Vec[T any] struct {
	// S holds the elements. Callers may read and write elements and may cut S
	// shorter; they must grow it only by the methods.
	S     []T
	mem   mmap.MMap // nil: S is on the heap (mapping failed) or empty
	limit *Limit    // nil: the limit of the process

	shared bool // mem began with pages of a file (Share)
}

func (v *Vec[T]) setLimit(l *Limit) { v.limit = l }

// Limit returns the limit that Bind has set, or nil.
func (v *Vec[T]) Limit() *Limit { return v.limit }

// CheckLimit is Limit.Check for the limit of the Vec.
func (v *Vec[T]) CheckLimit(n int) error { return v.limit.Check(n) }

// Another returns an empty Vec with the same limit.
func (v *Vec[T]) Another() Vec[T] { return Vec[T]{limit: v.limit} }

// Append adds x at the end. Like all methods that may grow the Vec, it panics with an Exhausted or a
// Stopped if the limit does not allow that.
func (v *Vec[T]) Append(x T) {
	if len(v.S) == cap(v.S) {
		v.growOne()
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
		var z T
		v.limit.takeLarge((n-k)*int(unsafe.Sizeof(z)), func() {
			v.ResizeSparse(n)
			v.populate(k, n)
		})
		return
	}
	v.ResizeSparse(n)
}

// ResizeSparse is Resize for a Vec with many unused elements: new memory is taken when it
// is used.
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
// memory at once, which takes less time than page by page. It gives up to a quarter of a huge page
// more if that fills huge pages.
func (v *Vec[T]) Populate(n int) {
	if n <= cap(v.S) {
		return
	}
	var z T
	size := max(int(unsafe.Sizeof(z)), 1)
	if whole := (n*size + hugePage - 1) / hugePage * hugePage; whole-n*size <= hugePage/4 {
		n = whole / size
	}
	v.limit.takeLarge((n-len(v.S))*size, func() {
		v.grow(n)
		v.populate(len(v.S), n)
	})
}

// Reset empties the Vec and keeps its memory.
func (v *Vec[T]) Reset() { v.S = v.S[:0] }

// KeepBytes is the most memory, in bytes, that one table keeps from one unit to the next.
// Most units need less. After the few that need more, Trim gives the memory back.
const KeepBytes = 1 << 20

// Trim empties the Vec, and gives its memory back if it holds more than
// maxBytes, so that one huge unit does not keep its memory until the end.
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
	v.unmap(v.mem)
	v.mem = nil
}

// unmap gives back mem, which has been the memory of v, if it is not nil.
func (v *Vec[T]) unmap(mem mmap.MMap) {
	switch {
	case mem == nil:
	case v.shared:
		_ = mem.Unmap() // an anonymous mapping: nothing to lose
		v.shared = false
	default:
		giveBack(mem)
	}
}

// Bytes returns how many bytes of memory the Vec holds.
func (v *Vec[T]) Bytes() int {
	var z T
	return cap(v.S) * int(unsafe.Sizeof(z))
}

// checkType panics if a T holds pointers, which the collector would not see.
func checkType[T any]() {
	if hasPointers(reflect.TypeFor[T]()) {
		panic("arena: element type holds pointers")
	}
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
