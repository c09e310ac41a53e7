package dump

import (
	"strconv"

	"github.com/btflite/btflite/btf"
)

// assert writes assertions about the struct or union id, which the type named can be
// written by: that itself or a typedef.
func (c *cWriter) assert(named, id uint32) {
	if !c.asserts {
		return
	}
	name := func() {
		if r := c.b.Record(named); r.Kind() != btf.KindTypedef {
			c.text(keyword(r))
		}
		c.appendTypeName(named, c.b.Record(named))
	}
	c.text("_Static_assert(sizeof(")
	name()
	c.text(") == ")
	c.buf = strconv.AppendUint(c.buf, uint64(c.b.Record(id).Third()), 10)
	c.text(", \"\");\n")
	c.assertMembers(id, 0, name)
}

// assertMembers writes where the members of a struct are that lies at a byte of the
// one that name writes.
func (c *cWriter) assertMembers(id uint32, at uint64, name func()) {
	rec := c.b.Record(id)
	for j := range int(rec.Vlen()) {
		off, typ, place := rec.Member(j)
		start, bits := memberPlace(btf.InfoKflag(rec.Info()), place)
		where := at + uint64(start)/8
		switch {
		case bits != 0 || start%8 != 0:
		case off != 0:
			c.text("_Static_assert(__builtin_offsetof(")
			name()
			c.text(", ")
			c.appendName(off)
			c.text(") == ")
			c.buf = strconv.AppendUint(c.buf, where, 10)
			c.text(", \"\");\n")
		default:
			if typ = c.b.Behind(typ, btf.Modifiers); isComposite(c.b.Kind(typ)) {
				c.assertMembers(typ, where, name)
			}
		}
		c.keepUp()
	}
}
