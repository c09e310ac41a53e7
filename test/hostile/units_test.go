//go:build linux

package hostile

import (
	"bytes"

	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
)

// infoDamage is the good file, with more DIEs, after damage to .debug_info.
func infoDamage(fn func(b []byte) []byte, parts ...any) func() []byte {
	return damaged(func(s *sections) { s.info().Data = fn(s.info().Data) }, parts...)
}

func unitFiles() []hostileFile {
	set := func(off, size int, v uint64) func() []byte {
		return infoDamage(func(b []byte) []byte {
			var n [8]byte
			le.PutUint64(n[:], v)
			copy(b[off:off+size], n[:])
			return b
		})
	}
	return []hostileFile{
		{name: "cu-length-0", want: mustFail, outcome: "unit too short for its header", file: set(0, 4, 0)},
		{name: "cu-length-1", want: mustFail, outcome: "unit too short for its header", file: set(0, 4, 1)},
		{name: "cu-length-past", want: mustFail, outcome: "unit length goes beyond the section", file: infoDamage(func(b []byte) []byte { b[2] = 1; return b })},
		{name: "cu-length-reserved", want: mustFail, outcome: "reserved unit length", file: set(0, 4, 0xfffffff0)},
		{name: "cu-length64-2^63", want: mustFail, outcome: "unit length goes beyond the section", file: infoDamage(func(b []byte) []byte {
			return join([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0x80}, b[4:])
		})},
		{name: "cu-length-minus-1", want: mustFail, outcome: "DIE goes beyond the end of its unit", file: infoDamage(func(b []byte) []byte {
			le.PutUint32(b, le.Uint32(b)-2) // without the end of the children, too
			return b[:len(b)-2]
		}, newInt())},
		{name: "cu-version-1", want: mustFail, outcome: "version 1", file: set(4, 2, 1)},
		{name: "cu-version-6", want: mustFail, outcome: "version 6", file: set(4, 2, 6)},
		{name: "cu-addr-size-0", want: either, outcome: "address size 0", file: set(7, 1, 0)},
		{name: "cu-addr-size-255", want: either, outcome: "address size 255", file: set(7, 1, 255)},
		{name: "cu-abbrev-off-past", want: mustFail, outcome: "abbreviation table beyond the section", file: set(8, 4, 0x7000000)},
		{name: "cu-unit-type-bad", want: mustFail, outcome: "unknown unit type 127", file: set(6, 1, 0x7f)},
		{name: "cu-root-not-cu", want: mustFail, outcome: "the first DIE of the unit is not a unit DIE", file: func() []byte {
			f := goodFile()
			f.Units = append(f.Units, &dt.Unit{Root: dt.N(dt.TagTypedef, dt.Name("root"))})
			return f.Bytes()
		}},
		{name: "cu-empty", want: either, outcome: same, file: infoDamage(func(b []byte) []byte { return join(b, unit4([]byte{0})) })},
		{name: "cu-trailing-bytes", want: mustFail, outcome: "unit header cut off", file: infoDamage(func(b []byte) []byte { return append(b, 1, 2, 3) })},
		{name: "cu-good-then-bad", want: mustFail, outcome: "version 99", file: infoDamage(func(b []byte) []byte {
			second := bytes.Clone(b)
			second[4] = 99
			return join(b, second)
		})},
		{name: "cu-200k-empty-units", big: true, want: either, outcome: same, file: infoDamage(func(b []byte) []byte {
			return join(b, bytes.Repeat(unit4([]byte{0}), 200000))
		})},
	}
}

func abbrevFiles() []hostileFile {
	cu := func(dies ...[]byte) []byte { return unit4(join([]byte{1}, join(dies...), []byte{0})) }
	return []hostileFile{
		{name: "abbrev-shared-1M-by-20k-units", want: either, outcome: valid, big: true, file: func() []byte {
			var table, info []byte
			table = cuAbbrev()
			for i := range 100000 {
				table = append(table, abbreviation(uint64(3+i), dt.TagVariable, false, 0x2000+i%1000, dt.FormData4)...)
			}
			for range 20000 {
				info = append(info, cu(rawInt("int"))...)
			}
			return rawFile(info, append(table, 0))
		}},
		{name: "abbrev-code-2^63", want: either, outcome: valid, file: func() []byte {
			table := append(cuAbbrev(), abbreviation(1<<63-1, dt.TagTypedef, false, dt.AtName, dt.FormString)...)
			return rawFile(cu(rawInt("int"), uleb(nil, 1<<63-1), []byte("t\x00")), append(table, 0))
		}},
		{name: "abbrev-duplicate-code", want: either, outcome: valid, file: func() []byte {
			table := append(cuAbbrev(), abbreviation(2, dt.TagBaseType, false, dt.AtName, dt.FormStrp)...)
			return rawFile(cu(rawInt("int")), append(table, 0))
		}},
		{name: "abbrev-no-terminator", want: mustFail, outcome: "abbreviation table cut off", file: damaged(func(s *sections) {
			s.abbrev().Data = s.abbrev().Data[:len(s.abbrev().Data)-2]
		})},
		{name: "abbrev-code-undeclared", want: mustFail, outcome: "no abbreviation", file: func() []byte {
			return rawFile(cu(rawInt("int"), []byte{77, 0}), append(cuAbbrev(), 0))
		}},
		{name: "abbrev-1M-attributes", want: either, outcome: valid, file: func() []byte {
			return rawFile(cu(rawInt("int"), []byte{3}), join(cuAbbrev(), manyFlags(1000000), []byte{0}))
		}},
		{name: "abbrev-1M-attrs-x-1M-dies", want: either, outcome: valid, file: func() []byte {
			return rawFile(cu(rawInt("int"), bytes.Repeat([]byte{3}, 100000)), join(cuAbbrev(), manyFlags(20000), []byte{0}))
		}},
	}
}

