package dedup

import "github.com/btflite/btflite/arena"

// slowState is the memory of slowPlace for one unit. It is empty for almost all units.
type slowState struct {
	seeds          arena.Vec[uint32]  // nodes that differ from the known definition of their name
	tainted        arena.Vec[uint64]  // bit set of nodes that can reach a name with several definitions
	first          pairs[uint32]      // known type -> the first node that a walk met with it
	others         pairs[struct{}]    // all other pairs that the walk met
	unequal        pairs[struct{}]    // pairs that a walk of this unit has found to differ
	transient      bool               // the walk failed for a reason that may not hold the next time
	order          arena.Vec[fwdPair] // entries of first in the order made: {known type, node}
	fwdTo          map[uint32]uint32  // FWDs settled by this unit
	copies         []fwdPair          // {type of the base, node that it must not take in}
	rootEnd        uint32             // last id of the unit that brought the walk's known type
	definesBaseFwd bool               // the walk would give a FWD of the base a definition
	start          arena.Vec[uint32]  // spreadTaint: where the edges into each node start in from
	from           arena.Vec[uint32]  // spreadTaint: the nodes where the edges begin
	todo           arena.Vec[uint32]  // stack of nodes, or of ids, that wait for a visit
	marks          arena.Vec[uint8]   // mayBeNewer: by id
	steps          uint64             // of the walks of this unit
	maxSteps       uint64
}

func (w *slowState) reset(keep int) {
	w.seeds.Trim(keep)
	w.tainted.Trim(keep)
	w.order.Trim(keep)
	w.start.Trim(keep)
	w.from.Trim(keep)
	w.todo.Trim(keep)
	w.marks.Trim(keep)
	w.fwdTo, w.copies = nil, w.copies[:0]
}

func (w *slowState) free() {
	w.seeds.Free()
	w.tainted.Free()
	w.order.Free()
	w.start.Free()
	w.from.Free()
	w.todo.Free()
	w.marks.Free()
}

// seed adds node i to the seeds, unless it is the last one.
func (w *slowState) seed(i uint32) {
	if n := len(w.seeds.S); n == 0 || w.seeds.S[n-1] != i {
		w.seeds.Append(i)
	}
}

func (w *slowState) taint(i uint32) { w.tainted.S[i>>6] |= 1 << (i & 63) }

func (w *slowState) isTainted(i uint32) bool { return w.tainted.S[i>>6]>>(i&63)&1 != 0 }

// setFwd makes FWD f lead to d in this unit, unless it leads to another definition already.
func (w *slowState) setFwd(f, d uint32) {
	if w.fwdTo == nil {
		w.fwdTo = make(map[uint32]uint32)
	}
	if _, settled := w.fwdTo[f]; !settled {
		w.fwdTo[f] = d
	}
}

// maxWalk bounds the recursion of the walk, and maxUnequal how many unequal pairs it remembers.
// freeSteps and stepsPerNode bound its steps in a unit: n nested structs without names take n²
// steps. The units of Linux 6.12 and 7.2, and both kernels merged, take 90,000 at most.
const (
	maxWalk      = 1 << 15
	maxUnequal   = 1 << 19
	freeSteps    = 1 << 23
	stepsPerNode = 128
)

// pairs are pairs of types. They are on the heap: few units have any.
type pairs[V any] map[uint64]V

// keptPairs is how many pairs a table may have had that is used again: to clear one takes time in
// proportion to the most that it has had.
const keptPairs = 1 << 10

// clear empties the table.
func (p *pairs[V]) clear() {
	if *p == nil || len(*p) > keptPairs {
		*p = make(pairs[V])
	}
	clear(*p)
}
