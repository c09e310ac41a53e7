package dwarftest

import "fmt"

// Growth are families of files. A member has n parts, and encoding it takes time in proportion to
// n unless something goes over its types or functions again and again. 1x is the n to begin with.
var Growth = []struct {
	Name  string
	X1    int
	Build func(n int) *File
}{
	{"units of 60 shared and 10 own structs", 12, func(n int) *File {
		return units(n, func(k int, c *compiler) {
			last := c.int
			for h := range 70 {
				name := numbered("shared", h)
				if h >= 60 {
					name = numbered(fmt.Sprint("own", h), k)
				}
				last = c.link(name, "m", h, last)
			}
			c.function(last)
		})
	}},
	{"units after one with other definitions", 12, OtherDefinitions},
	{"members of one struct", 2000, func(n int) *File {
		return units(1, func(_ int, c *compiler) {
			var m []any
			for j := range n {
				m = append(m, member(numbered("m", j%500), c.int, 8*j)) // new names would cost more than members
			}
			c.structure("big", 8*n, m...)
		})
	}},
	{"functions of one prototype", 800, func(n int) *File {
		return functions(n, func(c *compiler, _ int, p *DIE) { c.function(p) })
	}},
	{"functions of own prototypes", 800, func(n int) *File {
		return functions(n, func(c *compiler, k int, p *DIE) { c.add(c.functionOf(numbered("arg", k), p)) })
	}},
	{"typedefs of each other", 1000, func(n int) *File {
		return units(1, func(_ int, c *compiler) {
			t := c.int
			for k := range n {
				t = c.add(N(TagTypedef, Name(numbered("t", k)), Type(t)))
			}
		})
	}},
	{"structs of one unit", 1000, func(n int) *File {
		return units(1, func(_ int, c *compiler) {
			last := c.int
			for k := range n {
				last = c.pointer(c.structure(numbered("s", k), 16, member(numbered("a", k), last, 0), member("x", c.int, 8)))
			}
		})
	}},
	{"definitions of one name", 250, func(n int) *File {
		return units(n, func(k int, c *compiler) { c.definition(numbered("v", k), 1) })
	}},
	{"definitions of one name in one unit", 250, func(n int) *File {
		return units(1, func(_ int, c *compiler) {
			for k := range n {
				c.definition(numbered("v", k), 1)
			}
		})
	}},
	{"definitions of one name below six structs", 100, func(n int) *File {
		return units(n, func(k int, c *compiler) { c.definition(numbered("v", k), 6) })
	}},
	{"16 definitions of one name below 50 structs", 20, func(n int) *File {
		return units(n, func(k int, c *compiler) { c.definition(numbered("v", k%16), 50) })
	}},
	{"definitions of one name, of the same members", 250, func(n int) *File {
		return units(n, func(k int, c *compiler) {
			own := c.pointer(c.structure(numbered("own", k), 8, member("x", c.int, 0)))
			c.function(c.pointer(c.structure("foo", 16, member("v", own, 0), member("x", c.int, 8))))
		})
	}},
	{"unnamed unions of one shape", 250, func(n int) *File {
		return units(n, func(k int, c *compiler) { c.unnamed(k) })
	}},
	{"unnamed unions of one shape in one unit", 500, func(n int) *File {
		return units(1, func(_ int, c *compiler) {
			for k := range n {
				c.unnamed(k)
			}
		})
	}},
	{"typedefs of one name", 250, func(n int) *File {
		return units(n, func(k int, c *compiler) {
			own := c.structure(numbered("own", k), 8, member("x", c.int, 0))
			c.add(N(TagTypedef, Name("t"), Type(c.pointer(own))))
		})
	}},
	{"enumerations of one name", 250, func(n int) *File {
		return units(n, func(k int, c *compiler) {
			c.add(N(TagEnumerationType, Name("e"), Size(4), Type(c.int), N(TagEnumerator, Name(numbered("E", k)), Const(k))))
		})
	}},
	{"functions nested between parameters and tags", 1000, func(n int) *File {
		return units(1, func(_ int, c *compiler) {
			p := c.pointer(c.int)
			outer := c.add(c.functionOf("arg", p))
			for range n {
				outer.Add(N(TagFormalParameter, Name("arg"), Type(p)), N(TagLLVMAnnotation, Name("btf_decl_tag"), Const("tag")),
					N(TagSubprogram, N(TagFormalParameter), N(TagLLVMAnnotation, Name("btf_decl_tag"), Const("tag"))))
			}
		})
	}},
}

