package dedup

import (
	"errors"
	"fmt"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// store has the types of the Set: BTF records with name tokens and ids of the Set
// in place of string offsets and type ids.
type store struct {
	words     arena.Vec[uint32]  // records
	ids       arena.Vec[idState] // by id
	keys      arena.Vec[idKeys]  // by id
	unchecked int                // bytes taken since the memory limit was last checked
}

func (st *store) init() {
	st.ids.Append(idState{})
	st.keys.Append(idKeys{})
	st.words.Resize(3) // void
}

func (st *store) free() {
	st.words.Free()
	st.ids.Free()
	st.keys.Free()
}

// idState has the fields of an id that are needed until the output is written. A
// look-up of one field mostly needs another one as well, and neighbouring nodes of
// a unit have ids all over a base: as a struct, the fields share a cache line.
type idState struct {
	off uint32 // index in words of the record
	fwd uint32 // the id that this one is forwarded to, or itself
}

// idKeys has the fields of an id that find types.
type idKeys struct {
	hash    uint32 // content hash, inTable, unique, likely
	next    uint32 // next older id in its chain
	ptrTo   uint32 // the PTR to it
	constTo uint32 // the CONST of it
}

var errManyTypes = fmt.Errorf("more than %d distinct types", MaxIDs)

// record returns the record of id. The slice runs on to the end of words.
func (st *store) record(id uint32) btf.Record { return st.words.S[st.ids.S[id].off:] }

// Final returns the id that id is forwarded to, or id itself.
func (st *store) Final(id uint32) uint32 {
	for {
		n := st.ids.S[id].fwd
		if n == id {
			return id
		}
		id = n
	}
}

// direct returns where the id of the PTR or CONST with record w is kept; nil for other kinds, which
// are found in the table.
func (st *store) direct(w btf.Record) *uint32 {
	switch w.Kind() {
	case btf.KindPtr:
		return &st.keys.S[w.Third()].ptrTo
	case btf.KindConst:
		return &st.keys.S[w.Third()].constTo
	}
	return nil
}

// newIDs makes n ids and returns the first. Their records follow one by one with
// add.
func (st *store) newIDs(n int) (uint32, error) {
	first := len(st.ids.S)
	if first+n > MaxIDs {
		return 0, errManyTypes
	}
	st.keys.Resize(first + n)
	for i, x := uint32(first), st.ids.Extend(n); len(x) > 0; i, x = i+1, x[1:] {
		x[0] = idState{fwd: i}
	}
	return uint32(first), nil
}

// add appends a record of n words for an id. The caller fills it.
func (st *store) add(id uint32, n int) (btf.Record, error) {
	at, err := st.addWords(n)
	if err != nil {
		return nil, err
	}
	st.ids.S[id].off = at
	return st.words.S[at:], nil
}

// maxWords is how many words all records may take, so that their size fits in a header of BTF.
const maxWords = btf.MaxStrOff / 4

// addWords makes room for n words of records and returns the index of the first.
func (st *store) addWords(n int) (uint32, error) {
	if uint64(len(st.words.S))+uint64(n) > maxWords {
		return 0, errors.New("types take more than 2 GiB")
	}
	if st.unchecked += 4*n + typeBytes; st.unchecked >= checkStep {
		st.unchecked = 0
		if err := st.words.CheckLimit(0); err != nil {
			panic(err) // as a Vec does
		}
	}
	at := len(st.words.S)
	st.words.Extend(n)
	return uint32(at), nil
}

// addRecord appends a copy of record w under a new id, which it returns.
func (st *store) addRecord(w btf.Record) (uint32, error) {
	id := len(st.ids.S)
	if id >= MaxIDs {
		return 0, errManyTypes
	}
	at, err := st.addWords(len(w))
	if err != nil {
		return 0, err
	}
	copy(st.words.S[at:], w)
	st.ids.Append(idState{at, uint32(id)})
	st.keys.Append(idKeys{})
	return uint32(id), nil
}

// The Set checks the memory limit each time it has taken checkStep bytes more.
// typeBytes of them are for the id and the name of a type.
const (
	checkStep = 256 << 10
	typeBytes = 64
)
