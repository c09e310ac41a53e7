package dedup

import "github.com/btflite/btflite/btf"

// fwdPair is a forward declaration and the definition met in its place, while
// node owner was compared. Each is an id of the Set or idLocal with a node
// index.
type fwdPair struct{ fwd, def, owner uint32 }

// Resolve looks the nodes of u up in the Set as it stands. It changes u only
// and may run beside other Resolves and Commits. How much it finds depends on
// when it runs; what Commit makes of u does not.
func (s *Set) Resolve(u *Unit) {
	if s.Raw {
		return
	}
	s.gate.rlock()
	defer s.gate.runlock()
	s.begin(u)
	for !s.resume(u, true) {
		s.gate.runlock()
		s.gate.rlock()
		s.renew(u)
	}
}

// resolve is Resolve for a caller that nobody writes beside.
func (s *Set) resolve(u *Unit) {
	s.begin(u)
	s.resume(u, false)
}

// begin prepares u for resume.
func (s *Set) begin(u *Unit) {
	n := len(u.Nodes.S)
	u.ID.Reset()
	u.ID.Resize(n)
	u.matched.Reset()
	u.matched.Resize(n)
	u.news.Reset()
	u.pairs.Reset()
	u.several.Reset()
	u.slow.seeds.Reset()
	u.dirty, u.loops, u.err = false, false, nil
	u.view = s.conflicts
	u.resolved = true
	u.budget = 64 * (n + len(u.Members.S) + 64)
	u.done, u.guess = 0, 0
}

// resume looks nodes up, beginning where it stopped, and says whether it has come
// to the end. If it is to yield, it stops as soon as there is a writer.
func (s *Set) resume(u *Unit, yield bool) bool {
	nodes, guess := u.Nodes.S, u.guess
	order := u.Order.S
	for k := u.done; k < len(order); k++ {
		i := order[k]
		id := u.ID.S[i]
		if id == 0 {
			id = s.find(u, i, 0, guess)
		}
		if id == idNew {
			u.news.Append(i)
		} else {
			guess++ // of a forward declaration, id may be the definition
			switch k := btf.InfoKind(nodes[i].Info); k {
			case btf.KindStruct, btf.KindUnion:
				if nodes[i].Name != 0 && !s.sameDefinition(u, i, id) {
					u.dirty = true
					u.slow.seeds.Append(i)
				}
				fallthrough
			default:
				guess = id + 1
			case btf.KindFwd:
			}
		}
		if yield && s.gate.wanted() {
			u.done, u.guess = k+1, guess
			return false
		}
	}
	return true
}

// renew prepares u for resume after something was added to the Set: what was
// unknown may be known now.
func (s *Set) renew(u *Unit) {
	if u.view != s.conflicts {
		s.begin(u)
		return
	}
	ids := u.ID.S
	for i := range ids {
		if ids[i] == idNew {
			ids[i] = 0
		}
	}
	s.again(u)
}

// id is the id of what r refers to, once it has been looked up.
func (u *Unit) id(r Ref) uint32 {
	switch {
	case r == 0:
		return 0
	case r&Extern != 0:
		return r &^ Extern
	}
	return u.ID.S[r-1]
}

// content is the record of a reference node all of whose references have been
// looked up; nil for kinds that are never equal to another. The slice is
// valid until the next call.
func (u *Unit) content(n *Node) []uint32 {
	w := u.scratch[:0]
	c := u.id(n.Third)
	switch btf.InfoKind(n.Info) {
	case btf.KindVar, btf.KindDatasec:
		return nil
	case btf.KindArray:
		w = append(w, 0, n.Info, 0, c, u.id(n.First), n.Aux)
	case btf.KindDeclTag:
		w = append(w, n.Name, n.Info, c, n.Aux)
	case btf.KindFuncProto:
		w = append(w, 0, n.Info, c)
		for _, m := range u.members(n) {
			w = append(w, m.Name, u.id(m.Type))
		}
	default:
		w = append(w, n.Name, n.Info, c)
	}
	u.scratch = w
	return w
}

// members are the elements of node n.
func (u *Unit) members(n *Node) []Member {
	return u.Members.S[n.First:][:btf.InfoVlen(n.Info)]
}
