package dwarftest

// uleb appends an unsigned LEB128 number.
func uleb(p []byte, v uint64) []byte {
	for v >= 0x80 {
		p = append(p, byte(v)|0x80)
		v >>= 7
	}
	return append(p, byte(v))
}

// sleb appends a signed LEB128 number.
func sleb(p []byte, v int64) []byte {
	for v > 63 || v < -64 {
		p = append(p, byte(v)|0x80)
		v >>= 7
	}
	return append(p, byte(v)&0x7f)
}
