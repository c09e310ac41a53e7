package show

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// maxIndent is how deep structs are written out. Deeper ones end the text with an error: they
// contain themselves, or no program has them. view computes alignments this deep.
const maxIndent = 2 * view.MaxDepth

// columns for names without and with Expand.
const (
	nameWidth     = 21
	expandedWidth = 53
	typeWidth     = 26
	unionLess     = 2 // fewer columns in a union
)

// form is where the text of a struct stands.
type form struct {
	indent    int    // tabs before its closing brace
	typeWidth int    // columns for the types of its members
	nameWidth int    // columns for their names
	base      uint64 // bytes: its offset in the outermost one
	inUnion   bool   // it is, or is in, a union
	relative  bool   // offsets begin at 0 in each inner struct
	top       bool   // it is the outermost one
	footer    bool   // the numbers follow the members
	bare      bool   // members have no comments with offset and size
	holder    []byte // the name of the type for which it is written out, if text comes before the struct
	typedef   bool   // that text is typedef, which const structs in it get, too
}

// outermost is the form of a struct that is not in another one.
func (o *Options) outermost(t view.Type) form {
	f := form{typeWidth: typeWidth, nameWidth: nameWidth, top: true, relative: o.Relative}
	if o.Expand {
		f.nameWidth = expandedWidth
	}
	if t.Kind() == btf.KindUnion {
		f.inUnion = true
		if !o.Expand {
			f.nameWidth -= unionLess
		}
	}
	return f
}

// inner is the form of a struct in f, at the offset base.
func (f form) inner(base uint64) form {
	if f.relative {
		base = 0
	}
	f.indent++
	f.typeWidth -= 8
	f.base = base
	f.top, f.footer, f.holder, f.typedef = false, false, nil, false
	return f
}

// at is f for what lies at the offset.
func (f form) at(base uint64) form {
	f.base = base
	return f
}

// declaration is a name to be declared.
type declaration struct {
	name []byte
	form
	flexible   bool // it is the flexible array of a struct
	withFooter bool // the numbers of a struct that is written out follow
	inside     bool // an array, a typedef, a pointer or const leads to it: attributes come after the name
	expand     bool // types with a name are written out
	elem       bool // it is the element of an array, and not of an array of pointers
	constant   bool // it is const
	stay       bool // pointers are not followed
	stars      int  // pointers that were followed: as many stars are in the name
}
