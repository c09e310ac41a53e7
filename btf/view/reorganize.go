package view

import "github.com/btflite/btflite/btf"

// Move is one step of Reorganize: a member goes to another place.
type Move struct {
	Member Member
	Before Member // the one that it stood behind
	After  Member // the one that it stands behind now
	// Padding is how many bytes at the end of the struct became padding, 0 if the
	// struct became smaller or the member was not the last one.
	Padding uint64
}

// mostReorganized is how many members a struct may have to be reorganized: the work
// grows with the square.
const mostReorganized = 2048

// mostMoves is how often a member moves, on average, before an end is made.
const mostMoves = 4

// mostLooks is how many holes, for each member, are looked at before an end is made:
// each move begins a new search.
const mostLooks = 64

// Reorganize looks for an order of the members of a struct that leaves fewer holes:
// members move into holes before them, as pahole moves them, those that leave another
// hole before those at the end, one at a time. It is one order of few holes, not the best one.
// Bit-fields, arrays without elements and members of packed structs stay, and each
// member stays where its alignment, and what __aligned__ must have said, lets it be.
// step, if it is not nil, gets each move with the layout behind it, for that call only.
// Done takes the result back; it may be the layout that is there already.
func (s *Layouts) Reorganize(t Type, step func(Move, *Layout)) *Layout {
	l := s.Of(t)
	if t.Kind() != btf.KindStruct || l.Packed || len(l.Rows) < 3 || len(l.Rows) > mostReorganized {
		return l
	}
	r := reorganizer{s: s, l: l, word: uint64(s.v.PointerSize()), step: step}
	r.read()
	for r.moves <= mostMoves*len(r.list) && (r.fill(r.withHole) || r.fill(r.fromEnd)) {
	}
	if r.moves == 0 {
		return l
	}
	r.settle()
	done := r.layout()
	s.Done(l)
	return done
}

// reorganizer is the state of Reorganize.
type reorganizer struct {
	s     *Layouts
	l     *Layout
	list  []placed
	size  uint64 // bytes of the struct
	align uint64 // of the struct
	word  uint64 // bytes
	step  func(Move, *Layout)
	moves int
	looks int // at holes
}

// placed is a member, where it is, and what is unused behind it.
type placed struct {
	row   *Row
	at    uint64 // bytes
	hole  uint64 // bytes
	align uint64
}

func (r *reorganizer) read() {
	rows := r.l.Rows
	r.size, r.align = r.l.Size, max(r.l.Align, 1)
	for i := range rows {
		p := placed{row: &rows[i], at: rows[i].Byte, align: max(uint64(rows[i].align), rows[i].Align, 1)}
		if i+1 < len(rows) {
			p.hole = rows[i+1].Hole
		}
		if rows[i].Misplaced {
			p.align = 1
		}
		r.align = max(r.align, p.align)
		r.list = append(r.list, p)
	}
}

// end is where the last member ends.
func (r *reorganizer) end() uint64 {
	last := &r.list[len(r.list)-1]
	end := last.at + last.row.Size
	if last.row.Bits != 0 {
		end = max(end, last.at+uint64(last.row.Bit+last.row.Bits+7)/8)
	}
	return end
}

// padding counts the unused bytes after the last member.
func (r *reorganizer) padding() uint64 { return r.size - min(r.end(), r.size) }

// settle makes the size what a compiler makes of the members.
func (r *reorganizer) settle() { r.size = (r.end() + r.align - 1) / r.align * r.align }

// fits reports whether the hole behind member to has the size and alignment for member
// from.
func (r *reorganizer) fits(from, to int) bool {
	m, hole := &r.list[from], r.list[to].hole
	if m.row.Size == 0 || m.row.Size > hole {
		return false
	}
	return r.placeIn(r.list[to+1].at, hole, m.row.Size)%m.align == 0
}

// placeIn is where in a hole a member of a size goes: what is larger than a word to the
// first word if it fits there, else so far from the end that more of its size fit behind it.
func (r *reorganizer) placeIn(end, hole, size uint64) uint64 {
	if first := (end - hole + r.word - 1) / r.word * r.word; size > r.word && first+size <= end {
		return first
	}
	return end - hole/size*size
}

// movable returns from if that member may move, otherwise 0. A bit-field may not, nor the
// neighbour of the hole after to. On 0 the search ends, as in pahole.
func (r *reorganizer) movable(from, to int) int {
	if from == to+1 || r.list[from].row.Bits != 0 {
		return 0
	}
	return from
}

