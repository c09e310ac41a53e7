package encode_test

import (
	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
)

// llvm is an annotation as clang writes it: a child of what it belongs to.
func llvm(name, val string) *dt.DIE {
	return dt.N(dt.TagLLVMAnnotation, dt.Name(name), dt.Const(val))
}
func declTag(val string) *dt.DIE { return llvm("btf_decl_tag", val) }
func typeTag(val string) *dt.DIE { return llvm("btf_type_tag", val) }

// gnuChain makes a chain of annotations as GCC writes it: DIEs below the unit. The owner
// refers to the first one.
func gnuChain(name string, vals ...string) (chain []*dt.DIE, first dt.Attr) {
	for i := len(vals) - 1; i >= 0; i-- {
		d := dt.N(dt.TagGNUAnnotation, dt.Name(name), dt.Const(vals[i]))
		if len(chain) > 0 {
			d.Add(dt.Attr{At: dt.AtGNUAnnotation, Val: chain[len(chain)-1]})
		}
		chain = append(chain, d)
	}
	return chain, dt.Attr{At: dt.AtGNUAnnotation, Val: chain[len(chain)-1]}
}

// Declaration and type tags.
func tagRules() []rule {
	all := func() []any {
		i := intType()
		s := structure("s", 8, declTag("first"), member("x", i, 0, declTag("x1"), declTag("x2")), member("y", i, 4), declTag("last"),
			member("z", i, 4, declTag("z")))
		u := composite(dt.TagUnionType, "u", 4, ref(dt.TagMember, "m", i, declTag("m")), declTag("union"))
		return []any{i, s, u, typedef("t", i, declTag("t1"), declTag("t2"), llvm("other", "no")),
			ptr(i, typeTag("user"), typeTag("rcu"), llvm("btf:type_tag", "no"))}
	}
	annotated := func() []any {
		i := intType()
		return []any{i, function("f", fn1, i, declTag("before"), param("a", i, 5), param("b", i, 4).Add(declTag("b")), declTag("after"))}
	}
	// nested is a function with tags, and in it two others: of a class, and one that is nested.
	nested := func() []any {
		i := intType()
		chain, first := gnuChain("btf_decl_tag", "gnu")
		inner := func(name, tag string, addr uint64) *dt.DIE {
			return function(name, addr, i, param("p", i, 5).Add(declTag(tag)), declTag(tag))
		}
		return append([]any{i, function("f", fn1, i, declTag("before"), param("a", i, 5), inner("g", "in g", fn2), param("b", i, 4).Add(declTag("b")),
			structure("local", 4, inner("nowhere", "method", 0)), first)}, []any{chain}...)
	}
	return []rule{
		{name: "tags around nested functions", files: with([]dt.Symbol{dt.Func("f", fn1), dt.Func("g", fn2), dt.Func("z", fn3)}, nested()...), want: textInt + `
			[2] STRUCT 'local' size=4 vlen=0` + textFunc(3, 1, "f", "a 1", "b 1") + `
			[5] DECL_TAG 'before' type_id=4 component_idx=-1
			[6] DECL_TAG 'b' type_id=4 component_idx=1
			[7] DECL_TAG 'gnu' type_id=4 component_idx=-1` + textFunc(8, 1, "g", "p 1") + `
			[10] DECL_TAG 'in g' type_id=9 component_idx=0
			[11] DECL_TAG 'in g' type_id=9 component_idx=-1`},
		{name: "LLVM tags", files: one(all()...), want: textTagged},
		{name: "LLVM tags without decl_tag", features: encode.DefaultFeatures &^ encode.DeclTag, files: one(all()...), want: textNamed + `
			[5] TYPE_TAG 'user' type_id=1
			[6] TYPE_TAG 'rcu' type_id=5
			[7] PTR '(anon)' type_id=6`},
		{name: "LLVM tags without type_tag", features: encode.DefaultFeatures &^ encode.TypeTag, files: one(all()...), want: textNamed + `
			[5] PTR '(anon)' type_id=1
			[6] DECL_TAG 'first' type_id=2 component_idx=-1
			[7] DECL_TAG 'x1' type_id=2 component_idx=0
			[8] DECL_TAG 'x2' type_id=2 component_idx=0
			[9] DECL_TAG 'last' type_id=2 component_idx=-1
			[10] DECL_TAG 'z' type_id=2 component_idx=2
			[11] DECL_TAG 'm' type_id=3 component_idx=0
			[12] DECL_TAG 'union' type_id=3 component_idx=-1
			[13] DECL_TAG 't1' type_id=4 component_idx=-1
			[14] DECL_TAG 't2' type_id=4 component_idx=-1`},
		{name: "LLVM tags are one in all units", files: many(dt.CU(all()...), dt.CU(all()...)), want: textTagged},
		{name: "tags of functions and parameters", files: with([]dt.Symbol{dt.Func("f", fn1), dt.Func("z", fn2)}, annotated()...), want: textInt + textFunc(2, 1, "f", "a 1", "b 1") + `
			[4] DECL_TAG 'before' type_id=3 component_idx=-1
			[5] DECL_TAG 'b' type_id=3 component_idx=1
			[6] DECL_TAG 'after' type_id=3 component_idx=-1`},
		{name: "tags of functions without decl_tag", features: encode.DefaultFeatures &^ encode.DeclTag,
			files: with([]dt.Symbol{dt.Func("f", fn1), dt.Func("z", fn2)}, annotated()...), want: textInt + textFunc(2, 1, "f", "a 1", "b 1")},
		{name: "class types have no tags", files: func() []dt.File {
			i := intType()
			return one(i, composite(dt.TagClassType, "k", 4, declTag("no"), member("x", i, 0, declTag("no"))))
		}(), want: textInt + `
			[2] STRUCT 'k' size=4 vlen=1
				'x' type_id=1 bits_offset=0`},
		{name: "inheritance counts as a component", files: func() []dt.File {
			i := intType()
			b := structure("b", 4, member("x", i, 0))
			return one(i, b, structure("s", 8, dt.N(dt.TagInheritance, dt.Type(b)), member("y", i, 4, declTag("y"))))
		}(), want: textInt + `
			[2] STRUCT 'b' size=4 vlen=1
				'x' type_id=1 bits_offset=0
			[3] STRUCT 's' size=8 vlen=1
				'y' type_id=1 bits_offset=32
			[4] DECL_TAG 'y' type_id=3 component_idx=1`},
		{name: "tags of a nested struct come first", files: func() []dt.File {
			i := intType()
			in := structure("in", 4, member("x", i, 0, declTag("x")))
			return one(i, structure("out", 8, member("a", i, 0, declTag("a")), in, member("in", in, 4, declTag("b"))))
		}(), want: textInt + `
			[2] STRUCT 'in' size=4 vlen=1
				'x' type_id=1 bits_offset=0
			[3] STRUCT 'out' size=8 vlen=2
				'a' type_id=1 bits_offset=0
				'in' type_id=2 bits_offset=32
			[4] DECL_TAG 'x' type_id=2 component_idx=0
			[5] DECL_TAG 'a' type_id=3 component_idx=0
			[6] DECL_TAG 'b' type_id=3 component_idx=1`},
		{name: "GNU type tags", files: func() []dt.File {
			i := intType()
			chain, first := gnuChain("btf_type_tag", "user", "rcu")
			return one(i, chain, ptr(i, first), ptr(nil, first))
		}(), want: textInt + `
			[2] TYPE_TAG 'user' type_id=3
			[3] TYPE_TAG 'rcu' type_id=1
			[4] PTR '(anon)' type_id=2
			[5] TYPE_TAG 'user' type_id=6
			[6] TYPE_TAG 'rcu' type_id=0
			[7] PTR '(anon)' type_id=5`},
		{name: "GNU decl tags", files: func() []dt.File {
			i := intType()
			cs, s := gnuChain("btf_decl_tag", "s1", "s2")
			cm, m := gnuChain("btf_decl_tag", "member")
			cu, u := gnuChain("btf_decl_tag", "not for unions")
			ct, t := gnuChain("btf_decl_tag", "not for typedefs")
			return one(i, cs, cm, cu, ct, structure("s", 8, s, member("x", i, 0), member("y", i, 4, m)),
				composite(dt.TagUnionType, "u", 4, u, ref(dt.TagMember, "v", i, m)), typedef("t", i, t))
		}(), want: textInt + `
			[2] STRUCT 's' size=8 vlen=2
				'x' type_id=1 bits_offset=0
				'y' type_id=1 bits_offset=32
			[3] UNION 'u' size=4 vlen=1
				'v' type_id=1 bits_offset=0
			[4] TYPEDEF 't' type_id=1
			[5] DECL_TAG 'member' type_id=2 component_idx=1
			[6] DECL_TAG 's1' type_id=2 component_idx=-1
			[7] DECL_TAG 's2' type_id=2 component_idx=-1
			[8] DECL_TAG 'member' type_id=3 component_idx=0`},
		{name: "GNU tags of functions and parameters", files: func() []dt.File {
			i := intType()
			cf, f := gnuChain("btf_decl_tag", "f1", "f2")
			cp, p := gnuChain("btf_decl_tag", "p")
			return with([]dt.Symbol{dt.Func("f", fn1), dt.Func("z", fn2)}, i, cf, cp,
				function("f", fn1, i, f, param("a", i, 5), param("b", i, 4).Add(p)))
		}(), want: textInt + textFunc(2, 1, "f", "a 1", "b 1") + `
			[4] DECL_TAG 'p' type_id=3 component_idx=1
			[5] DECL_TAG 'f1' type_id=3 component_idx=-1
			[6] DECL_TAG 'f2' type_id=3 component_idx=-1`},
		{name: "GNU chain stops at another name", files: func() []dt.File {
			i := intType()
			other := dt.N(dt.TagGNUAnnotation, dt.Name("other"), dt.Const("no"))
			first := dt.N(dt.TagGNUAnnotation, dt.Name("btf_type_tag"), dt.Const("yes"), dt.Attr{At: dt.AtGNUAnnotation, Val: other})
			return one(i, other, first, ptr(i, dt.Attr{At: dt.AtGNUAnnotation, Val: first}))
		}(), want: textInt + `
			[2] TYPE_TAG 'yes' type_id=1
			[3] PTR '(anon)' type_id=2`},
	}
}

