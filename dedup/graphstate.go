package dedup

import "github.com/btflite/btflite/arena"

// What the walk over graphs remembers of a unit.

// slowState is the memory of slowPlace; it is empty for almost all units.
type slowState struct {
	seeds   arena.Vec[uint32]  // definitions that differ from the known one
	tainted arena.Vec[uint64]  // bit per node
	first   pairTable          // known node -> first node of the unit met with it
	more    pairTable          // all further pairs
	unequal pairTable          // pairs that a walk of this unit has found to differ
	once    bool               // the walk failed for a reason that may not hold the next time
	order   arena.Vec[fwdPair] // entries of first in the order made: {known, node}
	fwdTo   map[uint32]uint32  // forwards settled by this unit
	copies  []fwdPair          // {type of the base, node that it could not take in}
	rootEnd uint32             // walk: last id of the unit that the known side comes from
	raised  bool               // the walk met a forward of the base with a body
	start   arena.Vec[uint32]  // spreadTaint: edges into each node
	from    arena.Vec[uint32]
	todo    arena.Vec[uint32]
	steps   uint64
	most    uint64 // steps that the unit may take
}

func (w *slowState) reset(keep int) {
	w.seeds.Trim(keep)
	w.tainted.Trim(keep)
	w.order.Trim(keep)
	w.start.Trim(keep)
	w.from.Trim(keep)
	w.todo.Trim(keep)
	w.fwdTo, w.copies = nil, w.copies[:0]
}

func (w *slowState) free() {
	w.seeds.Free()
	w.tainted.Free()
	w.order.Free()
	w.start.Free()
	w.from.Free()
	w.todo.Free()
	w.first.free()
	w.more.free()
	w.unequal.free()
}

// seed adds node i to the seeds.
func (w *slowState) seed(i uint32) {
	if n := len(w.seeds.S); n == 0 || w.seeds.S[n-1] != i {
		w.seeds.Append(i)
	}
}

func (w *slowState) taint(i uint32) { w.tainted.S[i>>6] |= 1 << (i & 63) }

func (w *slowState) isTainted(i uint32) bool { return w.tainted.S[i>>6]>>(i&63)&1 != 0 }

func (w *slowState) setFwd(f, d uint32) {
	if w.fwdTo == nil {
		w.fwdTo = make(map[uint32]uint32)
	}
	if _, done := w.fwdTo[f]; !done {
		w.fwdTo[f] = d
	}
}

// maxWalk bounds the recursion of the walk, and maxUnequal how many pairs it remembers to
// differ. freeSteps and stepsPerNode bound its steps in a unit: thousands of structs without
// names inside each other take the square of their number. The units of Linux 6.12 and 7.2,
// and both kernels merged, take 90,000 at most.
const (
	maxWalk      = 1 << 15
	maxUnequal   = 1 << 19
	freeSteps    = 1 << 23
	stepsPerNode = 128
)

// pairTable is an open-addressing hash table that is cheap to clear.
type pairTable struct {
	keys arena.Vec[uint64] // 0 empty
	vals arena.Vec[uint32]
	used arena.Vec[uint32] // slots in use
}

func (t *pairTable) clear() {
	if t.keys.S == nil {
		t.keys.Resize(1 << 10)
		t.vals.Resize(1 << 10)
	}
	if len(t.used.S)*4 > len(t.keys.S) {
		clear(t.keys.S)
	} else {
		for _, i := range t.used.S {
			t.keys.S[i] = 0
		}
	}
	t.used.Reset()
}

func (t *pairTable) free() {
	t.keys.Free()
	t.vals.Free()
	t.used.Free()
}

func (t *pairTable) slot(k uint64) uint32 {
	mask := uint32(len(t.keys.S) - 1)
	i := uint32(arena.Mix(0, k)>>32) & mask
	for t.keys.S[i] != 0 && t.keys.S[i] != k {
		i = (i + 1) & mask
	}
	return i
}

// Keys are never 0: the known side of a pair is not void.
func (t *pairTable) get(k uint64) (uint32, bool) {
	i := t.slot(k)
	return t.vals.S[i], t.keys.S[i] != 0
}

func (t *pairTable) has(k uint64) bool { return t.keys.S[t.slot(k)] != 0 }

func (t *pairTable) put(k uint64, v uint32) {
	if len(t.used.S)*2 >= len(t.keys.S) {
		old := append([]uint64(nil), t.keys.S...)
		oldVals := append([]uint32(nil), t.vals.S...)
		n := len(old) * 2
		t.keys.Free()
		t.vals.Free()
		t.keys.Resize(n)
		t.vals.Resize(n)
		t.used.Reset()
		for j, x := range old {
			if x != 0 {
				i := t.slot(x)
				t.keys.S[i], t.vals.S[i] = x, oldVals[j]
				t.used.Append(i)
			}
		}
	}
	i := t.slot(k)
	t.keys.S[i], t.vals.S[i] = k, v
	t.used.Append(i)
}