// fill moves what find finds into the first hole that it finds something for. It
// reports whether it did.
func (r *reorganizer) fill(find func(to int) int) bool {
	for i := range len(r.list) - 1 {
		if r.list[i].hole == 0 {
			continue
		}
		if r.looks++; r.looks > mostLooks*len(r.list) {
			return false
		}
		if from := find(i); from != 0 {
			r.move(from, i)
			return true
		}
	}
	return false
}

// withHole is a member for the hole behind member to that leaves another hole: one
// with a hole behind it or, if there is padding, the last one. 0 for none.
func (r *reorganizer) withHole(to int) int {
	last := len(r.list) - 1
	for i := to + 1; i < last; i++ {
		if r.list[i].hole > 0 && r.fits(i, to) {
			if from := r.movable(i, to); from != 0 {
				return from
			}
			break
		}
	}
	if r.padding() > 0 && r.list[last].row.Bits == 0 && r.fits(last, to) {
		return last
	}
	return 0
}

// fromEnd is the last member that fits into the hole behind member to. 0 for none.
func (r *reorganizer) fromEnd(to int) int {
	for i := len(r.list) - 1; i > to+1; i-- {
		if r.fits(i, to) {
			return r.movable(i, to)
		}
	}
	return 0
}

// move moves member from behind member to.
func (r *reorganizer) move(from, to int) {
	r.moves++
	m, last := r.list[from], len(r.list)-1
	hole, holeEnd := r.list[to].hole, r.list[to+1].at
	told := Move{Member: m.row.Member, Before: r.list[from-1].row.Member, After: r.list[to].row.Member}
	padding := r.padding()
	r.remove(from)
	if from == to+1 {
		hole, holeEnd = hole+m.row.Size, m.at+m.row.Size
	}
	m.at = r.placeIn(holeEnd, hole, m.row.Size)
	r.list[to].hole = m.at - (holeEnd - hole)
	m.hole = hole - r.list[to].hole - m.row.Size
	r.list = append(r.list, placed{})
	copy(r.list[to+2:], r.list[to+1:])
	r.list[to+1] = m
	if from == last {
		r.list[last].hole = 0
		told.Padding = r.shorten(m.row.Size, padding, from == to+1)
	}
	if r.step != nil {
		l := r.layout()
		r.step(told, l)
		r.s.Done(l)
	}
}

// shorten makes the struct smaller after its last member has gone, or only nearer,
// by whole words if there was padding behind it. It returns what became padding
// instead.
func (r *reorganizer) shorten(size, padding uint64, near bool) uint64 {
	switch {
	case near:
		r.size -= r.padding() / r.word * r.word
	case size+padding >= r.word:
		r.size -= (size + padding) / r.word * r.word
	case padding > 0:
		return size
	default:
		r.size -= size
	}
	return 0
}

// remove takes a member out, and moves those behind it by words, as far as their
// alignment lets them.
func (r *reorganizer) remove(i int) {
	m := r.list[i]
	r.list = append(r.list[:i], r.list[i+1:]...)
	freed := m.row.Size + m.hole
	shift := freed / r.word * r.word
	if i == len(r.list) {
		return
	}
	// The unit of a bit-field may reach over what is free now.
	prev, next := &r.list[i-1], r.list[i].at-min(shift, r.list[i].at)
	prev.hole = next - min(prev.at+prev.row.Size, next)
	for j := i; j < len(r.list) && shift > 0; j++ {
		p := &r.list[j]
		if p.at < shift { // members that overlap
			break
		}
		if less := shift % p.align; p.align > r.word && less > 0 {
			shift -= less
			r.list[j-1].hole += less
		}
		p.at -= shift
	}
	r.size -= min(shift, r.size)
}

// layout is the layout of the members as they are placed now.
func (r *reorganizer) layout() *Layout {
	l := r.s.Of(Type{v: r.s.v})
	*l = Layout{Type: r.l.Type, Rows: l.Rows[:0], Size: r.size, Align: r.l.Align}
	for i := range r.list {
		p := &r.list[i]
		row := *p.row
		row.Offset = uint32(8*p.at + uint64(p.row.Offset) - 8*p.row.Byte)
		row.Byte, row.Hole, row.BitHole = p.at, 0, 0
		l.Rows = append(l.Rows, row)
	}
	r.s.members(l)
	l.holes()
	l.padding()
	for i := range l.Rows {
		r := &l.Rows[i]
		l.countForced(r)
		l.Misplaced = l.Misplaced || r.Bits == 0 && r.Byte%uint64(r.align) != 0
	}
	l.Packed = l.Misplaced && l.Padding == 0 && l.Holes == 0
	return l
}
