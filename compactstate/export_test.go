package compactstate

// Bytes returns the memory of the table's records, without the string tables.
func (t *FuncTable) Bytes() int {
	return cap(t.symbols)*12 + cap(t.values)*8 + t.names.bytes()
}

// Bytes returns the memory of the records and their tables.
func (s *States) Bytes() int {
	n := cap(s.spare)*4 + cap(s.heads)*8 + s.recs.bytes()
	for _, b := range s.blocks {
		n += cap(b) * 4
	}
	return n
}

// bytes returns the size of the table in memory.
func (x *index) bytes() int {
	return len(x.tags) * 5
}
