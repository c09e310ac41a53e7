package encode_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/test/testfile"
)

// unencodableRules are about types that BTF has no kind for. pahole
// writes nothing for any of these files.
func unencodableRules() []rule {
	const refused = "pahole gives up"
	rules := []rule{
		{name: "left out alone", files: one(
			base("x87", 10, ateFloat), base("complex float", 8, ateComplexFloat), enum("e", 3, value("E", 1)),
			dt.N(dt.TagStructureType, dt.Declaration()), ref(dt.TagAtomicType, "", nil), ref(0x1f, "", nil), intType(),
		), want: textInt},
		{name: "left out with what is made of it", files: func() []dt.File {
			i := intType()
			r := ref(dt.TagReferenceType, "", i)
			td := typedef("intref", r)
			c := ref(dt.TagConstType, "", td)
			arr := array(c, 3)
			proto := ref(dt.TagSubroutineType, "", i, ref(dt.TagFormalParameter, "", i), ref(dt.TagFormalParameter, "", td))
			ret := ref(dt.TagSubroutineType, "", arr)
			// Users first: references lead backward and forward.
			return one(typedef("before", c), ptr(ret), i, ptr(r), ptr(proto), r, td, c, arr, proto, ret, typedef("after", i))
		}(), want: `
			[1] PTR '(anon)' type_id=0
			[2] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
			[3] TYPEDEF 'after' type_id=2`},
		{name: "left out members", files: func() []dt.File {
			i := intType()
			r := ref(dt.TagReferenceType, "", i)
			p := ptr(r)
			return one(i, r, p,
				structure("s", 32, member("a", i, 0), member("r", r, 8), member("b", i, 16), member("p", p, 24)),
				composite(dt.TagUnionType, "u", 8, member("r", r, 0)))
		}(), want: textInt + `
			[2] PTR '(anon)' type_id=0
			[3] STRUCT 's' size=32 vlen=3
				'a' type_id=1 bits_offset=0
				'b' type_id=1 bits_offset=128
				'p' type_id=2 bits_offset=192
			[4] UNION 'u' size=8 vlen=0`},
		{name: "left out members have tags", files: func() []dt.File {
			i := intType()
			r := ref(dt.TagReferenceType, "", i)
			tag := func(v string) *dt.DIE {
				return dt.N(dt.TagLLVMAnnotation, dt.Name("btf_decl_tag"), dt.Const(v))
			}
			return one(r, i, structure("s", 32, member("r", r, 0, tag("gone")), member("a", i, 8, tag("first")),
				member("q", r, 16), member("b", i, 24, tag("second")), tag("struct")), typedef("t", r, tag("gone too")))
		}(), want: textInt + `
			[2] STRUCT 's' size=32 vlen=2
				'a' type_id=1 bits_offset=64
				'b' type_id=1 bits_offset=192
			[3] DECL_TAG 'first' type_id=2 component_idx=0
			[4] DECL_TAG 'second' type_id=2 component_idx=1
			[5] DECL_TAG 'struct' type_id=2 component_idx=-1`},
		{name: "left out functions", files: func() []dt.File {
			i := intType()
			r := ref(dt.TagReferenceType, "", i)
			p := ptr(r)
			abstract := function("inlined", 0, i, param("a", r, -1))
			return with([]dt.Symbol{dt.Func("takes", fn1), dt.Func("gives", fn2), dt.Func("fine", fn3), dt.Func("inlined", fn3+16)},
				r, i, p, function("takes", fn1, i, param("a", i, 5), param("b", r, 4)), function("gives", fn2, r),
				abstract, dt.N(dt.TagSubprogram, dt.Origin(abstract), dt.LowPC(fn3+16), dt.N(dt.TagFormalParameter, dt.Location(0x55))),
				function("fine", fn3, i, param("a", p, 5)))
		}(), want: textInt + `
			[2] PTR '(anon)' type_id=0` + textFunc(3, 1, "fine", "a 2")},
		{name: "left out variables", features: encode.AllFeatures, files: func() []dt.File {
			i := intType()
			r := ref(dt.TagReferenceType, "", i)
			f := one(r, i, variable("gone", r, dt.PercpuAddr+8), variable("kept", i, dt.PercpuAddr+16))
			f[0].Sections = []dt.Section{dt.Percpu()}
			return f
		}(), want: textInt + `
			[2] VAR 'kept' type_id=1, linkage=global
			[3] DATASEC '.data..percpu' size=20 vlen=1
				type_id=2 offset=16 size=4 (VAR 'kept')`},
		{name: "int is left out's target", files: func() []dt.File {
			i := intType()
			r := ref(dt.TagReferenceType, "", i)
			c := base("char", 1, ateSignedChar)
			return many(dt.CU(r, i, array(i, 2)), dt.CU(c, array(c, 4)))
		}(), want: textInt + `
			[2] ARRAY '(anon)' type_id=1 index_type_id=1 nr_elems=2
			[3] INT 'char' size=1 bits_offset=0 nr_bits=8 encoding=SIGNED
			[4] ARRAY '(anon)' type_id=3 index_type_id=1 nr_elems=4`},
	}
	for i := range rules {
		rules[i].differs = refused
	}
	return rules
}

// TestUnencodableIsCounted: Stats says what was left out, once for each DIE.
func TestUnencodableIsCounted(t *testing.T) {
	i := intType()
	r := ref(dt.TagReferenceType, "", i)
	td := typedef("t", r)
	parts := []any{i, r, td, base("x87", 10, ateFloat), structure("s", 8, member("m", td, 0)),
		function("f", fn1, i, param("a", r, 5)), variable("v", r, dt.PercpuAddr+8)}
	f := many(dt.CU(parts...), dt.CU(ref(dt.TagReferenceType, "", nil)))
	f[0].Sections, f[0].Symbols = []dt.Section{dt.Percpu()}, []dt.Symbol{dt.Func("f", fn1)}
	x := rule{files: f}
	out, err := encode.Run(x.write(t, t.TempDir()), encode.Options{Features: encode.DefaultFeatures, Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	want := map[string]int{"DW_TAG_reference_type": 2, "floating-point type of 10 bytes": 1, "types made of them": 1,
		"struct and union members": 1, "functions": 1, "variables": 1}
	if !maps.Equal(out.Stats.Unencodable, want) {
		t.Errorf("left out %v, want %v", out.Stats.Unencodable, want)
	}
}

// TestUnencodableOfCompilersFile encodes what g++ made (scripts/golden.sh).
func TestUnencodableOfCompilersFile(t *testing.T) {
	want := testfile.Read(t, "testdata/leftout/x86-g++5.txt")
	for _, jobs := range []int{1, 2} {
		data := mustRun(t, []string{"testdata/leftout/x86-g++5.elf"}, encode.Options{Features: encode.DefaultFeatures, Jobs: jobs})
		if text, _ := format(t, data); text != string(want) {
			t.Errorf("jobs=%d: (-want +got)\n%s", jobs, cmp.Diff(string(want), text))
		}
	}
}
