package encode_test

import (
	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
)

// Variables.
func variableRules() []rule {
	const pc = dt.PercpuAddr
	file := func(syms []dt.Symbol, parts ...any) []dt.File {
		return []dt.File{{Units: []*dt.Unit{dt.CU(parts...)}, Symbols: append(syms, dt.Func("f", fn1)),
			Sections: []dt.Section{dt.Percpu(), {Name: ".data", Flags: 3, Addr: 0x60000, Data: make([]byte, 256)}, {Name: ".bss", Type: 8, Flags: 3, Addr: 0x70000, Size: 4096}}}}
	}
	vars := func() []dt.File {
		i := intType()
		a := array(i, 4)
		return file(nil, i, a, variable("second", i, pc+8), variable("first", i, pc+4), variable("arr", a, pc+16),
			ref(dt.TagVariable, "static_one", i, dt.Location(at(pc+64)...)), variable("normal", i, 0x60010), variable("in_bss", i, 0x70020))
	}
	bad := func() []dt.File {
		i := intType()
		return file(nil, i, variable("ok", i, pc+8), variable("bad-name", i, pc+16))
	}
	voidVar := func() []dt.File {
		f := file(nil)
		i, i2 := intType(), intType()
		f[0].Units = []*dt.Unit{dt.CU(i, variable("before", i, pc+4), variable("v", nil, pc+8), variable("after", i, pc+12), function("f", fn1, i)),
			dt.CU(i2, typedef("t", i2), variable("w", i2, pc+16))}
		return f
	}
	return []rule{
		{name: "percpu variables by offset", files: vars(), want: textPercpu + `
			[7] DATASEC '.data..percpu' size=68 vlen=4` + textPlaces},
		{name: "variables whose size BTF cannot say", features: encode.DefaultFeatures&^encode.Float | encode.GlobalVar, files: func() []dt.File {
			ld, cld, odd := base("long double", 12, ateFloat), base("complex long double", 24, ateComplexFloat), base("odd", 3, ateUnsigned)
			a := array(ld, 3)
			return file(nil, ld, cld, odd, a, variable("one", ld, 0x60010), variable("three", a, 0x60020), variable("both", cld, 0x60050), variable("odd", odd, 0x60070))
		}(), want: `
			[1] INT '__SANITIZED_FAKE_INT__' size=4 bits_offset=0 nr_bits=32 encoding=(none)
			[2] ARRAY '(anon)' type_id=1 index_type_id=3 nr_elems=3
			[3] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
			[4] VAR 'one' type_id=1, linkage=global
			[5] VAR 'three' type_id=2, linkage=global
			[6] VAR 'both' type_id=1, linkage=global
			[7] VAR 'odd' type_id=1, linkage=global
			[8] DATASEC '.data' size=115 vlen=4
				type_id=4 offset=16 size=12 (VAR 'one')
				type_id=5 offset=32 size=36 (VAR 'three')
				type_id=6 offset=80 size=24 (VAR 'both')
				type_id=7 offset=112 size=3 (VAR 'odd')`},
		{name: "global variables", features: encode.DefaultFeatures | encode.GlobalVar, files: vars(), want: textPercpu + `
			[7] VAR 'normal' type_id=1, linkage=global
			[8] VAR 'in_bss' type_id=1, linkage=global
			[9] DATASEC '.data..percpu' size=68 vlen=4` + textPlaces + `
			[10] DATASEC '.data' size=20 vlen=1
				type_id=7 offset=16 size=4 (VAR 'normal')
			[11] DATASEC '.bss' size=36 vlen=1
				type_id=8 offset=32 size=4 (VAR 'in_bss')`},
		{name: "no variables without the feature", features: encode.DefaultFeatures &^ encode.Var, files: vars(), want: textInt + `
			[2] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=4`},
		{name: "variable in a section beyond number 65280", files: func() []dt.File {
			i := intType()
			f := file([]dt.Symbol{dt.Object("known", ".data..percpu", pc)}, i, variable("known", i, pc), variable("unknown", i, pc))
			f[0].Sections = append(make([]dt.Section, 66000), f[0].Sections...)
			for k := range 66000 {
				f[0].Sections[k].Name = ".text.f"
			}
			return f
		}(), want: textInt + `
			[2] VAR 'known' type_id=1, linkage=global
			[3] DATASEC '.data..percpu' size=4 vlen=1
				type_id=2 offset=0 size=4 (VAR 'known')`},
		{name: "variable at offset 0 needs its symbol", files: func() []dt.File {
			i := intType()
			return file([]dt.Symbol{dt.Object("known", ".data..percpu", pc)}, i, variable("known", i, pc), variable("unknown", i, pc))
		}(), want: textInt + `
			[2] VAR 'known' type_id=1, linkage=global
			[3] DATASEC '.data..percpu' size=4 vlen=1
				type_id=2 offset=0 size=4 (VAR 'known')`},
		{name: "the symbol is one of the variable's own file", files: func() []dt.File {
			i, j := intType(), intType()
			return append(file([]dt.Symbol{dt.Object("a", ".data..percpu", pc)}, i, variable("a", i, pc)),
				file([]dt.Symbol{dt.Object("b", ".data..percpu", pc)}, j, variable("a", j, pc), variable("b", j, pc))...)
		}(), want: textInt + `
			[2] VAR 'a' type_id=1, linkage=global
			[3] VAR 'b' type_id=1, linkage=global
			[4] DATASEC '.data..percpu' size=4 vlen=2
				type_id=2 offset=0 size=4 (VAR 'a')
				type_id=3 offset=0 size=4 (VAR 'b')`},
		{name: "the symbol may be at another offset", files: func() []dt.File {
			i := intType()
			return file([]dt.Symbol{dt.Object("moved", ".data..percpu", pc+8), dt.Object("other", ".text", pc)}, i, variable("moved", i, pc), variable("other", i, pc))
		}(), want: textInt + `
			[2] VAR 'moved' type_id=1, linkage=global
			[3] DATASEC '.data..percpu' size=4 vlen=1
				type_id=2 offset=0 size=4 (VAR 'moved')`},
		{name: "percpu at address 0 behind a .BTF that is not loaded", differs: "an earlier in-place run of ours has left the .BTF there", files: func() []dt.File {
			i := intType()
			percpu := dt.Percpu()
			percpu.Addr = 0
			return []dt.File{{Units: []*dt.Unit{dt.CU(i, variable("v", i, 8))}, Symbols: []dt.Symbol{dt.Func("f", fn1)},
				Sections: []dt.Section{{Name: ".BTF", Data: make([]byte, 64)}, percpu}}}
		}(), want: textInt + `
			[2] VAR 'v' type_id=1, linkage=global
			[3] DATASEC '.data..percpu' size=12 vlen=1
				type_id=2 offset=8 size=4 (VAR 'v')`},
		{name: "variables that are none", files: func() []dt.File {
			i := intType()
			fwd, zero := forward(dt.TagStructureType, "fwd"), structure("zero", 0)
			one := structure("one", 1)
			return file(nil, i, fwd, zero, one, variable("ok", i, pc+4), variable("artificial", i, pc+8, dt.Attr{At: dt.AtArtificial, Val: true}),
				ref(dt.TagVariable, "declared", i, dt.Declaration()), ref(dt.TagVariable, "const_only", i, dt.Const(4)),
				ref(dt.TagVariable, "in_register", i, dt.Location(0x55)), variable("fwd_var", fwd, pc+12), variable("zero_var", zero, pc+16),
				variable("one_var", one, pc+20), variable("__UNIQUE_ID_x", i, pc+24), variable("__tpstrtab_x", i, pc+28),
				variable("__pi_x", i, pc+32), variable("outside", i, 0x90000), dt.N(dt.TagVariable, dt.Type(i), dt.Location(at(pc+36)...)),
				dt.N(dt.TagNamespace, variable("in_namespace", i, pc+40)),
				function("f", fn1, i, variable("in_function", i, pc+44)),
				ref(dt.TagVariable, "tls", i, dt.Location(append([]byte{0x0e}, append(at(8)[1:], 0xe0)...)...)))
		}(), want: textInt + `
			[2] FWD 'fwd' fwd_kind=struct
			[3] STRUCT 'zero' size=0 vlen=0
			[4] STRUCT 'one' size=1 vlen=0
			[5] VAR 'ok' type_id=1, linkage=global
			[6] VAR '__pi_x' type_id=1, linkage=global` + textFunc(7, 1, "f") + `
			[9] DATASEC '.data..percpu' size=36 vlen=2
				type_id=5 offset=4 size=4 (VAR 'ok')
				type_id=6 offset=32 size=4 (VAR '__pi_x')`},
		{name: "variable address with an addend", files: func() []dt.File {
			i := intType()
			return file(nil, i, ref(dt.TagVariable, "plus", i, dt.Location(append(at(pc), 0x23, 0x10)...)),
				ref(dt.TagVariable, "stack_value", i, dt.Location(append(at(pc+0x20), 0x9f)...)))
		}(), want: textInt + `
			[2] VAR 'plus' type_id=1, linkage=static
			[3] VAR 'stack_value' type_id=1, linkage=static
			[4] DATASEC '.data..percpu' size=36 vlen=2
				type_id=2 offset=16 size=4 (VAR 'plus')
				type_id=3 offset=32 size=4 (VAR 'stack_value')`},
		{name: "blocks are places before DWARF 4", files: func() []dt.File {
			inBlocks := func(v, f string, addr uint64) []any {
				i := intType()
				return []any{i, ref(dt.TagVariable, v, i, dt.Attr{At: dt.AtLocation, Form: dt.FormBlock1, Val: at(pc + addr)}),
					function(f, fn1, i, ref(dt.TagFormalParameter, "p", i, dt.Attr{At: dt.AtLocation, Form: dt.FormBlock1, Val: []byte{0x59}}))}
			}
			f := file(nil, inBlocks("v5", "f", 4)...)
			f[0].Units = append(f[0].Units, dt.CU(inBlocks("v4", "f4", 8)...), dt.CU(inBlocks("v3", "f3", 12)...))
			f[0].Units[1].Version, f[0].Units[2].Version = 4, 3
			f[0].Symbols = append(f[0].Symbols, dt.Func("f3", fn2), dt.Func("f4", fn3))
			return f
		}(), want: textInt + `
			[2] VAR 'v3' type_id=1, linkage=static` + textFunc(3, 1, "f", "p 1") + `
			[5] FUNC 'f4' type_id=3 linkage=static
			[6] DATASEC '.data..percpu' size=16 vlen=1
				type_id=2 offset=12 size=4 (VAR 'v3')`},
		{name: "variable with a specification", files: func() []dt.File {
			i := intType()
			decl := ref(dt.TagVariable, "v", i, dt.External(), dt.Declaration())
			return file(nil, i, decl, dt.N(dt.TagVariable, dt.Specification(decl), dt.Location(at(pc+8)...)))
		}(), want: textInt + `
			[2] VAR 'v' type_id=1, linkage=global
			[3] DATASEC '.data..percpu' size=12 vlen=1
				type_id=2 offset=8 size=4 (VAR 'v')`},
		{name: "variables with specifications in other units", files: farVars(), want: textInt + `
			[2] INT 'char' size=1 bits_offset=0 nr_bits=8 encoding=SIGNED
			[3] TYPEDEF 't' type_id=1
			[4] VAR 'near' type_id=2, linkage=global
			[5] VAR 'third' type_id=3, linkage=global
			[6] DATASEC '.data..percpu' size=16 vlen=2
				type_id=4 offset=8 size=1 (VAR 'near')
				type_id=5 offset=12 size=4 (VAR 'third')`},
		{name: "variables beyond 4 GiB of their section", files: func() []dt.File {
			i := intType()
			percpu := dt.Percpu()
			percpu.Type, percpu.Data, percpu.Size = 8, nil, 16<<30
			return []dt.File{{Units: []*dt.Unit{dt.CU(i, variable("v", i, percpu.Addr+4), variable("far", i, percpu.Addr+1<<32+8))},
				Symbols: []dt.Symbol{dt.Func("f", fn1)}, Sections: []dt.Section{percpu}}}
		}(), want: textInt + `
			[2] VAR 'v' type_id=1, linkage=global
			[3] DATASEC '.data..percpu' size=8 vlen=1
				type_id=2 offset=4 size=4 (VAR 'v')`},
		{name: "variables more than 2 GiB apart", differs: "it writes the far one first", files: func() []dt.File {
			i := intType()
			percpu := dt.Percpu()
			percpu.Type, percpu.Data, percpu.Size = 8, nil, 4<<30
			return []dt.File{{Units: []*dt.Unit{dt.CU(i, variable("far", i, percpu.Addr+1<<32-8), variable("v", i, percpu.Addr+4))},
				Symbols: []dt.Symbol{dt.Func("f", fn1)}, Sections: []dt.Section{percpu}}}
		}(), want: textInt + `
			[2] VAR 'far' type_id=1, linkage=global
			[3] VAR 'v' type_id=1, linkage=global
			[4] DATASEC '.data..percpu' size=4294967292 vlen=2
				type_id=3 offset=4 size=4 (VAR 'v')
				type_id=2 offset=4294967288 size=4 (VAR 'far')`},
		{name: "void variable with a specification in another unit", features: encode.BasicFeatures, files: farVars(true), want: textInt + `
			[2] INT 'char' size=1 bits_offset=0 nr_bits=8 encoding=SIGNED
			[3] TYPEDEF 't' type_id=1`},
		{name: "variable whose specification is an incomplete array", files: func() []dt.File {
			i := intType()
			a, full := ref(dt.TagArrayType, "", i, dt.N(dt.TagSubrangeType)), array(i, 10)
			decl := ref(dt.TagVariable, "v", a, dt.External(), dt.Declaration())
			return file(nil, i, a, full, decl, dt.N(dt.TagVariable, dt.Specification(decl), dt.Type(full), dt.Location(at(pc+8)...)))
		}(), want: textInt + `
			[2] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=0
			[3] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=10`},
		{name: "variable tags", files: func() []dt.File {
			i := intType()
			return file(nil, i, variable("v", i, pc+8, declTag("one"), declTag("two")), variable("w", i, pc+12))
		}(), want: textInt + `
			[2] VAR 'v' type_id=1, linkage=global
			[3] DECL_TAG 'one' type_id=2 component_idx=-1
			[4] DECL_TAG 'two' type_id=2 component_idx=-1
			[5] VAR 'w' type_id=1, linkage=global
			[6] DATASEC '.data..percpu' size=16 vlen=2
				type_id=2 offset=8 size=4 (VAR 'v')
				type_id=5 offset=12 size=4 (VAR 'w')`},
		{name: "same variable in two units", files: func() []dt.File {
			f := file(nil)
			i, i2 := intType(), intType()
			f[0].Units = []*dt.Unit{dt.CU(i, variable("v", i, pc+8)), dt.CU(i2, variable("v", i2, pc+8), variable("w", i2, pc+4))}
			return f
		}(), want: textInt + `
			[2] VAR 'v' type_id=1, linkage=global
			[3] VAR 'v' type_id=1, linkage=global
			[4] VAR 'w' type_id=1, linkage=global
			[5] DATASEC '.data..percpu' size=12 vlen=3
				type_id=4 offset=4 size=4 (VAR 'w')
				type_id=2 offset=8 size=4 (VAR 'v')
				type_id=3 offset=8 size=4 (VAR 'v')`},
		{name: "variable name that is invalid, forced", files: bad(), want: textInt + `
			[2] VAR 'ok' type_id=1, linkage=global
			[3] DATASEC '.data..percpu' size=12 vlen=1
				type_id=2 offset=8 size=4 (VAR 'ok')`},
		{name: "variable name that is invalid", features: encode.BasicFeatures, files: bad(), err: "not valid in BTF"},
		{name: "void variable, forced", files: voidVar(), want: textInt + `
			[2] VAR 'before' type_id=1, linkage=global
			[3] VAR 'after' type_id=1, linkage=global
			[4] TYPEDEF 't' type_id=1
			[5] VAR 'w' type_id=1, linkage=global` + textFunc(6, 1, "f") + `
			[8] DATASEC '.data..percpu' size=20 vlen=3
				type_id=2 offset=4 size=4 (VAR 'before')
				type_id=3 offset=12 size=4 (VAR 'after')
				type_id=5 offset=16 size=4 (VAR 'w')`},
		{name: "void variable", features: encode.BasicFeatures, files: voidVar(), want: textInt + `
			[2] VAR 'before' type_id=1, linkage=global
			[3] TYPEDEF 't' type_id=1
			[4] VAR 'w' type_id=1, linkage=global` + textFunc(5, 1, "f") + `
			[7] DATASEC '.data..percpu' size=20 vlen=2
				type_id=2 offset=4 size=4 (VAR 'before')
				type_id=4 offset=16 size=4 (VAR 'w')`},
		{name: "variable by an address index", files: func() []dt.File {
			f := file(nil)
			i := intType()
			fn := ref(dt.TagSubprogram, "f", i, dt.Attr{At: dt.AtLowPC, Form: dt.FormAddrx, Val: dt.Addr(fn1)})
			late := dt.N(dt.TagSubprogram, dt.Name("unused"), dt.Attr{At: dt.AtLowPC, Form: dt.FormAddrx, Val: dt.Addr(pc + 0x30)})
			f[0].Units = []*dt.Unit{dt.CU(i, fn, late, ref(dt.TagVariable, "v", i, dt.Location(0xa1, 1)))}
			return f
		}(), want: textInt + `
			[2] VAR 'v' type_id=1, linkage=static` + textFunc(3, 1, "f") + `
			[5] DATASEC '.data..percpu' size=52 vlen=1
				type_id=2 offset=48 size=4 (VAR 'v')`},
		{name: "function by an address index and an offset", files: func() []dt.File {
			i := intType()
			fn := ref(dt.TagSubprogram, "f", i, dt.Attr{At: dt.AtLowPC, Form: dt.FormLLVMAddrxOff, Val: dt.Addr(fn1)}, dt.External())
			return file(nil, i, fn, variable("v", i, pc+8))
		}(), want: textInt + `
			[2] VAR 'v' type_id=1, linkage=global` + textFunc(3, 1, "f") + `
			[5] DATASEC '.data..percpu' size=12 vlen=1
				type_id=2 offset=8 size=4 (VAR 'v')`, differs: "elfutils does not know the form"},
	}
}

