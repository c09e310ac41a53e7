package btftest

import "github.com/btflite/btflite/btf"

// EveryKind adds a type of each kind there is, and of each form of a kind, so that kernels
// that know all kinds take it. TestEveryKind says which kind is missing.
func EveryKind(b *Builder) {
	i := b.Int("int", 4)
	char := b.Int("char", 1)
	p := b.Ptr(i)
	c := b.Const(char)
	s := b.Struct("list_head", 16, b.Member("next", c+2, 0), b.Member("data", p, 64))
	b.Ptr(s)
	b.Of(btf.KindStruct, "bits", true, 8, b.Member("low", i, 3<<24), b.Member("high", i, 5<<24|3), b.Member("rest", i, 32))
	nested := b.Union("", 8, b.Member("a", p, 0), b.Member("b", i, 0))
	b.Struct("user", 32, b.Member("c", char, 0), b.Member("", nested, 64), b.Member("tail", b.Array(i, i, 2), 192))
	b.Union("either", 8, b.Member("p", b.Ptr(c), 0), b.Member("i", i, 0))
	b.Enum("colour", b.Value("V", 0), b.Value("GREEN", 1))
	b.Of(btf.KindEnum, "signed", true, 4, b.Value("MINUS", -1))
	b.Enum64("wide", b.Value64("BIG", 1<<40))
	b.Ptr(b.Fwd("declared"))
	b.Ptr(b.FwdUnion("declared_union"))
	t := b.Typedef("number", i)
	b.Ptr(b.TypeTag("user_space", b.Volatile(b.Const(t))))
	b.Restrict(p)
	b.Ptr(b.Const(0))
	proto := b.Proto(i, b.Param("x", p), b.Param("y", b.Float("double", 8)))
	f := b.Func("called", Global, proto)
	g := b.Func("inlined", Static, b.Proto(0, b.Param("format", p), b.Param("", 0)))
	v := b.Var("counted", i, Global)
	w := b.Var("listed", s, Static)
	b.Datasec(".data..percpu", 32, Place(v, 0, 4), Place(w, 8, 16))
	b.DeclTag("whole", s, Whole)
	b.DeclTag("member", s, 1)
	b.DeclTag("argument", f, 0)
	in := b.Add("", info(btf.KindLocParam, 1, false), 8, btf.LocReg, 5)
	at := b.Add("", info(btf.KindLocParam, 2, false), 8, btf.LocReg|btf.LocDeref|btf.LocOffset, 7, 16)
	is := b.Add("", info(btf.KindLocParam, 2, false), 8, btf.LocConst|btf.LocAddr, 1<<12, 0)
	both := b.Add("", info(btf.KindLocProto, 2, false), 0, in, at)
	one := b.Add("", info(btf.KindLocProto, 2, false), 0, is, 0)
	b.Add("inline.text", info(btf.KindLocsec, 3, false), 0, f, both, 16, f, one, 32, g, one, 48)
}
