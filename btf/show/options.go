package show

import "github.com/btflite/btflite/btf/view"

// Options say how types are printed. The zero value is as pahole prints without
// options.
type Options struct {
	CacheLine int  // bytes; 0: 64
	Expand    bool // members that are structs, and typedefs, are written out
	Pointers  bool // types that members point to are written out; with Expand also unions that are members
	Compile   bool // the types that a type needs are printed before it
	Relative  bool // offsets in inner structs begin at 0
	Hex       bool // offsets and sizes of members in hexadecimal
	Quiet     bool // no comments
	Flat      bool // arrays have one dimension
	NoAligned bool // no __aligned__ and nothing about it
	NoPacked  bool // no __packed__
	Recursive bool // with Filter.Contains: names of members that are containers, too
	Counts    bool // with Filter.Contains: how many members are of the type
	Biggest   bool // the numbers of a struct end with its first number of the most bytes

	Reorganize bool // structs have their members in an order of fewer holes
	Steps      bool // with Reorganize: each step on the way, too

	// UsedAt, if it is not nil, returns where a type is declared. The place is printed before the
	// type.
	UsedAt func(view.Type) Place
}

// Place is where a type is declared.
type Place struct {
	Unit   string // the compile unit, or the file with the BTF
	Offset uint64 // of the DIE; 0 if it is not known, and so are File and Line
	File   string
	Line   uint64
}
