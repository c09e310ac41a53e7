package dedup

import "github.com/btflite/btflite/btf"

// Known is the view of a Set for the reader of a unit that proves types while it reads them.
//
// Such a reader compares a type with the record of a type that the Set has: name, size, the
// names and offsets of members. For each reference of the record it has to prove that the
// unit's reference leads to the type with that id. If all agrees, it leaves the type out of the
// unit; the other types refer to it by Extern. So a type that is left out has been compared like
// every other one, and references to it mean the same as if it were a node.
//
// A reference may lead to a node of the unit, whose id only Resolve finds. Then the reader
// hands over the pair (Unproved), and Commit checks it. If a check fails, Commit returns
// ErrIncomplete, as for a unit that left out chunks.
//
// Between Begin and End, the Known holds the Set's lock as a reader. One goroutine uses it.
type Known struct {
	set   *Set
	words []uint32
	ids   []idState
	keys  []idKeys
	view  uint32 // index.conflicts when Begin was called
	// onlyFlags are the flags of idKeys.hash that Only asks for: unique over a base, otherwise none.
	onlyFlags uint32
}

// Unproved is an assumption of the reader: it has left out a type that refers to the node at Ref,
// as if the node had this id. Commit checks that.
type Unproved struct {
	Ref    Ref
	ID     uint32
	Exact  bool // the node must get ID itself; otherwise an equivalent type will do
	Member bool // the type that was left out is a struct or union, so a look-up compares the node with ID even if it is new
}

// Begin keeps Commits from changing the Set until Yield or End.
func (k *Known) Begin(s *Set) {
	s.gate.rlock()
	k.set, k.view = s, s.index.conflicts
	if s.index.base != nil {
		k.onlyFlags = unique
	}
	k.load()
}

// load takes the tables of the Set, which move when they grow.
func (k *Known) load() {
	st := &k.set.index.types
	k.words, k.ids, k.keys = st.words.S, st.ids.S, st.keys.S
}

// Yield lets a Commit change the Set if one waits. Records and heads that were taken before
// are not valid any more. Proofs stay valid: if a Commit has made one wrong, recheck finds that.
func (k *Known) Yield() {
	if k.set.gate.wanted() {
		k.set.gate.runlock()
		k.set.gate.rlock()
		k.load()
	}
}

// End lets Commits change the Set again. Without Begin it does nothing.
func (k *Known) End() {
	if k.set != nil {
		k.set.gate.runlock()
		*k = Known{}
	}
}

// LeftOut says which types a reader has left out of a unit. The caller keeps the slices until the
// unit is committed.
type LeftOut struct {
	Types    int        // how many types were left out; not 0
	Refs     []Ref      // all types of the unit, in the order of their DIEs: an id as Extern, or a node
	Forwards []uint32   // the ids in Refs that stand for FWDs of the unit: see standsIn
	Unproved []Unproved // assumptions that Commit has to check
	Moved    bool       // some nodes are not in the order of their DIEs
	Older    []uint32   // the ids in Refs that a look-up of their name would not try first: Refuses checks them
}

// LeaveOut tells u which types the reader has left out of it. Call it before Resolve.
func (k *Known) LeaveOut(u *Unit, types LeftOut) {
	u.chunks.view, u.chunks.left, u.chunks.proved = k.view, types.Types, types
}

// Record returns the record of a type, valid until Yield or End. If the Set does not have the id,
// it returns the record of void.
func (k *Known) Record(id uint32) btf.Record {
	if uint(id) >= uint(len(k.ids)) {
		id = 0
	}
	return k.words[k.ids[id].off:]
}

// Head returns the first three words of Record: name, info and third word (size or type id).
func (k *Known) Head(id uint32) *[3]uint32 {
	off := uint(0)
	if uint(id) < uint(len(k.ids)) {
		off = uint(k.ids[id].off)
	}
	return (*[3]uint32)(k.words[off : off+3 : off+3])
}