// farVars is a file of variables whose specifications are in other units: one with a type
// of that unit, one with a type of a third unit, and with void one without a type before them.
func farVars(void ...bool) []dt.File {
	i, c := intType(), base("char", 1, ateSignedChar)
	t := typedef("t", i)
	declare := func(name string, parts ...any) *dt.DIE {
		return dt.N(dt.TagVariable, dt.Name(name), dt.External(), dt.Declaration()).Add(parts...)
	}
	near, third, none := declare("near", dt.Type(c)), declare("third", far(dt.AtType, t)), declare("none")
	define := func(of *dt.DIE, addr uint64) *dt.DIE {
		return dt.N(dt.TagVariable, far(dt.AtSpecification, of), dt.Location(at(addr)...))
	}
	first := []*dt.DIE{intType()}
	if len(void) > 0 {
		first = append(first, define(none, dt.PercpuAddr+4))
	}
	first = append(first, define(near, dt.PercpuAddr+8), define(third, dt.PercpuAddr+12))
	return []dt.File{{Units: []*dt.Unit{dt.CU(first), dt.CU(c, near, third, none), dt.CU(i, t)}, Symbols: []dt.Symbol{dt.Func("f", fn1)}, Sections: []dt.Section{dt.Percpu()}}}
}

// lines is a file with these debug sections alone.
func lines(sections ...string) dt.File {
	f := dt.File{NoDebug: true}
	for _, s := range sections {
		f.Sections = append(f.Sections, dt.Section{Name: s, Data: make([]byte, 8)})
	}
	return f
}

