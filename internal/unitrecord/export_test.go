package unitrecord

// Remake is a record with other columns and the right checksum; nil if it is not one.
func Remake(record []byte, addrSize int, change func(columns []byte) []byte) []byte {
	return remake(record, addrSize, change, func(b []byte) []byte { return b })
}

// RemakeBlocks is Remake for the blocks.
func RemakeBlocks(record []byte, addrSize int, change func(blocks []byte) []byte) []byte {
	return remake(record, addrSize, func(b []byte) []byte { return b }, change)
}

func remake(record []byte, addrSize int, columns, blocks func([]byte) []byte) []byte {
	f, err := parseFrame(record, addrSize)
	if err != nil {
		return nil
	}
	b, err := expand(nil, f.columns)
	if err != nil {
		return nil
	}
	out, bases := appendFrame(nil, f.maker, len(f.bases)/addrSize, addrSize, columns(b), blocks(append([]byte(nil), f.blocks...)))
	copy(out[bases:], f.bases)
	return out
}
