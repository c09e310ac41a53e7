package dedup

import (
	"errors"
	"fmt"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// The streaming set.
//
// A Set holds every distinct type seen so far, once, as BTF-shaped records
// whose references are ids of the Set. Units are merged in two steps:
//
// Resolve (any worker, many at a time) looks each node of a unit up. No hash
// of the content is taken of named structs and unions, which are nine tenths
// of all data: their name says which known definition they must be, and one
// linear comparison proves that they are. That proof may rest on itself: while
// the members are compared, a reference to a named struct counts as equal to
// the known definition of that name, whose own comparison is part of the same
// unit. If all comparisons of the unit succeed, the pairing of its nodes with
// those of the Set is a bisimulation, the very thing that the reference
// deduplication establishes by walking the graph type by type. References
// (pointers, qualifiers, arrays, prototypes) are looked up exactly, by their
// content with ids in place of references.
//
// Commit (one at a time, in unit order) places what Resolve did not find. If
// a comparison failed, or a name involved has several definitions, the nodes
// that can reach such a name are placed by the graph walk in slow.go.
//
// Ids are handed out in raw order (unit, then Unit.Order), so that survivors
// never need sorting. Forward declarations are types of their own until a
// definition is seen in their place; then they are forwarded to it. Finish
// settles the rest and merges references that have become equal.
type Set struct {
	gate gate // Resolve reads the Set, what adds to it writes

	names Names
	words arena.Vec[uint32]  // records: info, name token, third, then as BTF
	ids   arena.Vec[idState] // by id
	keys  arena.Vec[idKeys]  // by id

	// tried counts, over all units, the types of the same name or shape that
	// were considered for one: see checkTried.
	tried uint64

	shapes arena.Vec[uint32] // by id: see knownShape; 0 if not known

	table   arena.Vec[uint32] // hash buckets: newest id, chained by next
	entered int               // ids in the table

	ents    arena.Vec[entity]
	entTab  arena.Vec[uint32] // open addressing: 1 + index in ents
	visited arena.Vec[uint32] // references in the order in which they were placed

	// conflicts counts how often a name, or a shape of anonymous types, got
	// another definition; a Resolve that saw an older value is not trusted.
	conflicts uint32

	base    *baseState // nil: no base
	baseIDs uint32     // ids up to this one are type ids of the base; 0 without one

	strings   stringTable
	forwards  arena.Vec[uint32] // ids of FWDs, for the unique-name pass
	unchecked int               // bytes taken since the last look at the memory in use
	local     localIndex

	// Raw switches merging off: every node becomes a type of its own, for the
	// batch algorithm (package exact) to work on. It is set before the first commit.
	Raw bool
	// Slow counts units that needed the graph walk.
	Slow int
	// Walks counts steps of the graph walk.
	Walks uint64
}

// idState is what there is to know of an id to the end, and idKeys what finds
// types. Who looks at one of their parts mostly looks at another one next, and the
// ids that follow each other in a unit are spread over those of a base: together
// they are in one cache line.
type idState struct {
	off uint32 // the record's offset in words
	fwd uint32 // what the id is forwarded to, itself if nothing
}

type idKeys struct {
	hash    uint32 // inTable and content hash, of types in the table; lone
	next    uint32 // next older id in its chain
	ptrTo   uint32 // the PTR to it
	constTo uint32 // the CONST of it
}

// Names turns name tokens into text. Bytes reports false if a token is not
// valid. Alias is called when the text of token t turns out to be that of the
// earlier token canon: from then on the unit reader must use canon. Touch reads
// the first byte of each text, in memory that may be far away, and does nothing
// else: see Set.Ahead. Its result means nothing.
type Names interface {
	Bytes(t Name) ([]byte, bool)
	Alias(t, canon Name)
	Touch(t []Name) byte
}

// entity is what the Set knows of one name.
type entity struct {
	name     Name
	typedefs uint32    // newest TYPEDEF
	defs     [3]uint32 // newest STRUCT, UNION, ENUM with values
	likely   [2]uint32 // the STRUCT, UNION that a walk last decided on
	fwds     [3]uint32 // FWD struct, FWD union (not the base's), ENUM without values
}

const (
	entStruct = iota
	entUnion
	entEnum
)

// States of Unit.ID that are not ids.
const (
	idNew   = 0xffffffff // not in the Set
	idBusy  = 0xfffffffe // being looked up
	idLocal = 1 << 30    // | node index: same as that node of the unit
	// MaxIDs is the number of types that a Set can hold.
	MaxIDs = 1 << 29
)

// ErrAlias is returned by Commit when a name token of the unit stands for the
// same text as another token. Nothing but strings was added; the unit must be
// read again, with Names.Alias in force, and committed then.
var ErrAlias = errors.New("name token is an alias")

var errManyTypes = fmt.Errorf("more than %d distinct types", MaxIDs)

// ErrChain is the error of Commit for references that lead nowhere but to themselves.
var ErrChain = errors.New("type refers to itself without a struct, union or typedef in between, or is nested too deep")

// errTried is the error for input made to have the deduplication try each type
// of a name against thousands of others.
var errTried = errors.New("so many different types have the same name, or the same members, that comparing them would take too long")

// freeTries and triesPerType bound how many types are considered in all. The
// kernels with the most definitions of a name stay below a hundredth of it.
const (
	freeTries    = 1 << 27
	triesPerType = 256
)

// checkTried adds what the unit has tried and returns errTried if that was too
// much.
func (s *Set) checkTried(u *Unit) error {
	s.tried += u.tried
	u.tried = 0
	if s.tried > freeTries+triesPerType*uint64(len(s.ids.S)) {
		return errTried
	}
	return nil
}

// maxChain bounds the recursion along references.
const maxChain = 4096

// NewSet makes an empty Set for about types distinct types.
func NewSet(names Names, types int) *Set {
	s := &Set{names: names}
	s.ids.Append(idState{})
	s.keys.Append(idKeys{})
	s.words.Resize(3) // void
	size := 1 << 10
	for size < types {
		size *= 2
	}
	s.table.Resize(size)
	s.entTab.Resize(1 << 12)
	s.ents.Append(entity{})
	s.strings.init()
	return s
}

// Free gives all memory back.
func (s *Set) Free() {
	for _, v := range []*arena.Vec[uint32]{&s.words, &s.shapes, &s.table, &s.entTab, &s.visited, &s.forwards} {
		v.Free()
	}
	s.ids.Free()
	s.keys.Free()
	s.ents.Free()
	if s.base != nil {
		s.base.funcTab.Free()
	}
	s.strings.free()
	s.local.free()
}

// DropIndexes gives back what serves to find types and names. Nothing but the
// types and strings as they are may be asked for afterwards, Numbering.PutTypes
// included.
func (s *Set) DropIndexes() {
	for _, v := range []*arena.Vec[uint32]{&s.table, &s.entTab, &s.visited, &s.forwards} {
		v.Free()
	}
	s.keys.Free()
	s.ents.Free()
	s.strings.freeByText()
	s.local.free()
}

// Len is the number of ids handed out; valid ids are 1..Len.
func (s *Set) Len() int { return len(s.ids.S) - 1 }

// record is the words of id: info, name token, third and the rest.
func (s *Set) record(id uint32) []uint32 { return s.words.S[s.ids.S[id].off:] }

// Record is the record of an id for readers outside the package: info, name
// token, third word and the kind's extra words, references being ids of the
// Set that may be forwarded (see Final). It is valid until the next change.
func (s *Set) Record(id uint32) []uint32 { return s.record(id) }

// Final follows an id to what it is forwarded to.
func (s *Set) Final(id uint32) uint32 {
	for {
		n := s.ids.S[id].fwd
		if n == id {
			return id
		}
		id = n
	}
}

// entity finds what is known of a name; nil if nothing.
func (s *Set) entity(name Name) *entity {
	if k := s.entTab.S[s.entitySlot(name)]; k != 0 {
		return &s.ents.S[k]
	}
	return nil
}

// entitySlot is the slot of a name in entTab, or the one where it would go.
func (s *Set) entitySlot(name Name) uint32 {
	mask := uint32(len(s.entTab.S) - 1)
	i := mix32(name) & mask
	for {
		k := s.entTab.S[i]
		if k == 0 || s.ents.S[k].name == name {
			return i
		}
		i = (i + 1) & mask
	}
}

// addEntity is entity, adding an empty one if there is none.
func (s *Set) addEntity(name Name) *entity {
	if e := s.entity(name); e != nil {
		return e
	}
	s.reserveEntities(len(s.ents.S))
	s.entTab.S[s.entitySlot(name)] = uint32(len(s.ents.S))
	s.ents.Append(entity{name: name})
	return &s.ents.S[len(s.ents.S)-1]
}

// reserveEntities makes the table of names large enough for n.
func (s *Set) reserveEntities(n int) {
	size := len(s.entTab.S)
	for n*2 > size {
		size *= 2
	}
	if size == len(s.entTab.S) {
		return
	}
	s.entTab.Free()
	s.entTab.Resize(size)
	mask := uint32(size - 1)
	for k := 1; k < len(s.ents.S); k++ {
		i := mix32(s.ents.S[k].name) & mask
		for s.entTab.S[i] != 0 {
			i = (i + 1) & mask
		}
		s.entTab.S[i] = uint32(k)
	}
}

func mix32(x uint32) uint32 {
	h := uint64(x) * 0x9e3779b97f4a7c15
	return uint32(h >> 32)
}

func mix(h uint64, w uint32) uint64 { return mix64(h, uint64(w)) }

func mix64(h, x uint64) uint64 {
	h = (h ^ x) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}

// newIDs hands out n ids, the first of which is returned. Their records follow
// one by one with add.
func (s *Set) newIDs(n int) (uint32, error) {
	first := len(s.ids.S)
	if first+n > MaxIDs {
		return 0, errManyTypes
	}
	s.keys.Resize(first + n)
	for i, x := uint32(first), s.ids.Extend(n); len(x) > 0; i, x = i+1, x[1:] {
		x[0] = idState{fwd: i}
	}
	return uint32(first), nil
}

// add appends the record of an id: n words, not yet filled.
func (s *Set) add(id uint32, n int) ([]uint32, error) {
	at, err := s.addWords(n)
	if err != nil {
		return nil, err
	}
	s.ids.S[id].off = at
	return s.words.S[at:], nil
}

// addWords makes room for n words of records and returns where it begins.
func (s *Set) addWords(n int) (uint32, error) {
	if uint64(len(s.words.S))+uint64(n) > 1<<31 {
		return 0, errors.New("types take more than 8 GiB")
	}
	if s.unchecked += 4*n + typeBytes; s.unchecked >= checkStep {
		s.unchecked = 0
		if err := arena.CheckLimit(0); err != nil {
			panic(err) // as a Vec does
		}
	}
	at := len(s.words.S)
	s.words.Extend(n)
	return uint32(at), nil
}

// Between two looks at the memory in use the Set takes about checkStep bytes at
// most; typeBytes of them are for the id and the name of a type.
const (
	checkStep = 256 << 10
	typeBytes = 64
)

// Bits of Set.hash beside those of the hash.
const (
	inTable = 1 << 31 // the id is in the table
	// lone says that a look-up which fits the id's record can give no other
	// id: no other type in the table has its hash, or no other definition, or
	// typedef, has its name. What may be found by another way has no lone.
	lone = 1 << 30
	// likely says of a named struct or union, which is not in the table, that
	// it is its entity's likely one.
	likely = 1 << 29
)

// notLone takes lone from id, for another type has been entered beside it.
func (s *Set) notLone(id uint32) {
	if s.keys.S[id].hash&lone != 0 {
		s.keys.S[id].hash &^= lone
		if id <= s.baseIDs {
			s.base.crowded = append(s.base.crowded, id)
		}
	}
}

// enter makes id the newest of the definitions, or typedefs, whose chain
// starts at first.
func (s *Set) enter(first *uint32, id uint32) {
	s.keys.S[id].next = *first
	if *first == 0 {
		s.keys.S[id].hash = lone
	} else {
		s.notLone(*first)
	}
	*first = id
}

// insert puts an id into the hash table, in front of its chain.
func (s *Set) insert(id, h uint32) {
	if s.entered >= len(s.table.S) {
		n := len(s.table.S) * 2
		s.table.Free()
		s.table.Resize(n)
		mask := uint32(n - 1)
		// Ascending ids: the newest stays in front.
		for k := uint32(1); k < uint32(len(s.ids.S)); k++ {
			if s.keys.S[k].hash&inTable != 0 && k != id {
				b := s.keys.S[k].hash & mask
				s.keys.S[k].next = s.table.S[b]
				s.table.S[b] = k
			}
		}
	}
	b := h & uint32(len(s.table.S)-1)
	only := uint32(lone)
	for o := s.table.S[b]; o != 0; o = s.keys.S[o].next {
		if s.keys.S[o].hash&^lone == h {
			s.notLone(o)
			only = 0
		}
	}
	s.keys.S[id].hash = h | only
	s.keys.S[id].next = s.table.S[b]
	s.table.S[b] = id
	s.entered++
}

// contentHash is the hash of a record whose references are settled; not for
// structs and unions, see anonHash.
func contentHash(w []uint32) uint32 {
	info := w[0]
	h := mix(mix(mix(0, info), w[1]), w[2])
	n := btf.InfoVlen(info)
	switch btf.InfoKind(info) {
	case btf.KindInt, btf.KindDeclTag:
		h = mix(h, w[3])
	case btf.KindArray:
		h = mix(mix(h, w[3]), w[5])
	case btf.KindEnum:
		for _, x := range w[3:][:2*n] {
			h = mix(h, x)
		}
	case btf.KindFuncProto:
		for p := w[3:][:2*n]; len(p) >= 2; p = p[2:] {
			h = mix64(h, uint64(p[0])<<32|uint64(p[1]))
		}
	case btf.KindEnum64:
		for _, x := range w[3:][:3*n] {
			h = mix(h, x)
		}
	}
	return uint32(h>>32)&^lone | inTable
}
