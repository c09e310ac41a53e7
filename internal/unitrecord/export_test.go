package unitrecord

// Remake is a record and its nodes with other columns and blocks of nodes, and the right
// checksums; nil if it is not a record.
func Remake(record, nodes []byte, addrSize int, columns, blocks func([]byte) []byte) (remade, renoded []byte) {
	f, err := parseFrame(record, addrSize)
	if err != nil {
		return nil, nil
	}
	b, err := expand(nil, f.columns)
	if err != nil {
		return nil, nil
	}
	made, renoded := columns(b), blocks(append([]byte(nil), nodes...))
	sealBlocks(made, renoded)
	out, bases := appendFrame(nil, f.maker, len(f.bases)/addrSize, addrSize, made, place{f.nodes.off, uint64(len(renoded))}, f.sizes)
	copy(out[bases:], f.bases)
	return out, renoded
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

// Columns returns the columns of a record. It returns nil if the bytes are not a record.
func Columns(record []byte, addrSize int) []byte {
	f, err := parseFrame(record, addrSize)
	if err != nil {
		return nil
	}
	b, _ := expand(nil, f.columns)
	return b
}

// Updating reports whether golden files are to be written again.
func Updating() bool { return *update }

// EditColumns applies edit to each of packed columns, nil if they are damaged.
func EditColumns(packed []byte, edit func(i int, column []byte) []byte) []byte {
	var cols [numColumns]column
	if unpack(packed, &cols) != nil {
		return nil
	}
	var c columns
	for i := range cols {
		c[i] = edit(i, append([]byte(nil), cols[i].b...))
	}
	return c.pack(nil)
}

// NumColumns is numColumns.
const NumColumns = numColumns

// OpenColumn reports whether nothing but its length tells where a column ends.
func OpenColumn(i int) bool { return i == colCommon || i == colUnsigned }
