// Package unit reads the DIEs of one unit into flat tables and settles the
// references between them.
//
// A Unit holds what was read. A Reader fills it: walk reads the DIEs once, in order, and
// makes a node for each type, members, functions with their parameters, candidate
// variables. It follows no reference; link does that afterwards. A unit record is another
// source of the same tables (package unitrecord). Settle ends both: it adds what pahole
// adds behind a unit's types. What stands between units is read with the unit that leads there:
// type units (typeunits.go), and the units of a group, for files whose units refer
// to each other (groupread.go, imports.go).
//
// From below: tables and frames (unit.go, frames.go); the values of attributes
// (attrs.go); runs of DIEs of one kind, which are most of all (members.go,
// runs.go); the kinds of DIE (typekinds.go, codekinds.go, dies.go); the loop over
// all of them (walk.go).
package unit
