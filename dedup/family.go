package dedup

// Types that share a name.
//
// The index finds a struct, union, typedef or enumeration by its name, and a struct or union
// without a name by the hash of its members' names. What is found this way is a chain of types,
// newest first, and each of them has to be compared. That is cheap while there are a few, and
// quadratic if each of many units brings one more. So a chain of more than maxLinear types is
// also a family: its types are found by a hash that goes further down (levels.go), and where
// even that leaves many, by one that goes down twice as far, up to maxLevel names.
//
// A hash only leaves out types that are not equivalent. So a look-up by family gives the same result
// as one along the chain, and it tries types in the same order. It goes along the chain for the first
// maxLinear types, because the type is mostly among them.
//
// Resolve only reads families. Commit enters types into them once their records are complete.
// Over a base, a family has only types that are not the base's. The base's types follow them in the
// chain.

// maxLinear is how many types of one chain a look-up compares before it uses the family.
// Tests change it.
var maxLinear = 16

// familyKey is the name and kind of the types of a family, or the hash of types without names.
type familyKey uint64

// Kinds of familyKey. The first three are entStruct, entUnion and entEnum.
const (
	famTypedef = iota + entEnum + 1
	famAnonymous
)

// famKey returns the key of the family of a name and kind.
func famKey(kind int, name uint32) familyKey { return familyKey(kind)<<32 | familyKey(name) }

// family has the types of one name and kind whose hashes of a level are the same.
type family struct {
	level  int
	ids    []uint32           // oldest first
	single map[uint32]uint32  // by the hash of the next level: the only type with it; nil if ids are few
	parts  map[uint32]*family // by the hash of the next level: the types with it, if there are several
	open   []uint32           // types that have no hash of the next level
	inBase uint32             // first type of the chain that is the base's; 0 if there is none
}

// levelHash returns the hash of a type to a level, and whether it has one.
type levelHash func(id uint32, level int) (hash uint32, ok bool)

// nextLevel is the level of the hashes that divide a family of this level.
func (fam *family) nextLevel() int { return max(1, 2*fam.level) }

// add adds the newest type.
func (fam *family) add(id uint32, hash levelHash) {
	fam.ids = append(fam.ids, id)
	switch {
	case fam.single != nil:
		fam.assign(id, hash)
	case len(fam.ids) > maxLinear && fam.level < maxLevel:
		fam.single = make(map[uint32]uint32)
		for _, id := range fam.ids {
			fam.assign(id, hash)
		}
	}
}

// addAll adds types that are newest first.
func (fam *family) addAll(ids []uint32, hash levelHash) {
	for k := len(ids) - 1; k >= 0; k-- {
		fam.add(ids[k], hash)
	}
}

// assign adds a type to its part.
func (fam *family) assign(id uint32, hash levelHash) {
	h, ok := hash(id, fam.nextLevel())
	if !ok {
		fam.open = append(fam.open, id)
		return
	}
	if part := fam.parts[h]; part != nil {
		part.add(id, hash)
		return
	}
	first, ok := fam.single[h]
	if !ok {
		fam.single[h] = id
		return
	}
	delete(fam.single, h)
	if fam.parts == nil {
		fam.parts = make(map[uint32]*family)
	}
	fam.parts[h] = &family{level: fam.nextLevel(), ids: []uint32{first}}
	fam.parts[h].add(id, hash)
}

// candidates goes over the types of a family that may be equivalent to a type, newest first.
type candidates struct {
	lists  [][]uint32 // each oldest first
	inBase uint32     // see family
}

// candidates returns the types that may be equivalent to x.
func (fam *family) candidates(x uint32, hash levelHash) *candidates {
	c := &candidates{inBase: fam.inBase}
	for fam.single != nil {
		h, ok := hash(x, fam.nextLevel())
		if !ok {
			break // x may be equivalent to all of them
		}
		c.lists = append(c.lists, fam.open)
		part := fam.parts[h]
		if id := fam.single[h]; id != 0 {
			c.lists = append(c.lists, []uint32{id})
		}
		if part == nil {
			return c
		}
		fam = part
	}
	c.lists = append(c.lists, fam.ids)
	return c
}

// next returns the newest type that it has not returned yet, or 0 at the end.
func (c *candidates) next() uint32 {
	newest, at := uint32(0), 0
	for i, ids := range c.lists {
		if n := len(ids); n > 0 && ids[n-1] > newest {
			newest, at = ids[n-1], i
		}
	}
	if newest != 0 {
		c.lists[at] = c.lists[at][:len(c.lists[at])-1]
	}
	return newest
}

// search goes over the types that node may be, newest first: along a chain, then through the
// family. Begin with the first type of the chain as id.
type search struct {
	id     uint32 // 0 at the end; with local, 1 + the index of its entry
	node   uint32
	key    familyKey
	tried  int         // types of the chain that next has passed
	family *candidates // nil: id is in the chain
	local  *localIndex // nil: the search is in the Set
}

