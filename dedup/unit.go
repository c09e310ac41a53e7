package dedup

import (
	"errors"

	"github.com/btflite/btflite/arena"
)

// Name is a name token. Equal tokens mean equal names and, within one run,
// equal names have equal tokens (see Names). 0 is the empty name.
type Name = uint32

// Ref refers to a type from inside a Unit: 0 is void, 1..len(Nodes) is the
// node at index ref-1 of the same unit, and a value with Extern set is a type
// of the Set that an earlier commit returned.
type Ref = uint32

// Extern marks a Ref that is already an id of the Set.
const Extern Ref = 1 << 31

// Node is one type of a unit in the shape of a BTF type record; 20 bytes, no
// pointers. Info is the BTF info word (kind, vlen and kind_flag).
//
//	kind                          Third       First            Aux
//	INT                           size        the caller's     data word
//	FLOAT                         size        -                -
//	PTR CONST VOLATILE RESTRICT   Ref         -                -
//	TYPEDEF TYPE_TAG FUNC         Ref         -                -
//	ARRAY                         Ref elem    Ref index type   nelems
//	STRUCT UNION                  size        first member     -
//	ENUM ENUM64                   size        first value      -
//	FWD                           -           -                -
//	FUNC_PROTO                    Ref return  first parameter  -
//	VAR                           Ref         -                linkage
//	DECL_TAG                      Ref         -                component_idx
//	DATASEC                       size        first entry      -
type Node struct {
	Info  uint32
	Name  Name
	Third uint32
	First uint32
	Aux   uint32
}

// Member is one element of a node with elements, in the same unit's Members.
//
//	of                 Name         Type         Val
//	STRUCT UNION       member name  Ref          BTF member offset word
//	ENUM               value name   low 32 bits  -
//	ENUM64             value name   low 32 bits  high 32 bits
//	FUNC_PROTO         param name   Ref          -
//	DATASEC            offset       Ref (VAR)    size
type Member struct {
	Name Name
	Type uint32
	Val  uint32
}

// Unit is one run of types that is merged as a whole: the types of a compile
// unit. The caller fills Nodes, Members and Order and owns their memory; Set
// fills the rest. A Unit is reused for the next run after Reset.
type Unit struct {
	Nodes   arena.Vec[Node]
	Members arena.Vec[Member]
	// Order lists the indexes of Nodes in raw id order: the order in which
	// pahole numbers the types before deduplication.
	Order arena.Vec[uint32]

	// ID is the Set's id of each node after Commit; before that, of those
	// nodes that Resolve found in the Set, else one of the states below.
	ID arena.Vec[uint32]

	news      arena.Vec[uint32]  // nodes that Resolve did not find, in Order's order
	pairs     arena.Vec[fwdPair] // forwards met by definitions
	ambiguous arena.Vec[uint32]  // nodes whose name has several known definitions
	matched   arena.Vec[uint32]  // per node: last set id it was found equal to by structure
	dirty     bool               // a name of the unit has more than one definition
	loops     bool               // a look-up came back to where it began
	view      uint32             // Set.conflicts at the time of Resolve
	at        progress           // of Resolve
	resolved  bool
	budget    int    // steps that match may still take
	tried     uint64 // definitions of its names that were considered; see Set.tried
	mode      mode   // of match
	inBase    bool   // match looks at the graph of a type of the base
	nested    int    // depth of picks in picks (mayBecome)
	err       error  // why the unit cannot be merged
	visits    arena.Vec[uint32]
	names     arena.Vec[Name] // of the new nodes, while they are interned
	scratch   []uint32
	slow      slowState
	shapes    []uint32 // see Shapes; nil for most units
	chunks    unitChunks
}

// progress is how far the look-up of a unit's nodes is.
type progress struct {
	done  int    // how many of Order have been looked up
	guess uint32 // for the next one
}

// Reset empties the unit. Tables over keep bytes give their memory back.
func (u *Unit) Reset(keep int) {
	u.Nodes.Trim(keep)
	u.Members.Trim(keep)
	u.Order.Trim(keep)
	u.ID.Trim(keep)
	u.news.Trim(keep)
	u.pairs.Trim(keep)
	u.ambiguous.Trim(keep)
	u.matched.Trim(keep)
	u.visits.Trim(keep)
	u.names.Trim(keep)
	u.slow.reset(keep)
	u.chunks = unitChunks{found: u.chunks.found}
	u.err, u.shapes = nil, nil
	u.dirty, u.loops, u.view, u.resolved = false, false, 0, false
}

// Shapes gives, for each node that is a struct or union without a name, a number below MaxIDs
// that takes the place of anonHash. Types that may be equivalent have the same one, in all
// units of a Set without a base. numbers is part of the unit
// until it is committed.
func (u *Unit) Shapes(numbers []uint32) { u.shapes = numbers }

// Free gives all memory back.
func (u *Unit) Free() {
	u.Nodes.Free()
	u.Members.Free()
	u.Order.Free()
	u.ID.Free()
	u.news.Free()
	u.pairs.Free()
	u.ambiguous.Free()
	u.matched.Free()
	u.visits.Free()
	u.names.Free()
	u.slow.free()
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

// States of Unit.ID that are not ids.
const (
	idNew   = 0xffffffff // not in the Set
	idBusy  = 0xfffffffe // being looked up
	idLocal = 1 << 30    // | node index: same as that node of the unit
	// MaxIDs is the number of types that a Set can hold.
	MaxIDs = 1 << 29
)

// ErrChain is the error of Commit for references that lead nowhere but to themselves.
var ErrChain = errors.New("type refers to itself without a struct, union or typedef in between, or is nested too deep")

// maxChain bounds the recursion along references, and maxShaped the one of look-ups in units
// with Shapes: there structs without names may lie deep in each other, and a step takes less
// than a kilobyte.
const (
	maxChain  = 4096
	maxShaped = 1 << 18
)

// errTried is the error for input made to have the deduplication try each type
// of a name against thousands of others.
var errTried = errors.New("so many different types have the same name, or the same members, that comparing them would take too long")

// mode is what match makes of types with names.
type mode uint8

const (
	// prove compares a node with a type of the Set: structs and unions with a name are
	// equivalent if the node has been found to be that type.
	prove mode = iota
	// guess is prove where equal names are enough: it says which types may be equivalent.
	guess
	// within compares two nodes of a unit, in which each name has one definition.
	within
)

// Chunk is a run of nodes of a unit.
type Chunk struct {
	Key   uint64 // 0 if there is none
	First uint32 // index in Nodes of its first node
	Count uint32 // nodes
}

// unitChunks is what a unit has of chunks.
type unitChunks struct {
	read []Chunk // whose nodes are in the unit; the ids of those with a key are to be kept
	left int     // nodes of known chunks, which are not in the unit
	view uint32  // Set.conflicts when these were looked up

	asked   []Chunk  // those that were looked up, and what their nodes got; the caller's
	got     []Ref    //
	found   []uint32 // by index in asked: result of find
	touched arena.Touched
}
