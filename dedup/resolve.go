package dedup

import "github.com/btflite/btflite/btf"

// Resolve looks up the nodes of u in the Set. It changes only u, so other
// Resolves and Commits may run at the same time. How much it finds depends on
// timing; the result of Commit does not.
func (s *Set) Resolve(u *Unit) {
	if s.Raw {
		return
	}
	s.lookUp(u)
	if len(u.newNodes.S) > 0 && !s.Alone {
		u.hashNames(s.names)
	}
}

// lookUp is Resolve without the names of new nodes.
func (s *Set) lookUp(u *Unit) {
	s.gate.rlock()
	defer s.gate.runlock()
	s.prepare(u)
	for !s.lookUpNodes(u, true) {
		s.gate.runlock()
		s.gate.rlock()
		s.catchUp(u)
	}
}

// resolve is Resolve for Commit, which needs no lock to read the Set.
func (s *Set) resolve(u *Unit) {
	s.prepare(u)
	s.lookUpNodes(u, false)
}

// prepare makes u ready for lookUpNodes.
func (s *Set) prepare(u *Unit) {
	n := len(u.Nodes.S)
	u.ID.Reset()
	u.ID.Resize(n)
	u.matched.Reset()
	u.matched.Resize(n)
	u.newNodes.Reset()
	u.pairs.Reset()
	u.ambiguous.Reset()
	u.slow.seeds.Reset()
	u.newDefs.Reset()
	u.fwds.Reset()
	if u.chunks.left > 0 {
		for i := range u.Nodes.S {
			if btf.InfoKind(u.Nodes.S[i].Info) == btf.KindFwd {
				u.fwds.Append(uint32(i))
			}
		}
	}
	u.needsWalk, u.loops, u.names.hashed, u.err = false, false, false, nil
	u.view = s.index.conflicts
	u.resolved = true
	u.rules.budget = u.matchBudget()
	u.at = progress{}
}

// matchBudget is how many steps match may take while the nodes of u are looked up. Real units take
// few steps for each node. Input that takes more than 64 is left to walk, which has a bound of its own.
func (u *Unit) matchBudget() int { return 64 * (len(u.Nodes.S) + len(u.Members.S) + 64) }

// lookUpNodes looks up nodes, from u.at on, and reports whether it has come to the end.
// With yield, it stops as soon as a writer waits.
func (s *Set) lookUpNodes(u *Unit, yield bool) bool {
	nodes, guess := u.Nodes.S, u.at.guess
	order := u.Order.S
	for k := u.at.next; k < len(order); k++ {
		i := order[k]
		id := u.ID.S[i]
		if id == 0 {
			id = s.find.find(u, i, 0, guess)
		}
		if id == idNew {
			u.newNodes.Append(i)
		} else {
			guess++ // the id of a FWD may be its definition's, which does not predict the next id
			switch k := btf.InfoKind(nodes[i].Info); k {
			case btf.KindStruct, btf.KindUnion:
				if nodes[i].Name != 0 && !s.find.proves(u, i, id) {
					u.slow.seeds.Append(i)
				}
				fallthrough
			default:
				guess = id + 1
			case btf.KindFwd:
			}
		}
		if yield && s.gate.wanted() {
			u.at = progress{k + 1, guess}
			return false
		}
	}
	if len(u.slow.seeds.S) > 0 && !u.needsWalk {
		u.needsWalk = !definitionsOf(s, u).findNewDefs()
	}
	return true
}

// catchUp makes u ready for lookUpNodes after a Commit, which may have added types
// that were unknown.
func (s *Set) catchUp(u *Unit) {
	if u.view != s.index.conflicts {
		s.prepare(u)
		return
	}
	ids := u.ID.S
	for i := range ids {
		if ids[i] == idNew {
			ids[i] = 0
		}
	}
	s.retryUnknown(u)
}

// retryUnknown looks up again the nodes that Resolve did not find: units that were
// committed since then may have brought them.
func (s *Set) retryUnknown(u *Unit) {
	if len(u.newNodes.S) == 0 {
		return
	}
	for _, i := range u.newNodes.S {
		if !u.isNewDef(i) {
			u.ID.S[i] = 0
		}
	}
	u.rules.budget = u.matchBudget()
	newNodes := u.newNodes.S
	keep := newNodes[:0]
	for _, i := range newNodes {
		id := u.ID.S[i]
		if id == 0 {
			id = s.find.find(u, i, 0, 0)
		}
		if id == idNew {
			keep = append(keep, i)
			continue
		}
		if !s.find.provesNamed(u, i, id) {
			u.slow.seeds.Append(i)
		}
	}
	u.newNodes.S = keep
}
