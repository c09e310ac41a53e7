package ccobject

import "errors"

// Reasons why an object is left as it is. The texts go into messages.
var (
	ErrNoDwarf   = errors.New("it has no DWARF")
	ErrAssembler = errors.New("it is from an assembler")
	ErrLTO       = errors.New("it is to be optimized at link time")
	ErrSplit     = errors.New("its DWARF is in a file of its own (-gsplit-dwarf)")
	ErrRecords   = errors.New("it has unit records already")
	ErrTypeUnits = errors.New("it has type units (-fdebug-types-section)")
	ErrExports   = errors.New("CONFIG_GENDWARFKSYMS reads the DWARF of objects with exported symbols")
)
