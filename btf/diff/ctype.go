package diff

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/ctype"
)

// maxLooks is how many members or values are shown of a nameless type.
const maxLooks = 3

// declarer writes types as differences show them.
func (s *side) declarer() ctype.Declarer {
	return ctype.Declarer{Blob: s.Blob, Name: s.text, Tags: true, ParamNames: true, Members: maxLooks, Cut: cutShort}
}

// ctype is how C writes the declaration of name with a type; name may be "".
func (s *side) ctype(id uint32, name string) string {
	d := s.declarer()
	return d.Declare(id, name)
}

// prototype is how C declares a function.
func (s *side) prototype(id uint32) string {
	r := s.Record(id)
	return s.ctype(r[2], s.text(r[0]))
}

// parameterType is the type of a parameter of a FUNC_PROTO.
func (s *side) parameterType(r btf.Record, i int) string {
	d := s.declarer()
	return d.Param(r, i)
}
