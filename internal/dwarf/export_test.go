package dwarf

// ReadTypeUnit is ReadUnit for .debug_types.
func ReadTypeUnit(types []byte, off uint64, bigEndian bool, u *Unit) error {
	b := types[min(off, uint64(len(types))):]
	return ReadTypeUnitHeader(b[:min(len(b), MaxUnitHeader)], b, off, bigEndian, u)
}
