package unit

import (
	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/names"
)

// The state of the proofs (prove.go): what a Reader keeps for them, and what the methods that prove
// one unit share.

// proofs is the state of a Reader that proves types while it reads.
type proofs struct {
	on      bool
	settled bool // settle has run, and no assumption is wrong as far as the reader knows
	known   dedup.Known
	refs    arena.Vec[dedup.Ref] // one for each type DIE, in order: its id as Extern, or its node
	// Assumptions: assumed has those about DIEs that come later, for settle, and unproved
	// those about nodes, for Commit.
	assumed   arena.Vec[assumption]
	unproved  arena.Vec[dedup.Unproved]
	forwards  arena.Vec[uint32]       // ids in place of FWDs that are left out
	met       arena.Vec[uint64]       // by id & metMask: the id, and stamp + the offset of its DIE (metPair)
	stamp     uint32                  // added to offsets; differs between units, so met needs no clearing
	size      uint32                  // bytes of the unit
	guess     uint32                  // id that the next type may have
	anon      arena.Vec[uint32]       // by slot or enumSlot: id of a struct, union or enumeration without a name
	missed    []anonMiss              // of this unit
	pairs                             // of references that do not lead to the very type
	ownLowTab *[lowCodes]dwarf.Abbrev // memory for prover.lowTab
	index     uint32                  // id of the type that indexes arrays
	inner     int                     // ARRAYs of inner dimensions that are left out
	arrays    bool                    // an array is left out
	older     arena.Vec[uint32]       // see dedup.LeftOut
	moved     bool                    // takeBack has made nodes, which are not in the order of their DIEs
}

// assumption says that a reference of the unit to the DIE at ref leads to the type id. Without it,
// the type whose DIE is at owner could not have been left out.
type assumption struct{ ref, id, owner uint32 }

// anonMiss is a node without a name whose id was not in anon. learn enters it.
type anonMiss struct{ slot, node uint32 }

const (
	metSize  = 1 << 13
	metMask  = metSize - 1
	anonBits = 12
)

// begin prepares for a unit of size bytes. The set knows types.
func (x *proofs) begin(set *dedup.Set, size int) {
	x.refs.Reset()
	x.assumed.Reset()
	x.unproved.Reset()
	x.forwards.Reset()
	x.older.Reset()
	x.missed = x.missed[:0]
	if len(x.met.S) == 0 {
		x.met.Resize(metSize)
		x.anon.Resize(1 << anonBits)
	}
	x.stamp += x.size // the last unit's offsets end there
	if x.size = uint32(size); x.stamp > 1<<32-1-x.size {
		clear(x.met.S)
		clear(x.alike.S)
		x.stamp = 0
	}
	x.pairs.begin()
	x.met.S[0] = uint64(x.stamp) // void is at offset 0
	x.guess, x.inner = 0, 0
	x.on, x.settled, x.moved, x.arrays = true, false, false, false
	x.known.Begin(set)
}

// learn enters the ids of the missed nodes into anon. They are known once the unit was committed.
func (x *proofs) learn(u *dedup.Unit) {
	for _, a := range x.missed {
		if uint(a.node) < uint(len(u.ID.S)) {
			if id := u.ID.S[a.node]; id < dedup.MaxIDs {
				x.anon.S[a.slot] = id
			}
		}
	}
	x.missed = x.missed[:0]
}

// reset prepares for the next unit. The last one was u.
func (x *proofs) reset(u *dedup.Unit) {
	x.learn(u)
	x.refs.Trim(arena.KeepBytes)
	x.assumed.Trim(arena.KeepBytes)
	x.unproved.Trim(arena.KeepBytes)
	x.forwards.Trim(arena.KeepBytes)
	x.older.Trim(arena.KeepBytes)
}

// free releases the memory.
func (x *proofs) free() {
	x.refs.Free()
	x.assumed.Free()
	x.unproved.Free()
	x.forwards.Free()
	x.older.Free()
	x.met.Free()
	x.anon.Free()
	x.pairs.free()
	x.missed = nil
}

// add notes that the next type DIE, which starts in the bytes of m, is r. The caller sets its bit.
func (x *proofs) add(m *startWord, r dedup.Ref) {
	if m.bits == 0 {
		m.ref = dedup.Ref(len(x.refs.S)) + 1
	}
	x.refs.Append(r)
}

// lowCodes is the number of codes of one byte.
const lowCodes = 0x80

// metPair makes an element of met. at is stamp + the offset of the DIE.
func metPair(id, at uint32) uint64 { return uint64(id)<<32 | uint64(at) }

// prover proves the types of a unit.
type prover struct {
	proofs
	r        *Reader
	b        []byte
	tab      []dwarf.Abbrev          // by code
	lowTab   *[lowCodes]dwarf.Abbrev // by code, for codes of one byte: the start of tab, or a copy
	met      *[metSize]uint64        // proofs.met
	starts   []startWord             // of the Reader
	be       bool                    // big-endian
	text     nameTest
	maxDepth int                     // bound of plausible
	words    [3 + 2*maxParams]uint32 // scratch: a record to be looked up
	named    bool                    // the struct or union that is compared has a name
	// nameGuesses has the names of members whose texts are still to be compared: numGuesses of at
	// most mostGuesses, which is 0 unless a text tells the token.
	nameGuesses [maxGuesses]names.Guess
	numGuesses  uint
	mostGuesses uint
}

// maxGuesses is how many names of a struct or union body compares at once, after all else.
const maxGuesses = 64

// maxParams is the most parameters of a function type that protoByContent looks up.
const maxParams = 32
