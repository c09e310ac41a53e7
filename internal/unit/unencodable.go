package unit

import "github.com/btflite/btflite/dedup"

// What BTF has no kind for: references, pointers to members and atomic types,
// complex numbers. One such type must not cost the file its BTF
// (pahole gives up), so it is dropped, and with it what cannot be said
// without it:
//
//	typedef, qualifier, array, prototype of it   dropped too
//	pointer to it                                a pointer to void
//	member of it                                 dropped: a gap, other offsets stay
//	function, variable of it                     dropped
//
// All that is counted, by what it was for types. What is void where C allows no void goes
// the same way (voids.go).

// Unencodable is the types of a unit that BTF has no kind for.
type Unencodable struct {
	// Counts says how many there are by sort of type, and what was dropped with
	// them; nil for none.
	Counts map[string]int
	// Members are the first of the members that were dropped: "struct.member".
	Members []string
	nodes   []uint32
	// voids says that something may be void where C allows no void (voids.go), and
	// voidTags counts the DIEs that stand for void, by sort.
	voids    bool
	voidTags map[string]int
}

// MaxMembers is how many members are named that are left out; all are counted.
const MaxMembers = 1000

func (x *Unencodable) reset() { *x = Unencodable{nodes: x.nodes[:0]} }

// add says that node i has no BTF kind; what is the sort of type.
func (x *Unencodable) add(i uint32, what string) {
	x.nodes = append(x.nodes, i)
	x.count(what, 1)
}

func (x *Unencodable) count(what string, n int) {
	if n == 0 {
		return
	}
	if x.Counts == nil {
		x.Counts = make(map[string]int)
	}
	x.Counts[what] += n
}

// member names a member that was dropped.
func (x *Unencodable) member(of, name []byte) {
	if len(of) == 0 {
		of = []byte("(anonymous)")
	}
	if text := string(of) + "." + string(name); len(x.Members) < MaxMembers {
		x.Members = append(x.Members, text)
	}
}

// Any reports whether there are any, or may be any by a void out of place.
func (x *Unencodable) Any() bool { return len(x.nodes) > 0 || x.voids }

// Dropped is the Ref of a parameter or function whose type is unencodable.
const Dropped = dedup.Extern - 1

// Kinds of what goes with an unencodable type, in Counts.
const (
	goneTypes     = "types made of them"
	goneMembers   = "struct and union members"
	goneFunctions = "functions"
	goneVariables = "variables"
	goneBases     = "base classes"
	goneVariants  = "variant parts of structs"
	goneVoid      = "types of other languages, which are void"
)
