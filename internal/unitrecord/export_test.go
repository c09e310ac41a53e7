package unitrecord

// Remake is a record with other columns and the right checksums; nil if it is not one.
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
	made, nodes := columns(b), blocks(append([]byte(nil), f.blocks...))
	sealBlocks(made, nodes)
	out, bases := appendFrame(nil, f.maker, len(f.bases)/addrSize, addrSize, made, nodes)
	copy(out[bases:], f.bases)
	return out
}

// sealBlocks makes the checksums of the blocks right, as far as the columns say where they are.
func sealBlocks(columns, blocks []byte) {
	var cols [numColumns]column
	if unpack(columns, &cols) != nil {
		return
	}
	for table := &cols[colBlock]; table.left() > 0; {
		table.uint()
		table.uint()
		size := table.uint()
		if size < checksumSize || size > uint64(len(blocks)) {
			return
		}
		seal(blocks[:size])
		blocks = blocks[size:]
	}
}
