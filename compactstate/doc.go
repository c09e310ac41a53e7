// Package compactstate holds what must outlive a CU in DWARF-to-BTF encoding:
// the ELF function table, one small record for each distinct state of a
// function, and the variables of each data section.
//
// All records are flat slices of 32-bit words that contain no pointers, so the
// garbage collector does not look into them and a kernel's 100 000 functions
// fit in a few megabytes. Names, types and strings are opaque 32-bit numbers
// which the caller gives a meaning; only the names of ELF symbols are read, in
// place, from the string table that the caller provides.
//
// The words used here:
//
//   - An entry is one base name of the ELF function table (see [FuncTable]).
//   - A state has what one subprogram DIE says about the function of an entry:
//     return type, parameters, annotations and [Flags].
//   - A group is a set of states of one entry for which one decision is made.
//
// The package decides which functions are emitted, in which order, and from
// which state (see [States.Resolve]). Emitting BTF is left to package encode.
//
// The rules are pahole 1.32's, found by running it. Its quirks are kept on
// purpose, and the comments name them.
//
// The stable API is package btflite. What it does not use of this package may change.
package compactstate