// manyFlags is an abbreviation of code 3, a variable with n attributes that
// take no bytes.
func manyFlags(n int) []byte {
	b := []byte{3, dt.TagVariable, 0}
	for i := range n {
		b = uleb(uleb(b, uint64(0x2000+i%1000)), dt.FormFlagPresent)
	}
	return append(b, 0, 0)
}

func formFiles() []hostileFile {
	typedefWith := func(parts ...any) func() []byte { return with(dt.N(dt.TagTypedef, parts...), newInt()) }
	structSize := func(form int, b ...byte) func() []byte {
		return with(dt.N(dt.TagStructureType, dt.Name("odd"), raw(dt.AtByteSize, form, b...)), newInt())
	}
	noSection := func(name string, parts ...any) func() []byte {
		return damaged(func(s *sections) { s.drop(name) }, parts...)
	}
	continued := func(n int) []byte { return bytes.Repeat([]byte{0x80}, n) }
	return []hostileFile{
		{name: "form-unknown", want: mustFail, outcome: "unknown form", file: typedefWith(raw(dt.AtName, 0x7e, 0))},
		{name: "form-indirect-chain", want: mustFail, outcome: "DIE goes beyond the end of its unit", file: typedefWith(raw(dt.AtName, dt.FormIndirect, append(bytes.Repeat([]byte{dt.FormIndirect}, 100000), dt.FormString, 't', 0)...))},
		{name: "form-indirect-implicit", want: mustFail, outcome: "DIE goes beyond the end of its unit", file: typedefWith(dt.Name("t"), raw(dt.AtByteSize, dt.FormIndirect, dt.FormImplicitConst))},
		{name: "leb-1MB", want: mustFail, outcome: "abbreviation code cut off", file: infoDamage(func(b []byte) []byte {
			b = join(b[:len(b)-1], continued(1000000), []byte{0, 0})
			le.PutUint32(b, uint32(len(b)-4))
			return b
		})},
		{name: "leb-overflow", want: mustFail, outcome: "DIE goes beyond the end of its unit", file: structSize(dt.FormUdata, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01)},
		{name: "leb-at-section-end", want: mustFail, outcome: "abbreviation code cut off", file: infoDamage(func(b []byte) []byte {
			b[len(b)-1] |= 0x80
			return b
		})},
		{name: "block-4G", want: mustFail, outcome: "DIE goes beyond the end of its unit", file: with(structure("odd", 8, dt.N(dt.TagMember, dt.Name("m"), raw(dt.AtMemberLocation, dt.FormBlock4, 0xff, 0xff, 0xff, 0xff))))},
		{name: "block-uleb-2^64", want: mustFail, outcome: "DIE goes beyond the end of its unit", file: with(structure("odd", 8, dt.N(dt.TagMember, dt.Name("m"), raw(dt.AtMemberLocation, dt.FormExprloc, uleb(nil, 1<<64-1)...))))},
		{name: "string-unterminated", want: mustFail, outcome: "DIE goes beyond the end of its unit", file: infoDamage(func(b []byte) []byte {
			b = b[:len(b)-2] // the string's NUL and the end of the children
			le.PutUint32(b, uint32(len(b)-4))
			return b
		}, dt.N(dt.TagTypedef, dt.NameInline("unended")))},
		{name: "strp-past-end", want: mustFail, outcome: ".debug_str", file: typedefWith(raw4(dt.AtName, dt.FormStrp, 0xffffff))},
		{name: "strp-no-section", want: mustFail, outcome: ".debug_str", file: noSection(".debug_str")},
		{name: "strp-unterminated", want: mustFail, outcome: "name is not inside the string section", file: damaged(func(s *sections) {
			str := s.at(".debug_str")
			str.Data = str.Data[:len(str.Data)-1]
		}, typedef("unended", nil))},
		{name: "strx-index-2^31", want: mustFail, outcome: "typedef without a name", file: func() []byte {
			f := goodFile(dt.N(dt.TagTypedef, raw4(dt.AtName, dt.FormStrx4, 1<<31)))
			f.Units[0].StrForm = dt.FormStrx
			return f.Bytes()
		}},
		{name: "strx-base-past", want: mustFail, outcome: "typedef without a name", file: func() []byte {
			u := &dt.Unit{Root: dt.N(dt.TagCompileUnit, raw4(dt.AtStrOffsetsBase, dt.FormSecOffset, 0x700000), dt.NameInline("t.c"), dt.Language(0x1d), newInt())}
			u.Root.Add(dt.N(dt.TagTypedef, raw(dt.AtName, dt.FormStrx1, 0)))
			f := goodFile()
			f.Units = append(f.Units, u)
			return f.Bytes()
		}},
		{name: "line-strp-no-section", want: mustFail, outcome: "typedef without a name", file: typedefWith(raw4(dt.AtName, dt.FormLineStrp, 0))},
	}
}

