package core

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
)

// rules are the cases of TestRules. testdata/rules.txt says what comes of them.
var rules = []rule{
	{name: "forward declarations match only what they declare", local: func(o *object) {
		for _, name := range []string{"s", "u"} {
			for how, fwd := range []uint32{o.Fwd(name), o.FwdUnion(name)} {
				to := []string{"struct", "union"}[how]
				o.reloc(o.Struct("item___"+to+"_"+name, 8, o.Member(name, o.Ptr(fwd), 0)), "0", TypeMatches)
			}
		}
		i := o.Int("int", 4)
		for how, def := range []uint32{o.Struct("f", 4, o.Member("a", i, 0)), o.Union("f", 4, o.Member("a", i, 0))} {
			o.reloc(o.Struct("item___"+[]string{"struct", "union"}[how]+"_f", 8, o.Member("f", o.Ptr(def), 0)), "0", TypeMatches)
		}
	}, target: func(b *btftest.Builder) {
		i := b.Int("int", 4)
		s, u := b.Struct("s", 4, b.Member("a", i, 0)), b.Union("u", 4, b.Member("a", i, 0))
		b.Struct("item", 24, b.Member("s", b.Ptr(s), 0), b.Member("u", b.Ptr(u), 64), b.Member("f", b.Ptr(b.Fwd("f")), 128))
	}},
	{name: "a field that has moved", local: func(o *object) {
		i := o.Int("int", 4)
		o.reloc(o.Struct("item", 8, o.Member("a", i, 0), o.Member("b", i, 32)), "0:1", FieldByteOffset)
	}, target: func(b *btftest.Builder) {
		i := b.Int("int", 4)
		l := b.Int("long", 8)
		b.Struct("item", 24, b.Member("b", l, 64), b.Member("c", i, 128), b.Member("d", l, 0))
	}},
	{name: "flavours", local: func(o *object) {
		i := o.Int("int", 4)
		o.reloc(o.Struct("item___old", 4, o.Member("a", i, 0)), "0:0", FieldExists)
		o.reloc(o.Struct("item___new", 4, o.Member("z", i, 0)), "0:0", FieldExists)
	}, target: func(b *btftest.Builder) {
		b.Struct("item", 4, b.Member("a", b.Int("int", 4), 0))
	}},
	{name: "members without a name", local: func(o *object) {
		i := o.Int("int", 4)
		o.reloc(o.Struct("item", 4, o.Member("", o.Union("", 4, o.Member("a", i, 0)), 0)), "0:0:0", FieldByteOffset)
	}, target: func(b *btftest.Builder) {
		i := b.Int("int", 4)
		in := b.Struct("", 8, b.Member("x", i, 0), b.Member("a", i, 32))
		b.Struct("item", 16, b.Member("y", i, 0), b.Member("", b.Union("", 8, b.Member("", in, 0), b.Member("q", i, 0)), 64))
	}},
	{name: "pointers are not followed, structs have only what is asked", local: func(o *object) {
		p := o.Ptr(o.Fwd("other"))
		in := o.Struct("inner", 4, o.Member("n", o.Int("int", 4), 0))
		s := o.Struct("item", 16, o.Member("p", p, 0), o.Member("in", in, 64))
		o.reloc(s, "0:0", FieldByteOffset)
		o.reloc(s, "0:1", FieldByteSize)
	}, target: func(b *btftest.Builder) {
		other := b.Struct("other", 8, b.Member("x", b.Int("int", 4), 0))
		p := b.Const(b.Ptr(other))
		in := b.Typedef("inner_t", b.Struct("inner", 12, b.Member("n", 1, 0)))
		b.Struct("item", 32, b.Member("p", p, 64), b.Member("in", in, 128), b.Member("z", 1, 224))
	}},
	{name: "arrays", local: func(o *object) {
		i := o.Int("int", 4)
		s := o.Struct("item", 24, o.Member("a", o.Array(i, i, 4), 0), o.Member("f", o.Array(i, i, 0), 128))
		o.reloc(s, "0:0:3", FieldByteOffset)
		o.reloc(s, "0:0:1", FieldByteOffset)
		o.reloc(s, "0:1:9", FieldByteSize)
		o.reloc(s, "2:0:0", FieldByteOffset)
		o.reloc(s, "0:0:1", FieldSigned)
	}, target: func(b *btftest.Builder) {
		i := b.Int("int", 4)
		b.Struct("item", 12, b.Member("a", b.Array(i, i, 2), 32), b.Member("f", b.Array(i, i, 0), 96))
	}, aborts: true},
	{name: "fields of other kinds", local: func(o *object) {
		i := o.Int("int", 4)
		e := o.Enum("colour", o.Value("RED", 0))
		s := o.Struct("item", 32, o.Member("i", i, 0), o.Member("e", e, 32), o.Member("p", o.Ptr(0), 64),
			o.Member("s", o.Struct("in", 4, o.Member("x", i, 0)), 128), o.Member("a", o.Array(i, i, 2), 192))
		for _, access := range []string{"0:0", "0:1", "0:2", "0:3", "0:3:0", "0:4"} {
			o.reloc(s, access, FieldExists)
		}
	}, target: func(b *btftest.Builder) {
		i := b.Int("int", 4)
		e := b.Enum("color", b.Value("RED", 0))
		u := b.Union("out", 4, b.Member("x", i, 0))
		b.Struct("item", 32, b.Member("i", b.Ptr(i), 0), b.Member("e", e, 32), b.Member("p", i, 64), b.Member("s", u, 128), b.Member("a", b.Array(u, i, 2), 192))
	}},
	{name: "enums of other names, and without one", local: func(o *object) {
		named, other, none := o.Enum("colour", o.Value("RED", 0)), o.Enum("shape", o.Value("ROUND", 0)), o.Enum("", o.Value("NONE", 0))
		s := o.Struct("item", 16, o.Member("same", named, 0), o.Member("other", other, 32), o.Member("now", none, 64), o.Member("once", named, 96))
		for _, access := range []string{"0:0", "0:1", "0:2", "0:3"} {
			o.reloc(s, access, FieldExists)
		}
	}, target: func(b *btftest.Builder) {
		named, none := b.Enum("colour", b.Value("RED", 0)), b.Enum("", b.Value("NONE", 0))
		b.Struct("item", 16, b.Member("same", named, 0), b.Member("other", named, 32), b.Member("now", named, 64), b.Member("once", none, 96))
	}},
	{name: "bit-fields", local: func(o *object) {
		i := o.Int("int", 4)
		s := o.Of(btf.KindStruct, "item", true, 4, o.Member("a", i, 3<<24), o.Member("b", i, 5<<24|3), o.Member("c", i, 32))
		for k := FieldByteOffset; k <= FieldRshift; k++ {
			o.reloc(s, "0:1", k)
		}
		o.reloc(s, "0:2", FieldLshift)
	}, target: func(b *btftest.Builder) {
		i := b.Int("int", 4)
		b.Of(btf.KindStruct, "item", true, 8, b.Member("a", i, 30<<24), b.Member("b", i, 4<<24|30), b.Member("c", i, 32))
	}},
	{name: "enums", local: func(o *object) {
		e := o.Enum("colour", o.Value("RED", 0), o.Value("GREEN___x", 1), o.Value("BLUE", 2))
		o.reloc(e, "0", EnumvalValue)
		o.reloc(o.Typedef("colour_t", e), "1", EnumvalExists)
		o.reloc(e, "2", EnumvalExists)
	}, target: func(b *btftest.Builder) {
		b.Typedef("colour_t", b.Enum64("colour", b.Value64("GREEN", 1<<40), b.Value64("RED", 5)))
	}},
	{name: "types as a whole", local: func(o *object) {
		i := o.Int("int", 4)
		s := o.Struct("item", 4, o.Member("a", i, 0))
		f := o.Typedef("fn", o.Ptr(o.Proto(i, o.Param("x", o.Ptr(s)), o.Param("y", i))))
		g := o.Typedef("gn", o.Ptr(o.Proto(0)))
		o.reloc(s, "0", TypeExists)
		o.reloc(s, "0", TypeSize)
		o.reloc(s, "0", TypeIDTarget)
		o.reloc(s, "0", TypeIDLocal)
		o.reloc(f, "0", TypeExists)
		o.reloc(g, "0", TypeExists)
		o.reloc(o.Struct("gone", 4), "0", TypeSize)
		o.reloc(o.Union("item", 4), "0", TypeExists)
	}, target: func(b *btftest.Builder) {
		l := b.Int("long", 8)
		s := b.Struct("item", 48, b.Member("z", l, 0))
		b.Typedef("fn", b.Ptr(b.Proto(l, b.Param("x", b.Ptr(b.Const(s))), b.Param("y", b.Typedef("num", l)))))
		b.Typedef("gn", b.Ptr(b.Proto(0, b.Param("x", l))))
	}},
	{name: "types that match", local: func(o *object) {
		i := o.Int("int", 4)
		u := o.Int("unsigned int", 4)
		list := o.Struct("list", 16, o.Member("next", o.Ptr(o.Fwd("list")), 0))
		e := o.Enum("colour___x", o.Value("RED___y", 9))
		o.reloc(o.Struct("item___m", 24, o.Member("l", list, 0), o.Member("p", o.Ptr(o.Struct("other", 4, o.Member("none", i, 0))), 64),
			o.Member("f", o.Ptr(o.Proto(0, o.Param("", o.Ptr(list)), o.Param("", i))), 128), o.Member("a", o.Array(e, i, 2), 192)), "0", TypeMatches)
		o.reloc(o.Struct("item___size", 4, o.Member("z", u, 0)), "0", TypeMatches)
		o.reloc(o.Struct("item___none", 4, o.Member("none", i, 0)), "0", TypeMatches)
		o.reloc(o.Struct("item___params", 8, o.Member("f", o.Ptr(o.Proto(0, o.Param("", i))), 0)), "0", TypeMatches)
		o.reloc(o.Struct("item___elems", 8, o.Member("a", o.Array(e, i, 3), 0)), "0", TypeMatches)
		o.reloc(e, "0", TypeMatches)
		o.reloc(o.Enum("colour___z", o.Value("BLACK", 0)), "0", TypeMatches)
	}, target: func(b *btftest.Builder) {
		i := b.Int("int", 4)
		const list = 4 // its id
		b.Struct("list", 24, b.Member("n", i, 0), b.Member("next", b.Ptr(list), 64), b.Member("prev", b.Ptr(list), 128))
		e := b.Enum("colour", b.Value("GREEN", 1), b.Value("RED", 2))
		p := b.Ptr(b.Struct("other", 8, b.Member("x", i, 0)))
		f := b.Ptr(b.Proto(0, b.Param("a", b.Ptr(list)), b.Param("b", i)))
		b.Struct("item", 56, b.Member("z", i, 0), b.Member("f", f, 64), b.Member("p", p, 128), b.Member("l", list, 192), b.Member("a", b.Array(e, i, 2), 384))
	}},
	{name: "nothing is left out behind a type tag", local: func(o *object) {
		o.reloc(o.Struct("item", 8, o.Member("p", o.Ptr(o.Int("int", 4)), 0)), "0:0", FieldByteOffset)
	}, target: func(b *btftest.Builder) {
		i := b.Int("int", 4)
		s := b.Struct("item", 8, b.Member("p", b.TypeTag("percpu", b.Ptr(i)), 0))
		b.DeclTag("tag", s, btftest.Whole)
	}, aborts: true},
	{name: "a forward declaration behind a pointer that is followed", local: func(o *object) {
		o.reloc(o.Typedef("fn", o.Ptr(o.Proto(0, o.Param("", o.Ptr(o.Fwd("thing")))))), "0", TypeExists)
	}, target: func(b *btftest.Builder) {
		b.Typedef("fn", b.Ptr(b.Proto(0, b.Param("", b.Ptr(b.Fwd("thing"))))))
	}, aborts: true},
	{name: "two types that agree", local: func(o *object) {
		o.reloc(o.Struct("item", 4, o.Member("a", o.Int("int", 4), 0)), "0:0", FieldByteOffset)
	}, target: func(b *btftest.Builder) {
		i := b.Int("int", 4)
		b.Struct("item", 4, b.Member("a", i, 0))
		b.Struct("item", 8, b.Member("a", i, 0), b.Member("b", i, 32))
	}},
	{name: "two types that do not agree", local: func(o *object) {
		i := o.Int("int", 4)
		s := o.Struct("item", 4, o.Member("a", i, 0), o.Member("b", i, 32))
		o.reloc(s, "0:0", FieldByteOffset)
		o.reloc(s, "0:1", FieldByteOffset)
	}, target: func(b *btftest.Builder) {
		i := b.Int("int", 4)
		b.Struct("item", 4, b.Member("a", i, 0))
		b.Struct("item", 8, b.Member("b", i, 0), b.Member("a", i, 32))
	}, aborts: true},
}
