package dedup

import "github.com/btflite/btflite/btf"

// Other packages read the types of a Set by these methods.

// Record returns the record of id. Its references are ids of the Set, which may be forwarded.
// It is valid until the next change.
func (s *Set) Record(id uint32) btf.Record { return s.index.types.record(id) }

// Hold keeps Commits from changing the Set until Release, so that records stay valid.
// Several goroutines may hold it, but none of them twice.
func (s *Set) Hold() { s.gate.rlock() }

// Release ends Hold.
func (s *Set) Release() { s.gate.runlock() }

// Node returns type id as a node whose references are Extern. It sets First only for an
// array. It is valid until the next change.
func (s *Set) Node(id uint32) Node {
	w := s.Record(id)
	n := Node{Name: w.Name(), Info: w.Info(), Third: w.Third()}
	switch w.Kind() {
	case btf.KindInt:
		n.Aux = w.Data()
	case btf.KindArray:
		elem, index, count := w.Array()
		n.Third, n.First, n.Aux = extern(elem), extern(index), count
	case btf.KindStruct, btf.KindUnion, btf.KindFloat, btf.KindFwd, btf.KindEnum, btf.KindEnum64:
	default:
		n.Third = extern(w.Third())
	}
	return n
}

// AppendMembers appends the members of struct or union id. Their types are Extern.
func (s *Set) AppendMembers(members []Member, id uint32) []Member {
	w := s.Record(id)
	for j := range int(w.Vlen()) {
		name, typ, val := w.Member(j)
		members = append(members, Member{Name: name, Type: extern(typ), Val: val})
	}
	return members
}

// extern returns the Ref of a type id; 0 stays 0.
func extern(id uint32) Ref {
	if id == 0 {
		return 0
	}
	return id | Extern
}
