package dedup

import (
	"errors"
	"fmt"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// store has the types that the Set knows: BTF-shaped records whose references
// are ids of the Set, and what belongs to each id.
type store struct {
	words     arena.Vec[uint32]  // records as in BTF, with name tokens
	ids       arena.Vec[idState] // by id
	keys      arena.Vec[idKeys]  // by id
	unchecked int                // bytes taken since the last look at the memory in use
}

func (s *store) init() {
	s.ids.Append(idState{})
	s.keys.Append(idKeys{})
	s.words.Resize(3) // void
}

func (s *store) free() {
	s.words.Free()
	s.ids.Free()
	s.keys.Free()
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
	hash    uint32 // inTable and content hash, of types in the table; unique
	next    uint32 // next older id in its chain
	ptrTo   uint32 // the PTR to it
	constTo uint32 // the CONST of it
}

var errManyTypes = fmt.Errorf("more than %d distinct types", MaxIDs)

// record is the record of id, with a name token for each name and whatever
// comes behind it in the Set.
func (s *store) record(id uint32) btf.Record { return s.words.S[s.ids.S[id].off:] }

// Final follows an id to what it is forwarded to.
func (s *store) Final(id uint32) uint32 {
	for {
		n := s.ids.S[id].fwd
		if n == id {
			return id
		}
		id = n
	}
}

// newIDs hands out n ids, the first of which is returned. Their records follow
// one by one with add.
func (s *store) newIDs(n int) (uint32, error) {
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
func (s *store) add(id uint32, n int) (btf.Record, error) {
	at, err := s.addWords(n)
	if err != nil {
		return nil, err
	}
	s.ids.S[id].off = at
	return s.words.S[at:], nil
}

// addWords makes room for n words of records and returns where it begins.
func (s *store) addWords(n int) (uint32, error) {
	if uint64(len(s.words.S))+uint64(n) > 1<<31 {
		return 0, errors.New("types take more than 8 GiB")
	}
	if s.unchecked += 4*n + typeBytes; s.unchecked >= checkStep {
		s.unchecked = 0
		if err := s.words.CheckLimit(0); err != nil {
			panic(err) // as a Vec does
		}
	}
	at := len(s.words.S)
	s.words.Extend(n)
	return uint32(at), nil
}

func (s *store) addRecord(w btf.Record) (uint32, error) {
	id := len(s.ids.S)
	if id >= MaxIDs {
		return 0, errManyTypes
	}
	at, err := s.addWords(len(w))
	if err != nil {
		return 0, err
	}
	copy(s.words.S[at:], w)
	s.ids.Append(idState{at, uint32(id)})
	s.keys.Append(idKeys{})
	return uint32(id), nil
}

// Between two looks at the memory in use the Set takes about checkStep bytes at
// most; typeBytes of them are for the id and the name of a type.
const (
	checkStep = 256 << 10
	typeBytes = 64
)
