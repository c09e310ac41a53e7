package dedup

import "github.com/btflite/btflite/btf"

// The index takes in the types of a base, under their type ids.

// loadBase enters the types of the base under their type ids. own is about how many
// types of its own the Set will get.
func (ix *index) loadBase(own int) error {
	b := ix.base
	ix.types.ids.Populate(int(b.types) + own/8)
	ix.types.ids.Extend(int(b.types)) // NewBase has checked their number; loadTypes fills them
	ix.types.keys.Populate(int(b.types) + own/8)
	ix.types.keys.Resize(int(b.types) + 1)
	ix.reserveEntities(int(b.types) / 8)
	ix.ents.Populate(int(b.types) / 8)
	size := len(ix.table.S)
	for size < int(b.types)*3/8+own { // a third of a kernel's types are found by content
		size *= 2
	}
	ix.table.Free()
	ix.table.Resize(size)
	b.seen = make([]uint64, size/8)
	id := uint32(1)
	for _, x := range b.chain {
		at, err := b.loadWords(&ix.types, x)
		if err != nil {
			return err
		}
		ix.loadTypes(id, at, x)
		id += uint32(len(x.Off))
	}
	b.order.settle(b.types)
	ix.enterRepeated()
	b.words, b.ents, b.entered = len(ix.types.words.S), len(ix.ents.S), ix.entered
	b.lostUnique = b.lostUnique[:0]
	ix.conflicts = 0
	return nil
}

// loadWords adds the type records of x to st, with tokens in place of string offsets. If it can,
// it maps the words of x instead of copying them. It returns the index of the first word.
func (b *Base) loadWords(st *store, x *btf.Blob) (at uint32, err error) {
	if x.Base == nil && !b.needsTokens() {
		if at, ok := st.words.Share(x.Words, x.Mapping); ok {
			st.ids.S[0].off, err = st.addWords(3) // void
			return uint32(at), err
		}
	}
	st.words.Populate(len(st.words.S) + len(x.Words) + len(x.Words)/64)
	if at, err = st.addWords(len(x.Words)); err != nil {
		return 0, err
	}
	w := st.words.S[at:]
	copy(w, x.Words)
	if b.needsTokens() {
		for _, off := range x.Off {
			btf.EachName(w[off:], func(name *uint32) { *name = b.token(*name) })
		}
	}
	return at, nil
}

// loadTypes enters the types of x, whose first one gets the id first; their words begin at
// index at of the set's words. It leaves FUNCs to indexFuncs, and types that repeat another one
// to enterRepeated. It enters no record that a unit cannot have, for example a PTR with a name.
func (ix *index) loadTypes(first, at uint32, x *btf.Blob) {
	b := ix.base
	words, keys := ix.types.words.S[at:], ix.types.keys.S
	ids := ix.types.ids.S[first:][:len(x.Off)]
	for i, o := range x.Off {
		ids[i] = idState{at + o, first + uint32(i)}
	}
	mayRename := b.needsTokens()
	for i, o := range x.Off {
		id, k := first+uint32(i), btf.InfoKind(words[o+1])
		if k == btf.KindFunc {
			continue
		}
		r := words[o:]
		named := r[0] != 0 || mayRename && x.Words[o] != 0
		switch k {
		case btf.KindPtr:
			if !named && r[1] == btf.Info(k, 0, false) {
				ix.loadFirst(&keys[r[2]].ptrTo, id)
			}
		case btf.KindFuncProto:
			if !named {
				ix.loadHashed(id, contentHash(r))
			}
		default:
			ix.loadRecord(id, r, named)
		}
	}
}

