package dump

import "github.com/btflite/btflite/btf"

// stubs defines functions that do nothing, so that a compiler writes debug information for
// them and their parameters. It leaves out functions without a name, and functions whose
// name is taken by a typedef, an enumerator or an earlier function.
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

// stubsBegin turns off warnings about functions that do nothing, and about functions of the
// kernel with names of C's library.
const stubsBegin = `#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wincompatible-library-redeclaration"
#else
#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"
#endif

`
