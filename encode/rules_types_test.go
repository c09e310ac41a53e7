package encode_test

import (
	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
)

// Base types, modifiers, typedefs, arrays, enumerations, prototypes.
func typeRules() []rule {
	noFloat := encode.DefaultFeatures &^ encode.Float
	noEnum64 := encode.DefaultFeatures &^ encode.Enum64
	long := func() *dt.DIE { return base("long int", 8, ateSigned) }
	self := dt.N(dt.TagPointerType)
	self.Add(dt.Type(self))
	return []rule{
		{name: "base types by encoding", files: one(intType(), base("char", 1, ateSignedChar), base("unsigned char", 1, ateUnsignedChar),
			base("_Bool", 1, ateBool), base("double", 8, ateFloat), base("char16_t", 2, 0x10), base("__int128", 16, ateSigned),
			base("_Decimal64", 8, 0xf), base("vendor", 4, 0x80)), want: textInt + `
			[2] INT 'char' size=1 bits_offset=0 nr_bits=8 encoding=SIGNED
			[3] INT 'unsigned char' size=1 bits_offset=0 nr_bits=8 encoding=(none)
			[4] INT '_Bool' size=1 bits_offset=0 nr_bits=8 encoding=BOOL
			[5] FLOAT 'double' size=8
			[6] INT 'char16_t' size=2 bits_offset=0 nr_bits=16 encoding=(none)
			[7] INT '__int128' size=16 bits_offset=0 nr_bits=128 encoding=SIGNED
			[8] INT '_Decimal64' size=8 bits_offset=0 nr_bits=64 encoding=(none)
			[9] INT 'vendor' size=4 bits_offset=0 nr_bits=32 encoding=(none)`},
		{name: "no floats without the feature", features: noFloat, files: one(base("double", 8, ateFloat), base("complex float", 8, ateComplexFloat)), want: `
			[1] INT 'double' size=8 bits_offset=0 nr_bits=64 encoding=(none)
			[2] INT 'complex float' size=8 bits_offset=0 nr_bits=64 encoding=(none)`},
		{name: "float sizes", files: one(base("_Float16", 2, ateFloat), base("float", 4, ateFloat), base("i386 long double", 12, ateFloat),
			base("long double", 16, ateFloat)), want: `
			[1] FLOAT '_Float16' size=2
			[2] FLOAT 'float' size=4
			[3] FLOAT 'i386 long double' size=12
			[4] FLOAT 'long double' size=16`},
		{name: "sanitized integers", features: noFloat, files: one(base("long double", 12, ateFloat), base("DW_ATE_unsigned_24", 3, ateUnsigned),
			base("zero", 0, ateSigned), base("wide", 32, ateSigned), base("int24", 3, ateSigned)), want: `
			[1] INT '__SANITIZED_FAKE_INT__' size=4 bits_offset=0 nr_bits=32 encoding=(none)
			[2] INT '__SANITIZED_FAKE_INT__' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED`},
		{name: "base type without a name", files: one(dt.N(dt.TagBaseType, dt.Size(4), dt.Encoding(5))), err: "base type without a name"},
		{name: "bit size of a base type is ignored", files: one(base("_BitInt(9)", 2, ateSigned).Add(dt.BitSize(9))), want: `
			[1] INT '_BitInt(9)' size=2 bits_offset=0 nr_bits=16 encoding=SIGNED`},

		{name: "modifiers", files: func() []dt.File {
			i := intType()
			p := ptr(i)
			return one(i, ref(dt.TagConstType, "", i), ref(dt.TagVolatileType, "", i), p, ref(dt.TagRestrictType, "", p),
				ref(dt.TagConstType, "", nil), ptr(nil), ref(dt.TagVolatileType, "", nil))
		}(), want: textInt + `
			[2] CONST '(anon)' type_id=1
			[3] VOLATILE '(anon)' type_id=1
			[4] PTR '(anon)' type_id=1
			[5] RESTRICT '(anon)' type_id=4
			[6] CONST '(anon)' type_id=0
			[7] PTR '(anon)' type_id=0
			[8] VOLATILE '(anon)' type_id=0`},
		{name: "typedefs", files: func() []dt.File {
			i := intType()
			s := structure("", 4, member("x", i, 0))
			t := typedef("s_t", s)
			return one(i, typedef("my_int", i), typedef("nothing", nil), s, t, typedef("s_t_t", t))
		}(), want: textInt + `
			[2] TYPEDEF 'my_int' type_id=1
			[3] TYPEDEF 'nothing' type_id=0
			[4] STRUCT '(anon)' size=4 vlen=1
				'x' type_id=1 bits_offset=0
			[5] TYPEDEF 's_t' type_id=4
			[6] TYPEDEF 's_t_t' type_id=5`},
		{name: "typedef without a name", files: one(dt.N(dt.TagTypedef)), err: "typedef without a name"},
		{name: "typedef named by its specification", files: func() []dt.File {
			i := intType()
			t := typedef("inner", i)
			p := ptr(i)
			return one(i, t, p, dt.N(dt.TagTypedef, dt.Type(p), dt.Specification(t)))
		}(), want: textInt + `
			[2] TYPEDEF 'inner' type_id=1
			[3] PTR '(anon)' type_id=1
			[4] TYPEDEF 'inner' type_id=3`},
		{name: "forward and backward references", files: func() []dt.File {
			i := intType()
			return one(ptr(i), i, ref(dt.TagConstType, "", i))
		}(), want: `
			[1] PTR '(anon)' type_id=2
			[2] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
			[3] CONST '(anon)' type_id=2`},

		{name: "array", files: func() []dt.File {
			i := intType()
			return one(i, array(i, 7))
		}(), want: textInt + `
			[2] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=7`},
		{name: "array index int is the unit's own", files: func() []dt.File {
			c := base("char", 1, ateSignedChar)
			return one(c, array(c, 3), intType())
		}(), want: `
			[1] INT 'char' size=1 bits_offset=0 nr_bits=8 encoding=SIGNED
			[2] ARRAY '(anon)' type_id=1 index_type_id=3 nr_elems=3
			[3] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED`},
		{name: "array index int is invented", files: func() []dt.File {
			c, c2 := base("char", 1, ateSignedChar), base("char", 1, ateSignedChar)
			return many(dt.CU(c, array(c, 3), typedef("last", c)), dt.CU(intType(), c2, array(c2, 4)))
		}(), want: `
			[1] INT 'char' size=1 bits_offset=0 nr_bits=8 encoding=SIGNED
			[2] ARRAY '(anon)' type_id=1 index_type_id=4 nr_elems=3
			[3] TYPEDEF 'last' type_id=1
			[4] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
			[5] ARRAY '(anon)' type_id=1 index_type_id=4 nr_elems=4`},
		{name: "array index int waits for a unit with arrays", files: func() []dt.File {
			c, i := base("char", 1, ateSignedChar), base("int", 8, ateUnsigned)
			return many(dt.CU(typedef("t", nil)), dt.CU(i), dt.CU(c, array(c, 3), typedef("last", c)))
		}(), want: `
			[1] TYPEDEF 't' type_id=0
			[2] INT 'int' size=8 bits_offset=0 nr_bits=64 encoding=(none)
			[3] INT 'char' size=1 bits_offset=0 nr_bits=8 encoding=SIGNED
			[4] ARRAY '(anon)' type_id=3 index_type_id=2 nr_elems=3
			[5] TYPEDEF 'last' type_id=3`},
		{name: "array index int is invented, its name is a member's", files: func() []dt.File {
			c := base("char", 1, ateSignedChar)
			return one(c, structure("s", 1, member("int", c, 0)), array(c, 3))
		}(), want: `
			[1] INT 'char' size=1 bits_offset=0 nr_bits=8 encoding=SIGNED
			[2] STRUCT 's' size=1 vlen=1
				'int' type_id=1 bits_offset=0
			[3] ARRAY '(anon)' type_id=1 index_type_id=4 nr_elems=3
			[4] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED`},
		{name: "sanitized integer, its name is a member's", files: func() []dt.File {
			c := base("char", 1, ateSignedChar)
			return one(c, structure("s", 1, member("__SANITIZED_FAKE_INT__", c, 0)), base("odd", 3, ateSigned))
		}(), want: `
			[1] INT 'char' size=1 bits_offset=0 nr_bits=8 encoding=SIGNED
			[2] STRUCT 's' size=1 vlen=1
				'__SANITIZED_FAKE_INT__' type_id=1 bits_offset=0
			[3] INT '__SANITIZED_FAKE_INT__' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED`},
		{name: "array of several dimensions", files: func() []dt.File {
			i := intType()
			a := array(i, 2, 3, 4)
			return one(i, a, typedef("cube", a))
		}(), want: textInt + `
			[2] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=4
			[3] ARRAY '(anon)' type_id=2 index_type_id=1 nr_elems=3
			[4] ARRAY '(anon)' type_id=3 index_type_id=1 nr_elems=2
			[5] TYPEDEF 'cube' type_id=4`},
		{name: "array dimensions by count, flexible, none", files: func() []dt.File {
			i := intType()
			return one(i, ref(dt.TagArrayType, "", i, dt.N(dt.TagSubrangeType, dt.Count(5))),
				ref(dt.TagArrayType, "", i, dt.N(dt.TagSubrangeType)),
				typedef("none", ref(dt.TagArrayType, "", i)), ref(dt.TagArrayType, "", i),
				array(i, 2, 0))
		}(), want: textInt + `
			[2] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=5
			[3] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=0
			[4] TYPEDEF 'none' type_id=0
			[5] ARRAY '(anon)' type_id=3 index_type_id=1 nr_elems=2`},
		{name: "array bounds that are not constants", files: func() []dt.File {
			i := intType()
			v := ref(dt.TagVariable, "n", i)
			return one(i, v,
				ref(dt.TagArrayType, "", i, dt.N(dt.TagSubrangeType, dt.Attr{At: dt.AtUpperBound, Val: []byte{0x91, 0}}, dt.Count(3)), dt.N(dt.TagSubrangeType, dt.Count(1))),
				ref(dt.TagArrayType, "", i, dt.N(dt.TagSubrangeType, dt.Attr{At: dt.AtUpperBound, Val: v}), dt.N(dt.TagSubrangeType, dt.Count(2))),
				ref(dt.TagArrayType, "", i, dt.N(dt.TagSubrangeType, dt.Attr{At: dt.AtCount, Val: v}), dt.N(dt.TagSubrangeType, dt.Count(3))))
		}(), want: textInt + `
			[2] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=1
			[3] ARRAY '(anon)' type_id=2 index_type_id=1 nr_elems=0
			[4] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=2
			[5] ARRAY '(anon)' type_id=4 index_type_id=1 nr_elems=0
			[6] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=3
			[7] ARRAY '(anon)' type_id=6 index_type_id=1 nr_elems=0`},
		{name: "array bounds wrap at 32 bits", files: func() []dt.File {
			i := intType()
			sub := func(a dt.Attr) *dt.DIE { return ref(dt.TagArrayType, "", i, dt.N(dt.TagSubrangeType, a)) }
			return one(i, sub(dt.Attr{At: dt.AtUpperBound, Form: dt.FormData8, Val: int64(4999999999)}), sub(dt.Upper(-1)),
				sub(dt.Attr{At: dt.AtUpperBound, Form: dt.FormData4, Val: int64(0xffffffff)}), sub(dt.Attr{At: dt.AtUpperBound, Form: dt.FormUdata, Val: 9}),
				sub(dt.Attr{At: dt.AtUpperBound, Form: dt.FormImplicitConst, Val: 10}), sub(dt.Attr{At: dt.AtUpperBound, Form: dt.FormImplicitConst, Val: -1}))
		}(), want: textInt + `
			[2] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=705032704
			[3] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=0
			[4] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=10
			[5] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=11`},
		{name: "array with an enumeration as index", files: func() []dt.File {
			i := intType()
			return one(i, ref(dt.TagArrayType, "", i, enum("e", 4, value("A", 0)), dt.N(dt.TagSubrangeType, dt.Upper(2))))
		}(), want: textInt + `
			[2] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=3`},

		{name: "enumerations", files: func() []dt.File {
			u, i := base("unsigned int", 4, ateUnsigned), intType()
			return one(u, i, enum("color", 4, dt.Type(u), value("RED", 0), value("GREEN", 5)),
				enum("level", 4, dt.Type(i), value("LOW", -3), value("HIGH", 7)),
				enum("signed_type_only", 4, dt.Type(i), value("ONE", 1)),
				enum("byte", 1, dt.Type(u), value("B", 255)), enum("", 2, value("ANON", 1000)),
				enum("big_unsigned", 4, dt.Type(u), dt.N(dt.TagEnumerator, dt.Name("MAX"), dt.Attr{At: dt.AtConstValue, Form: dt.FormData4, Val: int64(0xffffffff)})))
		}(), want: `
			[1] INT 'unsigned int' size=4 bits_offset=0 nr_bits=32 encoding=(none)
			[2] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
			[3] ENUM 'color' encoding=UNSIGNED size=4 vlen=2
				'RED' val=0
				'GREEN' val=5
			[4] ENUM 'level' encoding=SIGNED size=4 vlen=2
				'LOW' val=-3
				'HIGH' val=7
			[5] ENUM 'signed_type_only' encoding=UNSIGNED size=4 vlen=1
				'ONE' val=1
			[6] ENUM 'byte' encoding=UNSIGNED size=1 vlen=1
				'B' val=255
			[7] ENUM '(anon)' encoding=UNSIGNED size=2 vlen=1
				'ANON' val=1000
			[8] ENUM 'big_unsigned' encoding=UNSIGNED size=4 vlen=1
				'MAX' val=4294967295`},
		{name: "enumeration forms", files: one(enum("forms", 4,
			dt.N(dt.TagEnumerator, dt.Name("D1"), dt.Attr{At: dt.AtConstValue, Form: dt.FormData1, Val: 0xff}),
			dt.N(dt.TagEnumerator, dt.Name("D2"), dt.Attr{At: dt.AtConstValue, Form: dt.FormData2, Val: 0xffff}),
			dt.N(dt.TagEnumerator, dt.Name("S"), dt.Attr{At: dt.AtConstValue, Form: dt.FormSdata, Val: 77}),
			dt.N(dt.TagEnumerator, dt.Name("U"), dt.Attr{At: dt.AtConstValue, Form: dt.FormUdata, Val: int64(1 << 31)}),
			dt.N(dt.TagEnumerator, dt.Name("I"), dt.Attr{At: dt.AtConstValue, Form: dt.FormImplicitConst, Val: 12}))), want: `
			[1] ENUM 'forms' encoding=UNSIGNED size=4 vlen=5
				'D1' val=255
				'D2' val=65535
				'S' val=77
				'U' val=2147483648
				'I' val=12`},
		{name: "64-bit enumerations", files: func() []dt.File {
			u, l := base("unsigned long", 8, ateUnsigned), long()
			return one(u, l, enum("wide", 8, dt.Type(u), value("ZERO", 0), value("BIG", 0x123456789abcdef)),
				enum("wide_signed", 8, dt.Type(l), value("MIN", -0x123456789abcdef)))
		}(), want: `
			[1] INT 'unsigned long' size=8 bits_offset=0 nr_bits=64 encoding=(none)
			[2] INT 'long int' size=8 bits_offset=0 nr_bits=64 encoding=SIGNED
			[3] ENUM64 'wide' encoding=UNSIGNED size=8 vlen=2
				'ZERO' val=0ULL
				'BIG' val=81985529216486895ULL
			[4] ENUM64 'wide_signed' encoding=SIGNED size=8 vlen=1
				'MIN' val=-81985529216486895LL`},
		{name: "64-bit enumeration behind a typedef is unsigned", files: func() []dt.File {
			l := long()
			td := typedef("l64", l)
			return one(l, td, enum("behind", 8, dt.Type(td), value("T", -1)), enum("no_type", 8, value("N", -1)))
		}(), want: `
			[1] INT 'long int' size=8 bits_offset=0 nr_bits=64 encoding=SIGNED
			[2] TYPEDEF 'l64' type_id=1
			[3] ENUM64 'behind' encoding=UNSIGNED size=8 vlen=1
				'T' val=18446744073709551615ULL
			[4] ENUM64 'no_type' encoding=UNSIGNED size=8 vlen=1
				'N' val=18446744073709551615ULL`},
		{name: "64-bit enumerations without the feature", features: noEnum64, files: func() []dt.File {
			l := long()
			return one(l, enum("wide", 8, dt.Type(l), value("ONE", 1), value("BIG", 0x123456789), value("NEG", -2)),
				enum("small", 4, dt.Type(l), value("MINUS", -1)))
		}(), want: `
			[1] INT 'long int' size=8 bits_offset=0 nr_bits=64 encoding=SIGNED
			[2] ENUM 'wide' encoding=UNSIGNED size=8 vlen=3
				'ONE' val=1
				'BIG' val=591751049
				'NEG' val=4294967294
			[3] ENUM 'small' encoding=UNSIGNED size=4 vlen=1
				'MINUS' val=4294967295`},
		{name: "enumeration forward declaration", files: one(ref(dt.TagEnumerationType, "later", nil, dt.Declaration()), ptr(nil)), want: `
			[1] ENUM 'later' encoding=UNSIGNED size=4 vlen=0
			[2] PTR '(anon)' type_id=0`},
		{name: "enumeration forward declaration is resolved", files: func() []dt.File {
			e := ref(dt.TagEnumerationType, "later", nil, dt.Declaration())
			return many(dt.CU(e, ptr(e)), dt.CU(enum("later", 4, value("L", 1))))
		}(), want: `
			[1] PTR '(anon)' type_id=2
			[2] ENUM 'later' encoding=UNSIGNED size=4 vlen=1
				'L' val=1`},
		{name: "enumerator too large for 4 bytes", files: one(enum("e", 4, value("E", 1<<33))), err: "enumerator does not fit in 32 bits"},
		{name: "enumerator without a name", files: one(enum("e", 4, dt.N(dt.TagEnumerator, dt.Const(1)))), err: "enumerator without a name"},

		{name: "prototypes", files: func() []dt.File {
			i := intType()
			p := func(t *dt.DIE) *dt.DIE { return ref(dt.TagFormalParameter, "", t) }
			f := dt.N(dt.TagSubroutineType, dt.Type(i), p(i), p(i))
			return one(i, f, ptr(f), dt.N(dt.TagSubroutineType), dt.N(dt.TagSubroutineType, p(i), dt.N(dt.TagUnspecifiedParams)),
				dt.N(dt.TagSubroutineType, dt.N(dt.TagUnspecifiedParams)), dt.N(dt.TagSubroutineType, ref(dt.TagFormalParameter, "named", i)))
		}(), want: textInt + `
			[2] FUNC_PROTO '(anon)' ret_type_id=1 vlen=2
				'(anon)' type_id=1
				'(anon)' type_id=1
			[3] PTR '(anon)' type_id=2
			[4] FUNC_PROTO '(anon)' ret_type_id=0 vlen=0
			[5] FUNC_PROTO '(anon)' ret_type_id=0 vlen=2
				'(anon)' type_id=1
				'(anon)' type_id=0
			[6] FUNC_PROTO '(anon)' ret_type_id=0 vlen=1
				'(anon)' type_id=0
			[7] FUNC_PROTO '(anon)' ret_type_id=0 vlen=1
				'named' type_id=1`},
		{name: "type nested in a prototype", files: func() []dt.File {
			i := intType()
			s := structure("inner", 4, member("x", i, 0))
			pt := ptr(s)
			return one(i, dt.N(dt.TagSubroutineType, ref(dt.TagFormalParameter, "a", i), s, ref(dt.TagFormalParameter, "b", pt)), pt)
		}(), want: textInt + `
			[2] STRUCT 'inner' size=4 vlen=1
				'x' type_id=1 bits_offset=0
			[3] FUNC_PROTO '(anon)' ret_type_id=0 vlen=2
				'a' type_id=1
				'b' type_id=4
			[4] PTR '(anon)' type_id=2`},
		{name: "unspecified type is void", files: func() []dt.File {
			v := dt.N(dt.TagUnspecifiedType, dt.Name("decltype(nullptr)"))
			return one(intType(), v, typedef("nullptr_t", v))
		}(), want: textInt + `
			[2] TYPEDEF 'nullptr_t' type_id=0`},
		{name: "nested unspecified type takes no id", files: func() []dt.File {
			v, i := dt.N(dt.TagUnspecifiedType, dt.Name("nothing")), intType()
			p := ptr(i)
			return one(dt.N(dt.TagNamespace, v), i, typedef("nullptr_t", v), p, typedef("after", p))
		}(), want: textInt + `
			[2] TYPEDEF 'nullptr_t' type_id=0
			[3] PTR '(anon)' type_id=1
			[4] TYPEDEF 'after' type_id=3`},
		{name: "dangling reference is void", files: func() []dt.File {
			i := intType()
			lost := dt.N(dt.TagSubrangeType, dt.Type(i))
			return one(i, lost, ref(dt.TagTypedef, "to_subrange", lost))
		}(), want: textInt + `
			[2] TYPEDEF 'to_subrange' type_id=0`},
	}
}
