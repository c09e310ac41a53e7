package dump

import (
	"strconv"

	"github.com/btflite/btflite/btf"
)

// assert writes assertions about the struct or union id, which the type named can be
// written by: that itself or a typedef.
func assert(c *cWriter, named, id uint32) {
	name := func() {
		c.text(c.b.Record(named).Keyword())
		c.appendTypeName(named, c.b.Record(named))
	}
	c.text("_Static_assert(sizeof(")
	name()
	c.text(") == ")
	c.buf = strconv.AppendUint(c.buf, uint64(c.b.Record(id).Third()), 10)
	c.text(", \"\");\n")
	assertMembers(c, id, 0, name)
}

// assertMembers writes where the members of a struct are that lies at a byte of the
// one that name writes.
func assertMembers(c *cWriter, id uint32, at uint64, name func()) {
	rec := c.b.Record(id)
	for j := range int(rec.Vlen()) {
		off, typ, start, bits := rec.Field(j)
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
				assertMembers(c, typ, where, name)
			}
		}
		c.keepUp()
	}
}
