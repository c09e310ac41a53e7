package arena

import "unsafe"

// Words returns b as 32-bit words in the byte order of the machine, without a copy.
// It reports false if b does not begin at an address that is a multiple of four. Bytes after
// the last whole word are left out.
//
// The argument for unsafe: an aligned uint32 is valid whatever its bytes are,
// and the words lie inside b.
func Words(b []byte) ([]uint32, bool) {
	p := unsafe.Pointer(unsafe.SliceData(b))
	if uintptr(p)%4 != 0 {
		return nil, false
	}
	return unsafe.Slice((*uint32)(p), len(b)/4), true
}

// Bytes returns w as bytes, in the byte order of the machine, without a copy.
//
// The argument for unsafe: the bytes are w's.
func Bytes(w []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w))), 8*len(w))
}
