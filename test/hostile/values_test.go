//go:build linux

package hostile

import (
	"fmt"
	"strings"

	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
)

// fakeInt is what becomes of base types that no kernel takes as INT.
const fakeInt = "as pahole does: an INT of 4 bytes called __SANITIZED_FAKE_INT__, which kernels take and readers know"

func bigFiles() []hostileFile {
	return []hostileFile{
		{name: "big-struct-70000-members", want: either, outcome: "70000 members are more than the 65535", file: made(func() []any {
			i := newInt()
			s := structure("many", 4*70000)
			for n := range 70000 {
				s.Add(member("m", i, 4*n))
			}
			return []any{i, s}
		})},
		{name: "big-enum-70000", want: either, outcome: "70000 enumerators are more than the 65535", file: made(func() []any {
			e := named(dt.TagEnumerationType, "many", nil, dt.Size(4))
			for n := range 70000 {
				e.Add(value(fmt.Sprint("E", n), n))
			}
			return []any{e, newInt()}
		})},
		{name: "big-func-70000-params", want: either, outcome: "70000 parameters are more than the 65535", file: made(func() []any {
			i := newInt()
			f := named(dt.TagSubroutineType, "", i)
			for range 70000 {
				f.Add(named(dt.TagFormalParameter, "", i))
			}
			return []any{i, f, ptr(f)}
		})},
		{name: "big-1.2M-types", want: mustFail, outcome: "more than", big: true, file: func() []byte {
			abbrev := abbreviation(3, dt.TagTypedef, false, dt.AtName, dt.FormString, dt.AtType, dt.FormRef4)
			dies := join([]byte{1}, rawInt("int"))
			for i := range 1200000 {
				dies = append(fmt.Appendf(append(dies, 3), "t%d", i), 0, 12, 0, 0, 0)
			}
			return rawFile(unit4(append(dies, 0)), join(cuAbbrev(), abbrev, []byte{0}))
		}},
		{name: "big-strings-20MB", big: true, want: mustFail, outcome: "bytes, at most", file: func() []byte {
			abbrev := abbreviation(3, dt.TagTypedef, false, dt.AtName, dt.FormString, dt.AtType, dt.FormRef4)
			dies := join([]byte{1}, rawInt("int"))
			for i := range 200000 {
				dies = append(fmt.Appendf(append(dies, 3), "t%0100d", i), 0, 12, 0, 0, 0)
			}
			return rawFile(unit4(append(dies, 0)), join(cuAbbrev(), abbrev, []byte{0}))
		}},
		{name: "big-name-1MB", want: either, outcome: "bytes, at most 512 are allowed", file: with(typedef(strings.Repeat("x", 1<<20), nil))},
	}
}

