// Package debuginfo finds and opens the debug information of an input, and hands
// out the bytes of its units.
//
// A File is an input with its debug sections, wherever they are: in the file
// itself, in a separate debug file (separate.go), shared with others in an
// alternate file (alternate.go), or unit by unit in .dwo and .dwp files (split.go,
// package.go). Compressed sections are expanded, those of a relocatable file are
// relocated where they are read (reloc.go), and large ones go by in windows
// (window.go). A Cursor stands at a unit: its header, its compiled abbreviations
// (abbrevs.go), and the values of the DIE that was decoded last (values.go). What
// DIEs mean is not known here.
package debuginfo