// compiler makes the DIEs of one unit as compilers do.
type compiler struct {
	unit   *Unit
	file   *File
	int    *DIE
	number *int // of functions in the file
}

// OtherDefinitions is a file of n units of the same 70 structs, of which the second unit has other
// definitions. Units in C after units in Rust are like that: nothing in them is new, but all names have
// several definitions.
func OtherDefinitions(n int) *File {
	return units(n, func(k int, c *compiler) {
		prefix := "m"
		if k == 1 {
			prefix = "o"
		}
		last := c.int
		for h := range 70 {
			last = c.link(numbered("shared", h), prefix, h, last)
		}
		c.function(last)
	})
}

// numbered returns a name with a number. All are equally long, because a longer name costs more.
func numbered(prefix string, k int) string { return fmt.Sprintf("%s%06d", prefix, k) }

// units makes a file of n units.
func units(n int, fill func(k int, c *compiler)) *File {
	f, number := &File{}, 0
	for k := range n {
		c := &compiler{file: f, int: N(TagBaseType, Name("int"), Size(4), Encoding(5)), number: &number}
		c.unit = CU(c.int)
		f.Units = append(f.Units, c.unit)
		fill(k, c)
	}
	return f
}

// functions makes a file of n functions, 100 in a unit.
func functions(n int, function func(c *compiler, k int, pointer *DIE)) *File {
	return units((n+99)/100, func(unit int, c *compiler) {
		p := c.pointer(c.int)
		for k := 100 * unit; k < min(n, 100*unit+100); k++ {
			function(c, k, p)
		}
	})
}

func (c *compiler) add(d *DIE) *DIE {
	c.unit.Root.Add(d)
	return d
}

func member(name string, to *DIE, offset int) *DIE {
	return N(TagMember, Name(name), Type(to), MemberAt(offset))
}

func (c *compiler) structure(name string, size int, members ...any) *DIE {
	return c.add(N(TagStructureType, append([]any{Name(name), Size(size)}, members...)...))
}

// link adds struct h of a chain and returns a pointer to it. Half of its twelve members have the type
// last, the pointer to the struct before. The others are of int.
func (c *compiler) link(name, prefix string, h int, last *DIE) *DIE {
	var m []any
	for j := range 12 {
		m = append(m, member(numbered(prefix, 12*h+j), []*DIE{c.int, last}[j%2], 8*j))
	}
	return c.pointer(c.structure(name, 96, m...))
}

func (c *compiler) pointer(to *DIE) *DIE { return c.add(N(TagPointerType, Size(8), Type(to))) }

// function adds a function that takes p.
func (c *compiler) function(p *DIE) { c.add(c.functionOf("arg", p)) }

// functionOf returns a function with a symbol. Functions are four bytes long, so that many fit.
func (c *compiler) functionOf(arg string, p *DIE) *DIE {
	name, address := numbered("f", *c.number), uint64(TextAddr+4*(*c.number%(1<<14)))
	*c.number++
	c.file.Symbols = append(c.file.Symbols, Func(name, address))
	return N(TagSubprogram, Name(name), External(), Type(c.int), LowPC(address), N(TagFormalParameter, Name(arg), Type(p)))
}

// definition adds a definition of foo, as many structs that lead to it, one over the other, and a
// function that takes the last one.
func (c *compiler) definition(memberName string, over int) {
	s := c.structure("foo", 16, member(memberName, c.int, 0), member("x", c.int, 8))
	for h := range over {
		s = c.structure(numbered("over", h), 16, member("p", c.pointer(s), 0), member("y", c.int, 8))
	}
	c.function(c.pointer(s))
}

// unnamed adds struct number k of a union without a name, in which only the target of a pointer is
// its own.
func (c *compiler) unnamed(k int) {
	own := c.pointer(c.structure(numbered("own", k), 8, member("x", c.int, 0)))
	u := c.add(N(TagUnionType, Size(8), member("v", own, 0), member("x", c.int, 0)))
	c.function(c.pointer(c.structure(numbered("s", k), 8, member("u", u, 0))))
}
