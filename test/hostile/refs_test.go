//go:build linux

package hostile

import (
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
)

func treeFiles() []hostileFile {
	withSibling := func(v func(d *dt.DIE) any) func() []byte {
		return made(func() []any {
			i := newInt()
			d := dt.N(dt.TagStructureType)
			d.Add(dt.Attr{At: dt.AtSibling, Form: dt.FormRef4, Val: v(d)}, dt.Name("odd"), dt.Size(4), member("m", i, 0))
			return []any{i, d, typedef("after", i)}
		})
	}
	return []hostileFile{
		{name: "tree-no-nulls", want: either, outcome: same, file: infoDamage(func(b []byte) []byte {
			b = b[:len(b)-1]
			le.PutUint32(b, uint32(len(b)-4))
			return b
		})},
		{name: "tree-extra-nulls", want: either, outcome: same, file: infoDamage(func(b []byte) []byte {
			b = append(b, make([]byte, 1000)...)
			le.PutUint32(b, uint32(len(b)-4))
			return b
		})},
		{name: "tree-sibling-back", want: either, outcome: valid, file: withSibling(func(*dt.DIE) any { return dt.Raw{13, 0, 0, 0} })},
		{name: "tree-sibling-self", want: either, outcome: valid, file: withSibling(func(d *dt.DIE) any { return d })},
		{name: "tree-sibling-past", want: either, outcome: valid, file: withSibling(func(*dt.DIE) any { return dt.Raw{0, 0, 0, 1} })},
	}
}

func refFiles() []hostileFile {
	typedefTo := func(a dt.Attr) func() []byte { return with(dt.N(dt.TagTypedef, dt.Name("odd"), a), newInt()) }
	toDIE := func(target *dt.DIE) func() []byte {
		return with(target, typedef("odd", target), newInt())
	}
	sub := named(dt.TagSubprogram, "plain", nil, dt.External())
	return []hostileFile{
		{name: "ref-past-cu", want: mustFail, outcome: "reference leads out of the unit", file: typedefTo(raw4(dt.AtType, dt.FormRef4, 0xffff))},
		{name: "ref-mid-die", want: mustFail, outcome: "where no DIE begins", file: typedefTo(raw4(dt.AtType, dt.FormRef4, 24))},
		{name: "ref-zero", want: mustFail, outcome: valid, disagree: "offset 0 says that there is no type: the attribute counts as absent, so that the type is void", file: typedefTo(raw4(dt.AtType, dt.FormRef4, 0))},
		{name: "ref-to-cu-die", want: mustFail, outcome: "this DIE is none", file: typedefTo(raw4(dt.AtType, dt.FormRef4, 12))},
		{name: "ref-to-member", want: mustFail, outcome: "this DIE is none", file: made(func() []any {
			i := newInt()
			m := member("m", i, 0)
			return []any{i, structure("holder", 4, m), typedef("odd", m), newInt()}
		})},
		{name: "ref-to-variable", want: mustFail, outcome: "this DIE is none", file: toDIE(dt.N(dt.TagVariable, dt.Name("v"), dt.External()))},
		{name: "ref-to-subprogram", want: mustFail, outcome: "this DIE is none", file: with(sub, structure("holder", 8, member("m", sub, 0)), newInt())},
		{name: "ref-addr-past", want: mustFail, outcome: "reference leads out of .debug_info", file: typedefTo(raw4(dt.AtType, dt.FormRefAddr, 0x700000))},
		{name: "ref-sig8-unknown", want: mustFail, outcome: "no type unit has the signature 0x", file: typedefTo(dt.Attr{At: dt.AtType, Form: dt.FormRefSig8, Val: int64(0x1122334455667788)})},
		{name: "ref-alt-no-file", want: mustFail, outcome: "alternate", file: typedefTo(raw4(dt.AtType, formGNURefAlt, 0x20))},
		{name: "altlink-missing-file", want: mustFail, outcome: "its alternate debug file \"/nonexistent/alt.debug\" (dwz) with id", file: func() []byte {
			f := goodFile(dt.N(dt.TagTypedef, dt.Name("odd"), raw4(dt.AtType, formGNURefAlt, 0x20)), newInt())
			f.Sections = append(f.Sections, dt.Section{Name: ".gnu_debugaltlink", Data: append([]byte("/nonexistent/alt.debug\x00"), make([]byte, 20)...)})
			return f.Bytes()
		}},
	}
}

