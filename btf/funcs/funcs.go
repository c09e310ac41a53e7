// Package funcs reads the functions of BTF: prototypes as pfunct of pahole 1.32
// prints them, parameters with their sizes, and which functions take a type.
//
//	funcs.go   Set, Func: what functions there are
//	takes.go   which functions take a type
//	text.go    prototypes as text
//	entry.go   which functions fentry and fexit take
//
// It takes every blob that btf.Parse takes. A prototype that has no end as text,
// because its types refer to each other, is cut after a megabyte.
//
// The stable API is package btflite. What it does not use of this package may change.
package funcs

import (
	"iter"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// Set is the functions of a view. It may be used by several goroutines.
type Set struct {
	v      *view.View
	tags   map[place][]uint32 // declaration tags by what they are on
	tagged []uint64           // by id, a bit: the function or a parameter of it has tags
}

// place is a function or, if part is not -1, a parameter of it.
type place struct {
	id   uint32
	part int
}

// New reads v once. The Set takes memory for functions with declaration tags only.
func New(v *view.View) *Set {
	s := &Set{v, map[place][]uint32{}, nil}
	for t := range v.OfKinds(true, btf.KindDeclTag) {
		if t.Target().Kind() != btf.KindFunc {
			continue
		}
		if s.tagged == nil {
			s.tagged = make([]uint64, v.Count()/64+1)
		}
		at := place{t.TargetID(), t.Component()}
		s.tags[at] = append(s.tags[at], t.ID)
		s.tagged[at.id/64] |= 1 << (at.id % 64)
	}
	return s
}

// Len counts the functions, including the bases'.
func (s *Set) Len() (n int) {
	for range s.All() {
		n++
	}
	return n
}

// Own gives the functions that are not of a base, in the order of ids.
func (s *Set) Own() iter.Seq[Func] { return s.functions(false) }

// All gives the functions of the bases too, which come first.
func (s *Set) All() iter.Seq[Func] { return s.functions(true) }

func (s *Set) functions(withBases bool) iter.Seq[Func] {
	return func(yield func(Func) bool) {
		for t := range s.v.OfKinds(withBases, btf.KindFunc) {
			if !yield(Func{t, s}) {
				return
			}
		}
	}
}

// Named gives the functions of the name. Functions of the bases come first.
func (s *Set) Named(name string) (fs []Func) {
	for _, id := range s.v.Named(name, btf.KindFunc) {
		fs = append(fs, Func{s.v.Type(id), s})
	}
	return fs
}

// Func is a function. Its names are slices of the blob.
type Func struct {
	view.Type
	set *Set
}

// HasTags reports whether f or a parameter of it has declaration tags.
func (f Func) HasTags() bool {
	return f.set != nil && f.set.tagged != nil && f.set.tagged[f.ID/64]>>(f.ID%64)&1 != 0
}

// Tags gives the texts of declaration tags, such as "bpf_kfunc": of parameter i, or
// of f itself for -1.
func (f Func) Tags(i int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if !f.HasTags() {
			return
		}
		for _, id := range f.set.tags[place{f.ID, i}] {
			if !yield(f.set.v.Type(id).Name()) {
				return
			}
		}
	}
}

// Proto is the prototype.
func (f Func) Proto() view.Type { return f.Target() }

// Result is the type that f returns.
func (f Func) Result() view.Type { return f.Proto().Target() }

// Global reports whether f can be called from other files. pahole writes all functions
// as static; clang marks the global ones.
func (f Func) Global() bool { return f.Linkage() == 1 }

// Variadic reports whether f takes more arguments than it has parameters.
func (f Func) Variadic() bool {
	p := f.Proto()
	n := p.Vlen()
	return n > 0 && p.Param(n-1).Variadic()
}

// Params gives the parameters without the dots of a variadic function.
func (f Func) Params() iter.Seq2[int, view.Param] {
	return func(yield func(int, view.Param) bool) {
		n := f.NumParams()
		for i, p := range f.Proto().Params() {
			if i == n || !yield(i, p) {
				return
			}
		}
	}
}

// NumParams is how many parameters f has, without the dots of a variadic function.
func (f Func) NumParams() int {
	n := f.Proto().Vlen()
	if f.Variadic() {
		n--
	}
	return n
}
