package arena

import (
	"unsafe"

	"github.com/edsrzf/mmap-go"
)

// Share makes v begin with the elements of x without a copy, if x lies in mapping, which is a whole
// shared mapping of a file. v gets more pages for what follows. It returns the index of the first
// element of x. What lies before and behind x, in the same pages, are other bytes of the file. Nobody
// may write to any of these elements. If ok is false, v is as it was.
//
// The argument for unsafe: x is aligned, so its elements are aligned in the copy of its pages, too, and
// the new elements lie inside the new mapping.
func (v *Vec[T]) Share(x []T, mapping []byte) (at int, ok bool) {
	var z T
	size := int(unsafe.Sizeof(z))
	from := int(uintptr(unsafe.Pointer(unsafe.SliceData(x))) - uintptr(unsafe.Pointer(unsafe.SliceData(mapping))))
	to := from + len(x)*size
	if len(x) == 0 || from < 0 || to < from || to > len(mapping) {
		return 0, false
	}
	first := from / pageSize * pageSize
	pages := (to - first + pageSize - 1) / pageSize * pageSize
	m, err := mmap.MapRegion(nil, min(reserveTimes*pages, pages+maxReserve), mmap.COPY, mmap.ANON, 0)
	if err != nil {
		return 0, false
	}
	if err := duplicate(m, mapping[first:to]); err != nil {
		_ = m.Unmap()
		return 0, false
	}
	checkType[T]()
	v.Free()
	v.take(m, pages/size, pages/size)
	v.shared = true
	return (from - first) / size, true
}
