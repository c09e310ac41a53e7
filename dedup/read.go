package dedup

import "github.com/btflite/btflite/btf"

// What others read of the types of a Set.

// Record is the record of id. Its references are ids of the Set that may be forwarded (see
// Final). It is valid until the next change.
func (s *Set) Record(id uint32) btf.Record { return s.index.types.record(id) }

// Final follows an id to what it is forwarded to.
func (s *Set) Final(id uint32) uint32 { return s.index.types.Final(id) }

// Hold keeps Commits from changing the Set until Release, for readers of records. It
// may be held by several goroutines, none of which may hold it twice.
func (s *Set) Hold() { s.gate.rlock() }

// Release ends Hold.
func (s *Set) Release() { s.gate.runlock() }

// Node is type id in the form of a node, whose references are Extern. Its First is only
// set for an array. It is valid until the next change.
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

// AppendMembers appends the members of id, a struct or a union, whose types are Extern.
func (s *Set) AppendMembers(members []Member, id uint32) []Member {
	w := s.Record(id)
	for j := range int(w.Vlen()) {
		name, typ, val := w.Member(j)
		members = append(members, Member{Name: name, Type: extern(typ), Val: val})
	}
	return members
}

// extern is the Ref of a type id; 0 stays 0.
func extern(id uint32) Ref {
	if id == 0 {
		return 0
	}
	return id | Extern
}
