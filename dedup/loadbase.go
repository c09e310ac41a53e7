package dedup

import "github.com/btflite/btflite/btf"

// The index takes in the types of a base, under their type ids.

// loadBase enters the types of the base under their type ids. It makes room in
// the table for about own types more.
func (ix *index) loadBase(own int) error {
	b := ix.base
	words := 0
	for _, x := range b.chain {
		words += len(x.Words)
	}
	ix.types.words.Populate(len(ix.types.words.S) + words + words/64)
	ix.types.ids.Populate(int(b.types) + 1)
	ix.types.ids.Extend(int(b.types)) // NewBase has checked their number; loadTypes fills them
	ix.types.keys.Resize(int(b.types) + 1)
	ix.reserveEntities(int(b.types) / 8)
	ix.ents.Populate(int(b.types) / 9)
	id := uint32(1)
	b.order.nextSize = 1
	for _, x := range b.chain {
		at, err := ix.types.addWords(len(x.Words))
		if err != nil {
			return err
		}
		w := ix.types.words.S[at:]
		copy(w, x.Words)
		if b.isOdd() {
			for _, off := range x.Off {
				btf.EachName(w[off:], func(name *uint32) { *name = b.token(*name) })
			}
		}
		ix.loadTypes(id, at, x)
		id += uint32(len(x.Off))
	}
	b.firstFunc, ix.types.keys.S[0].next = ix.types.keys.S[0].next, 0
	ix.enterRepeated()
	ix.insertBase(own)
	b.words, b.ents, b.entered = len(ix.types.words.S), len(ix.ents.S), ix.entered
	b.lostUnique = b.lostUnique[:0]
	ix.conflicts = 0
	return nil
}

// loadTypes enters the types of x, whose first one gets the id first; their words begin at
// index at of the set's words. It enters them into the tables by name and by target, unless a
// type is irregular or repeats another. For the table by content it only stores the hash:
// insertBase enters all.
func (ix *index) loadTypes(first, at uint32, x *btf.Blob) {
	b := ix.base
	words, keys, off := ix.types.words.S[at:], ix.types.keys.S, x.Off
	ids := ix.types.ids.S[first:][:len(off)]
	next := b.order.next()
	for i := range off {
		id, o := first+uint32(i), off[i]
		ids[i] = idState{at + o, id}
		switch btf.InfoKind(words[o+1]) {
		case btf.KindFunc:
			keys[b.lastFunc].next, b.lastFunc = id, id
			b.funcs++
		case btf.KindFuncProto:
			if x.Words[o] == 0 {
				keys[id].hash = contentHash(words[o:])
			}
		default:
			ix.loadRecord(id, words[o:], x.Words[o] != 0)
			next = b.order.next()
		}
		if id == next {
			next = b.order.double(id)
		}
	}
}

// loadRecord is loadTypes for a type that is neither a FUNC nor a FUNC_PROTO. named is true if it has a name,
// which may be empty.
func (ix *index) loadRecord(id uint32, r btf.Record, named bool) {
	b, name, info := ix.base, r.Name(), r.Info()
	k := btf.InfoKind(info)
	plain := !named && info == btf.Info(k, 0, false)
	switch k {
	case btf.KindPtr:
		if plain {
			ix.loadFirst(&ix.types.keys.S[r.Third()].ptrTo, id)
		}
	case btf.KindConst:
		if plain {
			ix.loadFirst(&ix.types.keys.S[r.Third()].constTo, id)
		}
	case btf.KindVolatile, btf.KindRestrict:
		if plain {
			ix.types.keys.S[id].hash = contentHash(r)
		}
	case btf.KindArray:
		if plain && r.Third() == 0 {
			ix.types.keys.S[id].hash = contentHash(r)
		}
	case btf.KindStruct, btf.KindUnion:
		if name == 0 {
			b.anonymous = append(b.anonymous, id)
			break
		}
		if ix.loadFirst(&ix.addEntity(name).defs[aggregate(info)], id) {
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
			ix.types.keys.S[id].hash = contentHash(r)
		case name != 0:
			ix.addEntity(name)
			b.forward[forwardKey{name, entEnum}] = id
		case named:
			ix.types.keys.S[id].hash = contentHash(r)
		}
	case btf.KindVar, btf.KindDatasec, btf.KindVoid: // a skipped type became void
		b.order.unhashed++
	default:
		ix.types.keys.S[id].hash = contentHash(r)
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

// insertBase enters the types that loadRecord has hashed into the table. It makes
// room for about own types more.
func (ix *index) insertBase(own int) {
	keys := ix.types.keys.S
	for _, id := range ix.base.anonymous {
		keys[id].hash = ix.anonRecordHash(ix.types.record(id))
	}
	ix.base.anonymous = nil
	ix.entered = 0
	for i := range keys {
		ix.entered += int(keys[i].hash >> 31) // inTable
	}
	size := len(ix.table.S)
	for size < ix.entered+own {
		size *= 2
	}
	ix.table.Free()
	ix.table.Resize(size)
	table, mask := ix.table.S, uint32(size-1)
	for id := range keys {
		h := keys[id].hash
		if h&inTable == 0 {
			continue
		}
		first := &table[h&mask]
		only := uint32(unique)
		for o := *first; o != 0; o = keys[o].next {
			if keys[o].hash&^unique == h {
				keys[o].hash, only = h, 0
			}
		}
		keys[id].hash = h | only
		if only == 0 {
			ix.insertAmong(first, uint32(id))
			continue
		}
		keys[id].next = *first
		*first = uint32(id)
	}
}

// enterRepeated enters the types that loadFirst left to it.
func (ix *index) enterRepeated() {
	b := ix.base
	for _, id := range b.order.repeated {
		r, after := ix.types.record(id), b.order.after(id)
		switch k := r.Kind(); k {
		case btf.KindPtr, btf.KindConst:
			to := &ix.types.keys.S[r.Third()].ptrTo
			if k == btf.KindConst {
				to = &ix.types.keys.S[r.Third()].constTo
			}
			if !after {
				*to = id
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
	b.order.repeated = nil
}
