package btffile

import (
	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// runs cuts the types of a Blob into the shortest runs that the Set can take: no
// type refers to a later run, and no struct, union or typedef depends on an
// earlier run by a reference that a comparison would have to follow.
//
// The second condition is needed because the Set compares references to earlier
// runs by id alone. It would then take "pointer to FWD x" and "pointer to struct
// x" for different, which are equivalent; the same holds for enumerations without
// values. There are two exceptions. Types that lead only to integers and floats
// may be in earlier runs, because equal ones always have one id. The same goes for
// references from types that no struct, union or typedef leads to (functions,
// variables, tags): they are merged by id in any case.
type runs struct {
	in   *btf.Blob
	last []uint32 // by id: highest id that must be in the same run
}

// Bits of a type while newRuns works.
const (
	cutFollowed = 1 << iota // it is a struct, union or typedef, or one leads to it
	cutPlain                // it leads to integers and floats only
	cutKnown                // cutPlain is final
	cutBusy                 // settle has visited it once
)

func newRuns(in *btf.Blob) *runs {
	c := &runs{in: in, last: arena.Make[uint32](int(in.TypeCount()))}
	bits := make([]uint8, in.TypeCount())
	c.follow(bits)
	c.settle(bits)
	for id := uint32(1); id < in.TypeCount(); id++ {
		btf.EachRef(in.Record(id), func(ref *uint32) {
			to := *ref
			switch {
			case to > id:
				c.last[id] = max(c.last[id], to)
			case bits[id]&cutFollowed != 0 && bits[to]&cutPlain == 0:
				c.last[to] = max(c.last[to], id)
			}
		})
	}
	return c
}

// next returns the id after the run that starts with first.
func (c *runs) next(first uint32) uint32 {
	last := first
	for id := first; id <= last; id++ {
		last = max(last, c.last[id])
	}
	return last + 1
}

// follow marks the types that a struct, union or typedef leads to.
func (c *runs) follow(bits []uint8) {
	var todo []uint32
	for id := uint32(1); id < c.in.TypeCount(); id++ {
		switch c.in.Kind(id) {
		case btf.KindStruct, btf.KindUnion, btf.KindTypedef:
			if bits[id]&cutFollowed == 0 {
				bits[id] |= cutFollowed
				todo = append(todo, id)
			}
		}
		for len(todo) > 0 {
			t := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			btf.EachRef(c.in.Record(t), func(to *uint32) {
				if *to != 0 && bits[*to]&cutFollowed == 0 {
					bits[*to] |= cutFollowed
					todo = append(todo, *to)
				}
			})
		}
	}
}

// settle marks the types that lead to integers and floats only. A type on a loop
// is never marked.
func (c *runs) settle(bits []uint8) {
	bits[0] |= cutKnown | cutPlain
	var todo []uint32
	for id := uint32(1); id < c.in.TypeCount(); id++ {
		todo = append(todo, id)
		for len(todo) > 0 {
			t := todo[len(todo)-1]
			if bits[t]&cutKnown != 0 {
				todo = todo[:len(todo)-1]
				continue
			}
			if !mayBePlain(c.in.Kind(t)) {
				bits[t] |= cutKnown
				continue
			}
			// The first visit pushes the targets. At the second visit, a
			// target that is still unknown lies on a loop with it.
			again := bits[t]&cutBusy != 0
			bits[t] |= cutBusy
			plain := true
			btf.EachRef(c.in.Record(t), func(to *uint32) {
				plain = plain && bits[*to]&cutPlain != 0
				if !again && bits[*to]&(cutKnown|cutBusy) == 0 {
					todo = append(todo, *to)
				}
			})
			if plain {
				bits[t] |= cutPlain
			}
			if plain || again {
				bits[t] |= cutKnown
			}
		}
	}
}

func mayBePlain(k btf.Kind) bool {
	switch k {
	case btf.KindInt, btf.KindFloat, btf.KindPtr, btf.KindConst, btf.KindVolatile, btf.KindRestrict,
		btf.KindTypedef, btf.KindTypeTag, btf.KindArray, btf.KindFuncProto, btf.KindFunc:
		return true
	}
	return false
}
