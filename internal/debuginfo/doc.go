// Package debuginfo finds and opens the debug information of an input, and reads the
// bytes of its units.
//
// A File is an input with its debug sections, wherever they are: in the file itself, in a
// separate debug file (separate.go), in an alternate file that several files share
// (alternate.go), or unit by unit in .dwo and .dwp files (split.go, package.go).
// Compressed sections are expanded. Relocatable files are relocated as they are read
// (reloc.go). Large sections pass through windows (window.go). A Cursor is at a unit: it
// has the header, the compiled abbreviations (abbrevs.go), and the values of the DIE that
// was decoded last (values.go). This package does not know what DIEs mean.
package debuginfo
