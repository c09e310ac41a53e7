package encode_test

import (
	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
)

// far is a reference by section offset, as those to other units are.
func far(at int, d *dt.DIE) dt.Attr { return dt.Attr{At: at, Form: dt.FormRefAddr, Val: d} }

// ltoNote is the section in which a kernel says whether it was optimized at
// link time.
func ltoNote(on byte) dt.Section {
	return dt.Section{Name: ".note.Linux", Type: 7, Flags: 2, Addr: 0x80000,
		Data: []byte{6, 0, 0, 0, 4, 0, 0, 0, 1, 1, 0, 0, 'L', 'i', 'n', 'u', 'x', 0, 0, 0, on, 0, 0, 0}}
}

// silly is a file of two units with bit-fields as wide as their type.
func silly() []dt.File {
	bits := func(name string, t *dt.DIE, at, n int) *dt.DIE {
		return ref(dt.TagMember, name, t, dt.BitSize(n), dt.BitAt(at))
	}
	i, j := intType(), intType()
	return many(dt.CU(i, structure("all", 8, bits("a", i, 0, 32), bits("b", i, 32, 32))),
		dt.CU(j, structure("some", 8, bits("a", j, 0, 32), bits("b", j, 32, 3)),
			composite(dt.TagUnionType, "or", 4, bits("a", j, 0, 32), bits("b", j, 0, 32)),
			composite(dt.TagUnionType, "any", 4, bits("a", j, 0, 32), bits("b", j, 0, 3))))
}

