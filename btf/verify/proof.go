package verify

import (
	"sync/atomic"

	"github.com/btflite/btflite/btf"
)

// A proof that all references are right, in no particular order.
//
// resolve.go repeats the kernel's walk, whose verdict on a type depends on two things:
// on records and sizes, which do not change with the order, and on the depth of the
// walk, where it began and what it has resolved before. Here each type is judged as if
// all others were resolved. If none is wrong, and the deepest chain is so short that no
// walk can be too deep wherever it begins, the kernel's walk would find nothing either.
// Otherwise we know nothing and fall back to resolve.go. The deepest chain in today's
// kernels is 27; the limit is 32.
//
// The longest way that a walk can take: DATASEC or DECL_TAG, VAR, a run of
// modifiers, then either by value through arrays, structs, unions and modifiers,
// or through pointers and modifiers.

// reach is how long ways are, in types.
type reach struct {
	modifiers int // the longest run of them
	down      int // the longest way by value, or through pointers
}

func (r *reach) merge(s reach) {
	r.modifiers = max(r.modifiers, s.modifiers)
	r.down = max(r.down, s.down)
}

// proof judges types in no particular order.
type proof struct {
	links
	reach
	stack [maxDepth]frame
}

// proven reports whether the own types are known to be right. If not, sizes are
// as they must be for a walk.
func (p *proof) proven(workers int) bool {
	return p.all(workers, (*proof).settle) && p.fits() &&
		p.all(workers, (*proof).rightIfOthersAre) && p.fits()
}

// all has do called for all types.
func (p *proof) all(workers int, do func(p *proof, from, to int) bool) bool {
	each, ok := inChunks(len(p.kinds), workers, p.ended, p, do)
	for _, w := range each {
		p.reach.merge(w.reach)
	}
	return ok
}

// fits reports whether every walk is within the limit: two types may come before
// the modifiers.
func (r reach) fits() bool { return 2+r.modifiers+r.down <= maxDepth }

// settle enters the types behind modifiers, and sizes.
func (p *proof) settle(from, to int) bool {
	for i := from; i < to; i++ {
		switch k := p.kinds[i]; {
		case in(ownSize, k):
			p.size[i] = p.word(int(p.off[i]) + 8)
		case k == btf.KindPtr:
			p.size[i] = p.ptrSize
		case in(modifiers, k):
			id, n := p.skipModifiers(p.first + uint32(i))
			p.final[i] = uint32(n)<<idBits | id
			p.reach.modifiers = max(p.reach.modifiers, n)
		case k == btf.KindVar:
			p.size[i] = p.held(p.word(int(p.off[i]) + 8))
		case k == btf.KindArray:
			p.size[i] = p.held(p.first + uint32(i))
		}
	}
	return true
}

// skipModifiers returns the type behind own modifiers, and how many there are. If
// there are too many it stops at one of them.
func (p *proof) skipModifiers(id uint32) (uint32, int) {
	n := 0
	for ; id >= p.first && in(modifiers, p.kinds[id-p.first]) && n <= maxDepth; n++ {
		id = p.get(id, 2)
	}
	return id, n
}

// held returns the size of a type in bytes. It is 0 for types without a size. It is also 0 where a
// chain of arrays is too long, or where rightIfOthersAre refuses an array of the chain.
func (p *proof) held(id uint32) uint32 {
	total := uint64(1) // below 1<<64, or there is an array that is refused
	for range maxDepth {
		id, _ = p.skipModifiers(id)
		if id < p.first || p.kind(id) != btf.KindArray {
			break
		}
		total *= uint64(p.get(id, 5))
		id = p.get(id, 3)
	}
	size := uint32(0)
	switch k := p.kind(id); {
	case id < p.first:
		_, size = p.behindBase(id)
	case k == btf.KindPtr:
		size = p.ptrSize
	case in(ownSize, k):
		size = p.get(id, 2)
	}
	return uint32(total * uint64(size))
}

// rightIfOthersAre judges types as if all others were resolved, and measures the
// ways down from them.
func (p *proof) rightIfOthersAre(from, to int) bool {
	p.mode = settled
	for i := from; i < to; i++ {
		k := p.kinds[i]
		id := p.first + uint32(i)
		switch {
		case k == btf.KindFuncProto:
			if _, rule := p.stepSignature(&frame{id: id}); rule != "" {
				return false
			}
		case in(nests, k):
			if !p.nest(uint32(i)) {
				return false
			}
		case in(resolvable, k):
			if _, rule := p.step(&frame{id: id}); rule != "" {
				return false
			}
			if k == btf.KindPtr {
				p.reach.down = max(p.reach.down, p.pointers(id))
			}
		}
	}
	return true
}

// pointers counts the types on the way down from a pointer, through pointers and modifiers. It
// stops counting above maxDepth.
func (p *proof) pointers(id uint32) int {
	n := 0
	for n <= maxDepth && id >= p.first && p.kinds[id-p.first] == btf.KindPtr {
		id = p.get(id, 2)
		n++
		if id >= p.first && in(modifiers, p.kinds[id-p.first]) {
			f := p.final[id-p.first]
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
func (p *proof) nest(i uint32) bool {
	if atomic.LoadUint32(&p.final[i]) != 0 {
		return true
	}
	p.stack[0] = frame{id: p.first + i}
	for n := 1; n > 0; {
		f := &p.stack[n-1]
		id, rule := p.step(f)
		switch {
		case rule != "" || id != 0 && n == maxDepth:
			return false
		case id != 0:
			p.stack[n] = frame{id: id}
			n++
		default:
			f.down++
			atomic.StoreUint32(&p.final[f.id-p.first], f.down)
			p.reach.down = max(p.reach.down, int(f.down))
			n--
		}
	}
	return true
}
