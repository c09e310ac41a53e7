package funcs

import (
	"bytes"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// Pointing finds functions by a struct that a parameter points to.
type Pointing struct {
	to     []uint64 // by type id, a bit: a pointer to the struct
	protos []uint8  // by type id: what was found for a prototype
}

// Pointing finds functions with a parameter that is a pointer to the struct of that name
// and nothing but that: not to a constant one, not to a typedef of it. These are the
// functions that pfunct --class lists.
func (s *Set) Pointing(name string) *Pointing {
	x := &Pointing{make([]uint64, s.v.Count()/64+1), make([]uint8, s.v.Count())}
	structs := make([]uint64, s.v.Count()/64+1)
	for _, id := range s.v.Named(name, btf.KindStruct) {
		structs[id/64] |= 1 << (id % 64)
	}
	for t := range s.v.OfKinds(true, btf.KindPtr) {
		if of := t.TargetID(); structs[of/64]>>(of%64)&1 != 0 {
			x.to[t.ID/64] |= 1 << (t.ID % 64)
		}
	}
	return x
}

// Has reports whether a parameter of f points to the struct.
func (x *Pointing) Has(f Func) bool {
	known := &x.protos[f.TargetID()]
	if *known == unknown {
		*known = elsewhere
		proto := f.Proto()
		for i := range proto.Vlen() {
			if p := proto.Param(i); x.to[p.TypeID/64]>>(p.TypeID%64)&1 != 0 { // dots have type 0
				*known = leads
			}
		}
	}
	return *known == leads
}

// Taking finds functions by a type that they take. It remembers the result for each type.
type Taking struct {
	name []byte
	led  []uint8 // by type id
}

const (
	unknown = iota
	elsewhere
	leads
)

// Taking finds functions that take a struct, union, enum or typedef of the name:
// by value, or through any number of pointers, qualifiers, typedefs and arrays.
func (s *Set) Taking(name string) *Taking {
	return &Taking{name: []byte(name), led: make([]uint8, s.v.Count())}
}

// Has reports whether a parameter of f leads to the type.
func (x *Taking) Has(f Func) bool {
	for _, p := range f.Params() {
		if x.leads(p.Type()) {
			return true
		}
	}
	return false
}

func (x *Taking) leads(t view.Type) bool {
	start := t
	var found uint8 = elsewhere
	for range view.MaxDepth {
		if known := x.led[t.ID]; known != unknown {
			found = known
			break
		}
		if x.is(t) {
			found = leads
			break
		}
		next, ok := behind(t)
		if !ok {
			break
		}
		t = next
	}
	x.led[start.ID] = found
	return found == leads
}

func (x *Taking) is(t view.Type) bool {
	switch t.Kind() {
	case btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64, btf.KindFwd, btf.KindTypedef:
		return bytes.Equal(t.Name(), x.name)
	}
	return false
}

// behind returns the type that t is made of.
func behind(t view.Type) (view.Type, bool) {
	switch t.Kind() {
	case btf.KindPtr, btf.KindConst, btf.KindVolatile, btf.KindRestrict, btf.KindTypeTag, btf.KindTypedef:
		return t.Target(), true
	case btf.KindArray:
		elem, _ := t.Elem()
		return elem, true
	}
	return t, false
}