// Chosen reports whether a look-up of the type's name finds this id first. A type without a name
// is looked up by the names of its members. The look-up finds id first if id is the only
// one, or the one that the last walk decided on (choose). named says whether the type has a name.
func (k *Known) Chosen(id uint32, named bool) bool { return k.keys[id].chosen(named) }

// chosen implements Known.Chosen. The flag likely counts only for types with a name: without one,
// its bit belongs to the hash. Types of Sets over a base do not have the flag.
func (k *idKeys) chosen(named bool) bool { return k.hash&unique != 0 || named && k.hash&likely != 0 }

// Only reports whether a look-up of the content of type id can find no other type. A Set has each
// content once, but a base may have equal types.
func (k *Known) Only(id uint32) bool { return k.keys[id].hash&k.onlyFlags == k.onlyFlags }

// PtrTo returns the id of the PTR that points to a type, or 0 if the Set does not have it.
func (k *Known) PtrTo(id uint32) uint32 { return k.keys[id].ptrTo }

// ConstTo returns the id of the CONST of a type, or 0 if the Set does not have it.
func (k *Known) ConstTo(id uint32) uint32 { return k.keys[id].constTo }

// Hidden reports whether id is a type of the base that no unit may find. One case is a FWD without
// a definition: units have a FWD of their own in its place. The other is a TYPEDEF, if the Set must
// not find the typedefs of its base.
func (k *Known) Hidden(id uint32) bool {
	if id > k.set.index.baseIDs { // always, without a base
		return false
	}
	switch k.Record(id).Kind() {
	case btf.KindFwd:
		return k.Forward(id) == id
	case btf.KindTypedef:
		return k.set.index.typedef(id) == 0
	}
	return false
}

// Strict reports whether PTRs, arrays and the like must refer to exactly the foreseen type. It is
// true over a base, whose types keep their references. Without a base an equivalent type will do,
// because Finish merges the two in the end.
func (k *Known) Strict() bool { return k.onlyFlags != 0 }

// Int returns the id of the signed INT of four bytes that the base has under this name. It returns 0 if the base has
// none, and without a base.
func (k *Known) Int(name Name) uint32 {
	if k.set.index.base == nil {
		return 0
	}
	return k.Find(btf.Record{name, btf.Info(btf.KindInt, 0, false), 4, 1<<24 | 32})
}

// Forward returns what a FWD of the Set leads to now.
func (k *Known) Forward(fwd uint32) uint32 { return k.set.index.types.Final(fwd) }

// ForwardOf looks up a FWD by name and kind, and returns the id that it leads to now. It returns 0
// if the Set has no such FWD. A FWD of the base counts only once it leads to a definition: until
// then, units have a FWD of their own (base.go).
func (k *Known) ForwardOf(name Name, info uint32) uint32 {
	e, kind := k.set.index.entity(name), fwdAggregate(info)
	switch {
	case e == nil:
		return 0
	case e.fwds[kind] != 0:
		return k.Forward(e.fwds[kind])
	}
	if fwd := k.set.index.baseForward(name, kind); k.Forward(fwd) != fwd {
		return k.Forward(fwd)
	}
	return 0
}

// Definition returns the id of the struct, union or enumeration with which a look-up compares a
// definition of this name first (see choose). info says which kind it is. It returns 0 if the Set
// has no definition of the name.
func (k *Known) Definition(name Name, info, size uint32) uint32 {
	e := k.set.index.entity(name)
	switch {
	case e == nil:
		return 0
	case btf.InfoKind(info) == btf.KindEnum:
		return e.defs[entEnum]
	}
	if l := e.likely[aggregate(info)]; l != 0 && k.Record(l).Third() == size {
		return l
	}
	return e.defs[aggregate(info)]
}

// MaxDefinitions is how many definitions of one name a reader looks at, so that n of them do not take
// n² steps.
const MaxDefinitions = 8

