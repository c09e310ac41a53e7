package diff

import "github.com/btflite/btflite/btf"

// A reference is replaced by an id that means the same on both sides. The id of a
// named type is the group of that name, whatever its definitions are. The id of any
// other type is the node of its contents, where references are such ids again. With
// Options.ABI, modifiers and typedefs have the id of their target. A type needs the
// ids of its targets first; a stack of our own keeps that order, so each id is made
// once.
//
// Types that lead to themselves without a name on the way do not occur in C. They get
// their ids last: all start as equal, and in each of loopRounds rounds they are told
// apart by their contents with the ids of the round before. Differences farther away
// than loopRounds references are not seen.

const loopRounds = 16

// identify gives ids to all that definitions refer to.
func (c *comparison) identify() {
	for _, s := range c.sides {
		if c.filter.parts>>partVariable&1 != 0 {
			s.readVariables()
		}
		if !c.filter.abi {
			s.readTags()
		}
		s.identify()
	}
	for range loopRounds {
		var next [2][]uint32
		for i, s := range c.sides {
			for _, id := range s.loops {
				next[i] = append(next[i], s.internNode(id))
			}
		}
		for i, s := range c.sides {
			for j, id := range s.loops {
				s.ids[id] = next[i][j]
			}
		}
	}
}

// identify gives ids to what the definitions of one side refer to, but for
// types in loops, and finds what stands alone.
func (s *side) identify() {
	var stack []frame
	references := func(id uint32) {
		r := s.Record(id)
		for i, n := 0, references(r); i < n; i++ {
			stack = s.follow(stack, reference(r, i))
		}
	}
	nameless := s.c.filter.hasNameless()
	for id := uint32(1); id < s.TypeCount(); id++ {
		p, _, ok := s.chosen(id)
		if !ok && nameless { // may use one without a name
			p, _ = s.partOf(id)
			ok = p != noPart
		}
		if ok && p != partSection {
			references(id)
		}
	}
	if !nameless {
		return
	}
	// Nothing with a name leads to what is unseen now. If it stands in another
	// such type it belongs to that one.
	for id := uint32(1); id < s.TypeCount(); id++ {
		if s.ids[id] == idUnseen && s.isNameless(id) {
			s.alone = append(s.alone, id)
		}
	}
	s.use = 0
	n := 0
	for _, id := range s.alone {
		references(id)
	}
	for _, id := range s.alone {
		if s.ids[id] == idUnseen {
			stack = s.follow(stack, id)
			if id >= s.FirstID {
				s.alone[n] = id
				n++
			}
		}
	}
	s.alone = s.alone[:n]
}

// frame is a type whose references are being followed.
type frame struct {
	id   uint32
	next int // the reference that comes next
}

// follow gives ids to a type and all that it leads to. stack is an empty one
// to be used; it is returned.
func (s *side) follow(stack []frame, id uint32) []frame {
	stack = s.enter(stack, id)
	for len(stack) > 0 {
		f := &stack[len(stack)-1]
		r := s.Record(f.id)
		if f.next < references(r) {
			f.next++
			stack = s.enter(stack, reference(r, f.next-1))
			continue
		}
		s.leave(f.id, r)
		stack = stack[:len(stack)-1]
	}
	return stack
}

// enter gives an id to a type with a name, and puts any other on the stack.
func (s *side) enter(stack []frame, id uint32) []frame {
	if s.ids[id] != idUnseen {
		return stack
	}
	if p, name := s.partOf(id); p != noPart {
		s.ids[id] = idGroup | s.c.groups.intern(p, name)
		return stack
	}
	s.ids[id] = idBusy
	return append(stack, frame{id: id})
}

// leave gives an id to a type whose references have theirs.
func (s *side) leave(id uint32, r []uint32) {
	for i, n := 0, references(r); i < n; i++ {
		if ref := s.ids[reference(r, i)]; ref == idBusy || ref == idLoop {
			s.ids[id] = idLoop
			s.loops = append(s.loops, id)
			return
		}
	}
	if s.isTransparent(btf.InfoKind(r[1])) {
		s.ids[id] = s.ids[r[2]]
		return
	}
	s.ids[id] = s.internNode(id)
}

// isTransparent reports whether a type that partOf has no part for counts as
// what it refers to.
func (s *side) isTransparent(k btf.Kind) bool {
	switch k {
	case btf.KindConst, btf.KindVolatile, btf.KindRestrict, btf.KindTypeTag, btf.KindTypedef:
		return s.c.filter.abi
	}
	return false
}

// maxChain bounds how far modifiers are followed; kernels take 32.
const maxChain = 64

// skip follows a reference to what it counts as, at most maxChain steps.
func (s *side) skip(id uint32) uint32 {
	for range maxChain {
		p, _ := s.partOf(id)
		if p != noPart || !s.isTransparent(s.Kind(id)) {
			break
		}
		id = s.Record(id)[2]
	}
	return id
}

// internNode returns the id of a type by its contents.
func (s *side) internNode(id uint32) uint32 {
	s.content = s.appendContent(s.content[:0], id)
	n := s.c.table.intern(s.content)
	s.c.table.nodes[n].flags |= s.in | s.use
	return firstNode + n
}

// references returns how many references of a record count. The index type of an array
// and the target of a tag do not count.
func references(r []uint32) int {
	k := btf.InfoKind(r[1])
	switch k {
	case btf.KindArray:
		return 1
	case btf.KindDeclTag:
		return 0
	}
	_, _, n := btf.RefWords(k, btf.InfoVlen(r[1]))
	if btf.ThirdIsRef(k) {
		n++
	}
	return n
}

// reference is the i-th of them.
func reference(r []uint32, i int) uint32 {
	k := btf.InfoKind(r[1])
	if btf.ThirdIsRef(k) {
		if i == 0 {
			return r[2]
		}
		i--
	}
	start, stride, _ := btf.RefWords(k, btf.InfoVlen(r[1]))
	return r[start+i*stride]
}
