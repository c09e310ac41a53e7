package order

import (
	"cmp"
	"context"
	"slices"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// A refiner divides types into ordered classes, coarse at first (same kind, name and
// content). It divides a class further as long as its types refer to different classes,
// until each class has one type.
//
// When a class is divided, its largest part keeps the number of the class. Only the types
// that refer to the other parts are touched. So each reference is touched at most log(n)
// times, and the work is near linear in the number of references, however long the chains
// of types are (the method is Hopcroft's, for finite automata).
//
// The work goes in rounds, to make the result independent of the order of the input: all
// touches of a round are made with the classes as they were before it. In the same way
// the parts of a class get their order: by the places of the classes that they refer to.
type refiner struct {
	b     *btf.Blob
	ranks *names

	types []uint32 // own types, by their place in b, class by class
	at    []uint32 // by type, its index in types
	class []uint32 // by type, the number of its class
	start []uint32 // by class, the index in types of its first type
	end   []uint32 // by class, the index after its last

	from []uint32 // by type, the index in uses of its first use; one more at the end
	uses []use

	moved   []move  // since the last round
	touched []touch // in this round
	groups  []group // of touched
	inward  bool    // users count too, not only what a type refers to
}

// use is a reference to a type: by which type, and which of its references.
type use struct{ by, place uint32 }

// move is a type that has left its class, and the class.
type move struct{ t, left uint32 }

// touch tells a type that one of its references, or users, has moved.
type touch struct {
	t     uint32
	place uint32 // number of the reference; with user set, among the user's
	to    uint32 // where the new class starts
	rest  uint32 // where the old class starts
}

// user marks a touch by a type that refers to t. A type has any number of users,
// so there is no class where it would be without the touch.
const (
	user   = 1 << 31
	nobody = 1<<32 - 1
)

// group is the touches of one type: touched[first:end].
type group struct{ first, end int }

func newRefiner(b *btf.Blob, ranks *names) *refiner {
	n := len(b.Off)
	r := &refiner{b: b, ranks: ranks, types: arena.Make[uint32](n), at: arena.Make[uint32](n), class: arena.Make[uint32](n),
		from: arena.Make[uint32](n + 1)}
	for t := range n {
		r.types[t] = uint32(t)
		r.eachOwn(uint32(t), func(_, to uint32) { r.from[to]++ })
	}
	for t := range n {
		r.from[t+1] += r.from[t]
	}
	if n > 0 {
		r.uses = arena.Make[use](int(r.from[n-1]))
	}
	for t := n - 1; t >= 0; t-- { // from the ends of the lists to their beginnings
		r.eachOwn(uint32(t), func(place, to uint32) {
			r.from[to]--
			r.uses[r.from[to]] = use{uint32(t), place}
		})
	}
	r.from[n] = uint32(len(r.uses))
	return r
}

// eachOwn calls fn for each reference of type t to an own type.
func (r *refiner) eachOwn(t uint32, fn func(place, to uint32)) {
	place := uint32(0)
	btf.EachRef(r.record(t), func(id *uint32) {
		if *id >= r.b.FirstID {
			fn(place, *id-r.b.FirstID)
		}
		place++
	})
}

func (r *refiner) record(t uint32) []uint32 { return r.b.Record(r.b.FirstID + t) }

func (r *refiner) size(class uint32) uint32 { return r.end[class] - r.start[class] }

// run brings r.types into the canonical order. It returns how often it had to
// choose one of several types that nothing tells apart. It ends early, somewhere on
// the way, when ctx is done.
func (r *refiner) run(ctx context.Context) (choices int) {
	if ctx.Err() != nil || r.byContent(ctx) != nil {
		return 0
	}
	r.settle(ctx)
	if ctx.Err() != nil {
		return 0
	}
	r.inward = true
	r.touchAll()
	r.divideTouched()
	r.settle(ctx)
	for i := 0; i < len(r.types); i++ {
		for r.size(r.class[r.types[i]]) > 1 && ctx.Err() == nil {
			t := r.types[i]
			r.divide(r.class[t], [][]uint32{{t}}, nil)
			r.settle(ctx)
			choices++
		}
	}
	return choices
}

// byContent makes the first classes: types that are equal apart from their references
// to own types. It fails only if ctx is done.
func (r *refiner) byContent(ctx context.Context) error {
	if err := sortUntil(ctx, r.types, r.compareContent); err != nil {
		return err
	}
	all := r.types
	r.start, r.end = []uint32{0}, []uint32{uint32(len(all))}
	var parts [][]uint32
	for len(all) > 0 {
		n := 1
		for n < len(all) && r.compareContent(all[0], all[n]) == 0 {
			n++
		}
		parts = append(arena.Room(parts, 1), slices.Clone(all[:n]))
		all = all[n:]
	}
	for i, t := range r.types {
		r.at[t] = uint32(i)
	}
	r.divide(0, parts, nil)
	return nil
}

// kindOrder is the place of each kind: types that need no other, types with names, types
// made of other types, and last kinds that describe other types and have no layout.
// Readers print types in this order, each after the types that it needs. A change of a
// type then moves few lines.
var kindOrder = func() (place [btf.NumKinds]int) {
	for i, k := range []btf.Kind{btf.KindInt, btf.KindFloat, btf.KindEnum, btf.KindEnum64, btf.KindFwd, btf.KindTypedef,
		btf.KindStruct, btf.KindUnion, btf.KindPtr, btf.KindArray, btf.KindVolatile, btf.KindConst, btf.KindRestrict,
		btf.KindTypeTag, btf.KindFuncProto, btf.KindFunc, btf.KindVar, btf.KindDatasec, btf.KindDeclTag,
		btf.KindLocParam, btf.KindLocProto, btf.KindLocsec} {
		place[k] = i
	}
	return place
}()

// compareContent compares kind, name, the names of the elements, and all other
// words but for references to own types, which count as equal. Names of elements
// come first so that an anonymous type stays where it is if it gets an element
// or its size changes.
func (r *refiner) compareContent(x, y uint32) int {
	a, b := r.record(x), r.record(y)
	k := btf.InfoKind(a[1])
	if c := cmp.Or(cmp.Compare(kindOrder[k], kindOrder[btf.InfoKind(b[1])]), cmp.Compare(r.ranks.rank[a[0]], r.ranks.rank[b[0]])); c != 0 {
		return c
	}
	stride, n := btf.NameWords(k, btf.InfoVlen(a[1]))
	_, m := btf.NameWords(k, btf.InfoVlen(b[1]))
	for i := range min(n, m) {
		if c := cmp.Compare(r.ranks.rank[a[3+i*stride]], r.ranks.rank[b[3+i*stride]]); c != 0 {
			return c
		}
	}
	if c := cmp.Compare(a[1], b[1]); c != 0 {
		return c
	}
	start, step, refs := btf.RefWords(k, btf.InfoVlen(a[1]))
	for i := 2; i < len(a); i++ {
		isRef := i == 2 && btf.ThirdIsRef(k) || i >= start && i < start+refs*step && ((i-start)%step == 0 || btf.RefPairs(k) && (i-start)%step == 1)
		isName := n > 0 && i >= 3 && (i-3)%stride == 0 // is equal by now
		v, w := a[i], b[i]
		if isRef { // types of the base come first, by id
			v, w = min(v, r.b.FirstID), min(w, r.b.FirstID)
		}
		if c := cmp.Compare(v, w); c != 0 && !isName {
			return c
		}
	}
	return 0
}

// settle goes on until nothing moves, or ctx is done.
func (r *refiner) settle(ctx context.Context) {
	for len(r.moved) > 0 && ctx.Err() == nil {
		r.touchUsers()
		r.moved = r.moved[:0]
		r.divideTouched()
	}
}

// touchUsers touches the users of types that have moved.
func (r *refiner) touchUsers() {
	r.touched = r.touched[:0]
	for _, m := range r.moved {
		to, rest := r.start[r.class[m.t]], r.start[m.left]
		uses := r.uses[r.from[m.t]:r.from[m.t+1]]
		r.touched = arena.Room(r.touched, len(uses))
		for _, u := range uses {
			r.touch(touch{u.by, u.place, to, rest})
		}
		if r.inward {
			r.touched = arena.Room(r.touched, len(r.record(m.t)))
			r.eachOwn(m.t, func(place, t uint32) { r.touch(touch{t, user | place, to, nobody}) })
		}
	}
}

// touchAll tells every type of all its users.
func (r *refiner) touchAll() {
	r.touched = r.touched[:0]
	for t := range uint32(len(r.types)) {
		uses := r.uses[r.from[t]:r.from[t+1]]
		r.touched = arena.Room(r.touched, len(uses))
		for _, u := range uses {
			r.touch(touch{t, user | u.place, r.start[r.class[u.by]], nobody})
		}
	}
}

func (r *refiner) touch(t touch) {
	if r.size(r.class[t.t]) > 1 {
		r.touched = append(r.touched, t)
	}
}

// divideTouched divides the classes of the types that are touched.
func (r *refiner) divideTouched() {
	slices.SortFunc(r.touched, func(a, b touch) int {
		return cmp.Or(cmp.Compare(r.class[a.t], r.class[b.t]), cmp.Compare(a.t, b.t), cmp.Compare(a.place, b.place), cmp.Compare(a.to, b.to))
	})
	r.groups = r.groups[:0]
	for i := 0; i < len(r.touched); {
		first := i
		for i < len(r.touched) && r.touched[i].t == r.touched[first].t {
			i++
		}
		r.groups = append(arena.Room(r.groups, 1), group{first, i})
	}
	for groups := r.groups; len(groups) > 0; {
		n := 1
		class := r.class[r.typeOf(groups[0])]
		for n < len(groups) && r.class[r.typeOf(groups[n])] == class {
			n++
		}
		r.divideBy(class, groups[:n])
		groups = groups[n:]
	}
}

func (r *refiner) typeOf(g group) uint32 { return r.touched[g.first].t }

// divideBy divides a class by the touches of its types. Types without any stay together,
// between those that come before and after them.
func (r *refiner) divideBy(class uint32, groups []group) {
	compare := func(a, b group) int { return compareTouches(r.touched[a.first:a.end], r.touched[b.first:b.end]) }
	slices.SortFunc(groups, compare)
	var front, back [][]uint32
	for len(groups) > 0 {
		n := 1
		for n < len(groups) && compare(groups[0], groups[n]) == 0 {
			n++
		}
		var part []uint32
		for _, g := range groups[:n] {
			part = append(arena.Room(part, 1), r.typeOf(g))
		}
		if compare(groups[0], group{}) < 0 {
			front = append(arena.Room(front, 1), part)
		} else {
			back = append(arena.Room(back, 1), part)
		}
		groups = groups[n:]
	}
	r.divide(class, front, back)
}

// compareTouches compares two types of one class by the classes that they refer
// to. Where one is not touched, its reference is in the old class still.
func compareTouches(a, b []touch) int {
	for i := 0; ; i++ {
		switch {
		case i == len(a) && i == len(b):
			return 0
		case i == len(a) || i < len(b) && b[i].place < a[i].place:
			return cmp.Compare(b[i].rest, b[i].to)
		case i == len(b) || a[i].place < b[i].place:
			return cmp.Compare(a[i].to, a[i].rest)
		case a[i].to != b[i].to:
			return cmp.Compare(a[i].to, b[i].to)
		}
	}
}

// divide takes parts off a class, in front of and behind what is left of it.
// The largest of all keeps the number of the class, the types of the others are
// moved.
func (r *refiner) divide(class uint32, front, back [][]uint32) {
	first, end := r.start[class], r.end[class]
	at := first
	for _, part := range front {
		for _, t := range part {
			r.swap(t, at)
			at++
		}
	}
	middle := at
	at = end
	for _, part := range slices.Backward(back) {
		for _, t := range part {
			at--
			r.swap(t, at)
		}
	}
	parts := arena.Make[uint32](len(front) + len(back) + 1)[:0] // their ends
	at = first
	for _, part := range front {
		at += uint32(len(part))
		parts = append(parts, at)
	}
	rest := end
	for _, part := range back {
		rest -= uint32(len(part))
	}
	if rest > middle {
		at = rest
		parts = append(parts, at)
	}
	for _, part := range back {
		at += uint32(len(part))
		parts = append(parts, at)
	}
	r.number(class, parts)
}

// swap puts type t at an index of r.types, and what is there where t was.
func (r *refiner) swap(t, to uint32) {
	other, from := r.types[to], r.at[t]
	r.types[from], r.types[to] = other, t
	r.at[other], r.at[t] = from, to
}

// number gives class numbers to the parts that a class is divided into, ends
// being the indexes in r.types after each.
func (r *refiner) number(class uint32, ends []uint32) {
	at := r.start[class]
	largest, first, size := 0, at, uint32(0)
	for i, end := range ends {
		if end-at > size {
			largest, first, size = i, at, end-at
		}
		at = end
	}
	at = r.start[class]
	for i, end := range ends {
		if i != largest {
			r.moved = arena.Room(r.moved, int(end-at))
			for _, t := range r.types[at:end] {
				r.class[t] = uint32(len(r.start))
				r.moved = append(r.moved, move{t, class})
			}
			r.start, r.end = append(arena.Room(r.start, 1), at), append(arena.Room(r.end, 1), end)
		}
		at = end
	}
	r.start[class], r.end[class] = first, first+size
}