// textTagged is tags on types and on members, as text.
const textTagged = textNamed + `
	[5] TYPE_TAG 'user' type_id=1
	[6] TYPE_TAG 'rcu' type_id=5
	[7] PTR '(anon)' type_id=6
	[8] DECL_TAG 'first' type_id=2 component_idx=-1
	[9] DECL_TAG 'x1' type_id=2 component_idx=0
	[10] DECL_TAG 'x2' type_id=2 component_idx=0
	[11] DECL_TAG 'last' type_id=2 component_idx=-1
	[12] DECL_TAG 'z' type_id=2 component_idx=2
	[13] DECL_TAG 'm' type_id=3 component_idx=0
	[14] DECL_TAG 'union' type_id=3 component_idx=-1
	[15] DECL_TAG 't1' type_id=4 component_idx=-1
	[16] DECL_TAG 't2' type_id=4 component_idx=-1`

// textNamed is the text of the types that have tags.
const textNamed = textInt + `
	[2] STRUCT 's' size=8 vlen=3
		'x' type_id=1 bits_offset=0
		'y' type_id=1 bits_offset=32
		'z' type_id=1 bits_offset=32
	[3] UNION 'u' size=4 vlen=1
		'm' type_id=1 bits_offset=0
	[4] TYPEDEF 't' type_id=1`
