// Package inline finds out where the bodies of inlined functions are, and where
// their parameters are there: from DW_TAG_inlined_subroutine DIEs, which the walk of
// package unit jumps over. It reads them by the plan dwarf.Inlined.
//
// From below: places of values and why there is none (place.go); expressions
// (expr.go, stack.go); the entry of a location list that holds at an address (list.go);
// address ranges (ranges.go); the DIEs (read.go). What was found of all units is kept
// once each (store.go, table.go) and becomes BTF records (settle.go).
//
// A place says where the value is while the processor stands at the site's address. It
// is given only if DWARF says so for certain. Everything else is counted by reason.
package inline
