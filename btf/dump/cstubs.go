package dump

import "github.com/btflite/btflite/btf"

// stubs defines functions, none of which does anything: a compiler makes debug
// information of them, with their parameters. Left out are functions without a name,
// and those that C cannot have because a typedef, an enumerator or a function before
// them has the name.
func (c *cWriter) stubs(ids []uint32) {
	for _, id := range ids {
		rec := c.b.Record(id)
		if rec.Kind() != btf.KindFunc || rec.Name() == 0 || c.idents.find(rec.Name()).off != 0 {
			continue
		}
		c.idents.take(rec.Name())
		c.text("\n")
		c.declaration(rec.Third(), named(rec.Name()), 0)
		c.text("\n{\n\tfor (;;)\n\t\t;\n}\n")
		if c.keepUp(); c.err != nil {
			return
		}
	}
}
