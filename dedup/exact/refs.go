package exact

import (
	"fmt"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// forwards replaces each own forward that is left by the definition of its name, if
// exactly one struct or union of the whole input has that name and it is of the
// forward's kind.
func (d *state) forwards() {
	const ambiguous = unset
	owner := make(map[uint32]uint32)
	for id := uint32(1); id < d.count(); id++ {
		r := d.rec(id)
		if k := r.Kind(); k != btf.KindStruct && k != btf.KindUnion {
			continue
		}
		if d.target[id] != id || r.Name() == 0 {
			continue
		}
		if _, taken := owner[r.Name()]; taken {
			owner[r.Name()] = ambiguous
		} else {
			owner[r.Name()] = id
		}
	}
	for id := d.first; id < d.count(); id++ {
		r := d.rec(id)
		if r.Kind() != btf.KindFwd || d.target[id] != id {
			continue
		}
		o, ok := owner[r.Name()]
		if ok && o != ambiguous && forwardOf(r, d.rec(o)[1]) {
			d.target[id] = o
		}
	}
}

// references places all remaining types: those that only refer to others. What
// a type refers to is placed before it, so the survivor of equal types is the
// first one completed in depth-first order, not the one with the lowest id.
func (d *state) references() error {
	for id := d.first; id < d.count(); id++ {
		if d.mapped(id) {
			continue
		}
		d.target[id] = inProgress
		d.frames = append(d.frames[:0], frame{id: id})
		for len(d.frames) > 0 {
			if err := d.advance(&d.frames[len(d.frames)-1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// advance places the targets of f's type. If a target is not placed yet, it pushes a
// frame for the target and returns. After the last one, it places the type and pops
// f.
func (d *state) advance(f *frame) error {
	r := d.rec(f.id)
	k := r.Kind()
	start, stride, n := btf.RefWords(k, r.Vlen())
	for ; f.ref <= n; f.ref++ {
		w := &r[2]
		if f.ref > 0 {
			w = &r[start+(f.ref-1)*stride]
		} else if !btf.ThirdIsRef(k) {
			continue
		}
		switch d.target[*w] {
		case inProgress:
			return fmt.Errorf("btf: types: %s [%d] refers to itself without a struct, union or typedef between", d.kind(*w), *w)
		case unset:
			d.target[*w] = inProgress
			d.frames = append(d.frames, frame{id: *w})
			return nil
		}
		*w = d.final(*w)
	}
	id := f.id
	d.frames = d.frames[:len(d.frames)-1]
	key := keyOf(r)
	if c := d.find(key, r); c != 0 {
		d.target[id] = c
	} else {
		d.keep(key, id)
	}
	return nil
}

// compact renumbers the survivors densely in their old order, rewrites all
// references and returns the result with strs as string section. m maps every
// old id to its new one.
func (d *state) compact(strs []byte) (out *btf.Blob, m []uint32, err error) {
	m = arena.Make[uint32](int(d.count()))
	next := d.first
	var words, types int
	for id := d.first; id < d.count(); id++ {
		if d.target[id] == id {
			m[id] = next
			next++
			types++
			words += len(d.rec(id))
		}
	}
	for id := range m {
		if f := d.final(uint32(id)); f < d.first {
			m[id] = f
		} else if d.target[f] == f {
			m[id] = m[f]
		} else {
			return nil, nil, fmt.Errorf("btf: types: %s [%d] has no place in the result", d.kind(f), id)
		}
	}
	out = &btf.Blob{
		BigEndian: d.in.BigEndian,
		Words:     arena.Make[uint32](words)[:0],
		Off:       arena.Make[uint32](types)[:0],
		Strings:   strs,
		StrBase:   d.in.StrBase,
		FirstID:   d.first,
		Base:      d.in.Base,
		Form:      d.in.Form,
	}
	for id := d.first; id < d.count(); id++ {
		if d.target[id] != id {
			continue
		}
		at := len(out.Words)
		out.Off = append(out.Off, uint32(at))
		out.Words = append(out.Words, d.rec(id)...)
		btf.EachRef(out.Words[at:], func(id *uint32) { *id = m[*id] })
	}
	return out, m, nil
}