// Files whose units are merged.
func mergeRules() []rule {
	const merge = encode.DefaultFeatures | encode.ForceCUMerging
	// Three units in C11, Rust and assembler, each with a struct.
	languages := func() []dt.File {
		i := intType()
		a := &dt.Unit{Root: dt.N(dt.TagCompileUnit, dt.Name("a.c"), dt.Language(0x1d), i, structure("c11", 4, member("x", i, 0)))}
		j := intType()
		b := &dt.Unit{Root: dt.N(dt.TagCompileUnit, dt.Name("b.rs"), dt.Language(0x1c), j,
			structure("rust", 8, member("second", j, 4), member("first", j, 0)))}
		c := &dt.Unit{Root: dt.N(dt.TagCompileUnit, dt.Name("c.S"), dt.Language(0x8001), structure("asm", 0))}
		return many(a, b, c)
	}
	tagged := func(note ...dt.Section) []dt.File {
		i, j := intType(), intType()
		s, t := structure("s", 4, member("x", i, 0), declTag("of_s")), structure("t", 4, member("x", j, 0), declTag("of_t"))
		return []dt.File{{
			Units: []*dt.Unit{dt.CU(i, s, function("f", fn1, i, param("first_name", i, 5)), variable("v", i, dt.PercpuAddr+4)),
				dt.CU(j, t, function("g", fn2, j, param("second_name", j, 5)))},
			Symbols: []dt.Symbol{dt.Func("f", fn1), dt.Func("g", fn2)}, Sections: append([]dt.Section{dt.Percpu()}, note...)}}
	}
	const mergedTags = `
		[1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
		[2] STRUCT 's' size=4 vlen=1
			'x' type_id=1 bits_offset=0
		[3] STRUCT 't' size=4 vlen=1
			'x' type_id=1 bits_offset=0
		[4] DECL_TAG 'of_s' type_id=2 component_idx=-1
		[5] DECL_TAG 'of_t' type_id=3 component_idx=-1
		[6] VAR 'v' type_id=1, linkage=global
		[7] FUNC_PROTO '(anon)' ret_type_id=1 vlen=1
			'first_name' type_id=1
		[8] FUNC 'f' type_id=7 linkage=static
		[9] FUNC_PROTO '(anon)' ret_type_id=1 vlen=1
			'second_name' type_id=1
		[10] FUNC 'g' type_id=9 linkage=static
		[11] DATASEC '.data..percpu' size=8 vlen=1
			type_id=6 offset=4 size=4 (VAR 'v')`
	const mergedStrings = "int s x t of_s of_t first_name second_name v f g .data..percpu"
	return []rule{
		{name: "merging puts tags behind all types", features: merge, files: tagged(), want: mergedTags, strings: mergedStrings},
		{name: "merging by the kernel's note", files: tagged(ltoNote(1)), want: mergedTags, strings: mergedStrings},
		{name: "of two notes one asks for merging", files: tagged(ltoNote(0), ltoNote(1)), want: mergedTags, strings: mergedStrings},
		{name: "a note of 0 is none", files: tagged(ltoNote(0)), want: textInt + `
			[2] STRUCT 's' size=4 vlen=1
				'x' type_id=1 bits_offset=0
			[3] DECL_TAG 'of_s' type_id=2 component_idx=-1
			[4] VAR 'v' type_id=1, linkage=global
			[5] STRUCT 't' size=4 vlen=1
				'x' type_id=1 bits_offset=0
			[6] DECL_TAG 'of_t' type_id=5 component_idx=-1` + textFunc(7, 1, "f", "first_name 1") + textFunc(9, 1, "g", "second_name 1") + `
			[11] DATASEC '.data..percpu' size=8 vlen=1
				type_id=4 offset=4 size=4 (VAR 'v')`},
		{name: "merging of a language that is left out", features: merge, files: languages(), exclude: []uint16{0x1c}, want: textInt + `
			[2] STRUCT 'c11' size=4 vlen=1
				'x' type_id=1 bits_offset=0
			[3] STRUCT 'asm' size=0 vlen=0`},
		{name: "merging when the first unit is left out", features: merge, files: languages(), exclude: []uint16{0x1d}, want: ``},
		{name: "merging of a name that is left out", features: merge, files: languages(), prefix: "a", want: textLanguages},
		{name: "merging of a name and a language that are left out", features: merge, files: languages(), prefix: "a", exclude: []uint16{0x1c}, want: `
			[1] STRUCT 'asm' size=0 vlen=0`},
		{name: "merging of a name that is left out and a language asked for", features: merge, files: languages(), prefix: "c", lang: []uint16{0x1d}, want: textLanguages},
		{name: "merging of names and languages that are all left out", features: merge, files: languages()[:1], prefix: "c.", exclude: []uint16{0x1c, 0x1d}, want: ""},
		{name: "plain bit-fields of merged units", features: merge, plain: true, files: silly(), want: textAllAndSome},
		{name: "plain bit-fields", plain: true, files: silly(), want: textAllAndSome},
		{name: "merging of languages asked for", features: merge, files: languages(), lang: []uint16{0x1d}, want: textLanguages},
		{name: "merging of languages that the first unit is not in", features: merge, files: languages(), lang: []uint16{0x1c}, want: ``},
		{name: "types of other units", files: func() []dt.File {
			i := intType()
			back := structure("back", 8, member("x", i, 0))
			long := base("long", 8, ateSigned)
			ahead := typedef("ahead", long)
			fwd := structure("a", 24, ref(dt.TagMember, "back", nil, far(dt.AtType, back), dt.MemberAt(0)),
				ref(dt.TagMember, "ahead", nil, far(dt.AtType, ahead), dt.MemberAt(8)))
			e := enum("e", 8, far(dt.AtType, long), value("neg", -1))
			return many(dt.CU(i, back), dt.CU(structure("alone", 0)),
				dt.CU(fwd, ref(dt.TagPointerType, "", nil, far(dt.AtType, ahead)), e, ref(dt.TagArrayType, "", nil, far(dt.AtType, back), dt.N(dt.TagSubrangeType, dt.Upper(3)))),
				dt.CU(intType(), long, ahead, ref(dt.TagSubroutineType, "", nil, far(dt.AtType, fwd), ref(dt.TagFormalParameter, "", nil, far(dt.AtType, e)))))
		}(), want: textInt + `
			[2] STRUCT 'back' size=8 vlen=1
				'x' type_id=1 bits_offset=0
			[3] STRUCT 'alone' size=0 vlen=0
			[4] STRUCT 'a' size=24 vlen=2
				'back' type_id=2 bits_offset=0
				'ahead' type_id=9 bits_offset=64
			[5] PTR '(anon)' type_id=9
			[6] ENUM64 'e' encoding=SIGNED size=8 vlen=1
				'neg' val=-1LL
			[7] ARRAY '(anon)' type_id=2 index_type_id=1 nr_elems=4
			[8] INT 'long' size=8 bits_offset=0 nr_bits=64 encoding=SIGNED
			[9] TYPEDEF 'ahead' type_id=8
			[10] FUNC_PROTO '(anon)' ret_type_id=4 vlen=1
				'(anon)' type_id=6`},
		{name: "a unit that is read twice has another version of DWARF than the unit that imports it", files: func() []dt.File {
			// Each version has a section of lists. Only in the right one is the parameter where it should be.
			i := intType()
			old := &dt.Unit{Version: 4, Root: dt.N(dt.TagPartialUnit, i, function("f", fn1, i, ref(dt.TagFormalParameter, "a", i, dt.Attr{At: dt.AtLocation, Form: dt.FormSecOffset, Val: dt.Raw{0, 0, 0, 0}})))}
			list4 := append([]byte{0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0x55}, make([]byte, 16)...)
			list5 := []byte{4, 0, 16, 1, 0x53, 0} // DW_LLE_offset_pair, DW_LLE_end_of_list
			return []dt.File{{Units: []*dt.Unit{old, dt.CU(dt.N(dt.TagImportedUnit, dt.Attr{At: dt.AtImport, Form: dt.FormRefAddr, Val: old.Root}))},
				Symbols:  []dt.Symbol{dt.Func("f", fn1)},
				Sections: []dt.Section{{Name: ".debug_loc", Type: 1, Data: list4}, {Name: ".debug_loclists", Type: 1, Data: list5}}}}
		}(), want: textInt + textFunc(2, 1, "f", "a 1")},
		{name: "an import of a compile unit changes nothing", files: func() []dt.File {
			i := intType()
			later := dt.CU(i, structure("s", 4, member("x", i, 0)))
			return many(dt.CU(dt.N(dt.TagImportedUnit, dt.Attr{At: dt.AtImport, Form: dt.FormRefAddr, Val: later.Root}), structure("before", 0)), later)
		}(), want: `
			[1] STRUCT 'before' size=0 vlen=0
			[2] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
			[3] STRUCT 's' size=4 vlen=1
				'x' type_id=2 bits_offset=0`},
		{name: "an import of a partial unit puts its types there", files: func() []dt.File {
			i := intType()
			later := &dt.Unit{Type: 3, Root: dt.N(dt.TagPartialUnit, i, structure("s", 4, member("x", i, 0)))}
			return many(dt.CU(dt.N(dt.TagImportedUnit, dt.Attr{At: dt.AtImport, Form: dt.FormRefAddr, Val: later.Root}), structure("before", 0)), later)
		}(), want: textInt + `
			[2] STRUCT 's' size=4 vlen=1
				'x' type_id=1 bits_offset=0
			[3] STRUCT 'before' size=0 vlen=0`},
		{name: "the first int of merged units indexes all arrays", features: merge, files: func() []dt.File {
			c, i, j := base("char", 1, ateSigned), intType(), intType()
			return many(dt.CU(c, array(c, 4)), dt.CU(structure("s", 0)), dt.CU(i, array(i, 2)), dt.CU(j, array(j, 3)))
		}(), want: `
			[1] INT 'char' size=1 bits_offset=0 nr_bits=8 encoding=SIGNED
			[2] ARRAY '(anon)' type_id=1 index_type_id=4 nr_elems=4
			[3] STRUCT 's' size=0 vlen=0
			[4] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
			[5] ARRAY '(anon)' type_id=4 index_type_id=4 nr_elems=2
			[6] ARRAY '(anon)' type_id=4 index_type_id=4 nr_elems=3`},
		{name: "merged units without an int", features: merge, files: func() []dt.File {
			c, d := base("char", 1, ateSigned), base("char", 1, ateSigned)
			return many(dt.CU(c, array(c, 4)), dt.CU(d, array(d, 5)), dt.CU(structure("last", 0)))
		}(), want: `
			[1] INT 'char' size=1 bits_offset=0 nr_bits=8 encoding=SIGNED
			[2] ARRAY '(anon)' type_id=1 index_type_id=5 nr_elems=4
			[3] ARRAY '(anon)' type_id=1 index_type_id=5 nr_elems=5
			[4] STRUCT 'last' size=0 vlen=0
			[5] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED`},
		{name: "a variable of type void ends the variables of merged units", features: merge &^ encode.EncodeForce, files: func() []dt.File {
			i, j := intType(), intType()
			return []dt.File{{Units: []*dt.Unit{
				dt.CU(i, variable("before", i, dt.PercpuAddr+4), variable("v", nil, dt.PercpuAddr+8), variable("after", i, dt.PercpuAddr+12)),
				dt.CU(j, variable("other", j, dt.PercpuAddr+16))}, Symbols: []dt.Symbol{dt.Func("f", fn1)}, Sections: []dt.Section{dt.Percpu()}}}
		}(), want: textInt + `
			[2] VAR 'before' type_id=1, linkage=global
			[3] DATASEC '.data..percpu' size=8 vlen=1
				type_id=2 offset=4 size=4 (VAR 'before')`},
		{name: "concrete functions in other units", files: func() []dt.File {
			// As GCC's link-time optimization has it: what became of the
			// functions comes first.
			i := intType()
			pa, pb := param("a", i, -1), param("b", i, -1)
			f := ref(dt.TagSubprogram, "f", i, dt.External(), pa, pb)
			qa := param("q", i, -1)
			g := ref(dt.TagSubprogram, "g", i, dt.Inline(), qa)
			j := intType()
			ra, rb := param("r", j, -1), param("s", j, -1)
			h := ref(dt.TagSubprogram, "h", j, ra, rb)
			origin := func(p *dt.DIE, reg byte) *dt.DIE {
				return dt.N(dt.TagFormalParameter, far(dt.AtAbstractOrigin, p), dt.Location(0x50+reg))
			}
			late := dt.CU(
				dt.N(dt.TagSubprogram, far(dt.AtAbstractOrigin, f), dt.LowPC(fn1), origin(pa, 5), origin(pb, 4)),
				dt.N(dt.TagSubprogram, far(dt.AtAbstractOrigin, g), dt.LowPC(fn2), origin(qa, 1)),
				dt.N(dt.TagSubprogram, far(dt.AtAbstractOrigin, h), dt.LowPC(fn3), origin(rb, 5), origin(ra, 4)))
			return []dt.File{{Units: []*dt.Unit{late, dt.CU(i, f, g, structure("s", 0)), dt.CU(j, h)},
				Symbols: []dt.Symbol{dt.Func("f", fn1), dt.Func("g", fn2), dt.Func("h", fn3)}}}
		}(), want: textInt + `
			[2] STRUCT 's' size=0 vlen=0` + textFunc(3, 1, "f", "a 1", "b 1")},
		{name: "old bit-field whose type is in another unit", files: func() []dt.File {
			u := base("unsigned int", 4, ateUnsigned)
			s := structure("s", 4, ref(dt.TagMember, "b", nil, far(dt.AtType, u), dt.MemberAt(0), dt.BitSize(3), dt.Attr{At: dt.AtBitOffset, Val: 24}))
			return many(&dt.Unit{Version: 3, Root: dt.N(dt.TagCompileUnit, dt.Name("a.c"), s)}, dt.CU(u))
		}(), want: `
			[1] STRUCT 's' size=4 vlen=1
				'b' type_id=2 bits_offset=5 bitfield_size=3
			[2] INT 'unsigned int' size=4 bits_offset=0 nr_bits=32 encoding=(none)`},
		{name: "reference to a unit that is left out", exclude: []uint16{0x1c}, files: func() []dt.File {
			i := intType()
			gone := structure("gone", 4, member("x", i, 0))
			return many(dt.CU(ref(dt.TagPointerType, "", nil, far(dt.AtType, gone))),
				&dt.Unit{Root: dt.N(dt.TagCompileUnit, dt.Name("b.rs"), dt.Language(0x1c), i, gone)}, dt.CU(intType()))
		}(), want: `
			[1] PTR '(anon)' type_id=0
			[2] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED`},
	}
}

// textLanguages is a struct of each of three languages, as text.
const textLanguages = textInt + `
	[2] STRUCT 'c11' size=4 vlen=1
		'x' type_id=1 bits_offset=0
	[3] STRUCT 'rust' size=8 vlen=2
		'second' type_id=1 bits_offset=32
		'first' type_id=1 bits_offset=0
	[4] STRUCT 'asm' size=0 vlen=0`

// textAllAndSome is the text of two structs and two unions; one struct and one union have
// a bit-field.
const textAllAndSome = textInt + `
	[2] STRUCT 'all' size=8 vlen=2
		'a' type_id=1 bits_offset=0
		'b' type_id=1 bits_offset=32
	[3] STRUCT 'some' size=8 vlen=2
		'a' type_id=1 bits_offset=0
		'b' type_id=1 bits_offset=32 bitfield_size=3
	[4] UNION 'or' size=4 vlen=2
		'a' type_id=1 bits_offset=0
		'b' type_id=1 bits_offset=0
	[5] UNION 'any' size=4 vlen=2
		'a' type_id=1 bits_offset=0
		'b' type_id=1 bits_offset=0 bitfield_size=3`