// Foreseen returns the definition that a unit probably has of a name. Definition returns id, and size is
// the struct's, union's or enumeration's, or 0 if it is not known.
//
// A kernel's units in Rust bring definitions of their own for names of C. So if the name has several of
// this size, the oldest is the best guess, except over a base.
func (k *Known) Foreseen(id, size uint32) uint32 {
	if id == 0 || k.Chosen(id, true) || k.Strict() {
		return id
	}
	if size == 0 {
		size = k.Record(id).Third()
	}
	o := id
	for range MaxDefinitions {
		if k.Record(o).Third() == size {
			id = o
		}
		if o = k.Older(o); o == 0 {
			break
		}
	}
	return id
}

// Older returns the next older definition of the same name and kind as id. It returns 0 if id was
// the first one.
func (k *Known) Older(id uint32) uint32 { return k.keys[id].next }

// Typedef returns the id of the typedef with this name and target, or 0 if the Set does not have
// it.
func (k *Known) Typedef(name Name, target uint32) uint32 {
	e := k.set.index.entity(name)
	if e == nil {
		return 0
	}
	id := e.typedefs
	for n := 0; k.set.index.typedef(id) != 0 && n < maxLinear; n++ {
		if k.Record(id).Third() == target {
			return id
		}
		id = k.keys[id].next
	}
	return 0
}

// OnlyTypedef returns the id of the typedef of a name. It returns 0 if the Set has several, or
// none.
func (k *Known) OnlyTypedef(name Name) uint32 {
	if e := k.set.index.entity(name); e != nil && k.set.index.typedef(e.typedefs) != 0 && k.keys[e.typedefs].hash&unique != 0 {
		return e.typedefs
	}
	return 0
}

// Find looks up a type that is not found by its name, such as a pointer or a prototype, by all
// words of its record. It returns 0 if the Set does not have it.
func (k *Known) Find(w btf.Record) uint32 {
	if id := k.set.index.findRecord(w, contentHash(w)); id != idNew {
		return id
	}
	return 0
}

// maxSame is how many pairs of types same compares. Beyond that it reports false.
const maxSame = 256

// Same reports whether two types of the Set are equivalent. They are if they differ only in that
// one has a FWD where the other has the definition that this FWD leads to. Same may wrongly
// report false.
func (k *Known) Same(x, y uint32) bool { return k.set.find.equivalent(x, y) }

// Same reports whether two types of s are equivalent, as Known.Same does. It is for tests.
func Same(s *Set, x, y uint32) bool { return s.find.equivalent(x, y) }

// Undecided reports whether Resolve could not decide about types of u, mostly because a name has
// several definitions. Then Commit decides.
func Undecided(u *Unit) bool { return u.needsWalk || u.loops || u.err != nil }

// equivalent is Known.Same.
func (f finder) equivalent(x, y uint32) bool {
	steps := maxSame
	return f.same(x, y, &steps)
}

// same is equivalent for at most *steps pairs of types.
func (f finder) same(x, y uint32, steps *int) bool {
	st := &f.index.types
	if x == y {
		return true
	}
	if x, y = st.Final(x), st.Final(y); x == y {
		// A declared enumeration leads to its newest definition, so it may lead to another one later.
		return !btf.Enums.Has(st.record(x).Kind())
	}
	a, b := st.record(x), st.record(y)
	if *steps--; *steps < 0 || x == 0 || y == 0 || a.Name() != b.Name() || a.Info() != b.Info() {
		return false
	}
	switch k := a.Kind(); {
	case links.Has(k):
		return f.same(a.Third(), b.Third(), steps)
	case k == btf.KindFwd:
		return true // one of them is the base's, the other one its proxy
	case a.Name() != 0:
		return false
	}
	var v, w typ
	v.read(f, nil, x)
	w.read(f, nil, y)
	return inside(&v, &w, func(x, y uint32) bool { return f.same(x, y, steps) })
}

// Void reports whether a type is void, or leads to void by modifiers and typedefs only.
func (k *Known) Void(id uint32) bool {
	for range btf.MaxDepth {
		if id == 0 {
			return true
		}
		w := k.Record(id)
		if !(btf.Modifiers | btf.Typedefs).Has(w.Kind()) {
			return false
		}
		id = w.Third()
	}
	return true
}
