package unitrecord

// Remake is a record with other columns and the right checksum; nil if it is not one.
func Remake(record []byte, addrSize int, change func(columns []byte) []byte) []byte {
	f, err := parseFrame(record, addrSize)
	if err != nil {
		return nil
	}
	r := new(Reader)
	columns, err := r.expand(&f)
	if err != nil {
		return nil
	}
	columns = change(columns)
	out, bases := appendFrame(nil, f.maker, len(f.bases)/addrSize, addrSize, columns)
	copy(out[bases:], f.bases)
	return compress(out, columns)
}
