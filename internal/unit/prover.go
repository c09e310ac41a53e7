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
	settled bool // nothing that was assumed is wrong, as far as the reader knows
	known   dedup.Known
	refs    arena.Vec[dedup.Ref] // by type DIE, in the order of the unit: its id as Extern, or its node
	open    arena.Vec[assumed]
	left    arena.Vec[dedup.Unproved]
	fwds    arena.Vec[uint32]       // ids of the FWDs that are left out
	met     arena.Vec[uint64]       // by id & metMask: the id, and stamp + the offset of its DIE
	stamp   uint32                  // differs between units: so met needs no clearing
	size    uint32                  // bytes of the unit
	guess   uint32                  // id that the next type may have
	names   arena.Vec[uint32]       // by hash of the first names: a struct, union or enumeration without a name
	asked   []asked                 // of this unit
	pairs                           // of references that do not lead to the very type
	small   *[lowCodes]dwarf.Abbrev // see prover.low
	index   uint32                  // the type that indexes arrays
	inner   int                     // arrays inside arrays that are left out
	arrays  bool                    // an array is left out
	older   arena.Vec[uint32]       // see dedup.LeftOut
	moved   bool                    // takeBack has made nodes, which are not in the order of their DIEs
}

// assumed is a reference of the unit, the id that it was taken for, and the DIE of the type that
// is left out for this reason.
type assumed struct{ ref, id, owner uint32 }

// asked is a node without a name that names did not have.
type asked struct{ slot, node uint32 }

const (
	metSize   = 1 << 13
	metMask   = metSize - 1
	namesBits = 12
)

// begin prepares for a unit of size bytes. The set knows types.
func (x *proofs) begin(set *dedup.Set, size int) {
	x.refs.Reset()
	x.open.Reset()
	x.left.Reset()
	x.fwds.Reset()
	x.older.Reset()
	x.asked = x.asked[:0]
	if len(x.met.S) == 0 {
		x.met.Resize(metSize)
		x.names.Resize(1 << namesBits)
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

// learn notes the ids of nodes without a name, which are known since the unit was committed.
func (x *proofs) learn(u *dedup.Unit) {
	for _, a := range x.asked {
		if uint(a.node) < uint(len(u.ID.S)) {
			if id := u.ID.S[a.node]; id < dedup.MaxIDs {
				x.names.S[a.slot] = id
			}
		}
	}
	x.asked = x.asked[:0]
}

// reset prepares for the next unit. The last one was u.
func (x *proofs) reset(u *dedup.Unit) {
	x.learn(u)
	x.refs.Trim(arena.KeepBytes)
	x.open.Trim(arena.KeepBytes)
	x.left.Trim(arena.KeepBytes)
	x.fwds.Trim(arena.KeepBytes)
	x.older.Trim(arena.KeepBytes)
}

// free releases the memory.
func (x *proofs) free() {
	x.refs.Free()
	x.open.Free()
	x.left.Free()
	x.fwds.Free()
	x.older.Free()
	x.met.Free()
	x.names.Free()
	x.pairs.free()
	x.asked = nil
}

// add notes the type whose DIE starts in the bytes of m.
func (x *proofs) add(m *startWord, r dedup.Ref) {
	if m.bits == 0 {
		m.ref = dedup.Ref(len(x.refs.S)) + 1
	}
	x.refs.Append(r)
}

// lowCodes is the number of codes of one byte.
const lowCodes = 0x80

// metPair is an element of met.
func metPair(id, at uint32) uint64 { return uint64(id)<<32 | uint64(at) }

// prover proves the types of a unit.
type prover struct {
	proofs
	r       *Reader
	b       []byte
	tab     []dwarf.Abbrev
	low     *[lowCodes]dwarf.Abbrev // of codes of one byte
	met     *[metSize]uint64
	starts  []startWord // of the Reader
	be      bool        // big-endian
	text    nameTest
	depth   int                     // bound of plausible
	words   [3 + 2*maxParams]uint32 // scratch
	named   bool                    // the struct or union that is compared has a name
	guesses [maxGuesses]names.Guess // names of members whose texts are to be compared
	noted   uint                    // how many guesses there are
	most    uint                    // how many there may be: none unless a text tells the token
}

// maxGuesses is how many names of a struct or union are compared after its other members were.
const maxGuesses = 64

// maxParams is how many parameters protoByContent looks up.
const maxParams = 32