func valueFiles() []hostileFile {
	odd := func(tag int, parts ...any) func() []byte { return with(dt.N(tag, parts...), newInt()) }
	data8 := func(at int, v uint64) dt.Attr { return raw(at, dt.FormData8, le.AppendUint64(nil, v)...) }
	inStruct := func(size int, m func(i *dt.DIE) []any) func() []byte {
		return made(func() []any {
			i := newInt()
			return []any{i, structure("odd", size, m(i)...), newInt()}
		})
	}
	memberWith := func(size int, parts ...any) func() []byte {
		return inStruct(size, func(i *dt.DIE) []any { return []any{named(dt.TagMember, "m", i, parts...)} })
	}
	upper := func(vs ...uint64) func() []byte {
		return made(func() []any {
			i := newInt()
			a := named(dt.TagArrayType, "", i)
			for _, v := range vs {
				a.Add(dt.N(dt.TagSubrangeType, data8(dt.AtUpperBound, v)))
			}
			p := ptr(a)
			return []any{i, a, p, structure("holder", 8, member("a", p, 0)), newInt()}
		})
	}
	expr := func(b ...byte) dt.Attr { return dt.Attr{At: dt.AtMemberLocation, Val: b} }
	return []hostileFile{
		{name: "struct-size-2^64", want: mustFail, outcome: "size over", file: odd(dt.TagStructureType, dt.Name("odd"), data8(dt.AtByteSize, 1<<64-1))},
		{name: "struct-size-2^33", want: mustFail, outcome: "size over", file: odd(dt.TagStructureType, dt.Name("odd"), data8(dt.AtByteSize, 1<<33))},
		{name: "member-offset-2^29", want: mustFail, outcome: "member at an offset over", file: memberWith(1<<30, dt.MemberAt(1<<29))},
		{name: "member-offset-negative", want: mustFail, outcome: "bit offset", file: memberWith(8, dt.MemberAt(-8))},
		{name: "member-past-struct", want: mustFail, outcome: "ends at bit 80, behind its 8 bytes", file: memberWith(8, dt.MemberAt(6))},
		{name: "member-no-type", want: either, outcome: valid, file: with(structure("odd", 8, named(dt.TagMember, "m", nil, dt.MemberAt(0))), newInt())},
		{name: "member-order-back", want: either, outcome: "bit offset 0 behind a member at 32", file: inStruct(8, func(i *dt.DIE) []any { return []any{member("late", i, 4), member("early", i, 0)} })},
		{name: "bitfield-wider-than-type", want: mustFail, outcome: "a bit-field of 100 bits in an INT of 32", file: memberWith(16, dt.BitSize(100), dt.BitAt(0))},
		{name: "bitfield-size-2^40", want: mustFail, outcome: "bit-field of over 255 bits", file: memberWith(16, data8(dt.AtBitSize, 1<<40), dt.BitAt(0))},
		{name: "bitfield-type-size-0", want: mustFail, outcome: valid, disagree: fakeInt, file: made(func() []any {
			i := dt.N(dt.TagBaseType, dt.Name("none"), dt.Size(0), dt.Encoding(5))
			return []any{i, structure("odd", 8, named(dt.TagMember, "m", i, dt.BitSize(3), dt.BitAt(0))), newInt()}
		})},
		{name: "int-size-0", want: mustFail, outcome: valid, disagree: fakeInt, file: odd(dt.TagBaseType, dt.Name("odd"), dt.Size(0), dt.Encoding(5))},
		{name: "int-size-255", want: mustFail, outcome: valid, disagree: fakeInt, file: odd(dt.TagBaseType, dt.Name("odd"), dt.Size(255), dt.Encoding(5))},
		{name: "int-encoding-bad", want: either, outcome: valid, file: odd(dt.TagBaseType, dt.Name("odd"), dt.Size(4), dt.Encoding(0x7f))},
		{name: "int-unnamed", want: mustFail, outcome: "base type without a name", file: odd(dt.TagBaseType, dt.Size(4), dt.Encoding(5))},
		{name: "enum-size-3", want: mustFail, outcome: same, disagree: "left out and told on standard error, with what needs it, as all types that BTF has no kind for", file: odd(dt.TagEnumerationType, dt.Name("odd"), dt.Size(3), value("ONE", 1))},
		{name: "array-upper-2^64", want: either, outcome: valid, file: upper(1<<64 - 1)},
		{name: "array-overflow-size", want: mustFail, outcome: "elements of 4 bytes need more than 32 bits", file: upper(1<<31-1, 1<<31-1)},
		{name: "array-5000-dims", want: either, outcome: valid, file: upper(make([]uint64, 5000)...)},
		{name: "array-of-void", want: either, outcome: same, file: odd(dt.TagArrayType, dt.N(dt.TagSubrangeType, dt.Upper(3)))},
		{name: "param-void", want: mustFail, outcome: "type is void", file: made(func() []any {
			i := newInt()
			f := named(dt.TagSubroutineType, "", i, named(dt.TagFormalParameter, "", i), dt.N(dt.TagFormalParameter), named(dt.TagFormalParameter, "", i))
			p := ptr(f)
			return []any{i, f, p, structure("holder", 8, member("f", p, 0)), newInt()}
		})},
		{name: "expr-loop", want: mustFail, outcome: "bit offset", file: memberWith(8, expr(0x2f, 0xfd, 0xff))}, // DW_OP_skip -3
		{name: "expr-stack-bomb", want: mustFail, outcome: "bit offset", file: memberWith(8, expr([]byte("0"+strings.Repeat("\x12", 100000))...))},
		{name: "expr-empty", want: either, outcome: "bit offset", file: memberWith(8, expr())},
	}
}

func nameFiles() []hostileFile {
	odd := func(tag int, name string) func() []byte { return with(dt.N(tag, dt.Name(name), dt.Size(4)), newInt()) }
	return []hostileFile{
		{name: "name-escape-codes", want: mustFail, outcome: "name is not a C identifier", file: odd(dt.TagTypedef, "evil\x1b[2Jname\n")},
		{name: "name-high-bytes", want: either, outcome: "name is not a C identifier", file: odd(dt.TagStructureType, "\x80\xff\xfe")},
		{name: "name-with-spaces", want: either, outcome: "name is not a C identifier", file: odd(dt.TagStructureType, "a b")},
		{name: "name-digit-first", want: either, outcome: "name is not a C identifier", file: odd(dt.TagTypedef, "9x")},
		{name: "name-empty-typedef", want: mustFail, outcome: "typedef without a name", file: odd(dt.TagTypedef, "")},
		{name: "name-empty-enumerator", want: mustFail, outcome: "enumerator without a name", file: with(named(dt.TagEnumerationType, "odd", nil, dt.Size(4), value("", 0)), newInt())},
		{name: "name-printf", want: either, outcome: "name is not a C identifier", file: odd(dt.TagStructureType, "%s%n%n%n")},
	}
}

