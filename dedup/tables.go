package dedup

import (
	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// index finds the types of the Set: by content, and by name.
type index struct {
	types store

	table   arena.Vec[uint32] // hash buckets: newest id, chained by next
	entered int               // ids in the table
	// AheadRecords writes here. The one of the strings will not do: the names of functions go
	// into the set at the same time, on another goroutine.
	touched arena.Touched

	ents   arena.Vec[entity] // one for each name; element 0 is unused
	entTab arena.Vec[uint32] // open addressing, by name: index in ents, 0 if the slot is free

	// conflicts counts how often a name, or a shape of anonymous types, got
	// another definition. Commit repeats a Resolve that saw an older value.
	conflicts uint32

	ambiguous ambiguousSet // ids of types whose name has several definitions

	base     *baseState        // nil: no base
	baseIDs  uint32            // ids up to this one are type ids of the base; 0 without a base
	forwards arena.Vec[uint32] // ids of FWDs, for uniqueForwards

	families  map[familyKey]*family // see family.go
	newcomers []newcomer            // types that have joined families since enterFamilies
}

// init makes room for about types types.
func (ix *index) init(types int) {
	ix.types.init()
	size := 1 << 10
	for size < types {
		size *= 2
	}
	ix.table.Resize(size)
	ix.entTab.Resize(1 << 12)
	ix.ents.Append(entity{})
}

// free releases the tables, but not the records.
func (ix *index) free() {
	ix.table.Free()
	ix.ents.Free()
	ix.entTab.Free()
	ix.forwards.Free()
	if ix.base != nil {
		ix.base.funcTab.Free()
	}
}

// entity has the types of one name.
type entity struct {
	name     Name
	typedefs uint32    // newest TYPEDEF
	defs     [3]uint32 // newest STRUCT, UNION, ENUM with values
	likely   [2]uint32 // STRUCT, UNION that a walk last decided on
	fwds     [3]uint32 // FWD struct, FWD union (not the base's), ENUM without values
}

// Flags in idKeys.hash.
const (
	inTable = 1 << 31 // the id is in the table
	// unique: a look-up can find no other id. A type that is found by its content has it if
	// no other type in the table has its hash; a definition or typedef, if no other one of
	// its kind has its name. PTRs, CONSTs and FWDs, which are found in other ways, never have it.
	unique = 1 << 30
	// likely: the id, a named struct or union, is in entity.likely.
	likely = 1 << 29
)

// entity returns the entity of a name, nil if there is none.
func (ix *index) entity(name Name) *entity {
	if k := ix.entTab.S[ix.entitySlot(name)]; k != 0 {
		return &ix.ents.S[k]
	}
	return nil
}

// entitySlot returns the slot of a name in entTab, or the free slot for it.
func (ix *index) entitySlot(name Name) uint32 {
	mask := uint32(len(ix.entTab.S) - 1)
	i := arena.Spread(name) & mask
	for {
		k := ix.entTab.S[i]
		if k == 0 || ix.ents.S[k].name == name {
			return i
		}
		i = (i + 1) & mask
	}
}

// addEntity is entity, but adds an empty one if there is none.
func (ix *index) addEntity(name Name) *entity {
	if e := ix.entity(name); e != nil {
		return e
	}
	ix.reserveEntities(len(ix.ents.S))
	ix.entTab.S[ix.entitySlot(name)] = uint32(len(ix.ents.S))
	ix.ents.Append(entity{name: name})
	return &ix.ents.S[len(ix.ents.S)-1]
}

// reserveEntities makes the table of names large enough for n names.
func (ix *index) reserveEntities(n int) {
	size := len(ix.entTab.S)
	for n*2 > size {
		size *= 2
	}
	if size == len(ix.entTab.S) {
		return
	}
	ix.entTab.Free()
	ix.entTab.Resize(size)
	mask := uint32(size - 1)
	for k := 1; k < len(ix.ents.S); k++ {
		i := arena.Spread(ix.ents.S[k].name) & mask
		for ix.entTab.S[i] != 0 {
			i = (i + 1) & mask
		}
		ix.entTab.S[i] = uint32(k)
	}
}

// notUnique clears the flag unique of id, because a second type fits the same look-up.
func (ix *index) notUnique(id uint32) {
	if ix.types.keys.S[id].hash&unique != 0 {
		ix.types.keys.S[id].hash &^= unique
		if id <= ix.baseIDs {
			ix.base.lostUnique = append(ix.base.lostUnique, id)
		}
	}
}

// enter prepends id to the chain of definitions, or typedefs, that starts at
// first.
func (ix *index) enter(first *uint32, id uint32) {
	ix.types.keys.S[id].next = *first
	if *first == 0 {
		ix.types.keys.S[id].hash = unique
	} else {
		ix.notUnique(*first)
	}
	*first = id
}

// rehash moves an id to the bucket of its new hash.
func (ix *index) rehash(id, h uint32) {
	mask := uint32(len(ix.table.S) - 1)
	p := &ix.table.S[ix.types.keys.S[id].hash&mask]
	for *p != 0 && *p != id {
		p = &ix.types.keys.S[*p].next
	}
	if *p == id {
		*p = ix.types.keys.S[id].next
	}
	ix.types.keys.S[id].hash = h
	b := h & mask
	ix.types.keys.S[id].next = ix.table.S[b]
	ix.table.S[b] = id
}

// insert prepends an id to its chain in the hash table.
func (ix *index) insert(id, h uint32) {
	if ix.entered >= len(ix.table.S) {
		n := len(ix.table.S) * 2
		ix.table.Free()
		ix.table.Resize(n)
		mask := uint32(n - 1)
		// In ascending order: the newest id ends up first.
		for k := uint32(1); k < uint32(len(ix.types.ids.S)); k++ {
			if ix.types.keys.S[k].hash&inTable == 0 || k == id {
				continue
			}
			b := &ix.table.S[ix.types.keys.S[k].hash&mask]
			if k <= ix.baseIDs && ix.types.keys.S[k].hash&unique == 0 {
				ix.insertAmong(b, k)
				continue
			}
			ix.types.keys.S[k].next = *b
			*b = k
		}
	}
	b := h & uint32(len(ix.table.S)-1)
	only := uint32(unique)
	for o := ix.table.S[b]; o != 0; o = ix.types.keys.S[o].next {
		if ix.types.keys.S[o].hash&^unique == h {
			ix.notUnique(o) // older ones are not, since o came
			only = 0
			break
		}
	}
	ix.types.keys.S[id].hash = h | only
	ix.types.keys.S[id].next = ix.table.S[b]
	ix.table.S[b] = id
	ix.entered++
}

// contentHash hashes a record whose references are final. For structs and unions,
// see anonHash.
func contentHash(w btf.Record) uint32 {
	info := w.Info()
	h := arena.Mix(arena.Mix(arena.Mix(0, info), w.Name()), w.Third())
	n := btf.InfoVlen(info)
	switch btf.InfoKind(info) {
	case btf.KindInt, btf.KindDeclTag:
		h = arena.Mix(h, w.Data())
	case btf.KindArray:
		elem, _, nelems := w.Array()
		h = arena.Mix(arena.Mix(h, elem), nelems)
	case btf.KindEnum:
		for _, x := range w.Extra()[:2*n] {
			h = arena.Mix(h, x)
		}
	case btf.KindFuncProto:
		for p := w.Extra()[:2*n]; len(p) >= 2; p = p[2:] {
			h = arena.Mix(h, uint64(p[0])<<32|uint64(p[1]))
		}
	case btf.KindEnum64:
		for _, x := range w.Extra()[:3*n] {
			h = arena.Mix(h, x)
		}
	}
	return uint32(h>>32)&^unique | inTable
}

// enterType enters the record of id into the look-up tables.
func (ix *index) enterType(id uint32) {
	w := ix.types.record(id)
	info, name := w.Info(), w.Name()
	k := btf.InfoKind(info)
	switch k {
	case btf.KindVar, btf.KindDatasec:
	case btf.KindPtr, btf.KindConst:
		ix.setDirect(w, id)
	case btf.KindStruct, btf.KindUnion:
		e := ix.addEntity(name)
		d := &e.defs[aggregate(info)]
		if *d != 0 {
			ix.conflicts++
			ix.ambiguous.add(id, *d, e.fwds[aggregate(info)])
		}
		ix.enter(d, id)
		ix.noteJoined(famKey(aggregate(info), name), id, 0)
	case btf.KindTypedef:
		e := ix.addEntity(name)
		if e.typedefs != 0 {
			ix.conflicts++
		}
		ix.enter(&e.typedefs, id)
		ix.noteJoined(famKey(famTypedef, name), id, 0)
	case btf.KindFwd:
		k := fwdAggregate(info)
		e := ix.addEntity(name)
		e.fwds[k] = id
		if d := e.defs[k]; d != 0 && ix.types.keys.S[d].next != 0 {
			ix.ambiguous.add(id)
		}
		ix.forwards.Append(id)
		if f := ix.baseForward(name, k); f != 0 && ix.types.ids.S[f].fwd != f {
			ix.types.ids.S[id].fwd = ix.types.Final(f)
		}
	case btf.KindEnum, btf.KindEnum64:
		if name == 0 {
			ix.insert(id, contentHash(w))
			break
		}
		e := ix.addEntity(name)
		if btf.InfoVlen(info) == 0 {
			e.fwds[entEnum] = id
			if ix.baseForward(name, entEnum) != 0 {
				ix.forwards.Append(id)
			}
			break
		}
		other := e.defs[entEnum] != 0
		ix.enter(&e.defs[entEnum], id)
		ix.noteJoined(famKey(entEnum, name), id, 0)
		for _, f := range [...]uint32{e.fwds[entEnum], ix.baseForward(name, entEnum)} {
			if f != 0 {
				ix.redirect(f, id) // the last definition wins
				other = true
			}
		}
		if other {
			ix.conflicts++ // the forward declaration now stands for another definition
		}
	default:
		ix.insert(id, contentHash(w))
	}
}

// enterAnonymous is enterType for an anonymous struct or union. h is anonHash of its
// node: the types of its members may not be stored yet, so its record cannot be hashed.
func (ix *index) enterAnonymous(id, h uint32) {
	for o := ix.table.S[h&uint32(len(ix.table.S)-1)]; o != 0; o = ix.types.keys.S[o].next {
		if ix.types.keys.S[o].hash&^unique == h {
			ix.conflicts++
			break
		}
	}
	ix.insert(id, h)
	ix.noteJoined(famKey(famAnonymous, h), id, h)
}

// anonRecordHash is anonHash of a record. The types of its members must be stored.
func (ix *index) anonRecordHash(w btf.Record) uint32 {
	h := arena.Mix(arena.Mix(0, w.Info()), w.Third())
	last := uint32(0)
	for j := range int(w.Vlen()) {
		name, typ, offset := w.Member(j)
		h = arena.Mix(arena.Mix(h, name), offset)
		last = typ
	}
	if last != 0 {
		t := ix.types.record(last)
		h = arena.Mix(h, cutName(t.Info(), t.Name()))
	}
	return uint32(h>>32)&^unique | inTable
}

// findRecord looks up a record whose references are final. It returns its id or idNew.
func (ix *index) findRecord(w btf.Record, h uint32) uint32 {
	for id := ix.table.S[h&uint32(len(ix.table.S)-1)]; id != 0; id = ix.types.keys.S[id].next {
		if ix.types.keys.S[id].hash&^unique == h && equalWords(ix.types.record(id), w) {
			return ix.types.Final(id)
		}
	}
	if id := ix.baseFunc(w); id != 0 {
		return id
	}
	return idNew
}

// equalWords reports whether a begins with the words of b, which are a whole record.
func equalWords(a, b []uint32) bool {
	if len(a) < len(b) {
		return false
	}
	a = a[:len(b)]
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// baseFunc returns the FUNC of the base that has the record w; 0 if there is none. Half of a kernel's
// types are FUNCs, and a module needs few of them: so the first call indexes them, not loadBase.
func (ix *index) baseFunc(w btf.Record) uint32 {
	b := ix.base
	if b == nil || w.Kind() != btf.KindFunc || !b.has(w.Name()) {
		return 0
	}
	b.funcsOnce.Do(ix.indexFuncs)
	found := uint32(0)
	for id := b.funcTab.S[arena.Spread(w.Name())&uint32(len(b.funcTab.S)-1)]; id != 0; id = ix.types.keys.S[id].next {
		if equalWords(ix.types.record(id), w) {
			if found = id; !b.order.after(id) {
				break
			}
		}
	}
	return found
}

// indexFuncs fills the table of baseFunc, whose buckets are chained by idKeys.next.
func (ix *index) indexFuncs() {
	b, size := ix.base, 1<<10
	for size < int(b.types)/2 { // half of a kernel's types
		size *= 2
	}
	b.funcTab.Resize(size)
	table, keys := b.funcTab.S, ix.types.keys.S
	for id := uint32(1); id <= b.types; id++ {
		r := ix.types.record(id)
		if r.Kind() != btf.KindFunc {
			continue
		}
		first := &table[arena.Spread(r.Name())&uint32(len(table)-1)]
		keys[id].next, *first = *first, id
	}
}

// typedef returns id, or 0 if units must not find this typedef (noTypedefs).
func (ix *index) typedef(id uint32) uint32 {
	if id <= ix.baseIDs && ix.base != nil && ix.base.noTypedefs {
		return 0
	}
	return id
}

// baseForward returns the base's FWD of a name and kind; 0 if there is none. Own
// FWDs of the same name and kind are its proxies.
func (ix *index) baseForward(name Name, kind int) uint32 {
	if ix.base == nil {
		return 0
	}
	return ix.base.forward[forwardKey{name, kind}]
}

// setForward makes FWD f lead to d. A FWD of the base and its proxy go together.
func (ix *index) setForward(f, d uint32) {
	ix.redirect(f, d)
	if ix.base == nil {
		return
	}
	w := ix.types.record(f)
	if w.Kind() != btf.KindFwd {
		return
	}
	e, k := ix.entity(w.Name()), fwdAggregate(w.Info())
	if o := e.fwds[k]; o != 0 && o != f && ix.types.ids.S[o].fwd == o {
		ix.redirect(o, d)
	}
	if o := ix.baseForward(w.Name(), k); o != 0 && o != f && ix.types.ids.S[o].fwd == o {
		ix.redirect(o, d)
	}
}

// redirect makes type f lead to d, and remembers f for Restart if it is the base's.
func (ix *index) redirect(f, d uint32) {
	ix.types.ids.S[f].fwd = d
	if f <= ix.baseIDs {
		ix.base.redirected = append(ix.base.redirected, f)
	}
}

// setDirect enters id, whose record is w, as a PTR or CONST.
func (ix *index) setDirect(w btf.Record, id uint32) {
	*ix.types.direct(w) = id
	if to := w.Third(); ix.base != nil && to <= ix.baseIDs && id > ix.baseIDs {
		ix.base.pointed = append(ix.base.pointed, to)
	}
}

// enterAmong is enter for a chain that is not empty. With after, id goes to its end.
func (ix *index) enterAmong(first *uint32, id uint32, after bool) {
	if !after {
		ix.enter(first, id)
		return
	}
	ix.notUnique(*first)
	last := *first
	for ix.types.keys.S[last].next != 0 {
		last = ix.types.keys.S[last].next
	}
	ix.types.keys.S[last].next = id
}

// insertAmong puts id into a chain that has types with its hash, in libbpf's order.
func (ix *index) insertAmong(first *uint32, id uint32) {
	h := ix.types.keys.S[id].hash &^ unique
	if ix.base.order.after(id) {
		for o := *first; o != 0; o = ix.types.keys.S[o].next {
			if ix.types.keys.S[o].hash&^unique == h {
				first = &ix.types.keys.S[o].next // at the end, after the last with this hash
			}
		}
	}
	ix.types.keys.S[id].next = *first
	*first = id
}

// cutName returns the name of a type if anonHash covers it, else 0: equivalent types of
// other kinds may differ in their names.
func cutName(info uint32, name Name) Name {
	switch btf.InfoKind(info) {
	case btf.KindStruct, btf.KindUnion, btf.KindFwd, btf.KindTypedef:
		return name
	}
	return 0
}
