package dedup

import (
	"math/bits"

	"github.com/btflite/btflite/btf"
)

// Disagree reports whether a struct or union name has both several definitions and a FWD. Such a FWD
// fits each definition, so the order in which they are tried decides where it leads. The same is true
// for enumerations, but the Set does not always keep their declarations, so several definitions are
// enough. An enumeration without a name and without values fits every one without a name.
func Disagree(s *Set) bool {
	for id := s.index.baseIDs + 1; id < uint32(len(s.index.types.ids.S)); id++ {
		w := s.index.types.record(id)
		isNamed := w.Name() != 0
		several := isNamed && s.index.types.keys.S[id].next != 0
		switch k := w.Kind(); {
		case btf.Enums.Has(k):
			if several || !isNamed && w.Vlen() == 0 {
				return true
			}
		case k == btf.KindStruct || k == btf.KindUnion:
			if several && s.index.entity(w.Name()).fwds[aggregate(w.Info())] != 0 {
				return true
			}
		}
	}
	return false
}

// Declarations finds units that declare a struct or union and also define it, as clang does for a parameter of a
// function type. libbpf takes two types for different if it meets in the place of one type of the first both the
// declaration and the definition of the second. So the types of such units may stay apart there, although in the
// end they are the same word for word. The zero value is ready for use with one Set.
type Declarations struct {
	ids   []uint32 // definitions of what the unit declares, its own or not
	marks []uint8  // by id
}

// The marks of a definition.
const (
	isDeclared = 1 << iota // the unit declares it
	standsIn               // a declaration that is left out has its id, and has not been met yet
)

// Defined reports whether u, which has just been committed, defines what it declares.
func (d *Declarations) Defined(s *Set, u *Unit) bool {
	ix := &s.index
	if n := len(ix.types.ids.S); n > len(d.marks) {
		d.marks = append(d.marks, make([]uint8, n-len(d.marks))...)
	}
	defer d.reset()
	for i := range u.Nodes.S {
		if n := &u.Nodes.S[i]; btf.InfoKind(n.Info) == btf.KindFwd {
			d.add(ix, n.Name, fwdAggregate(n.Info))
		}
	}
	for _, id := range u.chunks.proved.Forwards {
		d.addType(ix, id)
	}
	for i := range u.chunks.asked {
		k := u.chunks.found[i]
		if k == 0 {
			continue
		}
		e := &s.chunks.known.S[k]
		ids := s.chunks.ids.S[e.firstID:][:e.count]
		for m := e.forwards; m != 0; m &= m - 1 {
			first := bits.TrailingZeros64(m)
			last := first
			if first == sharedBit {
				last = len(ids) - 1
			}
			for _, id := range ids[first : last+1] {
				d.addType(ix, id)
			}
		}
	}
	if len(d.ids) == 0 {
		return false
	}
	for i := range u.Nodes.S {
		if btf.InfoKind(u.Nodes.S[i].Info) != btf.KindFwd && d.marks[u.ID.S[i]] != 0 {
			return true
		}
	}
	for _, refs := range [...][]Ref{u.chunks.proved.Refs, u.chunks.refs} {
		for _, r := range refs {
			if r&Extern == 0 || d.marks[r&^Extern] == 0 {
				continue
			}
			mark := &d.marks[r&^Extern]
			if *mark&standsIn == 0 {
				return true
			}
			*mark &^= standsIn // this one is the declaration
		}
	}
	return false
}

// add adds the definitions of a name that the unit declares.
func (d *Declarations) add(ix *index, name Name, kind int) {
	e := ix.entity(name)
	if e == nil {
		return
	}
	for id := e.defs[kind]; id != 0; id = ix.types.keys.S[id].next {
		d.mark(id, isDeclared)
	}
}

// addType adds a declaration that is left out of the unit. id may be the definition that it leads to.
func (d *Declarations) addType(ix *index, id uint32) {
	id = ix.types.Final(id)
	switch w := ix.types.record(id); w.Kind() {
	case btf.KindFwd:
		d.add(ix, w.Name(), fwdAggregate(w.Info()))
	case btf.KindStruct, btf.KindUnion:
		d.add(ix, w.Name(), aggregate(w.Info()))
		d.mark(id, standsIn)
	}
}

func (d *Declarations) mark(id uint32, as uint8) {
	if d.marks[id] == 0 {
		d.ids = append(d.ids, id)
	}
	d.marks[id] |= as
}

// reset forgets the unit.
func (d *Declarations) reset() {
	for _, id := range d.ids {
		d.marks[id] = 0
	}
	d.ids = d.ids[:0]
}
