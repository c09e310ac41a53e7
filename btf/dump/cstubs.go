package dump

import "github.com/btflite/btflite/btf"

// stubs defines functions, none of which does anything: a compiler makes debug
// information of them, with their parameters. Left out are functions without a name,
// and those that C cannot have because a typedef, an enumerator or a function before
// them has the name.
func (c *cWriter) stubs(o *COptions) {
	if len(o.Stubs) > 0 && c.strict {
		c.text(stubsBegin)
	}
	for _, id := range o.Stubs {
		rec := c.b.Record(id)
		if rec.Kind() != btf.KindFunc || rec.Name() == 0 || c.idents.find(rec.Name()).off != 0 {
			continue
		}
		c.idents.take(rec.Name())
		if !o.Declare {
			c.text("\n")
		}
		c.declaration(rec.Third(), named(rec.Name()), 0)
		if o.Declare {
			c.text(";\n")
		} else {
			c.text("\n{\n\tfor (;;)\n\t\t;\n}\n")
		}
		if c.keepUp(); c.to.Err != nil {
			return
		}
	}
}

// stubsBegin keeps compilers from warnings about functions that do nothing, and about
// those of the kernel that have the name of one of C.
const stubsBegin = `#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wincompatible-library-redeclaration"
#else
#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"
#endif

`