func label(name string) *dt.DIE { return dt.N(0x0a, dt.Name(name)) }

// Units, languages, forms of the file as a whole.
func unitRules() []rule {
	lang := func(l int, name string) *dt.Unit {
		i := intType()
		return &dt.Unit{Root: dt.N(dt.TagCompileUnit, dt.Name(name), dt.Language(l), i, typedef(name, i))}
	}
	langs := func() []dt.File { return many(lang(0x1d, "in_c"), lang(0x1c, "in_rust"), lang(0x8001, "in_asm")) }
	sample := func() []any {
		i := intType()
		s := structure("s", 8, member("x", i, 0), member("y", i, 4))
		p := ptr(s)
		return []any{i, s, p, array(i, 3), typedef("t", p), enum("e", 4, value("E", 1)), function("f", fn1, i, param("a", i, 5))}
	}
	const sampleWant = `
		[1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
		[2] STRUCT 's' size=8 vlen=2
			'x' type_id=1 bits_offset=0
			'y' type_id=1 bits_offset=32
		[3] PTR '(anon)' type_id=2
		[4] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=3
		[5] TYPEDEF 't' type_id=3
		[6] ENUM 'e' encoding=UNSIGNED size=4 vlen=1
			'E' val=1
		[7] FUNC_PROTO '(anon)' ret_type_id=1 vlen=1
			'a' type_id=1
		[8] FUNC 'f' type_id=7 linkage=static`
	shape := func(f dt.File, version int, dwarf64 bool) []dt.File {
		u := dt.CU(sample()...)
		u.Version, u.Dwarf64 = version, dwarf64
		f.Units, f.Symbols = []*dt.Unit{u}, funcs()
		return []dt.File{f}
	}
	rules := []rule{
		{name: "all languages", files: langs(), want: textInt + `
			[2] TYPEDEF 'in_c' type_id=1
			[3] TYPEDEF 'in_rust' type_id=1
			[4] TYPEDEF 'in_asm' type_id=1`},
		{name: "language excluded", exclude: []uint16{0x1c}, files: langs(), want: textInt + `
			[2] TYPEDEF 'in_c' type_id=1
			[3] TYPEDEF 'in_asm' type_id=1`},
		{name: "languages excluded", exclude: []uint16{0x1c, 0x8001}, files: langs(), want: textInt + `
			[2] TYPEDEF 'in_c' type_id=1`},
		{name: "language included", lang: []uint16{0x1c}, files: langs(), want: textInt + `
			[2] TYPEDEF 'in_rust' type_id=1`},
		{name: "everything excluded", lang: []uint16{0x8001}, files: many(lang(0x1d, "c")), want: ""},
		{name: "unit without types", files: many(dt.CU()), want: ""},
		{name: "unit of labels", files: many(dt.CU(label("start"), label("end"))), want: ""},
		{name: "unit of labels beside others", files: []dt.File{{Units: []*dt.Unit{dt.CU(label("start"))}}, one(intType())[0]}, want: textInt},
		{name: "unit of a function that has no symbol", files: many(dt.CU(function("f", fn1, nil, param("p", nil, 5)))), want: ""},
		{name: "unit of DIEs that no unit begins with", files: many(dt.CU(dt.N(0x7f, dt.Name("x")))),
			err: "there are DIEs, but no type or function among them", differs: "it skips them"},
		{name: "lines without units", files: []dt.File{lines(".debug_line", ".debug_line_str"), one(intType())[0]}, want: textInt},
		{name: "lines without units at the end", files: []dt.File{one(intType())[0], lines(".debug_line")}, want: textInt},
		{name: "lines and names of an empty source", files: []dt.File{lines(".debug_line", ".debug_line_str", ".debug_str", ".debug_macro"), one(intType())[0]}, want: textInt},
		{name: "empty source beside intermediate code", files: []dt.File{lines(".gnu.debuglto_.debug_info", ".debug_abbrev", ".debug_line"), one(intType())[0]}, want: textInt},
		{name: "frames without units", files: []dt.File{lines(".debug_frame"), one(intType())[0], lines(".debug_frame", ".debug_line")}, want: textInt},
		{name: "only files without units", files: []dt.File{lines(".debug_line"), lines(".debug_frame")}, want: ""},
		{name: "only lines", files: []dt.File{lines(".debug_line")}, err: "no DWARF debug information"},
		{name: "strings of an empty source", files: []dt.File{lines(".debug_str", ".debug_line_str", ".debug_macro")}, err: "no DWARF debug information"},
		{name: "lines with other parts of lost units", files: []dt.File{lines(".debug_line", ".debug_abbrev"), one(intType())[0]},
			err: "section .debug_abbrev without .debug_info", differs: "it skips the file"},
		{name: "unit without DIEs", files: many(&dt.Unit{Root: nil}, dt.CU(intType())), want: "[1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED", differs: "pahole stops at such a unit"},
		{name: "unit without children", files: many(&dt.Unit{Root: dt.N(dt.TagCompileUnit, dt.Name("empty.c"))}, dt.CU(intType())), want: textInt},
		{name: "units of all versions in one file", files: many(unitOf(2, sample()...), unitOf(3, sample()...), unitOf(4, sample()...), unitOf(5, sample()...)), want: textInt + `
			[2] STRUCT 's' size=8 vlen=2
				'x' type_id=1 bits_offset=0
				'y' type_id=1 bits_offset=32
			[3] PTR '(anon)' type_id=2
			[4] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=3
			[5] TYPEDEF 't' type_id=3
			[6] ENUM 'e' encoding=UNSIGNED size=4 vlen=1
				'E' val=1`},
		{name: "attribute forms that are skipped", files: func() []dt.File {
			i := intType()
			x := func(form int, v any) dt.Attr { return dt.Attr{At: 0x2105, Form: form, Val: v} }
			return one(i, typedef("t", i, x(dt.FormData16, 1), x(dt.FormBlock, []byte{1, 2}), x(dt.FormBlock1, []byte{3}), x(dt.FormBlock2, []byte{4}),
				x(dt.FormBlock4, []byte{5}), x(dt.FormString, "inline"), x(dt.FormSdata, -1000), x(dt.FormUdata, int64(1<<40)), x(dt.FormRefSig8, 7),
				x(dt.FormStrx3, "three"), x(dt.FormFlag, true), x(dt.FormImplicitConst, -5), x(dt.FormAddr, dt.Addr(1)), x(dt.FormIndirect, 300),
				x(dt.FormIndirect, "indirect"), x(dt.FormRefUdata, i)), typedef("after", i))
		}(), want: textInt + `
			[2] TYPEDEF 't' type_id=1
			[3] TYPEDEF 'after' type_id=1`},
		{name: "references in all forms", files: func() []dt.File {
			i := intType()
			x := func(form int) dt.Attr { return dt.Attr{At: dt.AtType, Form: form, Val: i} }
			return one(i, dt.N(dt.TagTypedef, dt.Name("r1"), x(dt.FormRef1)), dt.N(dt.TagTypedef, dt.Name("r2"), x(dt.FormRef2)),
				dt.N(dt.TagTypedef, dt.Name("r8"), x(dt.FormRef8)), dt.N(dt.TagTypedef, dt.Name("ru"), x(dt.FormRefUdata)),
				dt.N(dt.TagTypedef, dt.Name("ri"), x(dt.FormIndirect)))
		}(), want: textInt + `
			[2] TYPEDEF 'r1' type_id=1
			[3] TYPEDEF 'r2' type_id=1
			[4] TYPEDEF 'r8' type_id=1
			[5] TYPEDEF 'ru' type_id=1
			[6] TYPEDEF 'ri' type_id=1`},
		{name: "extra zero entries end the unit", files: one(intType(), nil, nil), want: textInt},
		{name: "DIEs behind the end of the tree", files: one(intType(), nil, typedef("lost", nil)),
			err: "DIE behind the end of the unit's tree", differs: "there it is lost without a word"},
		{name: "two files", files: func() []dt.File {
			i, i2 := intType(), intType()
			a := dt.File{Units: []*dt.Unit{dt.CU(i, structure("a", 4, member("x", i, 0)), function("f", fn1, i, param("p", i, 5)))}, Symbols: funcs()}
			b := dt.File{Filler: 100, Units: []*dt.Unit{dt.CU(i2, structure("b", 4, member("x", i2, 0)), structure("a", 4, member("x", i2, 0)), function("g", fn2, i2))},
				Symbols: []dt.Symbol{dt.Func("g", fn2), dt.Func("zz", fn3)}}
			return []dt.File{a, b}
		}(), want: textInt + `
			[2] STRUCT 'a' size=4 vlen=1
				'x' type_id=1 bits_offset=0
			[3] STRUCT 'b' size=4 vlen=1
				'x' type_id=1 bits_offset=0` + textFunc(4, 1, "f", "p 1") + textFunc(6, 1, "g")},
		{name: "two files with the same function", files: func() []dt.File {
			i, i2 := intType(), intType()
			a := dt.File{Units: []*dt.Unit{dt.CU(i, function("f", fn1, i, param("p", i, 5)), function("zz", fn3, i))}, Symbols: []dt.Symbol{dt.Func("f", fn1), dt.Func("zz", fn3)}}
			b := dt.File{Filler: 50, Units: []*dt.Unit{dt.CU(i2, function("f", fn2, i2, param("p", i2, 5)), function("zz", fn3, nil))}, Symbols: []dt.Symbol{dt.Func("f", fn2), dt.Func("zz", fn3)}}
			return []dt.File{a, b}
		}(), want: textInt + textFunc(2, 1, "f", "p 1") + textFunc(4, 1, "zz") + textFunc(6, 0, "zz")},
		{name: "two files, the array index of the first counts", files: func() []dt.File {
			c, c2 := base("char", 1, ateSignedChar), base("char", 1, ateSignedChar)
			return []dt.File{{Units: []*dt.Unit{dt.CU(c, array(c, 3))}}, {Units: []*dt.Unit{dt.CU(base("int", 8, ateSigned), c2, array(c2, 4))}}}
		}(), want: `
			[1] INT 'char' size=1 bits_offset=0 nr_bits=8 encoding=SIGNED
			[2] ARRAY '(anon)' type_id=1 index_type_id=3 nr_elems=3
			[3] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
			[4] INT 'int' size=8 bits_offset=0 nr_bits=64 encoding=SIGNED
			[5] ARRAY '(anon)' type_id=1 index_type_id=3 nr_elems=4`},
		{name: "no .symtab", files: []dt.File{{NoSymtab: true, Units: []*dt.Unit{dt.CU(intType())}}}, err: ".symtab"},
		{name: "error in the second unit", files: many(dt.CU(intType()), dt.CU(dt.N(dt.TagTypedef)), dt.CU(intType())),
			err: "typedef without a name"},
	}
	for _, v := range []struct {
		name    string
		f       dt.File
		version int
		dwarf64 bool
	}{
		{"DWARF 2", dt.File{}, 2, false}, {"DWARF 3", dt.File{}, 3, false}, {"DWARF 4", dt.File{}, 4, false},
		{"DWARF 5", dt.File{}, 5, false}, {"64-bit DWARF 3", dt.File{}, 3, true}, {"64-bit DWARF 4", dt.File{}, 4, true},
		{"64-bit DWARF 5", dt.File{}, 5, true}, {"32-bit little endian", dt.File{Class32: true, Machine: dt.MachineI386}, 4, false},
		{"big endian", dt.File{BigEndian: true}, 5, false}, {"big endian, 64-bit DWARF", dt.File{BigEndian: true}, 5, true},
		{"32-bit big endian", dt.File{Class32: true, BigEndian: true, Machine: dt.MachineI386}, 2, false},
	} {
		rules = append(rules, rule{name: "sample in " + v.name, files: shape(v.f, v.version, v.dwarf64), want: sampleWant})
	}
	return rules
}

// textPercpu is the variables of a section and their types, and textPlaces where they
// are, as text.
const (
	textPercpu = textInt + `
		[2] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=4
		[3] VAR 'second' type_id=1, linkage=global
		[4] VAR 'first' type_id=1, linkage=global
		[5] VAR 'arr' type_id=2, linkage=global
		[6] VAR 'static_one' type_id=1, linkage=static`
	textPlaces = `
		type_id=4 offset=4 size=4 (VAR 'first')
		type_id=3 offset=8 size=4 (VAR 'second')
		type_id=5 offset=16 size=16 (VAR 'arr')
		type_id=6 offset=64 size=4 (VAR 'static_one')`
)