// loadRecord is loadTypes for one type. named is true if its string offset is not 0; the string
// there may be empty.
func (ix *index) loadRecord(id uint32, r btf.Record, named bool) {
	b, name, info := ix.base, r.Name(), r.Info()
	k := btf.InfoKind(info)
	plain := !named && info == btf.Info(k, 0, false)
	switch k {
	case btf.KindConst:
		if plain {
			ix.loadFirst(ix.types.direct(r), id)
		}
	case btf.KindVolatile, btf.KindRestrict:
		if plain {
			ix.loadHashed(id, contentHash(r))
		}
	case btf.KindArray:
		if plain && r.Third() == 0 {
			ix.loadHashed(id, contentHash(r))
		}
	case btf.KindStruct, btf.KindUnion:
		if name == 0 {
			ix.loadHashed(id, ix.anonRecordHash(r))
		} else if ix.loadFirst(&ix.addEntity(name).defs[aggregate(info)], id) {
			ix.types.keys.S[id].hash = unique
		}
	case btf.KindTypedef:
		if named && ix.loadFirst(&ix.addEntity(name).typedefs, id) {
			ix.types.keys.S[id].hash = unique
		}
	case btf.KindFwd:
		if named && r.Third() == 0 && btf.InfoVlen(info) == 0 {
			ix.addEntity(name)
			key := forwardKey{name, fwdAggregate(info)}
			first := b.forward[key]
			ix.loadFirst(&first, id)
			b.forward[key] = first
		}
	case btf.KindEnum, btf.KindEnum64:
		switch {
		case btf.InfoVlen(info) > 0 && name != 0:
			ix.enterType(id)
		case btf.InfoVlen(info) > 0:
			ix.loadHashed(id, contentHash(r))
		case name != 0:
			ix.addEntity(name)
			b.forward[forwardKey{name, entEnum}] = id
		case named:
			ix.loadHashed(id, contentHash(r))
		}
	case btf.KindVar, btf.KindDatasec, btf.KindVoid: // a skipped type became void
		b.order.unhashed = append(b.order.unhashed, id)
	default:
		ix.loadHashed(id, contentHash(r))
	}
}

// loadFirst sets *first to id. If *first is taken, it leaves id to enterRepeated and
// reports false.
func (ix *index) loadFirst(first *uint32, id uint32) bool {
	if *first != 0 {
		ix.base.order.repeated = append(ix.base.order.repeated, id)
		return false
	}
	*first = id
	return true
}

// loadHashed enters id, whose content has the hash h, into the table. If there may be another type
// with this hash, it leaves id to enterRepeated. It asks a bit set, because to go along the chain would
// take ten times as long: most types of the chains are in no cache.
func (ix *index) loadHashed(id, h uint32) {
	b, key, slot := ix.base, &ix.types.keys.S[id], &ix.table.S[h&uint32(len(ix.table.S)-1)]
	key.hash = h
	seen, bit := &b.seen[h&uint32(len(b.seen)-1)], uint64(1)<<(h>>20&63)
	if *seen&bit != 0 {
		b.order.repeated = append(b.order.repeated, id)
		return
	}
	*seen |= bit
	key.hash, key.next = h|unique, *slot
	*slot = id
	ix.entered++
}

// enterRepeated enters the types that loadFirst and loadHashed left to it.
func (ix *index) enterRepeated() {
	b := ix.base
	mask := uint32(len(ix.table.S) - 1)
	for _, id := range b.order.repeated {
		if h := ix.types.keys.S[id].hash; h&inTable != 0 {
			ix.enterHashed(&ix.table.S[h&mask], id)
			continue
		}
		r, after := ix.types.record(id), b.order.after(id)
		switch r.Kind() {
		case btf.KindPtr, btf.KindConst:
			if !after {
				*ix.types.direct(r) = id
			}
		case btf.KindFwd:
			if !after {
				b.forward[forwardKey{r.Name(), fwdAggregate(r.Info())}] = id
			}
		case btf.KindTypedef:
			ix.enterAmong(&ix.entity(r.Name()).typedefs, id, after)
		case btf.KindStruct, btf.KindUnion:
			ix.enterAmong(&ix.entity(r.Name()).defs[aggregate(r.Info())], id, after)
		}
	}
	b.order.repeated, b.seen = nil, nil
}

// enterHashed enters id, which has its hash, into the chain that starts at first.
func (ix *index) enterHashed(first *uint32, id uint32) {
	keys := ix.types.keys.S
	h := keys[id].hash
	keys[id].hash |= unique
	for o := *first; o != 0; o = keys[o].next {
		if keys[o].hash&^unique == h {
			keys[o].hash, keys[id].hash = h, h
		}
	}
	ix.insertAmong(first, id)
	ix.entered++
}
