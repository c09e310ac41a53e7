package dump

import (
	"slices"
	"strconv"

	"github.com/btflite/btflite/btf"
)

// A C declaration is written from the inside of its type: "int *(*a[3])(void)" is an
// array of pointers to functions that return pointers to int. The type is first taken
// apart into the stack links, from the outermost link, the array, to the core, the
// int. Then the core is written, and the links are taken from the end of the stack.

// part is the part of a declaration that has been written last.
type part bool

const (
	word    part = false // a blank has to come before a name or a pointer
	pointer part = true  // "*" or "(", which a name follows directly
)

// nameOf is the name that a declaration is for. The zero value is none.
type nameOf struct {
	off   uint32 // of a name as it is
	id    uint32 // or the typedef that is being defined
	isSet bool
}

// named is the name at a string offset, if it is one.
func named(off uint32) nameOf { return nameOf{off: off, isSet: off != 0} }

// declaration writes the type id with the name that it is declared for. indent is how
// many tabs the line has.
func (c *cWriter) declaration(id uint32, name nameOf, indent int) {
	if !c.goesOn(id) {
		return
	}
	c.depth++
	defer func() { c.depth-- }()
	from := len(c.links)
	core := id
	for core != 0 {
		k := c.b.Kind(core)
		if k != btf.KindPtr && k != btf.KindArray && k != btf.KindFuncProto && !isModifier(k) {
			break
		}
		if c.links = append(c.links, core); len(c.links)-from > maxDepth {
			c.fail(errDepth, id)
			break
		}
		rec := c.b.Record(core)
		if core = rec.Third(); k == btf.KindArray {
			core, _, _ = rec.Array()
		}
	}
	c.core(core, from, indent)
	c.rest(from, name, word, indent)
	c.links = c.links[:from]
}

// core writes the innermost type, with the modifiers that lie directly around it
// before it.
func (c *cWriter) core(id uint32, from, indent int) {
	for len(c.links) > from {
		q := qualifier(c.b.Kind(c.links[len(c.links)-1]))
		if mark, text := c.b.MarkOf(c.b.Record(c.links[len(c.links)-1])); mark == btf.MarkQualifier {
			if q = string(text); q != atomic { // which is C
				q = inComment(text)
			}
		}
		if q == "" {
			break
		}
		if q == "restrict" && c.strict { // GNU C has this word whatever the standard
			q = "__restrict"
		}
		c.text(q)
		c.text(" ")
		c.links = c.links[:len(c.links)-1]
	}
	if id == 0 {
		c.text("void")
		return
	}
	rec := c.b.Record(id)
	switch k := rec.Kind(); k {
	case btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64:
		switch {
		case rec.Name() != 0:
			c.text(rec.Keyword())
			c.appendTypeName(id, rec)
		case isComposite(k):
			c.structBody(id, rec, indent)
		default:
			c.enumBody(id, rec, indent)
		}
	case btf.KindFwd, btf.KindTypedef:
		c.text(rec.Keyword())
		c.appendTypeName(id, rec)
	case btf.KindInt, btf.KindFloat:
		c.appendName(rec.Name())
	default:
		c.fail(errNoType, id)
	}
}

// qualifier is the keyword of a modifier, "" for all other kinds.
func qualifier(k btf.Kind) string {
	switch k {
	case btf.KindConst:
		return "const"
	case btf.KindVolatile:
		return "volatile"
	case btf.KindRestrict:
		return "restrict"
	}
	return ""
}

// rest writes the links from the end of the stack down to from, and the name among
// them.
func (c *cWriter) rest(from int, name nameOf, last part, indent int) {
	for len(c.links) > from {
		id := c.links[len(c.links)-1]
		c.links = c.links[:len(c.links)-1]
		rec := c.b.Record(id)
		switch k := rec.Kind(); k {
		case btf.KindPtr:
			if last == word {
				c.text(" ")
			}
			c.text("*")
			last = pointer
		case btf.KindArray:
			c.array(from, rec, name, last, indent)
			return
		case btf.KindFuncProto:
			c.function(from, rec, name, last, indent)
			return
		case btf.KindTypeTag:
			c.tag(rec)
			last = word
		default:
			c.text(" ")
			if c.strict && k == btf.KindRestrict {
				c.text("__")
			}
			c.text(qualifier(k))
			last = word
		}
	}
	c.declared(name, last)
}

func (c *cWriter) declared(name nameOf, last part) {
	if !name.isSet {
		return
	}
	if last == word {
		c.text(" ")
	}
	if name.id != 0 {
		c.appendTypeName(name.id, c.b.Record(name.id))
		return
	}
	c.appendName(name.off)
}

// tag writes a type tag, or the attribute that stands in its place.
func (c *cWriter) tag(rec btf.Record) {
	if mark, text := c.b.MarkOf(rec); mark != btf.NoMark {
		c.marked(mark, text)
		return
	}
	if c.strict {
		if !btf.InfoKflag(rec.Info()) {
			c.text(` __btf_type_tag("`)
			c.appendName(rec.Name())
			c.text(`")`)
		}
		return
	}
	if btf.InfoKflag(rec.Info()) {
		c.text(" __attribute__((")
		c.appendName(rec.Name())
		c.text("))")
		return
	}
	c.text(` __attribute__((btf_type_tag("`)
	c.appendName(rec.Name())
	c.text(`")))`)
}

// array writes an array, and those that it lies in, with the links around them.
// Modifiers of an array itself are left out: C has them at the elements.
func (c *cWriter) array(from int, rec btf.Record, name nameOf, last part, indent int) {
	dims := []uint32{rec.Extra()[2]} // the innermost first
	var marks []btf.Record           // of what an array stands for
	for len(c.links) > from {
		next := c.b.Record(c.links[len(c.links)-1])
		k := next.Kind()
		if k == btf.KindArray {
			dims = append(dims, next.Extra()[2])
		} else if !isModifier(k) {
			break
		} else if mark, _ := c.b.MarkOf(next); mark == btf.MarkMember {
			marks = append(marks, next)
		}
		c.links = c.links[:len(c.links)-1]
	}
	if len(c.links) == from {
		c.declared(name, last)
	} else {
		if name.isSet && last == word {
			c.text(" ")
		}
		c.text("(")
		c.rest(from, name, pointer, indent)
		c.text(")")
	}
	for _, n := range slices.Backward(dims) {
		c.buf = append(strconv.AppendUint(append(c.buf, '['), uint64(n), 10), ']')
	}
	for _, m := range marks {
		c.tag(m)
	}
}

// function writes a function with the links around it. Modifiers of a function
// itself are left out.
func (c *cWriter) function(from int, rec btf.Record, name nameOf, last part, indent int) {
	for len(c.links) > from && isModifier(c.b.Kind(c.links[len(c.links)-1])) {
		c.links = c.links[:len(c.links)-1]
	}
	if len(c.links) == from {
		c.declared(name, last)
	} else {
		c.text(" (")
		c.rest(from, name, pointer, indent)
		c.text(")")
	}
	c.parameters(rec, indent)
}

func (c *cWriter) parameters(rec btf.Record, indent int) {
	n := int(rec.Vlen())
	c.text("(")
	for j := range n {
		name, typ := rec.Param(j)
		if j > 0 {
			c.text(", ")
		}
		switch {
		case typ == 0 && n == 1:
			c.text("void")
		case typ == 0 && j == n-1:
			c.text("...")
		default:
			c.declaration(typ, named(name), indent)
		}
		if c.keepUp(); c.to.Err != nil {
			return
		}
	}
	if n == 0 {
		c.text("void")
	}
	c.text(")")
}
