package btftest

import (
	"fmt"

	"github.com/btflite/btflite/btf"
)

// Costs are families of BTF. A member has about n parts, and costs more than its size if
// something goes over its types again and again.
var Costs = []struct {
	Name  string
	Build func(b *Builder, n int)
}{
	{"plain structs", func(b *Builder, n int) {
		x := b.Int("int", 4)
		for i := range n {
			b.Struct(fmt.Sprint("s", i), 8, b.Member("a", x, 0), b.Member("b", x, 32))
		}
	}},
	{"unnamed structs in each other", func(b *Builder, n int) {
		x := b.Int("int", 4)
		for range n {
			x = b.Struct("", 4, b.Member("", x, 0))
		}
		b.Struct("outer", 4, b.Member("x", x, 0))
	}},
	{"unnamed structs in each other, of named members", func(b *Builder, n int) {
		x := b.Int("int", 4)
		for range n {
			x = b.Struct("", 4, b.Member("m", x, 0))
		}
		b.Typedef("outer", x)
	}},
	{"unnamed structs that point to each other", func(b *Builder, n int) {
		x := b.Int("int", 4)
		for range n {
			x = b.Struct("", 8, b.Member("p", b.Ptr(x), 0))
		}
		b.Typedef("outer", x)
	}},
	{"unnamed structs that point to each other, the last one first", func(b *Builder, n int) {
		for i := range uint32(n) {
			b.Struct("", 8, b.Member("p", 2*i+2, 0))
			b.Ptr(2*i + 3)
		}
		b.Int("int", 4)
	}},
	{"unnamed structs in each other beside structs of one name", func(b *Builder, n int) {
		x := b.Int("int", 4)
		for range n {
			x = b.Struct("", 4, b.Member("m", x, 0))
		}
		b.Struct("s", 8, b.Member("x", x, 0), b.Member("p", b.Ptr(b.N+2), 32))
		b.Struct("s", 16, b.Member("x", x, 0))
	}},
	{"arrays of unnamed structs in each other", func(b *Builder, n int) {
		x := b.Int("int", 4)
		i := x
		for range n {
			x = b.Struct("", 4, b.Member("m", b.Array(x, i, 1), 0))
		}
		b.Typedef("outer", x)
	}},
	{"unnamed unions in each other, behind qualifiers", func(b *Builder, n int) {
		x := b.Int("int", 4)
		for i := range n {
			x = b.Union("", 4, b.Member("m", b.Add("", uint32(btf.KindVolatile+btf.Kind(i%3))<<24, x), 0))
		}
		b.Typedef("outer", x)
	}},
	{"unnamed structs by prototypes of each other", func(b *Builder, n int) {
		x := b.Int("int", 4)
		for range n {
			p := b.Of(btf.KindFuncProto, "", false, 0, b.Param("", b.Ptr(x)))
			x = b.Struct("", 8, b.Member("f", b.Ptr(p), 0))
		}
		b.Typedef("outer", x)
	}},
	{"unnamed structs of different unnamed enums", func(b *Builder, n int) {
		for i := range n {
			b.Struct("", 4, b.Member("m", b.Enum("", b.Value("v", int32(i))), 0))
		}
	}},
	{"a ring of unnamed structs, one different", func(b *Builder, n int) {
		for i := range uint32(n) {
			b.Struct("", 8+8*(i/uint32(n-1)), b.Member("p", 2*i+2, 0))
			b.Ptr((2*i+2)%uint32(2*n) + 1)
		}
	}},
	{"a ring of unnamed structs", func(b *Builder, n int) {
		for i := range uint32(n) {
			b.Struct("", 8, b.Member("p", 2*i+2, 0))
			b.Ptr((2*i+2)%uint32(2*n) + 1)
		}
	}},
	{"a ring of structs", func(b *Builder, n int) {
		for i := range uint32(n) {
			b.Struct(fmt.Sprint("s", i), 8, b.Member("p", 2*i+2, 0))
			b.Ptr((2*i+2)%uint32(2*n) + 1)
		}
	}},
	{"structs in each other", func(b *Builder, n int) {
		x := b.Int("int", 4)
		for i := range n {
			x = b.Struct(fmt.Sprint("s", i), 4, b.Member("m", x, 0))
		}
	}},
	{"unions twice in each other", func(b *Builder, n int) {
		x := b.Int("int", 4)
		for i := range n {
			x = b.Union(fmt.Sprint("u", i), 4, b.Member("a", x, 0), b.Member("b", x, 0))
		}
	}},
	{"unnamed unions twice in each other", func(b *Builder, n int) {
		x := b.Int("int", 4)
		for range n {
			x = b.Union("", 4, b.Member("", x, 0), b.Member("", x, 0))
		}
		b.Struct("outer", 4, b.Member("x", x, 0))
	}},
	{"prototypes twice in each other", func(b *Builder, n int) {
		x := b.Int("int", 4)
		for range n {
			p := b.Ptr(x)
			x = b.Of(btf.KindFuncProto, "", false, p, b.Param("a", p), b.Param("b", p))
		}
		b.Func("f", 1, x)
		b.Typedef("t", x)
	}},
	{"typedefs of each other", func(b *Builder, n int) {
		x := b.Int("int", 4)
		for i := range n {
			x = b.Typedef(fmt.Sprint("t", i), x)
		}
		b.Struct("s", 4, b.Member("m", x, 0))
	}},
	{"pointers to each other", func(b *Builder, n int) {
		x := b.Int("int", 4)
		for range n {
			x = b.Ptr(x)
		}
		b.Typedef("t", x)
		b.Struct("s", 8, b.Member("m", x, 0))
	}},
	{"members that are long pointers", func(b *Builder, n int) {
		x := b.Int("int", 4)
		for range n {
			x = b.Ptr(x)
		}
		var m []Part
		for i := range n {
			m = append(m, b.Member(fmt.Sprint("m", i), x-uint32(i%8), uint32(64*i)))
		}
		b.Struct("s", uint32(8*n), m...)
	}},
	{"arrays of each other", func(b *Builder, n int) {
		x := b.Int("int", 4)
		i := x
		for range n {
			x = b.Array(x, i, 1)
		}
		b.Struct("s", 4, b.Member("m", x, 0))
	}},
	{"arrays twice in each other", func(b *Builder, n int) {
		x := b.Int("int", 4)
		i := x
		for range n {
			a := b.Array(x, i, 1)
			x = b.Union("", 4, b.Member("a", a, 0), b.Member("b", a, 0))
		}
		b.Struct("s", 4, b.Member("m", x, 0))
	}},
	{"qualifiers of each other", func(b *Builder, n int) {
		x := b.Int("int", 4)
		for i := range n {
			x = b.Add("", uint32(btf.KindVolatile+btf.Kind(i%3))<<24, x)
		}
		b.Struct("s", 4, b.Member("m", x, 0))
	}},
	{"enums of one name", func(b *Builder, n int) {
		for i := range n {
			b.Enum("e", b.Value(fmt.Sprint("v", i), int32(i)))
		}
	}},
	{"structs of one name", func(b *Builder, n int) {
		x := b.Int("int", 4)
		for i := range n {
			b.Struct("s", 4, b.Member(fmt.Sprint("m", i), x, 0))
		}
	}},
	{"structs of one name that point to each other", func(b *Builder, n int) {
		x := b.Int("int", 4)
		for range n {
			x = b.Struct("s", 8, b.Member("p", b.Ptr(x), 0))
		}
	}},
	{"declarations of one name", func(b *Builder, n int) {
		for range n {
			b.Ptr(b.Fwd("s"))
		}
		b.Struct("s", 0)
	}},
	{"typedefs of one name", func(b *Builder, n int) {
		x := b.Int("int", 4)
		for range n {
			x = b.Typedef("t", x)
		}
	}},
	{"the same unnamed struct", func(b *Builder, n int) {
		x := b.Int("int", 4)
		for range n {
			b.Struct("", 8, b.Member("a", x, 0), b.Member("b", x, 32))
		}
	}},
	{"unnamed structs of the same members", func(b *Builder, n int) {
		for i := range n {
			x := b.Int(fmt.Sprint("int", i), 4)
			b.Struct("", 8, b.Member("a", x, 0), b.Member("b", x, 32))
		}
	}},
	{"the same unnamed enum", func(b *Builder, n int) {
		for range n {
			b.Enum("", b.Value("a", 1))
		}
	}},
	{"functions of one name", func(b *Builder, n int) {
		x := b.Int("int", 4)
		for i := range n {
			b.Func("f", 1, b.Of(btf.KindFuncProto, "", false, x, b.Param(fmt.Sprint("p", i), x)))
		}
	}},
	{"members of one offset", func(b *Builder, n int) {
		x := b.Int("int", 4)
		var m []Part
		for i := range n {
			m = append(m, b.Member(fmt.Sprint("m", i), x, 0))
		}
		b.Struct("s", 4, m...)
		b.Union("u", 4, m...)
	}},
	{"members of one name", func(b *Builder, n int) {
		x := b.Int("int", 4)
		var m []Part
		for i := range n {
			m = append(m, b.Member("m", x, uint32(32*i)))
		}
		b.Struct("s", uint32(4*n), m...)
	}},
	{"bytes with gaps", func(b *Builder, n int) {
		x := b.Int("char", 1)
		var m []Part
		for i := range n {
			m = append(m, b.Member(fmt.Sprint("m", i), x, uint32(80*i)))
		}
		b.Struct("s", uint32(10*n), m...)
	}},
	{"large gaps", func(b *Builder, n int) {
		x := b.Int("char", 1)
		for i := range n {
			b.Struct(fmt.Sprint("s", i), 1<<29, b.Member("a", x, 0), b.Member("b", x, 1<<31))
		}
	}},
	{"values of an enum", func(b *Builder, n int) {
		var v []Part
		for i := range n {
			v = append(v, b.Value(fmt.Sprint("v", i), int32(i)))
		}
		b.Enum("e", v...)
	}},
	{"parameters", func(b *Builder, n int) {
		x := b.Int("int", 4)
		var p []Part
		for i := range n {
			p = append(p, b.Param(fmt.Sprint("p", i), x))
		}
		b.Func("f", 1, b.Of(btf.KindFuncProto, "", false, x, p...))
	}},
	{"functions of a large prototype", func(b *Builder, n int) {
		x := b.Int("int", 4)
		var p []Part
		for i := range n / 32 {
			p = append(p, b.Param(fmt.Sprint("p", i), x))
		}
		x = b.Of(btf.KindFuncProto, "", false, x, p...)
		for i := range n {
			b.Func(fmt.Sprint("f", i), 1, x)
		}
	}},
	{"members of a large unnamed struct", func(b *Builder, n int) {
		x := b.Int("int", 4)
		var m []Part
		for i := range n {
			m = append(m, b.Member(fmt.Sprint("m", i), x, uint32(32*i)))
		}
		x = b.Struct("", uint32(4*n), m...)
		m = nil
		for i := range n {
			m = append(m, b.Member(fmt.Sprint("m", i), x, uint32(32*i)))
		}
		b.Struct("s", uint32(8*n), m...)
	}},
	{"tags of a struct", func(b *Builder, n int) {
		x := b.Int("int", 4)
		s := b.Struct("s", 4, b.Member("m", x, 0))
		for i := range n {
			b.Add(fmt.Sprint("tag", i), uint32(btf.KindDeclTag)<<24, s, uint32(i%2)-1)
		}
	}},
	{"variables of a section", func(b *Builder, n int) {
		x := b.Int("int", 4)
		var v []Part
		for i := range n {
			v = append(v, Part{b.Add(fmt.Sprint("v", i), uint32(btf.KindVar)<<24, x, 1), uint32(4 * i), 4})
		}
		b.Of(btf.KindDatasec, ".data", false, uint32(4*n), v...)
	}},
	{"names that are ends of one name", func(b *Builder, n int) {
		x := b.Int("int", 4)
		long := make([]byte, 16*n)
		for i := range long {
			long[i] = 'a' + byte(i%26)
		}
		at := b.Str(string(long))
		for i := range n {
			b.Words = append(b.Words, at+uint32(i), uint32(btf.KindTypedef)<<24, x)
			b.N++
		}
	}},
	{"members with a long name", func(b *Builder, n int) {
		x := b.Int("int", 4)
		long := make([]byte, 16*n)
		for i := range long {
			long[i] = 'a'
		}
		var m []Part
		for i := range n {
			m = append(m, b.Member(string(long), x, uint32(32*i)))
		}
		b.Struct("s", uint32(4*n), m...)
	}},
	{"names of 500 bytes", func(b *Builder, n int) {
		x := b.Int("int", 4)
		long := make([]byte, 500)
		for i := range long {
			long[i] = 'a' + byte(i%26)
		}
		at := b.Str(string(long))
		for i := range n {
			b.Words = append(b.Words, at+uint32(i%400), uint32(btf.KindTypedef)<<24, x)
			b.N++
		}
	}},
	{"structs of all structs", func(b *Builder, n int) { // n words, about
		k := 1
		for k*k < n {
			k++
		}
		x := b.Int("int", 4)
		for i := range k {
			b.Struct(fmt.Sprint("s", i), 4, b.Member("a", x, 0))
		}
		for i := range k {
			var m []Part
			for j := range k {
				m = append(m, b.Member(fmt.Sprint("m", j), uint32(2+(i+j)%k), uint32(32*j)))
			}
			b.Struct(fmt.Sprint("t", i), uint32(4*k), m...)
		}
	}},
	{"structs by pointers to all", func(b *Builder, n int) {
		k := 1
		for k*k < n {
			k++
		}
		for i := range k {
			b.Ptr(uint32(k + i + 1))
		}
		for i := range k {
			var m []Part
			for j := range k {
				m = append(m, b.Member("m", uint32(1+j), uint32(64*j)))
			}
			b.Struct("s", uint32(8*k), m...)
			_ = i
		}
	}},
}
