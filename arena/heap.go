package arena

import (
	"slices"
	"unsafe"
)

// Slices of the heap that may be large are made by the functions of this file, so that they count below
// the limit of the process. The collector knows a limit, too (debug.SetMemoryLimit), but takes
// more if what is in use needs more. Then the system ends the process. A goroutine that looks how
// much is in use, from time to time, comes too late if the machine is busy: a table of ten megabytes
// takes milliseconds.
//
// All of them panic with an Exhausted.

// leastChecked is the size in bytes from which on the limit is checked for a slice: a check takes
// microseconds.
const leastChecked = 256 << 10

// Make returns make([]T, n).
func Make[T any](n int) []T {
	if !checked[T](n) {
		return make([]T, n)
	}
	var s []T
	takeHeap[T](n, func() {
		s = make([]T, n)
		// The system gives pages when they are written to. The next check has to see these.
		var z T
		for i := 0; i < n; i += max(pageSize/int(unsafe.Sizeof(z)), 1) {
			s[i] = z
		}
	})
	return s
}

// Clone returns a copy of s, like slices.Clone.
func Clone[T any](s []T) (c []T) {
	if !checked[T](len(s)) {
		return slices.Clone(s)
	}
	takeHeap[T](len(s), func() { c = slices.Clone(s) })
	return c
}

// Room returns s with room for n more elements, so that append need not check the limit. As long as s is
// small, append may move it.
func Room[T any](s []T, n int) []T {
	if n <= cap(s)-len(s) {
		return s
	}
	return enlarged(s, n)
}

// enlarged is Room for a slice that lacks room.
func enlarged[T any](s []T, n int) []T {
	want := max(len(s)+n, cap(s)+cap(s)/4) // as append grows large slices
	if checked[T](want) {
		takeHeap[T](want, func() { s = slices.Grow(s, n) })
	}
	return s
}

// Filling is called before n bytes are written to a slice of the heap that was made with room for far
// more. The system gives memory for its pages when they are written to.
func Filling(n int) {
	if l := process.Load(); l != nil {
		if err := l.Check(n); err != nil {
			panic(err)
		}
	}
}

// checked reports whether n elements are so many that the limit has to be checked.
func checked[T any](n int) bool {
	var z T
	return uint64(n)*uint64(unsafe.Sizeof(z)) >= leastChecked && process.Load() != nil
}

// takeHeap calls take, which makes a slice of n elements, if the limit leaves room for them.
func takeHeap[T any](n int, take func()) {
	var none *Limit // the limit of the process
	var z T
	bytes := n * int(unsafe.Sizeof(z))
	none.takeLarge(bytes, func() {
		if err := none.Check(bytes); err != nil {
			panic(err)
		}
		take()
	})
}
