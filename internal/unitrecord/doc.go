// Package unitrecord keeps what is read of a compile unit in a few kilobytes: a unit
// record, which stands in .debug_info in place of the unit's DIEs, but for its nodes, which
// stand in .debug_abbrev.
//
// A record is made when the unit is compiled (Writer) and read when the kernel is
// encoded (Reader). It holds the tables that unit.Input.ReadLinked leaves: types,
// functions with where their parameters are, variables, annotations, with everything
// that any feature may ask for. What depends on options, on symbols or on other
// units is done as for DIEs, after reading.
//
// From below: columns of numbers (columns.go); names, references and addresses as codes
// (names.go, refs.go, addresses.go); what a Writer and a Reader have, and what all their
// parts use (writerstate.go, readerstate.go); the tables (types.go, places.go, funcs.go,
// inline.go and their counterparts in read*.go), of which the types are in chunks that
// have keys (key.go) and the inline functions in runs that have keys (inline.go); the
// frame around them (frame.go).
// docs/unit-records.md describes the format.
package unitrecord