// next goes on to the next type.
func (f finder) next(u *Unit, s *search) {
	switch {
	case s.family != nil:
		s.nextCandidate()
		return
	case s.local != nil:
		s.id = s.local.next.S[s.id-1]
	default:
		s.id = f.index.types.keys.S[s.id].next
	}
	if s.tried++; s.tried == maxLinear {
		f.leaveChain(u, s)
	}
}

// leaveChain goes on with the family, if there is one.
func (f finder) leaveChain(u *Unit, s *search) {
	var fam *family
	if s.local != nil {
		fam = s.local.families[s.key]
	} else if s.id > f.index.baseIDs {
		fam = f.index.families[s.key]
	}
	if fam == nil {
		return
	}
	from := s.id // types of a chain are newest first, so what is newer has been tried
	s.family = fam.candidates(idLocal|s.node, f.levelHash(u))
	for s.nextCandidate(); s.family != nil && s.id > from; {
		s.nextCandidate()
	}
}

// nextCandidate goes on to the next type of the family. After the last one, it goes back to the
// chain, where types of the base follow.
func (s *search) nextCandidate() {
	if s.id = s.family.next(); s.id == 0 {
		s.id, s.family = s.family.inBase, nil
	}
}

// oldest returns the last type of the chain that begins with id.
func (f finder) oldest(key familyKey, id uint32) uint32 {
	if fam := f.index.families[key]; fam != nil && fam.inBase == 0 {
		return fam.ids[0]
	}
	for f.index.types.keys.S[id].next != 0 {
		id = f.index.types.keys.S[id].next
	}
	return id
}

// newcomer is a type of a family whose record is not complete yet.
type newcomer struct {
	key familyKey
	id  uint32
}

// noteJoined notes that id has been added to the chain with this key. If the chain has a family, or
// has become long enough for one, enterFamilies enters id later. hash is 0 if all types of the chain
// have the key. Otherwise it is the hash of those that have it, because others may lie between them.
func (ix *index) noteJoined(key familyKey, id, hash uint32) {
	if ix.families[key] == nil {
		n := 0
		for o := id; o > ix.baseIDs && n <= maxLinear; o = ix.types.keys.S[o].next {
			if hash == 0 || ix.types.keys.S[o].hash&^unique == hash {
				n++
			}
		}
		if n <= maxLinear {
			return
		}
	}
	ix.newcomers = append(ix.newcomers, newcomer{key, id})
}

// enterFamilies enters the types that have joined families. All records are complete.
func (f finder) enterFamilies(u *Unit) {
	ix := f.index
	for _, c := range ix.newcomers {
		fam := ix.families[c.key]
		if fam == nil {
			fam = &family{}
			var ids []uint32
			hash := ix.types.keys.S[c.id].hash &^ unique
			for o := c.id; o != 0; o = ix.types.keys.S[o].next {
				if c.key>>32 == famAnonymous && ix.types.keys.S[o].hash&^unique != hash {
					continue
				}
				if o <= ix.baseIDs {
					fam.inBase = o
					break
				}
				ids = append(ids, o)
			}
			fam.addAll(ids, f.levelHash(u))
			if ix.families == nil {
				ix.families = make(map[familyKey]*family)
			}
			ix.families[c.key] = fam
			continue
		}
		fam.add(c.id, f.levelHash(u))
	}
	ix.newcomers = ix.newcomers[:0]
}

// search begins a search for node i among the new nodes of its unit with the key h.
func (l *localIndex) search(i, h uint32) search {
	return search{id: l.first(h), node: i, key: familyKey(h), local: l}
}

// enter adds a new node to the local index, and to the family of its key if there is one or the
// chain has become long enough for one.
func (p *placer) enter(u *Unit, h, node uint32) {
	l := &p.local
	l.add(h, node)
	newest := uint32(len(l.node.S))
	if fam := l.families[familyKey(h)]; fam != nil {
		fam.add(newest, p.entryHash(u))
		return
	}
	n := 0
	for o := newest; o != 0 && n <= maxLinear; o = l.next.S[o-1] {
		if l.key.S[o-1] == h {
			n++
		}
	}
	if n <= maxLinear {
		return
	}
	if l.families == nil {
		l.families = make(map[familyKey]*family)
	}
	fam := &family{}
	l.families[familyKey(h)] = fam
	var entries []uint32
	for o := newest; o != 0; o = l.next.S[o-1] {
		if l.key.S[o-1] == h {
			entries = append(entries, o)
		}
	}
	fam.addAll(entries, p.entryHash(u))
}

// entryHash returns a levelHash whose ids are entries of the local index, counted from 1.
func (p *placer) entryHash(u *Unit) levelHash {
	hash := p.find.levelHash(u)
	return func(entry uint32, level int) (uint32, bool) { return hash(idLocal|p.local.node.S[entry-1], level) }
}
