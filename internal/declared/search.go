// Package declared finds where the types of a file with DWARF are declared: unit, DIE,
// file and line.
//
// Encoding forgets that. A Search gets the names, sizes and members of types, and reads
// the units until it has found all of them.
package declared

import (
	"math"

	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/dwarf"
)

// Search looks for types. The zero value looks for none, in all units.
type Search struct {
	Lang, LangExclude []uint16 // only units in these languages, or none in these
	CUExclude         string   // no units whose names begin with it; "" for all
	DebugFiles        debuginfo.DebugFiles

	names  map[string]*name
	places map[key]Place
	left   int // types that have not been found
}

// Type identifies a type, together with its name.
type Type struct {
	Tag   dwarf.Tag // of a struct, union, enum or typedef
	Size  uint64    // bytes; 0 for a typedef
	Shape Shape     // of a struct, union or enum
}

// Place is where a type is declared.
type Place struct {
	Unit   string // name of the unit; "" for none
	Offset uint64 // of the DIE in .debug_info
	File   string // "" if it is not told
	Line   uint64 // 0 if it is not told
}

// name has the types of one name that are looked for.
type name struct {
	id   uint32
	left int // types that have not been found
}

// key is a type with a name. With anyShape it stands for all that have the tag.
type key struct {
	name uint32
	Type
}

const anyShape = math.MaxUint64

// none is the place of a type that was not found: no DIE is at the start of a section.
var none = Place{}

// Shape stands for the names of members or enumerators, in order. The zero value is for
// none.
type Shape uint64

// With is the shape of one name more.
func (s Shape) With(name []byte) Shape {
	const prime = 1099511628211 // FNV
	for _, c := range name {
		s = (s ^ Shape(c)) * prime
	}
	return (s + 1) * prime
}

// Add has a type looked for.
func (s *Search) Add(text []byte, t Type) {
	if s.names == nil {
		s.names, s.places = map[string]*name{}, map[key]Place{}
	}
	n := s.names[string(text)]
	if n == nil {
		n = &name{id: uint32(len(s.names))}
		s.names[string(text)] = n
	}
	k := key{n.id, t}
	if _, ok := s.places[k]; !ok {
		s.places[k] = none
		n.left++
		s.left++
	}
}

// Place is where a type is declared that has been found: the first one with its size
// and members or else, if it has a name, the first one of its kind.
func (s *Search) Place(text []byte, t Type) (Place, bool) {
	n := s.names[string(text)]
	if n == nil {
		return none, false
	}
	at := s.places[key{n.id, t}]
	if at == none && len(text) > 0 {
		at = s.places[loose(n.id, t.Tag)]
	}
	return at, at != none
}

// Any reports whether any type has been found.
func (s *Search) Any() bool {
	for _, at := range s.places {
		if at != none {
			return true
		}
	}
	return false
}

// loose is the key of any type of a name with a tag.
func loose(name uint32, tag dwarf.Tag) key { return key{name, Type{Tag: tag, Shape: anyShape}} }

// wants reports whether a type of the name is still looked for.
func (s *Search) wants(text []byte) (n *name) {
	if n = s.names[string(text)]; n == nil || n.left == 0 {
		return nil
	}
	return n
}

// found keeps the place of a type, which at gives, if it is new.
func (s *Search) found(n *name, t Type, at func() Place) {
	exact, like := key{n.id, t}, loose(n.id, t.Tag)
	old, wanted := s.places[exact]
	isNew := wanted && old == none
	if !isNew && s.places[like] != none {
		return
	}
	place := at()
	if isNew {
		s.places[exact] = place
		n.left--
		s.left--
	}
	if s.places[like] == none {
		s.places[like] = place
	}
}
