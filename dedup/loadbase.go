package dedup

import "github.com/btflite/btflite/btf"

// Types of a base are entered into the index under their type ids.

// loadBase enters the types of the base under their type ids, and makes room in
// the table for about own more.
func (s *index) loadBase(own int) error {
	b := s.base
	words := 0
	for _, x := range b.chain {
		words += len(x.Words)
	}
	s.types.words.Populate(len(s.types.words.S) + words + words/64)
	s.types.ids.Populate(int(b.types) + 1)
	if _, err := s.types.newIDs(int(b.types)); err != nil {
		return err
	}
	s.reserveEntities(int(b.types) / 8)
	s.ents.Populate(int(b.types) / 9)
	id := uint32(1)
	b.order.next = 1
	for _, x := range b.chain {
		at, err := s.types.addWords(len(x.Words))
		if err != nil {
			return err
		}
		w := s.types.words.S[at:]
		copy(w, x.Words)
		for i, off := range x.Off {
			end := uint32(len(w))
			if i+1 < len(x.Off) {
				end = x.Off[i+1]
			}
			s.types.ids.S[id].off = at + off
			s.loadRecord(id, w[off:end:end])
			b.order.count(id)
			id++
		}
	}
	s.enterAgain()
	s.insertBase(own)
	b.words, b.ents, b.entered = len(s.types.words.S), len(s.ents.S), s.entered
	b.lostUnique = b.lostUnique[:0]
	s.conflicts = 0
	return nil
}

// loadRecord turns the words of a type of the base into a record and enters it
// into the look-up tables, unless it is irregular or another one is there. The hash
// of what belongs into the table is put where insertBase finds it.
func (s *index) loadRecord(id uint32, r btf.Record) {
	b := s.base
	named, info := r.Name() != 0, r.Info()
	name := b.token(r.Name())
	r.SetHead(name, info, r.Third())
	k := btf.InfoKind(info)
	if vlen := btf.InfoVlen(info); vlen != 0 { // not by btf.EachName: a call for each word would take longer
		stride, names := btf.NameWords(k, vlen)
		for e, j := r.Extra(), 0; names > 0; names, j = names-1, j+stride {
			e[j] = b.token(e[j])
		}
	}
	plain := !named && info == btf.Info(k, 0, false)
	switch k {
	case btf.KindFunc:
		b.funcs++ // see baseFunc
	case btf.KindFuncProto:
		if !named {
			s.types.keys.S[id].hash = contentHash(r)
		}
	case btf.KindPtr:
		if plain {
			s.loadFirst(&s.types.keys.S[r.Third()].ptrTo, id)
		}
	case btf.KindConst:
		if plain {
			s.loadFirst(&s.types.keys.S[r.Third()].constTo, id)
		}
	case btf.KindVolatile, btf.KindRestrict:
		if plain {
			s.types.keys.S[id].hash = contentHash(r)
		}
	case btf.KindArray:
		if plain && r.Third() == 0 {
			s.types.keys.S[id].hash = contentHash(r)
		}
	case btf.KindStruct, btf.KindUnion:
		if name == 0 {
			b.anonymous = append(b.anonymous, id)
			break
		}
		if s.loadFirst(&s.addEntity(name).defs[aggregate(info)], id) {
			s.types.keys.S[id].hash = unique
		}
	case btf.KindTypedef:
		if named && s.loadFirst(&s.addEntity(name).typedefs, id) {
			s.types.keys.S[id].hash = unique
		}
	case btf.KindFwd:
		if named && r.Third() == 0 && btf.InfoVlen(info) == 0 {
			s.addEntity(name)
			key := forwardKey{name, fwdAggregate(info)}
			first := b.forward[key]
			s.loadFirst(&first, id)
			b.forward[key] = first
		}
	case btf.KindEnum, btf.KindEnum64:
		switch {
		case btf.InfoVlen(info) > 0 && name != 0:
			s.enterType(id)
		case btf.InfoVlen(info) > 0:
			s.types.keys.S[id].hash = contentHash(r)
		case name != 0:
			s.addEntity(name)
			b.forward[forwardKey{name, entEnum}] = id
		case named:
			s.types.keys.S[id].hash = contentHash(r)
		}
	case btf.KindVar, btf.KindDatasec, btf.KindVoid: // the last for what was skipped
		b.order.none++
	default:
		s.types.keys.S[id].hash = contentHash(r)
	}
}

// loadFirst makes id what first leads to, or leaves it to enterAgain if there is
// another one.
func (s *index) loadFirst(first *uint32, id uint32) bool {
	if *first != 0 {
		s.base.order.again = append(s.base.order.again, id)
		return false
	}
	*first = id
	return true
}

// insertBase puts the types that loadRecord has hashed into the table.
func (s *index) insertBase(own int) {
	keys := s.types.keys.S
	for _, id := range s.base.anonymous {
		keys[id].hash = s.anonRecordHash(s.types.record(id))
	}
	s.base.anonymous = nil
	s.entered = 0
	for i := range keys {
		s.entered += int(keys[i].hash >> 31) // inTable
	}
	size := len(s.table.S)
	for size < s.entered+own {
		size *= 2
	}
	s.table.Free()
	s.table.Resize(size)
	table, mask := s.table.S, uint32(size-1)
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
			s.insertAmong(first, uint32(id))
			continue
		}
		keys[id].next = *first
		*first = uint32(id)
	}
}

// enterAgain enters what loadRecord has left.
func (s *index) enterAgain() {
	b := s.base
	for _, id := range b.order.again {
		r, behind := s.types.record(id), b.order.behind(id)
		switch k := r.Kind(); k {
		case btf.KindPtr, btf.KindConst:
			to := &s.types.keys.S[r.Third()].ptrTo
			if k == btf.KindConst {
				to = &s.types.keys.S[r.Third()].constTo
			}
			if !behind {
				*to = id
			}
		case btf.KindFwd:
			if !behind {
				b.forward[forwardKey{r.Name(), fwdAggregate(r.Info())}] = id
			}
		case btf.KindTypedef:
			s.enterAmong(&s.entity(r.Name()).typedefs, id, behind)
		case btf.KindStruct, btf.KindUnion:
			s.enterAmong(&s.entity(r.Name()).defs[aggregate(r.Info())], id, behind)
		}
	}
	b.order.again = nil
}
