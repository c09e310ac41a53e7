// Package unit reads the DIEs of one unit into flat tables and resolves the references
// between them.
//
// A Unit holds what was read. A Reader fills it. walk reads the DIEs once, in order. It
// makes a node for each type, and records members, functions with their parameters, and
// variables that may become VARs. It follows no reference; link does that afterwards. A
// unit record is another source of the same tables (package unitrecord). Settle is the
// last step for both: it adds what pahole adds after a unit's types.
//
// Some data belongs to several units. It is read with the unit that refers to it: type
// units (typeunits.go), and the other units of a group, in files whose units refer to
// each other (groupread.go, imports.go).
//
// From the lowest layer up: tables and frames (unit.go, frames.go); values of attributes
// (attrs.go); the kinds of DIE (typekinds.go, members.go, codekinds.go, dies.go); types that
// are proved (prove.go); the loop over all of them (walk.go).
package unit
