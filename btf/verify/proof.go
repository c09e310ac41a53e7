package verify

import (
	"sync/atomic"

	"github.com/btflite/btflite/btf"
)

// A proof that all references are right, in no particular order.
//
// What resolve.go asks of a type depends on its own record, on the types behind
// modifiers and on sizes, which are the same in whatever order types are
// resolved; and on how deep the walk is, where it began, and what has been
// resolved before. So all types are judged as if all others were resolved. If
// nothing is wrong with any of them, and the longest way down is so short that
// no walk can be too deep wherever it begins, the walk of resolve.go would find
// nothing. Else nothing is known, and it has to go. Kernels come to 27 of 32 types.
//
// The longest way that a walk can take: DATASEC or DECL_TAG, VAR, a run of
// modifiers, then either by value through arrays, structs, unions and modifiers,
// or through pointers and modifiers.

// final has more in a proof. Of modifiers it has, above the type behind them, how
// many modifiers lead there, with the first; of arrays, structs and unions, how
// many types the longest way down by value takes, with the first, or 0 if that is
// not known yet.
const (
	idBits = 20
	idMask = 1<<idBits - 1 // maxTypes
)

// reach is how long ways are, in types.
type reach struct {
	modifiers int // the longest run of them
	down      int // the longest way by value, or through pointers
}

func (r *reach) merge(s reach) {
	r.modifiers = max(r.modifiers, s.modifiers)
	r.down = max(r.down, s.down)
}

// proven reports whether the own types are known to be right. If not, sizes are
// as they must be for resolveAll.
func (c *checker) proven() bool {
	c.final = make([]uint32, len(c.kinds))
	c.size = make([]uint32, len(c.kinds))
	return c.inChunks((*checker).settle) && c.reach.fits() &&
		c.inChunks((*checker).rightIfOthersAre) && c.reach.fits()
}

// fits reports whether every walk is within the limit: two types may come before
// the modifiers.
func (r reach) fits() bool { return 2+r.modifiers+r.down <= maxDepth }

// settle enters the types behind modifiers, and sizes.
func (c *checker) settle(from, to int) bool {
	for i := from; i < to; i++ {
		switch k := c.kinds[i]; {
		case in(ownSize, k):
			c.size[i] = c.word(int(c.off[i]) + 8)
		case k == btf.KindPtr:
			c.size[i] = c.ptrSize
		case in(modifiers, k):
			id, n := c.skipModifiers(c.first + uint32(i))
			c.final[i] = uint32(n)<<idBits | id
			c.reach.modifiers = max(c.reach.modifiers, n)
		case k == btf.KindVar:
			c.size[i] = c.held(c.word(int(c.off[i]) + 8))
		case k == btf.KindArray:
			c.size[i] = c.held(c.first + uint32(i))
		}
	}
	return true
}

// skipModifiers returns the type behind own modifiers, and how many there are. If
// there are too many it stops at one of them.
func (c *checker) skipModifiers(id uint32) (uint32, int) {
	n := 0
	for ; id >= c.first && in(modifiers, c.kinds[id-c.first]) && n <= maxDepth; n++ {
		id = c.get(id, 2)
	}
	return id, n
}

// held is the size of a type: 0 for types without one, and where
// rightIfOthersAre refuses an array on the way, or there are too many types on it.
func (c *checker) held(id uint32) uint32 {
	total := uint64(1) // below 1<<64, or there is an array that is refused
	for range maxDepth {
		id, _ = c.skipModifiers(id)
		if id < c.first || c.kind(id) != btf.KindArray {
			break
		}
		total *= uint64(c.get(id, 5))
		id = c.get(id, 3)
	}
	size := uint32(0)
	switch k := c.kind(id); {
	case id < c.first:
		_, size = c.behindBase(id)
	case k == btf.KindPtr:
		size = c.ptrSize
	case in(ownSize, k):
		size = c.get(id, 2)
	}
	return uint32(total * uint64(size))
}

// rightIfOthersAre judges types as if all others were resolved, and measures the
// ways down from them.
func (c *checker) rightIfOthersAre(from, to int) bool {
	c.mode = settled
	for i := from; i < to; i++ {
		k := c.kinds[i]
		id := c.first + uint32(i)
		switch {
		case k == btf.KindFuncProto:
			if c.prototype(id) != nil {
				return false
			}
		case in(nests, k):
			if !c.nest(uint32(i)) {
				return false
			}
		case in(resolvable, k):
			if _, rule := c.step(&frame{id: id}); rule != "" {
				return false
			}
			if k == btf.KindPtr {
				c.reach.down = max(c.reach.down, c.pointers(id))
			}
		}
	}
	return true
}

// pointers is how many types the way down from a pointer takes, through pointers
// and modifiers; it stops at some that are too many.
func (c *checker) pointers(id uint32) int {
	n := 0
	for n <= maxDepth && id >= c.first && c.kinds[id-c.first] == btf.KindPtr {
		id = c.get(id, 2)
		n++
		if id >= c.first && in(modifiers, c.kinds[id-c.first]) {
			f := c.final[id-c.first]
			id = f & idMask
			n += int(f >> idBits)
		}
	}
	return n
}

// nest judges an array, struct or union and measures the way down from it, but
// first those that it holds, if that has not been done. It returns false if one is
// wrong, or if the way takes more than maxDepth of them, or has no end. Two workers
// may do the same type at the same time.
func (c *checker) nest(i uint32) bool {
	if atomic.LoadUint32(&c.final[i]) != 0 {
		return true
	}
	c.stack[0] = frame{id: c.first + i}
	for n := 1; n > 0; {
		f := &c.stack[n-1]
		id, rule := c.step(f)
		switch {
		case rule != "" || id != 0 && n == maxDepth:
			return false
		case id != 0:
			c.stack[n] = frame{id: id}
			n++
		default:
			f.down++
			atomic.StoreUint32(&c.final[f.id-c.first], f.down)
			c.reach.down = max(c.reach.down, int(f.down))
			n--
		}
	}
	return true
}

// below is pending for a type that the one of f holds. In a proof it measures the
// way down through it, and what is pending is what has not been measured.
func (c *checker) below(f *frame, id uint32) uint32 {
	if c.mode != settled {
		return c.pending(id)
	}
	if id < c.first {
		return 0
	}
	down, k := uint32(0), c.kinds[id-c.first]
	if in(modifiers, k) {
		v := c.final[id-c.first]
		if id, down = v&idMask, v>>idBits; id >= c.first {
			k = c.kinds[id-c.first]
		}
	}
	if in(nests, k) {
		d := atomic.LoadUint32(&c.final[id-c.first])
		if d == 0 {
			return id
		}
		down += d
	}
	f.down = max(f.down, down)
	return 0
}