// lastFiles are about deduplication, relocations and variables.
func lastFiles() []hostileFile {
	manyUnits := func(n int, parts func(i int) []any) func() []byte {
		return func() []byte {
			f := goodFile()
			for i := range n {
				f.Units = append(f.Units, dt.CU(parts(i)...))
			}
			return f.Bytes()
		}
	}
	percpu := func(vars func(i *dt.DIE) []any, symbols ...dt.Symbol) func() []byte {
		return func() []byte {
			i := newInt()
			f := goodFile(append([]any{i}, vars(i)...)...)
			f.Sections = append(f.Sections, dt.Percpu())
			f.Symbols = append(f.Symbols, symbols...)
			return f.Bytes()
		}
	}
	variable := func(name string, t *dt.DIE, addr uint64) *dt.DIE {
		return named(dt.TagVariable, name, t, dt.External(), dt.Location(le.AppendUint64([]byte{3}, addr)...))
	}
	// relocated is the good file as an object with one relocation of
	// .debug_info (Elf64_Rela: offset, symbol and type, addend).
	relocated := func(off uint64, symbol, typ uint32) func() []byte {
		return func() []byte {
			f := goodFile()
			f.Type = 1
			rela := le.AppendUint64(nil, off)
			rela = le.AppendUint32(le.AppendUint32(rela, typ), symbol)
			rela = le.AppendUint64(rela, 0)
			debug := append(f.DebugSections(), dt.Section{Name: ".rela.debug_info", Type: 4, Data: rela})
			e := &elfImage{f.Image(debug)}
			index := func(name string) uint32 {
				h := e.header(name)
				n := uint32(0)
				for &e.data[e.shoff()+uint64(n)*64] != &h[0] {
					n++
				}
				return n
			}
			h := e.header(".rela.debug_info")
			le.PutUint32(h[shLink:], index(".symtab"))
			le.PutUint32(h[shLink+4:], index(".debug_info"))
			le.PutUint64(h[shEntsize:], 24)
			return e.data
		}
	}
	return []hostileFile{
		{name: "dedup-10k-same-name-structs", want: either, outcome: valid, big: true, file: manyUnits(10000, func(n int) []any {
			i := newInt()
			return []any{i, structure("x", 4, member(fmt.Sprint("m", n), i, 0))}
		})},
		{name: "dedup-exponential-dag", want: either, outcome: valid, file: manyUnits(2, func(n int) []any {
			i := newInt()
			leaf := structure("level0", 4, member(fmt.Sprint("leaf", n), i, 0))
			all := []any{i, leaf}
			for l := 1; l <= 28; l++ {
				p, q := ptr(leaf), ptr(leaf)
				leaf = structure(fmt.Sprint("level", l), 16, member("a", p, 0), member("b", q, 8))
				all = append(all, p, q, leaf)
			}
			return all
		})},
		{name: "dedup-anon-50k", want: either, outcome: valid, file: manyUnits(500, func(int) []any {
			i := newInt()
			all := []any{i}
			for range 100 {
				all = append(all, structure("", 4, member("m", i, 0)))
			}
			return all
		})},
		{name: "rela-offset-past", want: mustFail, outcome: "offset beyond the section", file: relocated(1<<40, 1, 10)},
		{name: "rela-sym-past", want: mustFail, outcome: "symbol", file: relocated(8, 1<<20, 10)},
		{name: "rela-type-unknown", want: mustFail, outcome: "not known in debug sections", file: relocated(8, 1, 200)},
		{name: "var-percpu-bad-address", want: either, outcome: same, file: percpu(func(i *dt.DIE) []any { return []any{variable("v", i, 1<<40)} },
			dt.Object("v", ".data..percpu", 1<<40))},
		{name: "var-overlapping", want: either, outcome: "offset 8 overlaps the entry before it, \"v\", which ends at 12", file: percpu(func(i *dt.DIE) []any {
			return []any{variable("v", i, dt.PercpuAddr+8), variable("w", i, dt.PercpuAddr+8)}
		}, dt.Object("v", ".data..percpu", dt.PercpuAddr+8), dt.Object("w", ".data..percpu", dt.PercpuAddr+8))},
	}
}
