package exact

import "github.com/btflite/btflite/btf"

// primitives places the types without references, in id order.
func (d *state) primitives() error {
	for id := d.first; id < d.count(); id++ {
		r := d.rec(id)
		switch r.Kind() {
		case btf.KindInt, btf.KindFloat, btf.KindFwd:
			key := keyOf(r)
			if c := d.find(key, r); c != 0 {
				d.target[id] = c
			} else {
				d.keep(key, id)
			}
		case btf.KindEnum, btf.KindEnum64:
			d.enum(id, r)
		}
		if err := d.checkSteps(id); err != nil {
			return err
		}
	}
	return nil
}

// find returns the first candidate of key with the words r, or 0.
func (d *state) find(key uint64, r btf.Record) uint32 {
	for cur := d.index.first(key); cur >= 0; {
		var c uint32
		c, cur = d.index.at(cur)
		if equal(d.rec(c), r) {
			return c
		}
	}
	return 0
}

// enum places an ENUM or ENUM64. A forward (no values) joins the first enum of
// its name; a full one takes over all forwards tried before its equal is found,
// so that a forward ends at the last distinct full enum.
func (d *state) enum(id uint32, r btf.Record) {
	key := keyOf(r)
	for cur := d.index.first(key); cur >= 0; {
		var c uint32
		c, cur = d.index.at(cur)
		cr := d.rec(c)
		if equal(cr, r) {
			d.target[id] = c
			return
		}
		if !compatEnum(cr, r) {
			continue
		}
		if r.Vlen() == 0 {
			d.target[id] = c
			return
		}
		d.target[c] = id
	}
	d.keep(key, id)
}
