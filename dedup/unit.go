package dedup

import "github.com/btflite/btflite/arena"

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
	done      int                // how many of Order Resolve has looked up
	guess     uint32             // for the next one
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
	chunks    unitChunks
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
	u.err = nil
	u.dirty, u.loops, u.view, u.resolved = false, false, 0, false
}

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