// chain are n DIEs of a tag, each of the type of the next; the last is of type
// end.
func chain(tag, n int, end *dt.DIE, parts ...any) []any {
	dies := make([]*dt.DIE, n)
	for i := range dies {
		dies[i] = dt.N(tag, parts...)
	}
	for i, d := range dies {
		switch {
		case i+1 < n:
			d.Add(dt.Type(dies[i+1]))
		case end != nil:
			d.Add(dt.Type(end))
		}
	}
	return []any{dies}
}

func deepFiles() []hostileFile {
	// nested is n DIEs in each other by bytes: building them as DIEs would
	// need as much stack as careless readers do.
	nested := func(n int, abbrev, die []byte) []byte {
		dies := join([]byte{1}, rawInt("int"), bytes.Repeat(die, n), make([]byte, n+1))
		return rawFile(unit4(dies), join(cuAbbrev(), abbrev, []byte{0}))
	}
	return []hostileFile{
		{name: "deep-lexical-1M", want: either, outcome: "DIE tree too deep", file: func() []byte {
			abbrev := join(abbreviation(3, dt.TagSubprogram, true, dt.AtName, dt.FormString), abbreviation(4, dt.TagLexicalBlock, true))
			dies := join([]byte{1}, rawInt("int"), []byte("\x03f\x00"), bytes.Repeat([]byte{4}, 1000000), make([]byte, 1000002))
			return rawFile(unit4(dies), join(cuAbbrev(), abbrev, []byte{0}))
		}},
		{name: "deep-struct-200k", want: either, outcome: "DIE tree too deep", file: func() []byte {
			return nested(200000, abbreviation(3, dt.TagStructureType, true, dt.AtName, dt.FormString, dt.AtByteSize, dt.FormData1), []byte("\x03s\x00\x04"))
		}},
		{name: "deep-pointer-chain-300k", big: true, want: either, outcome: "type refers to itself without a struct, union or typedef in between", file: made(func() []any { return chain(dt.TagPointerType, 300000, nil) })},
		{name: "deep-typedef-chain-300k", want: either, outcome: "type refers to itself without a struct, union or typedef in between", file: made(func() []any { return chain(dt.TagTypedef, 300000, nil, dt.Name("t")) })},
		{name: "deep-typedef-chain-64", want: either, outcome: "more than 32 modifiers and typedefs in a row", file: made(func() []any { return chain(dt.TagTypedef, 64, nil, dt.Name("t")) })},
		{name: "nested-functions-60k", want: either, outcome: "same", file: made(func() []any { return []any{between(60000)} })},
		{name: "shared-annotations", want: either, outcome: "the chains of annotations are too long, one may lead to itself", file: made(func() []any { return shared(4096, 8000) })},
		{name: "rust-members-65535", want: either, outcome: "valid", file: func() []byte {
			f, i := goodFile(), newInt()
			s := dt.N(dt.TagStructureType, dt.Name("s"), dt.Size(4*65535))
			for k := range 65535 {
				s.Add(dt.N(dt.TagMember, dt.Name("m"), dt.Type(i), dt.MemberAt(4*(65534-k))))
			}
			f.Units = append(f.Units, &dt.Unit{Root: dt.N(dt.TagCompileUnit, dt.Name("t.rs"), dt.Language(0x1c), i, s)})
			return f.Bytes()
		}},
	}
}

// between is a function with n parameters and n tags, and a nested function with a parameter and a tag
// behind each of them.
func between(n int) *dt.DIE {
	part := func() []any {
		return []any{dt.N(dt.TagFormalParameter), dt.N(dt.TagLLVMAnnotation, dt.Name("btf_decl_tag"), dt.Const("tag"))}
	}
	f := dt.N(dt.TagSubprogram, dt.Name("f"))
	for range n {
		f.Add(part()...).Add(dt.N(dt.TagSubprogram, part()...))
	}
	return f
}

// shared are n structs that share a chain of annotations of GCC.
func shared(length, n int) []any {
	var dies []any
	var first []any // the reference to the chain so far
	for range length {
		d := dt.N(dt.TagGNUAnnotation, append(first, dt.Name("btf_decl_tag"), dt.Const("tag"))...)
		dies, first = append(dies, d), []any{dt.Attr{At: dt.AtGNUAnnotation, Val: d}}
	}
	for range n {
		dies = append(dies, dt.N(dt.TagStructureType, append(first, dt.Name("s"), dt.Size(4))...))
	}
	return dies
}
