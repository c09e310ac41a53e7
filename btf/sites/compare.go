package sites

import (
	"hash/maphash"
	"slices"

	"github.com/btflite/btflite/btf"
)

// Difference says how the sites of two files differ: by section, offset, function and
// what is said of the parameters.
type Difference struct {
	A, B       Counts
	Gone, Come int // sites of A that B lacks, and the other way round
}

// Same reports whether there is no difference.
func (d *Difference) Same() bool { return d.Gone+d.Come == 0 }

// Compare compares the sites of two files. Sites of their bases do not count.
func Compare(a, b *btf.Blob) (d Difference) {
	d.A, d.B = Count(a), Count(b)
	if d.A.Sites+d.B.Sites == 0 {
		return d
	}
	seed := maphash.MakeSeed()
	x := (&hasher{a, seed, map[uint32]uint64{}}).sites(d.A.Sites)
	y := (&hasher{b, seed, map[uint32]uint64{}}).sites(d.B.Sites)
	for len(x) > 0 && len(y) > 0 {
		switch {
		case x[0] == y[0]:
			x, y = x[1:], y[1:]
		case x[0] < y[0]:
			d.Gone++
			x = x[1:]
		default:
			d.Come++
			y = y[1:]
		}
	}
	d.Gone += len(x)
	d.Come += len(y)
	return d
}

// hasher hashes what sites refer to, each type once: a site is three words, and what it refers to
// may be long.
type hasher struct {
	b     *btf.Blob
	seed  maphash.Seed
	known map[uint32]uint64 // by type id
}

// sites gives the sorted hashes of the sites. n is at least how many there are.
func (h *hasher) sites(n int) []uint64 {
	list := make([]uint64, 0, n)
	for r := range locsecs(h.b) {
		section := maphash.String(h.seed, h.b.Name(r.Name()))
		for j := range int(r.Vlen()) {
			if fn, proto, offset := r.Site(j); h.b.Kind(fn) == btf.KindFunc {
				list = append(list, maphash.Comparable(h.seed, [...]uint64{section, h.of(fn), h.of(proto), uint64(offset)}))
			}
		}
	}
	slices.Sort(list)
	return list
}

// of hashes what a FUNC, its FUNC_PROTO, or a LOC_PROTO says. It is 0 for other types.
func (h *hasher) of(id uint32) uint64 {
	sum, ok := h.known[id]
	if ok {
		return sum
	}
	r := h.b.Record(id)
	add := func(what ...any) {
		for _, x := range what {
			sum = maphash.Comparable(h.seed, [...]any{sum, x})
		}
	}
	switch h.b.Kind(id) {
	case btf.KindFunc:
		add(h.b.Name(r.Name()), h.of(r.Third()))
	case btf.KindFuncProto:
		for j := range int(r.Vlen()) {
			if name, typ := r.Param(j); typ != 0 {
				add(j, h.b.Name(name))
			}
		}
	case btf.KindLocProto:
		for j, id := range r[3:] {
			if p := h.b.Record(id); h.b.Kind(id) == btf.KindLocParam {
				add(j, p.Third(), btf.LocText(p))
			}
		}
	}
	h.known[id] = sum
	return sum
}
