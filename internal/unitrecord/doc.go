// Package unitrecord keeps the tables of a compile unit in a few kilobytes: a unit record.
// It replaces the unit's DIEs in .debug_info. The nodes of its types are apart from it, in
// .debug_abbrev.
//
// A record is made when the unit is compiled (Writer) and read when the kernel is
// encoded (Reader). It holds the tables that unit.Reader.ReadLinked makes: types, functions
// with the places of their parameters, variables and annotations, with everything that
// any feature may ask for. Whatever depends on options, on symbols or on other units is
// done after reading, as for DIEs.
//
// The files, from below: columns of numbers (columns.go); codes for names, references and
// addresses (names.go, refs.go, addresses.go); the state of a Writer and of a Reader, and
// the methods that all their parts use (writerstate.go, readerstate.go); the tables
// (types.go, places.go, funcs.go, inline.go, and the other direction in read*.go); the
// frame around them (frame.go). Types are cut into chunks and inline functions into runs,
// each with a key (key.go, inline.go).
// docs/unit-records.md describes the format.
package unitrecord
