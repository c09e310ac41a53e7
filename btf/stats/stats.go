// Package stats says what the bytes of BTF are spent on: kinds of types, strings,
// single types, names with several definitions, unused bytes in structs, and what a
// base saves.
//
//	stats.go     Report, bytes by kind and by type
//	top.go       the first of a list
//	strings.go   which type uses a string first
//	repeated.go  names with several definitions
//	waste.go     holes and padding of structs
//	saved.go     what a base saves
//	text.go      the report as tables
//	plot.go      the report as a picture
//
// The stable API is package btflite. What it does not use of this package may change.
package stats

import (
	"cmp"
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// Report is the result of Of. Sizes are bytes of BTF. Types and strings of a base do
// not count unless a field says so.
type Report struct {
	// Bytes is the length of everything, with the header and a layout section, but
	// without types of unknown kinds.
	Bytes       uint64 `json:"bytes"`
	TypeBytes   uint64 `json:"type_bytes"`
	StringBytes uint64 `json:"string_bytes"`
	Types       uint32 `json:"types"`
	// Kinds are the kinds that there are, the most bytes first.
	Kinds []Kind `json:"kinds"`
	// Strings are the strings by what uses them first, the most bytes first.
	Strings []Strings `json:"strings"`
	// Largest are the types that take the most bytes, with the strings that they
	// use first.
	Largest []Type `json:"largest"`
	// Repeated are the names with the most definitions, RepeatedNames is how many
	// such names there are, and RepeatedBytes what all definitions but the first take.
	Repeated      []Repeated `json:"repeated"`
	RepeatedNames int        `json:"repeated_names"`
	RepeatedBytes uint64     `json:"repeated_bytes"`
	// Waste is about the structs that leave bytes unused.
	Waste Waste `json:"waste"`
	// Base says how much the base saves, nil if there is none.
	Base *Saved `json:"base,omitempty"`
}

// Kind is a kind of type.
type Kind struct {
	Kind     string `json:"kind"`
	Types    uint32 `json:"types"`
	Elements uint64 `json:"elements"` // members, values, parameters, variables
	Bytes    uint64 `json:"bytes"`
}

// Type is a type with what it takes.
type Type struct {
	ID          uint32 `json:"id"`
	Kind        string `json:"kind"`
	Name        string `json:"name"`
	Elements    int    `json:"elements"`
	Bytes       uint64 `json:"bytes"` // of the record
	StringBytes uint64 `json:"string_bytes"`
}

// all is the bytes of record and strings.
func (t *Type) all() uint64 { return t.Bytes + t.StringBytes }

// Of reads v. Lists have at most top entries. It takes some bytes of memory for each
// type and string, and time in proportion to the size of v.
func Of(v *view.View, top int) *Report {
	b := v.Blob()
	r := &Report{
		TypeBytes: 4 * uint64(len(b.Words)), StringBytes: uint64(len(b.Strings)), Types: uint32(len(b.Off)),
	}
	r.Bytes = uint64(b.Form.Len()) + r.TypeBytes + r.StringBytes
	s := newStringUse(b)
	kinds := map[btf.Kind]*Kind{}
	largest := newTop(top, func(x, y *Type) int {
		return cmp.Or(cmp.Compare(y.all(), x.all()), cmp.Compare(x.ID, y.ID))
	})
	for t := range v.Own() {
		k := kinds[t.Kind()]
		if k == nil {
			k = &Kind{Kind: t.Kind().String()}
			kinds[t.Kind()] = k
		}
		bytes := recordBytes(t)
		k.Types++
		k.Elements += uint64(t.Vlen())
		k.Bytes += bytes
		largest.add(Type{
			ID: t.ID, Kind: t.Kind().String(), Name: string(t.Name()), Elements: t.Vlen(),
			Bytes: bytes, StringBytes: s.add(t),
		})
	}
	for _, k := range kinds {
		r.Kinds = append(r.Kinds, *k)
	}
	slices.SortFunc(r.Kinds, func(x, y Kind) int {
		return cmp.Or(cmp.Compare(y.Bytes, x.Bytes), cmp.Compare(x.Kind, y.Kind))
	})
	r.Strings = s.report()
	r.Largest = largest.sorted()
	r.findRepeated(v, top)
	r.Waste = wasteOf(v, top)
	r.Base = savedBy(v)
	return r
}