// ring makes DIEs that each have the next as type, the last one the first.
func ring(dies ...*dt.DIE) []any {
	var all []any
	for i, d := range dies {
		d.Add(dt.Type(dies[(i+1)%len(dies)]))
		all = append(all, d)
	}
	return append(all, newInt())
}

func cycleFiles() []hostileFile {
	rings := func(dies func() []*dt.DIE) func() []byte {
		return made(func() []any { return ring(dies()...) })
	}
	one := func(tag int, parts ...any) func() []*dt.DIE {
		return func() []*dt.DIE { return []*dt.DIE{dt.N(tag, parts...)} }
	}
	fn := func(parts ...any) *dt.DIE {
		return dt.N(dt.TagSubprogram, append([]any{dt.External(), dt.LowPC(dt.TextAddr + 0x10)}, parts...)...)
	}
	return []hostileFile{
		{name: "cycle-typedef-self", want: mustFail, outcome: "more than 32 modifiers and typedefs in a row", file: rings(one(dt.TagTypedef, dt.Name("t")))},
		{name: "cycle-typedef-2", want: mustFail, outcome: "more than 32 modifiers and typedefs in a row", file: rings(func() []*dt.DIE {
			return []*dt.DIE{dt.N(dt.TagTypedef, dt.Name("a")), dt.N(dt.TagTypedef, dt.Name("b"))}
		})},
		{name: "cycle-const-self", want: mustFail, outcome: "type refers to itself without a struct, union or typedef in between", file: rings(one(dt.TagConstType))},
		{name: "cycle-const-volatile", want: mustFail, outcome: "type refers to itself without a struct, union or typedef in between", file: rings(func() []*dt.DIE {
			return []*dt.DIE{dt.N(dt.TagConstType), dt.N(dt.TagVolatileType)}
		})},
		{name: "cycle-pointer-self", want: mustFail, outcome: "type refers to itself without a struct, union or typedef in between", file: rings(one(dt.TagPointerType))},
		{name: "cycle-struct-by-value", want: mustFail, outcome: "is part of itself, through type [7]", file: made(func() []any {
			s := structure("s", 8)
			return []any{s.Add(member("inner", s, 0)), newInt()}
		})},
		{name: "cycle-struct-2-by-value", want: mustFail, outcome: "is part of itself, through type [7]", file: made(func() []any {
			a, b := structure("a", 8), structure("b", 8)
			return []any{a.Add(member("b", b, 0)), b.Add(member("a", a, 0)), newInt()}
		})},
		{name: "cycle-array-self", want: mustFail, outcome: "type refers to itself without a struct, union or typedef in between", file: rings(one(dt.TagArrayType, dt.N(dt.TagSubrangeType, dt.Upper(3))))},
		{name: "cycle-func-returns-self", want: mustFail, outcome: "type refers to itself without a struct, union or typedef in between", file: rings(one(dt.TagSubroutineType))},
		{name: "cycle-abstract-origin-self", want: either, outcome: same, file: made(func() []any {
			f := fn()
			return []any{f.Add(dt.Origin(f)), newInt()}
		})},
		{name: "cycle-abstract-origin-2", want: either, outcome: same, file: made(func() []any {
			f, g := fn(), fn()
			return []any{f.Add(dt.Origin(g)), g.Add(dt.Origin(f)), newInt()}
		})},
		{name: "cycle-specification", want: either, outcome: same, file: made(func() []any {
			f, g := fn(), fn()
			return []any{f.Add(dt.Specification(g)), g.Add(dt.Origin(f)), newInt()}
		})},
		{name: "cycle-inline-origin", want: either, outcome: same, file: made(func() []any {
			f := fn(dt.Name("around"))
			return []any{f.Add(dt.N(dt.TagInlinedSubroutine, dt.Origin(f))), newInt()}
		})},
	}
}

