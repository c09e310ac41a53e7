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

// Unit is a run of types that is merged as a whole, usually the types of a compile unit.
// The caller fills Nodes, Members and Order and owns their memory; Set fills the other
// fields. After Reset, a Unit serves for the next run.
type Unit struct {
	Nodes   arena.Vec[Node]
	Members arena.Vec[Member]
	// Order lists the indexes of Nodes in raw id order: the order in which
	// pahole numbers the types before deduplication.
	Order arena.Vec[uint32]

	// ID has an id of the Set for each node after Commit. Before that, it has one
	// for the nodes that Resolve found, and a state (see idNew) for all others.
	ID arena.Vec[uint32]

	newNodes  arena.Vec[uint32]  // nodes that are not in the Set, in Order's order
	pairs     arena.Vec[fwdPair] // FWDs that were compared with a definition
	ambiguous arena.Vec[uint32]  // nodes whose name has several known definitions
	matched   arena.Vec[uint32]  // by node: the id of the Set that it last matched
	needsWalk bool               // only walk can place some nodes, mostly because a name has several definitions
	loops     bool               // a look-up came back to where it began
	newDefs   arena.Vec[uint32]  // nodes that are new although their names are known (findNewDefs)
	fwds      arena.Vec[uint32]  // FWDs among the nodes; only if types were left out
	view      uint32             // index.conflicts at the time of Resolve
	at        progress           // of Resolve
	resolved  bool               // Resolve has looked up all nodes
	tried     uint64             // candidates that were tried; see Set.tried
	err       error              // why the unit cannot be merged
	// placedRefs has the references that placeRefs found to be new, each after its targets.
	placedRefs arena.Vec[uint32]
	rules      rules    // of match
	names      newNames // for internNew
	scratch    []uint32 // memory of content and renewView
	slow       slowState
	shapes     []uint32 // see Shapes; nil for most units
	chunks     unitChunks
}

// rules says how match compares, and how far it may go.
type rules struct {
	mode   mode
	inBase bool // match is in the graph of a type of the base
	unsure bool // what match has found depends on what stands for a type that was left out
	budget int  // steps that match may still take
	nested int  // depth of choose inside choose (mayBecome)
	cuts   int  // how many names match has passed in the mode doubt
}

// progress says where lookUpNodes goes on after it has let a Commit in.
type progress struct {
	next  int    // index in Order of the next node
	guess uint32 // the id that this node probably has
}

// Reset empties the unit. It frees tables of more than keep bytes.
func (u *Unit) Reset(keep int) {
	u.Nodes.Trim(keep)
	u.Members.Trim(keep)
	u.Order.Trim(keep)
	u.ID.Trim(keep)
	u.newNodes.Trim(keep)
	u.pairs.Trim(keep)
	u.ambiguous.Trim(keep)
	u.matched.Trim(keep)
	u.newDefs.Trim(keep)
	u.fwds.Trim(keep)
	u.placedRefs.Trim(keep)
	u.names.list.Trim(keep)
	u.slow.reset(keep)
	u.chunks = unitChunks{found: u.chunks.found}
	u.err, u.shapes = nil, nil
	u.needsWalk, u.loops, u.view, u.resolved, u.names.hashed = false, false, 0, false, false
}

// Shapes makes look-ups use numbers[i] in place of anonHash for each node i that is a struct or
// union without a name. Numbers are below MaxIDs. If one unit of a Set has them, all units must, and
// types that may be equivalent must have the same number. The Set must not have a base. The unit
// keeps numbers until Reset.
func (u *Unit) Shapes(numbers []uint32) { u.shapes = numbers }

// Free releases all memory.
func (u *Unit) Free() {
	u.Nodes.Free()
	u.Members.Free()
	u.Order.Free()
	u.ID.Free()
	u.newNodes.Free()
	u.pairs.Free()
	u.ambiguous.Free()
	u.matched.Free()
	u.newDefs.Free()
	u.fwds.Free()
	u.placedRefs.Free()
	u.names.list.Free()
	u.slow.free()
}

// Names turns name tokens into text. Bytes reports false if a token is not
// valid. The Set calls Alias when token t has the text of the earlier token
// canon: from then on the reader of units must use canon. Touch only reads the
// first byte of each text, so that they are in the cache (see hashNames). Its
// result means nothing.
type Names interface {
	Bytes(t Name) ([]byte, bool)
	Alias(t, canon Name)
	Touch(t []Name) byte
}

// States of Unit.ID that are not ids.
const (
	idNew   = 0xffffffff // not in the Set
	idBusy  = 0xfffffffe // being looked up
	idLocal = 1 << 30    // idLocal | i: the same new type as node i of the unit
	// MaxIDs is the number of types that a Set can hold.
	MaxIDs = 1 << 29
)

// ErrChain is the error of Commit for references that lead only to each other.
var ErrChain = errors.New("type refers to itself without a struct, union or typedef in between, or is nested too deep")

// maxChain bounds the recursion along references. maxShaped bounds it in units with Shapes,
// where structs without names may be nested deeply; a step takes less than a kilobyte of
// stack.
const (
	maxChain  = 4096
	maxShaped = 1 << 18
)

// errTried is the error for hostile input, which makes the deduplication compare
// each type of a name with thousands of others.
var errTried = errors.New("so many different types have the same name, or the same members, that comparing them would take too long")

// mode says how match treats structs and unions with a name.
type mode uint8

const (
	// prove compares a node with a type of the Set. A named struct is equivalent to the
	// type whose id its node already has.
	prove mode = iota
	// guess is prove, but equal names are enough: match finds types that may be equivalent.
	guess
	// doubt is guess for two types of the Set (newest): could one node be equivalent to both? Structs
	// with one name may be, even if the first is an older one, and so may enumerations with other
	// values: the node may have a declaration in their place.
	doubt
	// within compares two nodes of a unit, in which each name has one definition.
	within
)

// Chunk is a run of nodes of a unit.
type Chunk struct {
	Key   uint64 // hash of the content; 0 if unknown
	First uint32 // index in Nodes of its first node
	Count uint32 // nodes
}

// unitChunks has the chunks of a unit: those that were read, and those that were looked up.
type unitChunks struct {
	read []Chunk // chunks whose nodes are in the unit; Commit keeps the ids of those with a key
	left int     // nodes of known chunks, which are not in the unit
	view uint32  // index.conflicts at the time of the look-up

	asked   []Chunk  // the chunks that LookUpChunks got; the caller owns them
	refs    []Ref    // the refs that LookUpChunks filled; the caller owns them
	found   []uint32 // by index in asked: result of find
	touched arena.Touched

	proved LeftOut // the argument of Known.LeaveOut
}
