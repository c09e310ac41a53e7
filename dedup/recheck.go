package dedup

import (
	"slices"

	"github.com/btflite/btflite/btf"
)

// A unit may leave out types because its reader has proved them (Known). Between that and the
// Commit of the unit, others are committed. So Commit checks that a look-up of the whole unit
// would still give the same ids. If it cannot be sure, it asks for the whole unit, whose result
// does not depend on when it was read. The checks are:
//
//   - The nodes must get the ids that the proofs assumed (unproved).
//   - A struct, union or typedef must be the one that a look-up chooses, although a newer one has its
//     name. The newer one may have come since then (recheck), or the reader has left out the older one
//     of two (LeftOut.Older).
//   - A name may get another definition by the unit only if no type that was left out leads to it
//     (findNewDefs).
//   - A FWD counts as any definition of its name, but the id that stands in for it only as
//     itself. So no comparison may depend on another definition in its place (standsIn, rules.unsure).
//     For enumerations decide is stricter: it is unsure about each that a left out type leads to.
//   - A node must not get its id because a type that was left out already assumes it (mayBecome).
//   - The order of the nodes must not decide which definition a FWD gets first if some nodes are
//     not in the order of their DIEs (rivals).

// Refuses reports whether Commit will ask for the whole unit u, which Resolve has looked up. Commit
// may also find another reason for that, since more units will be committed before u.
func Refuses(s *Set, u *Unit) bool {
	s.gate.rlock()
	defer s.gate.runlock()
	left := &u.chunks.proved
	if left.Types == 0 {
		return false
	}
	if u.needsWalk || u.loops || u.err != nil || slices.ContainsFunc(left.Older, func(id uint32) bool { return !s.find.stillChosen(u, id) }) {
		return true
	}
	left.Older = nil // they have been checked
	return s.find.unproved(u)
}

// unproved reports whether an assumption of u's reader is wrong, or may be, now that u.ID has ids.
func (f finder) unproved(u *Unit) bool {
	left, pairs := &u.chunks.proved, len(u.pairs.S)
	refused := slices.ContainsFunc(left.Unproved, func(p Unproved) bool { return !f.holds(u, p) })
	return refused || (left.Moved || len(u.pairs.S) > pairs) && f.rivals(u)
}

// holds reports whether the assumption p is right: its node gets the assumed id or, unless p is
// Exact, is equivalent to the type with that id.
func (f finder) holds(u *Unit, p Unproved) bool {
	switch id := u.id(p.Ref); {
	case id == p.ID:
		return true
	case p.Exact:
		return false
	case id < MaxIDs:
		return f.equivalent(id, p.ID)
	}
	if !p.Member {
		return false // a PTR to a new node is new as well, and is compared with nothing
	}
	// The node is new, for example a PTR to a FWD. The struct that was left out would have been
	// compared with all that its record leads to.
	pairs, inBase := len(u.pairs.S), u.rules.inBase
	u.rules.inBase, u.rules.unsure = p.ID <= f.index.baseIDs, false
	same := f.match(u, local(p.Ref), p.ID, 0)
	u.rules.inBase = inBase
	if !same {
		u.disown(pairs, noOwner)
	}
	return same && !u.needsWalk && !u.rules.unsure
}

// rivals reports whether u has pairs of one FWD with two definitions. Then the order of the pairs
// decides, which is the order of the nodes.
func (f finder) rivals(u *Unit) bool {
	var few [64]uint64
	pairs := few[:0] // the FWD in the upper half, the definition in the lower one
	for _, p := range u.pairs.S {
		fwd, def, ok := f.index.forwarding(u, p)
		if !ok {
			continue
		}
		if fwd >= MaxIDs { // a new node: another one with this name gets the same id
			name, info := f.head(u, p.fwd)
			fwd = 1<<31 | name ^ info&(1<<31)>>1
		}
		if def >= MaxIDs {
			def = p.def
		}
		pairs = append(pairs, uint64(fwd)<<32|uint64(def))
	}
	slices.Sort(pairs)
	for i := 1; i < len(pairs); i++ {
		if pairs[i]>>32 == pairs[i-1]>>32 && pairs[i] != pairs[i-1] {
			return true
		}
	}
	return false
}

// recheck reports whether the types that u left out would be found again, although names have
// got other definitions since then.
func (f finder) recheck(u *Unit) bool {
	for _, r := range u.chunks.proved.Refs {
		if r&Extern == 0 {
			continue
		}
		id := r &^ Extern
		switch key, w := &f.index.types.keys.S[id], f.index.types.record(id); w.Kind() {
		case btf.KindStruct, btf.KindUnion:
			if !key.chosen(w.Name() != 0) && !f.stillChosen(u, id) {
				return false
			}
		case btf.KindTypedef:
			if key.hash&unique == 0 && !f.newest(u, id, id) {
				return false
			}
		}
	}
	return true
}

// stillChosen reports whether a look-up still finds the struct or union id, although a newer one
// has its name, or the hash of its members. It may wrongly report false.
func (f finder) stillChosen(u *Unit, id uint32) bool {
	if w := f.index.types.record(id); w.Name() != 0 {
		l := f.index.types.record(f.index.entity(w.Name()).likely[aggregate(w.Info())])
		if l.Info() == w.Info() && l.Third() == w.Third() {
			return false // choose would pick that one
		}
	}
	return f.newest(u, id, id)
}

// newest reports whether no type that is newer than the struct, union or typedef id, and has its name, or
// the hash of its members, may be equivalent to x. It may wrongly report false.
func (f finder) newest(u *Unit, x, id uint32) bool {
	before := u.needsWalk
	u.needsWalk = false
	defer func() { u.needsWalk = before }()
	newer, hash := uint32(0), uint32(0)
	switch w := f.index.types.record(id); {
	case w.Name() == 0:
		hash = f.index.types.keys.S[id].hash &^ unique
		newer = f.index.table.S[hash&uint32(len(f.index.table.S)-1)]
	case w.Kind() == btf.KindTypedef:
		newer = f.index.entity(w.Name()).typedefs
	default:
		newer = f.index.entity(w.Name()).defs[aggregate(w.Info())]
	}
	for n := 0; newer != id; n++ {
		if newer == 0 || n == maxLinear {
			return false
		}
		key := &f.index.types.keys.S[newer]
		if (hash == 0 || key.hash&^unique == hash) && f.mayBeEquivalent(u, x, newer, doubt) || u.needsWalk {
			return false
		}
		newer = key.next
	}
	return true
}