// crossFiles are files whose units lead to others.
func crossFiles() []hostileFile {
	partial := func(parts ...any) *dt.Unit {
		return &dt.Unit{Version: 4, Root: dt.N(dt.TagPartialUnit, dt.Name("p"), newInt()).Add(parts...)}
	}
	imports := func(u *dt.Unit) *dt.DIE {
		return dt.N(dt.TagImportedUnit, dt.Attr{At: atImport, Form: dt.FormRefAddr, Val: u.Root})
	}
	units := func(us ...*dt.Unit) []byte {
		f := goodFile()
		f.Units = append(f.Units, us...)
		return f.Bytes()
	}
	// typeUnits are units of signatures 1, 2, ..., in a file whose unit leads
	// to the first.
	typeUnits := func(damage func(b []byte, headers []int) []byte, roots ...*dt.DIE) []byte {
		f := goodFile(dt.N(dt.TagTypedef, dt.Name("leads"), dt.Attr{At: dt.AtType, Form: dt.FormRefSig8, Val: 1}), newInt())
		for _, r := range roots {
			f.Units = append(f.Units, &dt.Unit{Type: 2, Root: dt.N(tagTypeUnit, dt.Language(0x1d), r)})
		}
		s := &sections{f.DebugSections()}
		b := s.info().Data
		var headers []int
		for off := 0; off < len(b); off += 4 + int(le.Uint32(b[off:])) {
			if b[off+6] == 2 {
				headers = append(headers, off)
				le.PutUint64(b[off+12:], uint64(len(headers)))
				// Behind the header of 24 bytes: the root DIE of a code and
				// two bytes of language, then the type.
				le.PutUint32(b[off+20:], 26)
			}
		}
		if damage != nil {
			b = damage(b, headers)
		}
		s.info().Data = b
		return f.Image(s.all)
	}
	return []hostileFile{
		{name: "import-self", want: either, outcome: same, file: func() []byte {
			u := goodUnit()
			u.Root.Add(imports(u))
			return (&dt.File{Units: []*dt.Unit{u}, Symbols: goodFile().Symbols}).Bytes()
		}},
		{name: "import-ring", want: either, outcome: same, file: func() []byte {
			a, b := partial(), partial()
			a.Root.Add(imports(b))
			b.Root.Add(imports(a))
			cu := goodUnit()
			cu.Root.Add(imports(a))
			return units(a, b, cu)
		}},
		{name: "import-exponential", want: either, outcome: same, file: func() []byte {
			var us []*dt.Unit
			for i := range 40 {
				us = append(us, partial())
				if i > 0 {
					us[i-1].Root.Add(imports(us[i]), imports(us[i]))
				}
			}
			cu := goodUnit()
			cu.Root.Add(imports(us[0]))
			return units(append(us, cu)...)
		}},
		{name: "type-unit-off-past", want: mustFail, outcome: "type lies beyond its unit", file: func() []byte {
			return typeUnits(func(b []byte, h []int) []byte { le.PutUint32(b[h[0]+20:], 0x7000); return b }, structure("u", 4))
		}},
		{name: "type-unit-dup-signature", want: either, outcome: valid, file: func() []byte {
			return typeUnits(func(b []byte, h []int) []byte { le.PutUint64(b[h[1]+12:], 1); return b }, structure("u", 4), structure("u", 8))
		}},
		{name: "type-unit-ring", want: mustFail, outcome: "more than 32 modifiers and typedefs in a row", file: func() []byte {
			to := func(sig int) dt.Attr { return dt.Attr{At: dt.AtType, Form: dt.FormRefSig8, Val: sig} }
			return typeUnits(nil, dt.N(dt.TagTypedef, dt.Name("a"), to(2)), dt.N(dt.TagTypedef, dt.Name("b"), to(1)))
		}},
		{name: "skeleton-dwo-missing", want: mustFail, outcome: "its .dwo file \"missing.dwo\" is not there", file: func() []byte {
			const atDwoName = 0x76
			return units(&dt.Unit{Type: 4, Root: dt.N(dt.TagSkeletonUnit, dt.Attr{At: atDwoName, Form: dt.FormString, Val: "missing.dwo"})})
		}},
	}
}
