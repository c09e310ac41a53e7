package encode_test

import (
	"strconv"

	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
)

// funcs are symbols f at fn1 and a last one, which no rule about ambiguity
// applies to.
func funcs(more ...dt.Symbol) []dt.Symbol {
	return append([]dt.Symbol{dt.Func("f", fn1), dt.Func("zz", fn3+0x100)}, more...)
}

// Which functions become FUNCs.
func functionRules() []rule {
	plain := func() []dt.File {
		i := intType()
		p := ptr(i)
		return with(funcs(), i, p, function("f", fn1, i, param("a", i, 5), param("p", p, 4)))
	}
	inline := func(first bool) []dt.File {
		i, i2 := intType(), intType()
		abs := ref(dt.TagSubprogram, "f", i, dt.Inline(), ref(dt.TagFormalParameter, "inl", i))
		real := function("f", fn1, i2, param("real", i2, 5))
		a, b := dt.CU(i, abs), dt.CU(i2, real)
		if !first {
			a, b = b, a
		}
		return []dt.File{{Units: []*dt.Unit{a, b}, Symbols: funcs()}}
	}
	inconsistent := func(types func() (all []*dt.DIE, a, b *dt.DIE)) []dt.File {
		ds, a, _ := types()
		ds2, _, b := types()
		return []dt.File{{Units: []*dt.Unit{dt.CU(ds, function("f", fn1, nil, param("x", a, 5))), dt.CU(ds2, function("f", fn1, nil, param("y", b, 5)))}, Symbols: funcs()}}
	}
	pointers := func() ([]*dt.DIE, *dt.DIE, *dt.DIE) {
		i := intType()
		c := ref(dt.TagConstType, "", i)
		p, q := ptr(i), ptr(c)
		return []*dt.DIE{i, c, p, q}, p, q
	}
	voids := func() ([]*dt.DIE, *dt.DIE, *dt.DIE) {
		c := ref(dt.TagConstType, "", nil)
		p, q := ptr(nil), ptr(c)
		return []*dt.DIE{c, p, q}, p, q
	}
	typedefs := func() ([]*dt.DIE, *dt.DIE, *dt.DIE) {
		i := intType()
		t := typedef("I", i)
		return []*dt.DIE{i, t}, i, t
	}
	suffix := func(sym string) []dt.File {
		i := intType()
		return with([]dt.Symbol{dt.Func(sym, fn1), dt.Func("zz", fn3)}, i, function("f", fn1, i, param("a", i, 5)), function("zz", fn3, i))
	}
	optimized := func(sym string) []dt.File {
		i := intType()
		return with([]dt.Symbol{dt.Func(sym, fn1), dt.Func("zz", fn3)}, i, function("f", fn1, i, param("a", i, 5), param("gone", i, -1)))
	}
	twoStatics := func(name string) []dt.File {
		i, i2 := intType(), intType()
		return []dt.File{{Units: []*dt.Unit{dt.CU(i, function(name, fn1, i)), dt.CU(i2, function(name, fn2, i2))},
			Symbols: []dt.Symbol{dt.Func(name, fn1), dt.Func(name, fn2), dt.Func("m", fn3)}}}
	}
	behind := func(padding string) []dt.File {
		files := twoStatics("Z")
		files[0].Symbols = append(files[0].Symbols[:2], dt.Func(padding, fn3))
		return files
	}
	padding := func(name string) []dt.File {
		i := intType()
		return with(funcs(dt.Func(name, fn2), dt.Func("__pfx_f", fn3)), i, function(name, fn2, i), function("f", fn1, i))
	}
	packed := func(direct bool) []dt.File {
		i, c := intType(), base("char", 1, ateSignedChar)
		s := structure("pk", 5, member("c", c, 0), member("i", i, 1))
		t := typedef("pk_t", s)
		last := s
		if !direct {
			last = t
		}
		f := function("f", fn1, i)
		for n, r := range []int{5, 4, 1, 2, 8, 9} {
			f.Add(param(string(rune('a'+n)), i, r))
		}
		return with(funcs(), i, c, s, t, f.Add(ref(dt.TagFormalParameter, "last", last, dt.Location(0x91, 0))))
	}
	oddSize := func() []dt.File {
		i, c, odd := intType(), base("char", 1, ateSignedChar), base("odd", 3, ateUnsigned)
		s := structure("pk", 4, member("o", odd, 0), member("c", c, 3))
		f := function("f", fn1, i)
		for n, r := range []int{5, 4, 1, 2, 8, 9} {
			f.Add(param(string(rune('a'+n)), i, r))
		}
		return with(funcs(), i, c, odd, s, f.Add(ref(dt.TagFormalParameter, "last", s, dt.Location(0x91, 0))))
	}
	return []rule{
		{name: "function", files: plain(), want: textInt + `
			[2] PTR '(anon)' type_id=1` + textFunc(3, 1, "f", "a 1", "p 2"), strings: "int a p f"},
		{name: "functions in the order of their names", files: func() []dt.File {
			i := intType()
			return with([]dt.Symbol{dt.Func("b", fn1), dt.Func("a", fn2), dt.Func("c", fn3)}, i,
				function("c", fn3, i), function("b", fn1, i), function("a", fn2, i))
		}(), want: textInt + textFunc(2, 1, "a") + `
			[4] FUNC 'b' type_id=2 linkage=static
			[5] FUNC 'c' type_id=2 linkage=static`},
		{name: "declaration", files: func() []dt.File {
			i := intType()
			return with(funcs(), i, ref(dt.TagSubprogram, "f", i, dt.Declaration()), ref(dt.TagSubprogram, "zz", i, dt.Attr{At: dt.AtDeclaration, Form: dt.FormFlag, Val: 0}))
		}(), want: textInt},
		{name: "parameter without a name", files: func() []dt.File {
			i := intType()
			return with(funcs(), i, function("f", fn1, i, param("", i, 5)))
		}(), want: textInt},
		{name: "function without a symbol", files: func() []dt.File {
			i := intType()
			return with(funcs(), i, function("unknown", fn1, i), function("f", fn1, i))
		}(), want: textInt + textFunc(2, 1, "f")},
		{name: "no function symbols at all", files: func() []dt.File {
			i := intType()
			return with([]dt.Symbol{dt.Object("o", ".text", fn1)}, i, function("f", fn1, i))
		}(), want: textInt},
		{name: "only inlined", files: func() []dt.File {
			i := intType()
			return with(funcs(), i, ref(dt.TagSubprogram, "f", i, dt.Inline(), ref(dt.TagFormalParameter, "a", i)))
		}(), want: textInt + textFunc(2, 1, "f", "a 1")},
		{name: "inline, then a real one", files: inline(true), want: textInt + textFunc(2, 1, "f", "real 1")},
		{name: "a real one, then inline", files: inline(false), want: textInt + textFunc(2, 1, "f", "real 1")},
		{name: "inline, then a real one, true signatures", features: encode.DefaultFeatures | encode.TrueSignature, files: inline(true), want: textInt + textFunc(2, 1, "f", "real 1")},
		{name: "concrete instance of an abstract one", files: func() []dt.File {
			i := intType()
			a, b := ref(dt.TagFormalParameter, "a", i), ref(dt.TagFormalParameter, "b", i)
			abs := ref(dt.TagSubprogram, "f", i, dt.Inline(), a, b)
			conc := dt.N(dt.TagSubprogram, dt.Origin(abs), dt.LowPC(fn1),
				dt.N(dt.TagFormalParameter, dt.Origin(a), dt.Location(0x55)), dt.N(dt.TagFormalParameter, dt.Origin(b), dt.Location(0x54)))
			return with(funcs(), i, abs, conc)
		}(), want: textInt + textFunc(2, 1, "f", "a 1", "b 1")},
		{name: "concrete instance before its abstract one", files: func() []dt.File {
			i := intType()
			a := ref(dt.TagFormalParameter, "a", i)
			abs := ref(dt.TagSubprogram, "f", i, dt.Inline(), a)
			return with(funcs(), i, dt.N(dt.TagSubprogram, dt.Origin(abs), dt.LowPC(fn1), dt.N(dt.TagFormalParameter, dt.Origin(a), dt.Location(0x55))), abs)
		}(), want: textInt + textFunc(2, 1, "f", "a 1")},
		{name: "name from the specification", files: func() []dt.File {
			i := intType()
			decl := ref(dt.TagSubprogram, "f", i, dt.Declaration())
			return with(funcs(), i, decl, dt.N(dt.TagSubprogram, dt.Specification(decl), dt.LowPC(fn1)))
		}(), want: textInt + textFunc(2, 0, "f")},
		{name: "cold and part symbols", files: func() []dt.File {
			i := intType()
			return with([]dt.Symbol{dt.Func("f.cold", fn1), dt.Func("g.part.0", fn2), dt.Func("h.cold.1", fn3)}, i, function("f", fn1, i), function("g", fn2, i), function("h", fn3, i))
		}(), want: textInt},
		{name: "isra symbol, nothing gone", files: suffix("f.isra.0"), want: textInt + textFunc(2, 1, "f", "a 1") + textFunc(4, 1, "zz")},
		{name: "constprop symbol, nothing gone", files: suffix("f.constprop.0"), want: textInt + textFunc(2, 1, "f", "a 1") + textFunc(4, 1, "zz")},
		{name: "isra symbol, a parameter gone", files: optimized("f.isra.0"), want: textInt},
		{name: "constprop symbol, a parameter gone", files: optimized("f.constprop.0"), want: textInt},
		{name: "constprop symbol, true signatures", features: encode.AllFeatures, files: optimized("f.constprop.0"), want: textInt + textFunc(2, 1, "f.constprop.0", "a 1", "gone 1")},
		{name: "llvm symbol, a parameter gone", files: optimized("f.llvm.123"), want: textInt + textFunc(2, 1, "f", "a 1", "gone 1")},
		{name: "plain symbol, a parameter gone", files: optimized("f"), want: textInt + textFunc(2, 1, "f", "a 1", "gone 1")},
		{name: "ambiguous address", files: twoStatics("f"), want: textInt},
		{name: "ambiguous address of the last name", files: twoStatics("zzz"), want: textInt + textFunc(2, 1, "zzz")},
		{name: "ambiguous address of the last name but for padding", files: behind("__pfx_f"), want: textInt},
		{name: "function with the name of padding", files: padding("__pfx_g"), want: textInt + textFunc(2, 1, "__pfx_g") + `
			[4] FUNC 'f' type_id=2 linkage=static`},
		{name: "function with the name of a CFI symbol", files: padding("__cfi_g"), want: textInt + textFunc(2, 1, "__cfi_g") + `
			[4] FUNC 'f' type_id=2 linkage=static`},
		{name: "function with the name of padding that is not a symbol", files: func() []dt.File {
			i := intType()
			return with(funcs(dt.Func("__pfx_f", fn3)), i, function("__pfx_g", fn2, i), function("f", fn1, i))
		}(), want: textInt + textFunc(2, 1, "f")},
		{name: "unexpected register", files: func() []dt.File {
			i := intType()
			return with(funcs(), i, function("f", fn1, i, param("a", i, 3)), function("zz", fn3+0x100, i, param("a", i, 5)))
		}(), want: textInt + textFunc(2, 1, "zz", "a 1")},
		{name: "unexpected register beside a struct and a class", files: func() []dt.File {
			f := dt.File{}
			for k := range uint64(2) { // the types of the second unit are known
				i, n := intType(), strconv.FormatUint(k, 10)
				st, cl := structure("s", 4, member("a", i, 0)), composite(dt.TagClassType, "c", 4, member("a", i, 0))
				td := ref(dt.TagTypedef, "td", cl)
				co := ref(dt.TagConstType, "", td)
				a, b := ref(dt.TagFormalParameter, "a", i), ref(dt.TagFormalParameter, "b", cl)
				abs := ref(dt.TagSubprogram, "inlined"+n, i, dt.Inline(), a, b)
				unit := dt.CU(i, st, cl, td, co, abs)
				for at, t := range []*dt.DIE{st, cl, td, co, nil} {
					name, addr := []string{"struct", "class", "typedef", "const", "inlined"}[at]+n, fn1+0x100*k+0x10*uint64(at)
					f.Symbols = append(f.Symbols, dt.Func(name, addr))
					if t == nil {
						unit.Root.Add(dt.N(dt.TagSubprogram, dt.Origin(abs), dt.LowPC(addr), dt.N(dt.TagFormalParameter, dt.Origin(a), dt.Location(0x53)), dt.N(dt.TagFormalParameter, dt.Origin(b), dt.Location(0x54))))
						continue
					}
					unit.Root.Add(function(name, addr, i, param("a", i, 3), param("b", t, 4)))
				}
				f.Units = append(f.Units, unit)
			}
			return []dt.File{f}
		}(), want: textInt + `
			[2] STRUCT 's' size=4 vlen=1
			'a' type_id=1 bits_offset=0
			[3] STRUCT 'c' size=4 vlen=1
			'a' type_id=1 bits_offset=0
			[4] TYPEDEF 'td' type_id=3
			[5] CONST '(anon)' type_id=4` + textFunc(6, 1, "struct0", "a 1", "b 2") + `
			[8] FUNC 'struct1' type_id=6 linkage=static`},
		{name: "float parameter", files: func() []dt.File {
			d := base("double", 8, ateFloat)
			return with(funcs(), d, function("f", fn1, d, ref(dt.TagFormalParameter, "a", d, dt.Location(0x50+17))))
		}(), want: `
			[1] FLOAT 'double' size=8`},
		{name: "reordered parameters", files: func() []dt.File {
			i := intType()
			a, b := ref(dt.TagFormalParameter, "a", i), ref(dt.TagFormalParameter, "b", i)
			abs := ref(dt.TagSubprogram, "f", i, dt.Inline(), a, b)
			conc := dt.N(dt.TagSubprogram, dt.Origin(abs), dt.LowPC(fn1),
				dt.N(dt.TagFormalParameter, dt.Origin(b), dt.Location(0x55)), dt.N(dt.TagFormalParameter, dt.Origin(a)))
			return with(funcs(), i, abs, conc)
		}(), want: textInt},
		{name: "location lists", files: func() []dt.File {
			i := intType()
			return with(funcs(), i, function("f", fn1, i, ref(dt.TagFormalParameter, "a", i, dt.LocationList(dt.List{{0x55}, {0xa3, 1, 0x55, 0x9f}})),
				ref(dt.TagFormalParameter, "b", i, dt.Attr{At: dt.AtLocation, Form: dt.FormLoclistx, Val: dt.List{{0x54}, {0x30, 0x9f}}})))
		}(), want: textInt + textFunc(2, 1, "f", "a 1", "b 1")},
		{name: "location lists, wrong register", files: func() []dt.File {
			i := intType()
			return with(funcs(), i, function("f", fn1, i, ref(dt.TagFormalParameter, "a", i, dt.LocationList(dt.List{{0x53}, {0x55}}))),
				function("zz", fn3+0x100, i, ref(dt.TagFormalParameter, "b", i, dt.Attr{At: dt.AtLocation, Form: dt.FormLoclistx, Val: dt.List{{0x53}}})))
		}(), want: textInt},
		{name: "location lists of DWARF 4", files: func() []dt.File {
			i := intType()
			return []dt.File{{Symbols: funcs(), Units: []*dt.Unit{unitOf(4, i, function("f", fn1, i, ref(dt.TagFormalParameter, "a", i, dt.LocationList(dt.List{{0x55}, {0x50}}))),
				function("zz", fn3+0x100, i, ref(dt.TagFormalParameter, "b", i, dt.LocationList(dt.List{{0x53}}))))}}}
		}(), want: textInt + textFunc(2, 1, "f", "a 1")},
		{name: "variadic", files: func() []dt.File {
			i := intType()
			return with(funcs(), i, function("f", fn1, i, param("fmt", i, 5), dt.N(dt.TagUnspecifiedParams)), function("zz", fn3+0x100, nil, dt.N(dt.TagUnspecifiedParams)))
		}(), want: textInt + `
			[2] FUNC_PROTO '(anon)' ret_type_id=1 vlen=2
				'fmt' type_id=1
				'(anon)' type_id=0
			[3] FUNC 'f' type_id=2 linkage=static
			[4] FUNC_PROTO '(anon)' ret_type_id=0 vlen=1
				'(anon)' type_id=0
			[5] FUNC 'zz' type_id=4 linkage=static`},
		{name: "parameters in blocks do not count", files: func() []dt.File {
			i := intType()
			return with(funcs(), i, function("f", fn1, i, param("a", i, 5), dt.N(dt.TagLexicalBlock, param("no", i, 4)), param("b", i, 4)))
		}(), want: textInt + textFunc(2, 1, "f", "a 1", "b 1")},
		{name: "nested function comes first and parts its parameters", files: func() []dt.File {
			i := intType()
			return with(funcs(), i, function("f", fn1, i, param("a", i, 5), function("zz", fn3+0x100, i, param("in", i, 5)), param("b", i, 4)))
		}(), want: textInt + textFunc(2, 1, "f", "a 1", "b 1") + textFunc(4, 1, "zz", "in 1")},
		{name: "consistent prototypes: const behind a pointer", files: inconsistent(pointers), want: textInt + `
			[2] CONST '(anon)' type_id=1
			[3] PTR '(anon)' type_id=1
			[4] PTR '(anon)' type_id=2` + textFunc(5, 0, "f", "x 3")},
		{name: "inconsistent prototypes: void and const void", files: inconsistent(voids), want: `
			[1] CONST '(anon)' type_id=0
			[2] PTR '(anon)' type_id=0
			[3] PTR '(anon)' type_id=1`},
		{name: "inconsistent prototypes: const void and void", files: inconsistent(func() ([]*dt.DIE, *dt.DIE, *dt.DIE) {
			all, p, q := voids()
			return all, q, p
		}), want: `
			[1] CONST '(anon)' type_id=0
			[2] PTR '(anon)' type_id=0
			[3] PTR '(anon)' type_id=1`},
		{name: "inconsistent prototypes: typedef", files: inconsistent(typedefs), want: textInt + `
			[2] TYPEDEF 'I' type_id=1`},
		{name: "inconsistent prototypes without consistent_func", features: encode.BasicFeatures, files: inconsistent(typedefs), want: textInt + `
			[2] TYPEDEF 'I' type_id=1` + textFunc(3, 0, "f", "x 1")},
		{name: "inconsistent number of parameters", files: func() []dt.File {
			i, i2 := intType(), intType()
			return []dt.File{{Symbols: funcs(), Units: []*dt.Unit{dt.CU(i, function("f", fn1, nil, param("x", i, 5))), dt.CU(i2, function("f", fn1, nil))}}}
		}(), want: textInt},
		{name: "inconsistent return", files: func() []dt.File {
			i, i2 := intType(), intType()
			return []dt.File{{Symbols: funcs(), Units: []*dt.Unit{dt.CU(i, function("f", fn1, i)), dt.CU(i2, function("f", fn1, nil))}}}
		}(), want: textInt},
		{name: "packed struct on the stack", files: packed(true), want: textPacked},
		{name: "packed struct on the stack with a member whose size BTF cannot say", files: oddSize(), want: textInt + `
			[2] INT 'char' size=1 bits_offset=0 nr_bits=8 encoding=SIGNED
			[3] INT '__SANITIZED_FAKE_INT__' size=4 bits_offset=0 nr_bits=32 encoding=(none)
			[4] STRUCT 'pk' size=4 vlen=2
				'o' type_id=3 bits_offset=0
				'c' type_id=2 bits_offset=24`},
		{name: "packed struct on the stack behind a typedef", files: packed(false), want: textPacked + textFunc(5, 1, "f", "a 1", "b 1", "c 1", "d 1", "e 1", "f 1", "last 4")},
		{name: "assembler functions", files: func() []dt.File {
			u := &dt.Unit{Root: dt.N(dt.TagCompileUnit, dt.Name("e.S"), dt.Language(0x8001), dt.Producer("GNU AS"), function("f", fn1, nil))}
			return []dt.File{{Symbols: funcs(), Units: []*dt.Unit{u}}}
		}(), want: textFunc(1, 0, "f")},
		{name: "parameter name of 130 bytes", files: func() []dt.File {
			i := intType()
			name := ""
			for len(name) < 130 {
				name += "0123456789"[len(name)%10 : len(name)%10+1]
			}
			return with(funcs(), i, function("f", fn1, i, param("p"+name, i, 5)))
		}(), want: textInt + textFunc(2, 1, "f", "p012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345 1")},
		{name: "parameter names of functions left out stay in the strings", files: func() []dt.File {
			i := intType()
			return with(funcs(), i, function("f", fn1, i, param("wrong_reg", i, 3)))
		}(), want: textInt, strings: "int wrong_reg"},

		{name: "clang: register unknown is fine", files: func() []dt.File {
			i := intType()
			u := &dt.Unit{Root: dt.N(dt.TagCompileUnit, dt.Name("c.c"), dt.Language(0x1d), dt.Producer("clang version 20"), i,
				function("f", fn1, i, param("a", i, -1), param("b", i, 4)), function("zz", fn3+0x100, i, param("a", i, 4)))}
			return []dt.File{{Symbols: funcs(), Units: []*dt.Unit{u}}}
		}(), want: textInt + textFunc(2, 1, "f", "a 1", "b 1")},
		{name: "clang: true member", features: encode.DefaultFeatures | encode.TrueSignature, files: clangChanged(), want: textInt + `
			[2] INT 'long' size=8 bits_offset=0 nr_bits=64 encoding=SIGNED
			[3] STRUCT 'two' size=16 vlen=2
				'a' type_id=2 bits_offset=0
				'b' type_id=2 bits_offset=64` + textFunc(4, 1, "f", "t__b 2", "z 1")},
		{name: "clang: changed signature without the feature", files: clangChanged(), want: textInt + `
			[2] INT 'long' size=8 bits_offset=0 nr_bits=64 encoding=SIGNED
			[3] STRUCT 'two' size=16 vlen=2
				'a' type_id=2 bits_offset=0
				'b' type_id=2 bits_offset=64` + textFunc(4, 1, "f", "t 3", "z 1")},
		{name: "functions of a 32-bit ARM", files: func() []dt.File {
			i, l := intType(), base("long long int", 8, ateSigned)
			return []dt.File{{Machine: dt.MachineARM, Class32: true, Symbols: funcs(), Units: []*dt.Unit{dt.CU(i, l,
				function("f", fn1, i, param("a", i, 0), param("b", l, 1), param("c", i, 3)),
				function("zz", fn3+0x100, i, param("a", i, 0), param("b", l, 2)))}}}
		}(), want: textInt + `
			[2] INT 'long long int' size=8 bits_offset=0 nr_bits=64 encoding=SIGNED` + textFunc(3, 1, "f", "a 1", "b 2", "c 1")},
		{name: "functions of an s390x", files: func() []dt.File {
			i, l := intType(), base("long int", 8, ateSigned)
			return []dt.File{{Machine: dt.MachineS390, BigEndian: true, Symbols: funcs(), Units: []*dt.Unit{dt.CU(i, l,
				function("f", fn1, i, param("a", i, 2), param("b", l, 3)), function("zz", fn3+0x100, i, param("a", l, 3)))}}}
		}(), want: textInt + `
			[2] INT 'long int' size=8 bits_offset=0 nr_bits=64 encoding=SIGNED` + textFunc(3, 1, "f", "a 1", "b 2")},
	}
}

// textPacked is a struct with a member that is not aligned, as text.
const textPacked = textInt + `
	[2] INT 'char' size=1 bits_offset=0 nr_bits=8 encoding=SIGNED
	[3] STRUCT 'pk' size=5 vlen=2
		'c' type_id=2 bits_offset=0
		'i' type_id=1 bits_offset=8
	[4] TYPEDEF 'pk_t' type_id=3`
