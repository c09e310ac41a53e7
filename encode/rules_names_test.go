package encode_test

import (
	"strings"

	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
)

// Names: the same text from several places is one string and one name.
func nameRules() []rule {
	long := strings.Repeat("long_name_", 20)
	inline := func(tag int, name string, parts ...any) *dt.DIE { return dt.N(tag, dt.NameInline(name)).Add(parts...) }
	unit := func(form int) *dt.Unit {
		i := intType()
		s := structure("node", 12)
		p := ptr(s)
		s.Add(member("next", p, 0), member("value", i, 8))
		u := dt.CU(i, s, p, typedef("node_t", s), enum("kind", 4, value("KIND_ONE", 1)))
		u.StrForm = form
		return u
	}
	repeated := func(forms ...int) []dt.File {
		var us []*dt.Unit
		for _, f := range forms {
			us = append(us, unit(f))
		}
		return []dt.File{{Units: us, RepeatStrings: true}}
	}
	fn := func(form int) *dt.Unit {
		i := intType()
		u := dt.CU(i, function("f", fn1, i, param("a", i, 5), param("argument", i, 4).Add(declTag("tag_text"))))
		u.StrForm = form
		return u
	}
	// specified is units whose types have their names in the same unit, or in the first.
	specified := func(split bool) []dt.File {
		i := intType()
		e, c, t := forward(dt.TagEnumerationType, "e"), forward(dt.TagClassType, "c"), typedef("t", i)
		first := dt.CU(i, structure("outer", 4, e, c, forward(dt.TagUnionType, "gone"), member("x", i, 0)), t)
		here, form := first, 0
		if split {
			here, form = dt.CU(), dt.FormRefAddr
		}
		of := func(d *dt.DIE) dt.Attr { return dt.Attr{At: dt.AtSpecification, Form: form, Val: d} }
		mine := intType()
		s := dt.N(dt.TagClassType, of(c), dt.Size(4), member("y", mine, 0))
		here.Root.Add(mine, dt.N(dt.TagEnumerationType, of(e), dt.Size(4), value("A", 1)), s, dt.N(dt.TagTypedef, of(t), dt.Type(s)),
			dt.N(dt.TagStructureType, dt.Specification(s), dt.Size(8)), dt.N(dt.TagStructureType, of(first.Root.Children[1].Children[3]), dt.Size(12)))
		if split {
			return many(first, here)
		}
		return many(first)
	}
	return []rule{
		{name: "types named by their specifications", files: specified(false), want: textSpecified},
		{name: "types named by specifications in another unit", files: specified(true), want: textSpecified},
		{name: "strings in first-use order", files: func() []dt.File {
			i := intType()
			s := structure("s", 8, member("b", i, 0), member("a", i, 4))
			return with(funcs(), i, s, function("f", fn1, i, param("z", i, 5), param("a", i, 4)), typedef("t", s))
		}(), want: textInt + `
			[2] STRUCT 's' size=8 vlen=2
				'b' type_id=1 bits_offset=0
				'a' type_id=1 bits_offset=32
			[3] TYPEDEF 't' type_id=2` + textFunc(4, 1, "f", "z 1", "a 1"), strings: "int s b a t z f"},
		{name: "same text under two offsets", files: repeated(dt.FormStrp, dt.FormStrp), want: textNode},
		{name: "same text inline and in .debug_str", files: repeated(dt.FormStrp, dt.FormString, dt.FormStrp), want: textNode},
		{name: "same text inline first", files: repeated(dt.FormString, dt.FormStrp, dt.FormString), want: textNode},
		{name: "same text in .debug_line_str", files: repeated(dt.FormLineStrp, dt.FormStrp, dt.FormLineStrp), want: textNode},
		{name: "same text by string index", files: repeated(dt.FormStrx1, dt.FormStrx, dt.FormStrx2, dt.FormStrx3, dt.FormStrx4, dt.FormString), want: textNode},
		{name: "same text within a unit", files: func() []dt.File {
			i := intType()
			return []dt.File{{RepeatStrings: true, Units: []*dt.Unit{dt.CU(i, base("int", 4, ateSigned), inline(dt.TagTypedef, "int", dt.Type(i)),
				structure("x", 4, member("x", i, 0)), inline(dt.TagStructureType, "x", dt.Size(4), inline(dt.TagMember, "x", dt.Type(i), dt.MemberAt(0))))}}}
		}(), want: textInt + `
			[2] TYPEDEF 'int' type_id=1
			[3] STRUCT 'x' size=4 vlen=1
				'x' type_id=1 bits_offset=0`},
		{name: "names of one, two, three and four bytes", files: func() []dt.File {
			var us []*dt.Unit
			for _, form := range []int{dt.FormString, dt.FormStrp, dt.FormStrx, dt.FormString} {
				i := intType()
				u := dt.CU(i, typedef("a", i), typedef("ab", i), typedef("abc", i), typedef("abcd", i), typedef("abcde", i))
				u.StrForm = form
				us = append(us, u)
			}
			return []dt.File{{RepeatStrings: true, Units: us}}
		}(), want: textInt + `
			[2] TYPEDEF 'a' type_id=1
			[3] TYPEDEF 'ab' type_id=1
			[4] TYPEDEF 'abc' type_id=1
			[5] TYPEDEF 'abcd' type_id=1
			[6] TYPEDEF 'abcde' type_id=1`},
		{name: "int under another offset still indexes arrays", files: func() []dt.File {
			c := func() *dt.DIE { return base("char", 1, ateSignedChar) }
			c1, c2 := c(), c()
			u2 := dt.CU(c2, array(c2, 3), intType())
			u1 := dt.CU(c1, intType(), array(c1, 2))
			u2.StrForm = dt.FormString
			return []dt.File{{RepeatStrings: true, Units: []*dt.Unit{u1, u2}}}
		}(), want: `
			[1] INT 'char' size=1 bits_offset=0 nr_bits=8 encoding=SIGNED
			[2] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
			[3] ARRAY '(anon)' type_id=1 index_type_id=2 nr_elems=2
			[4] ARRAY '(anon)' type_id=1 index_type_id=2 nr_elems=3`},
		{name: "same text in functions and tags", files: []dt.File{{RepeatStrings: true, Symbols: funcs(),
			Units: []*dt.Unit{fn(dt.FormString), fn(dt.FormStrp), fn(dt.FormStrx), fn(dt.FormLineStrp)}}}, want: textInt + textFunc(2, 1, "f", "a 1", "argument 1") + `
			[4] DECL_TAG 'tag_text' type_id=3 component_idx=1`},
		{name: "same text of forward declaration and definition", files: func() []dt.File {
			f := forward(dt.TagStructureType, "s")
			i := intType()
			u := dt.CU(i, structure("s", 4, member("x", i, 0)))
			u.StrForm = dt.FormString
			return []dt.File{{RepeatStrings: true, Units: []*dt.Unit{dt.CU(f, ptr(f)), u}}}
		}(), want: `
			[1] PTR '(anon)' type_id=3
			[2] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
			[3] STRUCT 's' size=4 vlen=1
				'x' type_id=2 bits_offset=0`},
		{name: "tail of another string", files: func() []dt.File {
			i := intType()
			// "unsigned int" is at offset 0 of .debug_str: "int" at 9 is its tail.
			tail := dt.N(dt.TagBaseType, dt.Size(4), dt.Encoding(5), dt.Attr{At: dt.AtName, Form: dt.FormStrp, Val: 9})
			u := &dt.Unit{Root: dt.N(dt.TagCompileUnit, base("unsigned int", 4, ateUnsigned), tail, i, array(tail, 2))}
			return many(u)
		}(), want: `
			[1] INT 'unsigned int' size=4 bits_offset=0 nr_bits=32 encoding=(none)
			[2] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
			[3] ARRAY '(anon)' type_id=2 index_type_id=2 nr_elems=2`},
		{name: "empty names are none", files: func() []dt.File {
			i := intType()
			return []dt.File{{RepeatStrings: true, Units: []*dt.Unit{dt.CU(i, structure("s", 8, member("", i, 0).Add(dt.Name("")), member("", i, 4).Add(dt.NameInline(""))),
				dt.N(dt.TagStructureType, dt.Name(""), dt.Size(4)), dt.N(dt.TagStructureType, dt.Name(""), dt.Size(8)))}}}
		}(), want: textInt + `
			[2] STRUCT 's' size=8 vlen=2
				'(anon)' type_id=1 bits_offset=0
				'(anon)' type_id=1 bits_offset=32
			[3] STRUCT '(anon)' size=4 vlen=0
			[4] STRUCT '(anon)' size=8 vlen=0`},
		{name: "names beyond ASCII and of any length", files: func() []dt.File {
			i := intType()
			return one(i, typedef("größe", i), typedef(long, i), inline(dt.TagTypedef, long, dt.Type(i)), structure("T<u8, [i32; 4]>", 4, member("s$x", i, 0)))
		}(), want: textInt + `
			[2] TYPEDEF 'größe' type_id=1
			[3] TYPEDEF 'long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_' type_id=1
			[4] STRUCT 'T<u8, [i32; 4]>' size=4 vlen=1
				's$x' type_id=1 bits_offset=0`},
		{name: "aliases that change while units wait", files: func() []dt.File {
			var us []*dt.Unit
			for k := range 24 {
				i := intType()
				s := structure("s"+string(rune('a'+k%5)), 8, member("m"+string(rune('a'+k%3)), i, 0), member("tail", i, 4))
				u := dt.CU(i, s, typedef("t"+string(rune('a'+k%7)), s), array(i, k%4+1))
				u.StrForm = []int{dt.FormStrp, dt.FormString, dt.FormStrx}[k%3]
				us = append(us, u)
			}
			return []dt.File{{RepeatStrings: true, Units: us}}
		}(), want: textInt + `
			[2] STRUCT 'sa' size=8 vlen=2
				'ma' type_id=1 bits_offset=0
				'tail' type_id=1 bits_offset=32
			[3] TYPEDEF 'ta' type_id=2
			[4] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=1
			[5] STRUCT 'sb' size=8 vlen=2
				'mb' type_id=1 bits_offset=0
				'tail' type_id=1 bits_offset=32
			[6] TYPEDEF 'tb' type_id=5
			[7] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=2
			[8] STRUCT 'sc' size=8 vlen=2
				'mc' type_id=1 bits_offset=0
				'tail' type_id=1 bits_offset=32
			[9] TYPEDEF 'tc' type_id=8
			[10] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=3
			[11] STRUCT 'sd' size=8 vlen=2
				'ma' type_id=1 bits_offset=0
				'tail' type_id=1 bits_offset=32
			[12] TYPEDEF 'td' type_id=11
			[13] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=4
			[14] STRUCT 'se' size=8 vlen=2
				'mb' type_id=1 bits_offset=0
				'tail' type_id=1 bits_offset=32
			[15] TYPEDEF 'te' type_id=14
			[16] STRUCT 'sa' size=8 vlen=2
				'mc' type_id=1 bits_offset=0
				'tail' type_id=1 bits_offset=32
			[17] TYPEDEF 'tf' type_id=16
			[18] STRUCT 'sb' size=8 vlen=2
				'ma' type_id=1 bits_offset=0
				'tail' type_id=1 bits_offset=32
			[19] TYPEDEF 'tg' type_id=18
			[20] STRUCT 'sc' size=8 vlen=2
				'mb' type_id=1 bits_offset=0
				'tail' type_id=1 bits_offset=32
			[21] TYPEDEF 'ta' type_id=20
			[22] STRUCT 'sd' size=8 vlen=2
				'mc' type_id=1 bits_offset=0
				'tail' type_id=1 bits_offset=32
			[23] TYPEDEF 'tb' type_id=22
			[24] STRUCT 'se' size=8 vlen=2
				'ma' type_id=1 bits_offset=0
				'tail' type_id=1 bits_offset=32
			[25] TYPEDEF 'tc' type_id=24
			[26] STRUCT 'sa' size=8 vlen=2
				'mb' type_id=1 bits_offset=0
				'tail' type_id=1 bits_offset=32
			[27] TYPEDEF 'td' type_id=26
			[28] STRUCT 'sb' size=8 vlen=2
				'mc' type_id=1 bits_offset=0
				'tail' type_id=1 bits_offset=32
			[29] TYPEDEF 'te' type_id=28
			[30] STRUCT 'sc' size=8 vlen=2
				'ma' type_id=1 bits_offset=0
				'tail' type_id=1 bits_offset=32
			[31] TYPEDEF 'tf' type_id=30
			[32] STRUCT 'sd' size=8 vlen=2
				'mb' type_id=1 bits_offset=0
				'tail' type_id=1 bits_offset=32
			[33] TYPEDEF 'tg' type_id=32
			[34] STRUCT 'se' size=8 vlen=2
				'mc' type_id=1 bits_offset=0
				'tail' type_id=1 bits_offset=32
			[35] TYPEDEF 'ta' type_id=34
			[36] TYPEDEF 'tb' type_id=2
			[37] TYPEDEF 'tc' type_id=5
			[38] TYPEDEF 'td' type_id=8
			[39] TYPEDEF 'te' type_id=11
			[40] TYPEDEF 'tf' type_id=14
			[41] TYPEDEF 'tg' type_id=16
			[42] TYPEDEF 'ta' type_id=18
			[43] TYPEDEF 'tb' type_id=20
			[44] TYPEDEF 'tc' type_id=22`},
	}
}

// textNode is a list and an enumeration, as text.
const textNode = textInt + `
	[2] STRUCT 'node' size=12 vlen=2
		'next' type_id=3 bits_offset=0
		'value' type_id=1 bits_offset=64
	[3] PTR '(anon)' type_id=2
	[4] TYPEDEF 'node_t' type_id=2
	[5] ENUM 'kind' encoding=UNSIGNED size=4 vlen=1
		'KIND_ONE' val=1`

// textSpecified is the types of a unit; some of them get their names from specifications, as text.
const textSpecified = textInt + `
	[2] FWD 'c' fwd_kind=struct
	[3] FWD 'gone' fwd_kind=union
	[4] STRUCT 'outer' size=4 vlen=1
		'x' type_id=1 bits_offset=0
	[5] TYPEDEF 't' type_id=1
	[6] ENUM 'e' encoding=UNSIGNED size=4 vlen=1
		'A' val=1
	[7] STRUCT 'c' size=4 vlen=1
		'y' type_id=1 bits_offset=0
	[8] TYPEDEF 't' type_id=7
	[9] STRUCT 'c' size=8 vlen=0
	[10] STRUCT '(anon)' size=12 vlen=0`
