package encode

import "github.com/btflite/btflite/btf"

// Lists of types that are read from DWARF leave out what functions declare, as pahole's do: other
// functions cannot use it. BTF does not say where a type is declared, so the ids are noted beside.

// scopes says by type id where structs and unions are declared.
type scopes []scope

type scope byte

const (
	inFunction scope = 1 << iota // a function declares it
	outside                      // it is declared outside of functions
)

// note adds where type id is declared.
func (s *scopes) note(id uint32, where scope) {
	for uint32(len(*s)) <= id {
		*s = append(*s, 0)
	}
	(*s)[id] |= where
}

// add notes the structs and unions of a unit that is committed.
func (s *scopes) add(u *workspace) {
	t := &u.unit.Types
	for _, i := range t.Order.S {
		switch btf.InfoKind(t.Nodes.S[i].Info) {
		case btf.KindStruct, btf.KindUnion:
			where := outside
			if u.unit.InFunctions[i] {
				where = inFunction
			}
			s.note(t.ID.S[i], where)
		}
	}
}

// renumbered returns s under the ids that now returns for the ids so far.
func (s scopes) renumbered(now func(id uint32) uint32) (to scopes) {
	for id, where := range s {
		if where != 0 {
			to.note(now(uint32(id)), where)
		}
	}
	return to
}

// inFunctions are the ids of the types that only functions declare.
func (s scopes) inFunctions() (ids []uint32) {
	for id, where := range s {
		if where == inFunction {
			ids = append(ids, uint32(id))
		}
	}
	return ids
}
