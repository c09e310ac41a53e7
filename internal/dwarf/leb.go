package dwarf

// ULEB reads an unsigned LEB128 number at b[p:] and returns it with the offset after it,
// or -1 if b ends first or the number is longer than 64 bits (bits beyond 64 are dropped,
// as other readers do).
func ULEB(b []byte, p int) (uint64, int) {
	var v uint64
	for s := uint(0); s < 70; s += 7 {
		if uint(p) >= uint(len(b)) {
			return 0, -1
		}
		x := b[p]
		p++
		v |= uint64(x&0x7f) << s
		if x < 0x80 {
			return v, p
		}
	}
	return 0, -1
}

// SLEB reads a signed LEB128 number; see ULEB.
func SLEB(b []byte, p int) (int64, int) {
	var v int64
	for s := uint(0); s < 70; s += 7 {
		if uint(p) >= uint(len(b)) {
			return 0, -1
		}
		x := b[p]
		p++
		v |= int64(x&0x7f) << s
		if x < 0x80 {
			if s+7 < 64 && x&0x40 != 0 {
				v |= -1 << (s + 7)
			}
			return v, p
		}
	}
	return 0, -1
}
