package debuginfo

import (
	"fmt"
	"strconv"
)

// Error says which input could not be encoded, where, and why.
type Error struct {
	File    string
	Section string
	Unit    string // DW_AT_name, may be empty
	UnitOff uint64 // section offset of the unit header
	Offset  uint64 // section offset of the DIE, 0 if the whole unit is meant
	Name    string // of the type or function, may be empty
	What    string
}

func (e *Error) Error() string {
	s := e.File + ": " + e.Section
	if e.Unit != "" {
		s += ": CU " + Quote([]byte(e.Unit))
	}
	s += fmt.Sprintf(" at %#x", e.UnitOff)
	if e.Offset != 0 {
		s += fmt.Sprintf(", DIE %#x", e.Offset)
	}
	if e.Name != "" {
		s += ", " + Quote([]byte(e.Name))
	}
	return s + ": " + e.What
}

// Quote returns a name from a file in a form that cannot disturb a terminal.
func Quote(b []byte) string {
	for _, c := range b {
		if c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			return strconv.QuoteToASCII(string(b))
		}
	}
	return `"` + string(b) + `"`
}
