package dwarf

import "strconv"

// Error is a fault of the DWARF data. It says where the fault is, not which
// file has it; callers add that.
type Error struct {
	Section string // ELF section name, for example ".debug_info"
	Offset  uint64 // in the section, of the datum that is at fault
	What    string // what is wrong, lower case, no full stop
}

// Error returns "section+0xoffset: what".
func (e *Error) Error() string {
	return e.Section + "+0x" + strconv.FormatUint(e.Offset, 16) + ": " + e.What
}
