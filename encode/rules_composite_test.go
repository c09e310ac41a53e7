package encode_test

import (
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
)

// oldField is a bit-field as DWARF 2 and 3 describe it.
func oldField(name string, t *dt.DIE, off, size, bitOff, bits int) *dt.DIE {
	d := ref(dt.TagMember, name, t, dt.BitSize(bits), dt.Attr{At: dt.AtBitOffset, Val: bitOff},
		dt.Attr{At: dt.AtMemberLocation, Val: []byte{0x23, byte(off)}})
	if size != 0 {
		d.Add(dt.Size(size))
	}
	return d
}

// unitOf is a unit of another version.
func unitOf(version int, parts ...any) *dt.Unit {
	u := dt.CU(parts...)
	u.Version = version
	return u
}

// Structs, unions, bit-fields, forward declarations.
func compositeRules() []rule {
	bitfields := func(f dt.File, version int) []dt.File {
		i := intType()
		td := typedef("flags_t", ref(dt.TagConstType, "", i))
		c := td.Attrs[1].Val.(*dt.DIE)
		f.Units = []*dt.Unit{unitOf(version, i, c, td, structure("s", 12, member("before", i, 0),
			oldField("a", i, 4, 4, 31, 1), oldField("b", i, 4, 4, 26, 5), oldField("c", i, 4, 0, 10, 16), oldField("d", td, 8, 0, 0, 32)))}
		return []dt.File{f}
	}
	unionBits := func(be bool) []dt.File {
		i := intType()
		off := 27
		if be {
			off = 0
		}
		return []dt.File{{BigEndian: be, Units: []*dt.Unit{unitOf(3, i,
			composite(dt.TagUnionType, "u", 4, oldField("x", i, 0, 4, off, 5), member("y", i, 0)))}}}
	}
	list := structure("list", 16)
	next := ptr(list)
	list.Add(member("next", next, 0), member("prev", next, 8))
	mutual := func() []*dt.DIE {
		a, b := structure("a", 8), structure("b", 8)
		pa, pb := ptr(a), ptr(b)
		a.Add(member("b", pb, 0))
		b.Add(member("a", pa, 0))
		return []*dt.DIE{a, b, pa, pb}
	}
	return []rule{
		{name: "struct and union", files: func() []dt.File {
			i, c := intType(), base("char", 1, ateSignedChar)
			return one(i, c, structure("s", 8, member("x", i, 0), member("y", c, 4)), composite(dt.TagUnionType, "u", 4,
				ref(dt.TagMember, "x", i), ref(dt.TagMember, "y", c)), structure("empty", 0), composite(dt.TagClassType, "k", 4, member("x", i, 0)))
		}(), want: textInt + `
			[2] INT 'char' size=1 bits_offset=0 nr_bits=8 encoding=SIGNED
			[3] STRUCT 's' size=8 vlen=2
				'x' type_id=1 bits_offset=0
				'y' type_id=2 bits_offset=32
			[4] UNION 'u' size=4 vlen=2
				'x' type_id=1 bits_offset=0
				'y' type_id=2 bits_offset=0
			[5] STRUCT 'empty' size=0 vlen=0
			[6] STRUCT 'k' size=4 vlen=1
				'x' type_id=1 bits_offset=0`},
		{name: "struct that contains itself by pointer", files: one(list, next), want: `
			[1] STRUCT 'list' size=16 vlen=2
				'next' type_id=2 bits_offset=0
				'prev' type_id=2 bits_offset=64
			[2] PTR '(anon)' type_id=1`},
		{name: "structs that refer to each other are one in all units", files: many(dt.CU(mutual()), dt.CU(mutual()), dt.CU(mutual())), want: `
			[1] STRUCT 'a' size=8 vlen=1
				'b' type_id=4 bits_offset=0
			[2] STRUCT 'b' size=8 vlen=1
				'a' type_id=3 bits_offset=0
			[3] PTR '(anon)' type_id=1
			[4] PTR '(anon)' type_id=2`},
		{name: "nested types come before their container", files: func() []dt.File {
			i := intType()
			inner := structure("inner", 4, member("x", i, 0))
			anon := composite(dt.TagUnionType, "", 4, ref(dt.TagMember, "p", i), ref(dt.TagMember, "q", i))
			return one(i, structure("outer", 12, inner, member("in", inner, 0), anon, member("", anon, 4), member("tail", i, 8)))
		}(), want: textInt + `
			[2] STRUCT 'inner' size=4 vlen=1
				'x' type_id=1 bits_offset=0
			[3] UNION '(anon)' size=4 vlen=2
				'p' type_id=1 bits_offset=0
				'q' type_id=1 bits_offset=0
			[4] STRUCT 'outer' size=12 vlen=3
				'in' type_id=2 bits_offset=0
				'(anon)' type_id=3 bits_offset=32
				'tail' type_id=1 bits_offset=64`},
		{name: "struct of 2 GiB with all members at its beginning", files: func() []dt.File {
			i := intType()
			ints := array(i, 0x1ffffff8)
			return one(i, ints, structure("big", 0x7ffffff0, member("x", i, 0), member("y", i, 4), member("z", ints, 16)))
		}(), want: textInt + `
			[2] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=536870904
			[3] STRUCT 'big' size=2147483632 vlen=3
				'x' type_id=1 bits_offset=0
				'y' type_id=1 bits_offset=32
				'z' type_id=2 bits_offset=128`},
		{name: "nested struct between members, twice deep", files: func() []dt.File {
			i := intType()
			deep := structure("deep", 8, member("d1", i, 0), member("d2", i, 4))
			mid := structure("mid", 16, member("m1", i, 0), deep, member("m2", deep, 4), member("m3", i, 12))
			return one(i, structure("outer", 24, member("o1", i, 0), mid, member("o2", mid, 4), member("o3", i, 20)))
		}(), want: textInt + `
			[2] STRUCT 'deep' size=8 vlen=2
				'd1' type_id=1 bits_offset=0
				'd2' type_id=1 bits_offset=32
			[3] STRUCT 'mid' size=16 vlen=3
				'm1' type_id=1 bits_offset=0
				'm2' type_id=2 bits_offset=32
				'm3' type_id=1 bits_offset=96
			[4] STRUCT 'outer' size=24 vlen=3
				'o1' type_id=1 bits_offset=0
				'o2' type_id=3 bits_offset=32
				'o3' type_id=1 bits_offset=160`},
		{name: "function inside a class between members", files: func() []dt.File {
			i := intType()
			return one(i, composite(dt.TagClassType, "k", 8, member("x", i, 0), ref(dt.TagSubprogram, "method", i, dt.Declaration(),
				ref(dt.TagFormalParameter, "this", i)), member("y", i, 4)))
		}(), want: textInt + `
			[2] STRUCT 'k' size=8 vlen=2
				'x' type_id=1 bits_offset=0
				'y' type_id=1 bits_offset=32`},
		{name: "void member", files: one(intType(), structure("s", 4, ref(dt.TagMember, "v", nil, dt.MemberAt(0)))), want: textInt + `
			[2] STRUCT 's' size=4 vlen=1
				'v' type_id=0 bits_offset=0`},
		{name: "member offset as a block", files: func() []dt.File {
			i := intType()
			blk := func(b ...byte) dt.Attr { return dt.Attr{At: dt.AtMemberLocation, Val: b} }
			return many(unitOf(2, i, structure("s", 16, ref(dt.TagMember, "a", i, blk(0x23, 0)), ref(dt.TagMember, "b", i, blk(0x23, 4)),
				ref(dt.TagMember, "c", i, blk(0x10, 8)))))
		}(), want: textInt + `
			[2] STRUCT 's' size=16 vlen=3
				'a' type_id=1 bits_offset=0
				'b' type_id=1 bits_offset=32
				'c' type_id=1 bits_offset=64`},
		{name: "member offset in any form", files: func() []dt.File {
			i := intType()
			m := func(name string, form, off int) *dt.DIE {
				return ref(dt.TagMember, name, i, dt.Attr{At: dt.AtMemberLocation, Form: form, Val: off})
			}
			return one(i, structure("s", 0x20000, m("d1", dt.FormData1, 200), m("d2", dt.FormData2, 0x1000), m("d4", dt.FormData4, 0x12340),
				m("d8", dt.FormData8, 0x12348), m("u", dt.FormUdata, 0x12350), m("s", dt.FormSdata, 0x12358), m("i", dt.FormImplicitConst, 0x12360)))
		}(), want: textInt + `
			[2] STRUCT 's' size=131072 vlen=7
				'd1' type_id=1 bits_offset=1600
				'd2' type_id=1 bits_offset=32768
				'd4' type_id=1 bits_offset=596480
				'd8' type_id=1 bits_offset=596544
				'u' type_id=1 bits_offset=596608
				's' type_id=1 bits_offset=596672
				'i' type_id=1 bits_offset=596736`},
		{name: "bit-fields by data_bit_offset", files: func() []dt.File {
			i, c := intType(), base("char", 1, ateSignedChar)
			bf := func(name string, t *dt.DIE, at, bits int) *dt.DIE {
				return ref(dt.TagMember, name, t, dt.BitAt(at), dt.BitSize(bits))
			}
			return one(i, c, structure("s", 12, member("plain", i, 0), bf("a", i, 32, 1), bf("b", i, 33, 31), bf("full", i, 64, 32)),
				composite(dt.TagUnionType, "u", 4, bf("x", i, 0, 3), ref(dt.TagMember, "y", c)), structure("bit_only", 4, bf("z", i, 0, 32)))
		}(), want: textInt + `
			[2] INT 'char' size=1 bits_offset=0 nr_bits=8 encoding=SIGNED
			[3] STRUCT 's' size=12 vlen=4
				'plain' type_id=1 bits_offset=0
				'a' type_id=1 bits_offset=32 bitfield_size=1
				'b' type_id=1 bits_offset=33 bitfield_size=31
				'full' type_id=1 bits_offset=64 bitfield_size=32
			[4] UNION 'u' size=4 vlen=2
				'x' type_id=1 bits_offset=0 bitfield_size=3
				'y' type_id=2 bits_offset=0
			[5] STRUCT 'bit_only' size=4 vlen=1
				'z' type_id=1 bits_offset=0 bitfield_size=32`},
		{name: "bit-fields as large as a type of 32 or 64 bytes", files: func() []dt.File { // as Crystal has them
			i := intType()
			wide, wider := array(i, 8), array(i, 16)
			old := func(name string, t *dt.DIE, at, bits int) *dt.DIE {
				return ref(dt.TagMember, name, t, dt.BitSize(bits), dt.Size(bits/8), dt.Attr{At: dt.AtBitOffset, Val: 0}, dt.MemberAt(at))
			}
			return one(i, wide, wider, structure("s", 96, ref(dt.TagMember, "a", wide, dt.BitAt(0), dt.BitSize(256)), ref(dt.TagMember, "b", wider, dt.MemberAt(32), dt.BitSize(512))),
				structure("bits", 36, ref(dt.TagMember, "a", i, dt.BitAt(0), dt.BitSize(3)), ref(dt.TagMember, "a_long_name", wide, dt.BitAt(32), dt.BitSize(256))),
				structure("old", 72, old("a", wider, 8, 512)))
		}(), want: textInt + `
			[2] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=8
			[3] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=16
			[4] STRUCT 's' size=96 vlen=2
				'a' type_id=2 bits_offset=0
				'b' type_id=3 bits_offset=256
			[5] STRUCT 'bits' size=36 vlen=2
				'a' type_id=1 bits_offset=0 bitfield_size=3
				'a_long_name' type_id=2 bits_offset=32
			[6] STRUCT 'old' size=72 vlen=1
				'a' type_id=3 bits_offset=64`},
		{name: "bit-fields of DWARF 2, little endian", files: bitfields(dt.File{}, 2), want: textBitsLittle},
		{name: "bit-fields of DWARF 3, little endian", files: bitfields(dt.File{}, 3), want: textBitsLittle},
		{name: "bit-fields of DWARF 2, big endian", files: bitfields(dt.File{BigEndian: true, Machine: dt.MachineS390}, 2), want: textBitsBig},
		{name: "bit-fields of DWARF 3, big endian 32-bit", files: bitfields(dt.File{BigEndian: true, Class32: true, Machine: dt.MachineARM}, 3), want: textBitsBig},
		{name: "bit-fields of DWARF 3 in a union, little endian", files: unionBits(false), want: textInt + `
			[2] UNION 'u' size=4 vlen=2
				'x' type_id=1 bits_offset=0 bitfield_size=5
				'y' type_id=1 bits_offset=0`},
		{name: "bit-fields of DWARF 3 in a union, big endian", files: unionBits(true), want: textInt + `
			[2] UNION 'u' size=4 vlen=2
				'x' type_id=1 bits_offset=0 bitfield_size=5
				'y' type_id=1 bits_offset=0`},
		{name: "old bit-fields with a nested struct between them", files: func() []dt.File {
			i := intType()
			in := structure("in", 4, oldField("n", i, 0, 4, 24, 8))
			return many(unitOf(3, i, structure("s", 12, oldField("a", i, 0, 4, 31, 1), in, ref(dt.TagMember, "in", in,
				dt.Attr{At: dt.AtMemberLocation, Val: []byte{0x23, 4}}), oldField("b", i, 8, 4, 30, 2))))
		}(), want: textInt + `
			[2] STRUCT 'in' size=4 vlen=1
				'n' type_id=1 bits_offset=0 bitfield_size=8
			[3] STRUCT 's' size=12 vlen=3
				'a' type_id=1 bits_offset=0 bitfield_size=1
				'in' type_id=2 bits_offset=32
				'b' type_id=1 bits_offset=64 bitfield_size=2`},
		{name: "old bit-field across a storage unit", files: func() []dt.File {
			i := intType()
			return many(unitOf(3, i, structure("packed", 8, oldField("a", i, 0, 4, 4, 28),
				ref(dt.TagMember, "b", i, dt.BitSize(12), dt.Size(4), dt.Attr{At: dt.AtBitOffset, Form: dt.FormSdata, Val: -8},
					dt.Attr{At: dt.AtMemberLocation, Val: []byte{0x23, 0}}))))
		}(), want: textInt + `
			[2] STRUCT 'packed' size=8 vlen=2
				'a' type_id=1 bits_offset=0 bitfield_size=28
				'b' type_id=1 bits_offset=28 bitfield_size=12`},
		{name: "member off byte borders", files: func() []dt.File {
			i := intType()
			return one(i, structure("s", 8, ref(dt.TagMember, "x", i, dt.BitAt(3))))
		}(), err: "not a whole byte"},
		{name: "union member off its start", files: func() []dt.File {
			i := intType()
			return one(i, composite(dt.TagUnionType, "u", 8, member("x", i, 4)))
		}(), err: "union member"},
		{name: "bit-field beyond 24 bits of offset", files: func() []dt.File {
			i := intType()
			return one(i, structure("s", 0x300000, ref(dt.TagMember, "x", i, dt.BitAt(0x1000000), dt.BitSize(1))))
		}(), err: "bit-field offset"},
		{name: "bit-field of over 255 bits", files: func() []dt.File {
			i := intType()
			wide := array(i, 16)
			return one(i, wide, structure("s", 64, ref(dt.TagMember, "x", wide, dt.BitAt(0), dt.BitSize(257))))
		}(), differs: "pahole writes 1 bit", err: "bit-field of over 255 bits"},

		{name: "forward declarations stay", files: func() []dt.File {
			s, u := forward(dt.TagStructureType, "s"), forward(dt.TagUnionType, "u")
			return one(intType(), s, ptr(s), u, ptr(u))
		}(), want: textInt + `
			[2] FWD 's' fwd_kind=struct
			[3] PTR '(anon)' type_id=2
			[4] FWD 'u' fwd_kind=union
			[5] PTR '(anon)' type_id=4`},
		{name: "forward declarations are resolved across units", files: func() []dt.File {
			s1, i2, i3 := forward(dt.TagStructureType, "s"), intType(), intType()
			u1 := forward(dt.TagUnionType, "u")
			s3 := forward(dt.TagStructureType, "s")
			return many(dt.CU(s1, ptr(s1), u1, ptr(u1)), dt.CU(i2, structure("s", 4, member("x", i2, 0)), composite(dt.TagUnionType, "u", 4, ref(dt.TagMember, "y", i2))),
				dt.CU(i3, s3, ptr(s3)))
		}(), want: `
			[1] PTR '(anon)' type_id=4
			[2] PTR '(anon)' type_id=5
			[3] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
			[4] STRUCT 's' size=4 vlen=1
				'x' type_id=3 bits_offset=0
			[5] UNION 'u' size=4 vlen=1
				'y' type_id=3 bits_offset=0`},
		{name: "forward declaration inside a struct that is complete elsewhere", files: func() []dt.File {
			unit := func(full bool) *dt.Unit {
				i := intType()
				in := forward(dt.TagStructureType, "in")
				if full {
					in = structure("in", 4, member("x", i, 0))
				}
				p := ptr(in)
				return dt.CU(i, in, p, structure("out", 8, member("in", p, 0)))
			}
			return many(unit(false), unit(true), unit(false))
		}(), want: textInt + `
			[2] PTR '(anon)' type_id=4
			[3] STRUCT 'out' size=8 vlen=1
				'in' type_id=2 bits_offset=0
			[4] STRUCT 'in' size=4 vlen=1
				'x' type_id=1 bits_offset=0`},
		{name: "forward declaration of an ambiguous name stays", files: func() []dt.File {
			i1, i2 := intType(), intType()
			f := forward(dt.TagStructureType, "s")
			return many(dt.CU(i1, structure("s", 4, member("x", i1, 0))), dt.CU(i2, structure("s", 4, member("y", i2, 0))), dt.CU(f, ptr(f)))
		}(), want: textInt + `
			[2] STRUCT 's' size=4 vlen=1
				'x' type_id=1 bits_offset=0
			[3] STRUCT 's' size=4 vlen=1
				'y' type_id=1 bits_offset=0
			[4] FWD 's' fwd_kind=struct
			[5] PTR '(anon)' type_id=4`},
		{name: "declaration flag of value 0", files: func() []dt.File {
			i := intType()
			return one(i, structure("s", 4, dt.Attr{At: dt.AtDeclaration, Form: dt.FormFlag, Val: 0}, member("x", i, 0)))
		}(), want: textInt + `
			[2] STRUCT 's' size=4 vlen=1
				'x' type_id=1 bits_offset=0`},
		{name: "same name, other content: both stay", files: func() []dt.File {
			i1, i2 := intType(), intType()
			s1, s2 := structure("s", 4, member("x", i1, 0)), structure("s", 8, member("x", i2, 0), member("y", i2, 4))
			return many(dt.CU(i1, s1, ptr(s1)), dt.CU(i2, s2, ptr(s2)))
		}(), want: textInt + `
			[2] STRUCT 's' size=4 vlen=1
				'x' type_id=1 bits_offset=0
			[3] PTR '(anon)' type_id=2
			[4] STRUCT 's' size=8 vlen=2
				'x' type_id=1 bits_offset=0
				'y' type_id=1 bits_offset=32
			[5] PTR '(anon)' type_id=4`},
		{name: "types of functions, blocks and namespaces", files: func() []dt.File {
			i := intType()
			s := func(n string) *dt.DIE { return structure(n, 4, member("x", i, 0)) }
			return one(i, dt.N(dt.TagNamespace, dt.Name("ns"), s("in_ns"), dt.N(dt.TagNamespace, s("in_ns_ns"))),
				function("f", fn1, i, s("in_f"), dt.N(dt.TagLexicalBlock, s("in_block"), dt.N(dt.TagLexicalBlock, s("in_block2"))),
					dt.N(dt.TagInlinedSubroutine, s("not_in_inline")), dt.N(dt.TagCallSite, dt.N(0x49))))
		}(), want: textInt + `
			[2] STRUCT 'in_ns' size=4 vlen=1
				'x' type_id=1 bits_offset=0
			[3] STRUCT 'in_ns_ns' size=4 vlen=1
				'x' type_id=1 bits_offset=0
			[4] STRUCT 'in_f' size=4 vlen=1
				'x' type_id=1 bits_offset=0
			[5] STRUCT 'in_block' size=4 vlen=1
				'x' type_id=1 bits_offset=0
			[6] STRUCT 'in_block2' size=4 vlen=1
				'x' type_id=1 bits_offset=0`},
		{name: "types of classes that are only declared", files: func() []dt.File {
			i := intType()
			s := func(n string) *dt.DIE { return structure(n, 4, member("x", i, 0)) }
			inner, inside := s("inner"), s("inside")
			return with(funcs(), i, ref(dt.TagClassType, "outer", nil, dt.Declaration(), inner, member("no", i, 0), function("f", fn1, i, param("a", i, 5))),
				structure("s", 8, ref(dt.TagUnionType, "declared", nil, dt.Declaration(), inside), member("m", inside, 0), member("n", inner, 4)))
		}(), want: textInt + `
			[2] STRUCT 'inner' size=4 vlen=1
				'x' type_id=1 bits_offset=0
			[3] FWD 'outer' fwd_kind=struct
			[4] STRUCT 'inside' size=4 vlen=1
				'x' type_id=1 bits_offset=0
			[5] FWD 'declared' fwd_kind=union
			[6] STRUCT 's' size=8 vlen=2
				'm' type_id=4 bits_offset=0
				'n' type_id=2 bits_offset=32` + textFunc(7, 1, "f", "a 1")},
		{name: "inheritance and static members", files: func() []dt.File {
			i := intType()
			b := composite(dt.TagClassType, "base", 4, member("x", i, 0))
			return one(i, b, composite(dt.TagClassType, "derived", 8, dt.N(dt.TagInheritance, dt.Type(b), dt.MemberAt(0)), member("y", i, 4),
				ref(dt.TagMember, "static4", i, dt.External(), dt.Declaration()), ref(dt.TagVariable, "static5", i, dt.External(), dt.Declaration())))
		}(), want: textInt + `
			[2] STRUCT 'base' size=4 vlen=1
				'x' type_id=1 bits_offset=0
			[3] STRUCT 'derived' size=8 vlen=2
				'y' type_id=1 bits_offset=32
				'static4' type_id=1 bits_offset=0`},
		{name: "Rust members by offset", files: func() []dt.File {
			u32, u8 := base("u32", 4, ateUnsigned), base("u8", 1, ateUnsigned)
			u := &dt.Unit{Root: dt.N(dt.TagCompileUnit, dt.Name("q.rs"), dt.Language(0x1c), dt.Producer("rustc"))}
			u.Root.Add(u32, u8, structure("T<u8>", 12, member("late", u8, 8), member("a", u32, 0), member("also_late", u8, 8), member("mid", u32, 4)))
			return many(u)
		}(), want: `
			[1] INT 'u32' size=4 bits_offset=0 nr_bits=32 encoding=(none)
			[2] INT 'u8' size=1 bits_offset=0 nr_bits=8 encoding=(none)
			[3] STRUCT 'T<u8>' size=12 vlen=4
				'a' type_id=1 bits_offset=0
				'mid' type_id=1 bits_offset=32
				'late' type_id=2 bits_offset=64
				'also_late' type_id=2 bits_offset=64`},
		{name: "C members keep their order", files: func() []dt.File {
			i := intType()
			return one(i, structure("s", 8, member("y", i, 4), member("x", i, 0)))
		}(), want: textInt + `
			[2] STRUCT 's' size=8 vlen=2
				'y' type_id=1 bits_offset=32
				'x' type_id=1 bits_offset=0`},
		{name: "siblings are followed", files: func() []dt.File {
			i := intType()
			u := dt.CU(i, structure("s", 4, member("x", i, 0)), dt.N(0x4107, i.Attrs, dt.N(0x4108)), dt.N(dt.TagNamespace, typedef("t", i)),
				function("f", fn1, i, param("a", i, 5), dt.N(dt.TagInlinedSubroutine, structure("no", 4, member("x", i, 0)))))
			u.Siblings = true
			return []dt.File{{Units: []*dt.Unit{u}, Symbols: []dt.Symbol{dt.Func("f", fn1), dt.Func("z", fn2)}}}
		}(), want: textInt + `
			[2] STRUCT 's' size=4 vlen=1
				'x' type_id=1 bits_offset=0
			[3] TYPEDEF 't' type_id=1` + textFunc(4, 1, "f", "a 1")},
	}
}

// textBitsLittle is the bit-fields of a little-endian file, as text.
const textBitsLittle = textInt + `
	[2] CONST '(anon)' type_id=1
	[3] TYPEDEF 'flags_t' type_id=2
	[4] STRUCT 's' size=12 vlen=5
		'before' type_id=1 bits_offset=0
		'a' type_id=1 bits_offset=32 bitfield_size=1
		'b' type_id=1 bits_offset=33 bitfield_size=5
		'c' type_id=1 bits_offset=38 bitfield_size=16
		'd' type_id=3 bits_offset=64 bitfield_size=32`

// textBitsBig is the text of a big-endian one.
const textBitsBig = textInt + `
	[2] CONST '(anon)' type_id=1
	[3] TYPEDEF 'flags_t' type_id=2
	[4] STRUCT 's' size=12 vlen=5
		'before' type_id=1 bits_offset=0
		'a' type_id=1 bits_offset=63 bitfield_size=1
		'b' type_id=1 bits_offset=58 bitfield_size=5
		'c' type_id=1 bits_offset=42 bitfield_size=16
		'd' type_id=3 bits_offset=64 bitfield_size=32`
