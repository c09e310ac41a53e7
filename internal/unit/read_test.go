package unit

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/debuginfo"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/internal/names"
	"github.com/btflite/btflite/mmapelf"
)

// all are the options by which most is read.
var all = Options{Float: true, DeclTag: true, TypeTag: true, Enum64: true}

// readUnit reads the first unit of a file.
func readUnit(t *testing.T, f *dt.File, o Options) (r *Reader, skip bool, err error) {
	t.Helper()
	return readImage(t, f.Bytes(), o)
}

// readImage reads the first unit of the bytes of a file.
func readImage(t *testing.T, image []byte, o Options) (r *Reader, skip bool, err error) {
	t.Helper()
	table := new(names.Table)
	table.Use(names.NewPool(nil, nil))
	file, err := debuginfo.Open(&mmapelf.Source{Path: "in", Data: image}, debuginfo.Settings{Names: table, Scarce: func(uint64) bool { return false }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(file.Close)
	if err := file.Load(false); err != nil {
		return nil, false, err
	}
	in := &Input{File: file, Options: o, ArrayIndex: new(atomic.Uint32)}
	r = &Reader{In: in}
	r.Init(nil)
	t.Cleanup(r.Free)
	r.Reset()
	if err := file.Header(0, &r.Cursor); err != nil {
		return nil, false, err
	}
	p, skip, err := r.Start()
	if err == nil && !skip {
		err = r.Read(p)
	}
	return r, skip, err
}

// dump prints the types that were read: a line for each node in raw order, with its Ref
// first and its elements after it.
func dump(r *Reader) string {
	var b strings.Builder
	text := r.Cursor.File.Names.Text
	for _, i := range r.Unit.Types.Order.S {
		n := &r.Unit.Types.Nodes.S[i]
		k := btf.InfoKind(n.Info)
		fmt.Fprintf(&b, "%d %s %q", i+1, k, text(n.Name))
		if btf.InfoKflag(n.Info) {
			b.WriteString(" kflag")
		}
		switch k {
		case btf.KindInt:
			fmt.Fprintf(&b, " %d %#x", n.Third, n.Aux)
		case btf.KindArray:
			fmt.Fprintf(&b, " of %d, %d", n.Third, n.Aux)
		case btf.KindFloat, btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64:
			fmt.Fprintf(&b, " %d", n.Third)
		case btf.KindFwd:
		case btf.KindDeclTag:
			fmt.Fprintf(&b, " to %d, %d", n.Third, int32(n.Aux))
		default:
			fmt.Fprintf(&b, " to %d", n.Third)
		}
		switch k {
		case btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64, btf.KindFuncProto:
			for _, m := range r.Unit.Types.Members.S[n.First:][:btf.InfoVlen(n.Info)] {
				fmt.Fprintf(&b, ", %q %d", text(m.Name), int32(m.Type))
				if m.Val != 0 {
					fmt.Fprintf(&b, " %#x", m.Val)
				}
			}
		}
		b.WriteByte('\n')
	}
	for i := range r.Unit.Funcs.S {
		f := &r.Unit.Funcs.S[i]
		fmt.Fprintf(&b, "func %q to %d:", text(f.Name), int32(f.Type))
		for _, p := range r.Unit.Params.S[f.First:][:f.N] {
			fmt.Fprintf(&b, " %q %d", text(p.Name), int32(p.Type))
		}
		fmt.Fprintf(&b, " flags %#x\n", f.Flags)
	}
	return b.String()
}

// long is a name that is not written in place.
const long = "a_name_that_is_long"

// readCase is DIEs and what becomes of them.
type readCase struct {
	what string
	dies func() []any
	want string
}

func readCases() []readCase {
	integer := func() *dt.DIE { return dt.N(dt.TagBaseType, dt.Name("int"), dt.Size(4), dt.Encoding(5)) }
	member := func(name string, typ *dt.DIE, at int, more ...any) *dt.DIE {
		return dt.N(dt.TagMember, dt.Name(name), dt.Type(typ), dt.MemberAt(at)).Add(more...)
	}
	return []readCase{
		{"base types", func() []any {
			base := func(name string, size, encoding int) *dt.DIE {
				return dt.N(dt.TagBaseType, dt.Name(name), dt.Size(size), dt.Encoding(encoding))
			}
			return []any{base("int", 4, 5), base("char", 1, 6), base("unsigned", 4, 7), base("_Bool", 1, 2), base("double", 8, 4),
				base("quad", 16, 5), base("half", 2, 4), base("odd", 3, 5), base("large", 32, 7)}
		}, `1 INT "int" 4 0x1000020
2 INT "char" 1 0x1000008
3 INT "unsigned" 4 0x20
4 INT "_Bool" 1 0x4000008
5 FLOAT "double" 8
6 INT "quad" 16 0x1000080
7 FLOAT "half" 2
8 INT "__SANITIZED_FAKE_INT__" 4 0x1000020
9 INT "__SANITIZED_FAKE_INT__" 4 0x20
`},
		{"references", func() []any {
			i := integer()
			p := dt.N(dt.TagPointerType, dt.Type(i))
			c := dt.N(dt.TagConstType, dt.Type(p))
			v := dt.N(dt.TagVolatileType, dt.Type(c))
			r := dt.N(dt.TagRestrictType, dt.Type(v))
			return []any{dt.N(dt.TagTypedef, dt.Name("before"), dt.Type(r)), i, p, c, v, r, dt.N(dt.TagPointerType), dt.N(dt.TagTypedef, dt.Name(long))}
		}, `1 TYPEDEF "before" to 6
2 INT "int" 4 0x1000020
3 PTR "" to 2
4 CONST "" to 3
5 VOLATILE "" to 4
6 RESTRICT "" to 5
7 PTR "" to 0
8 TYPEDEF "a_name_that_is_long" to 0
`},
		{"struct and union", func() []any {
			i := integer()
			s := dt.N(dt.TagStructureType, dt.Name("s"), dt.Size(12), member("a", i, 0), member(long, i, 4), member("", i, 8))
			u := dt.N(dt.TagUnionType, dt.Name("u"), dt.Size(4), member("a", i, 0), member("b", s, 0))
			empty := dt.N(dt.TagStructureType, dt.Name("none"), dt.Size(0))
			open := dt.N(dt.TagStructureType, dt.Name("open"), dt.Size(0))
			open.KeepChildren = true
			return []any{i, s, u, empty, open, dt.N(dt.TagStructureType, dt.Name("fwd"), dt.Declaration()), dt.N(dt.TagUnionType, dt.Name("ufwd"), dt.Declaration())}
		}, `1 INT "int" 4 0x1000020
2 STRUCT "s" 12, "a" 1, "a_name_that_is_long" 1 0x20, "" 1 0x40
3 UNION "u" 4, "a" 1, "b" 2
4 STRUCT "none" 0
5 STRUCT "open" 0
6 FWD "fwd"
7 FWD "ufwd" kflag
`},
		{"a type between members", func() []any {
			i := integer()
			in := dt.N(dt.TagStructureType, dt.Size(4), member("x", i, 0))
			return []any{i, dt.N(dt.TagStructureType, dt.Name("s"), dt.Size(12), member("a", i, 0), in, member("b", in, 4), member("c", i, 8))}
		}, `1 INT "int" 4 0x1000020
3 STRUCT "" 4, "x" 1
2 STRUCT "s" 12, "a" 1, "b" 3 0x20, "c" 1 0x40
`},
		{"bit-fields", func() []any {
			i := integer()
			bits := func(name string, at, size int) *dt.DIE {
				return dt.N(dt.TagMember, dt.Name(name), dt.Type(i), dt.BitSize(size), dt.BitAt(at))
			}
			return []any{i, dt.N(dt.TagStructureType, dt.Name("s"), dt.Size(8), bits("a", 0, 3), bits("b", 3, 29), member("c", i, 4))}
		}, `1 INT "int" 4 0x1000020
2 STRUCT "s" kflag 8, "a" 1 0x3000000, "b" 1 0x1d000003, "c" 1 0x20
`},
		{"arrays", func() []any {
			i := integer()
			dim := func(parts ...any) *dt.DIE { return dt.N(dt.TagSubrangeType, parts...) }
			return []any{i, dt.N(dt.TagArrayType, dt.Type(i), dim(dt.Upper(3))), dt.N(dt.TagArrayType, dt.Type(i), dim(dt.Count(3))),
				dt.N(dt.TagArrayType, dt.Type(i), dim()), dt.N(dt.TagArrayType, dt.Type(i), dim(dt.Upper(1)), dim(dt.Upper(2)), dim(dt.Count(300)))}
		}, `1 INT "int" 4 0x1000020
2 ARRAY "" of 1, 4
3 ARRAY "" of 1, 3
4 ARRAY "" of 1, 0
6 ARRAY "" of 1, 300
7 ARRAY "" of 6, 3
5 ARRAY "" of 7, 2
`},
		{"enumerations", func() []any {
			value := func(name string, v any) *dt.DIE { return dt.N(dt.TagEnumerator, dt.Name(name), dt.Const(v)) }
			return []any{dt.N(dt.TagEnumerationType, dt.Name("e"), dt.Size(4), value("A", 0), value("B", 1), value("C", 200)),
				dt.N(dt.TagEnumerationType, dt.Name("neg"), dt.Size(4), value("N", -1), value("P", 1)),
				dt.N(dt.TagEnumerationType, dt.Name("wide"), dt.Size(8), value("W", int64(1)<<33|5)),
				dt.N(dt.TagEnumerationType, dt.Name("fwd"), dt.Declaration())}
		}, `1 ENUM "e" 4, "A" 0, "B" 1, "C" 200
2 ENUM "neg" kflag 4, "N" -1, "P" 1
3 ENUM64 "wide" 8, "W" 5 0x2
4 ENUM "fwd" 4
`},
		{"prototypes", func() []any {
			i := integer()
			param := func(typ *dt.DIE) *dt.DIE { return dt.N(dt.TagFormalParameter, dt.Type(typ)) }
			p := dt.N(dt.TagPointerType)
			return []any{i, p, dt.N(dt.TagSubroutineType), dt.N(dt.TagSubroutineType, dt.Type(i), param(i), param(p)),
				dt.N(dt.TagSubroutineType, param(p), dt.N(dt.TagUnspecifiedParams)),
				dt.N(dt.TagSubroutineType, dt.N(dt.TagUnspecifiedParams))}
		}, `1 INT "int" 4 0x1000020
2 PTR "" to 0
3 FUNC_PROTO "" to 0
4 FUNC_PROTO "" to 1, "" 1, "" 2
5 FUNC_PROTO "" to 0, "" 2, "" 0
6 FUNC_PROTO "" to 0, "" 0
`},
		{"forms of one byte", func() []any {
			i := integer()
			typ := func() dt.Attr { return dt.Attr{At: dt.AtType, Form: dt.FormRef1, Val: i} }
			small := func(at, n int) dt.Attr { return dt.Attr{At: at, Form: dt.FormData1, Val: n} }
			m := func(name string, at int) *dt.DIE {
				return dt.N(dt.TagMember, dt.Name(name), typ(), small(dt.AtMemberLocation, at))
			}
			return []any{i, dt.N(dt.TagSubroutineType, typ(), dt.N(dt.TagFormalParameter, typ()), dt.N(dt.TagFormalParameter, dt.Name("p"), typ())),
				dt.N(dt.TagArrayType, typ(), dt.N(dt.TagSubrangeType, small(dt.AtUpperBound, 6))),
				dt.N(dt.TagEnumerationType, dt.Size(4), dt.N(dt.TagEnumerator, dt.Name("A"), small(dt.AtConstValue, 1)), dt.N(dt.TagEnumerator, dt.Name("B"), small(dt.AtConstValue, 2))),
				dt.N(dt.TagPointerType, typ()), dt.N(dt.TagConstType, typ()), dt.N(dt.TagStructureType, dt.Size(8), m("a", 0), m("b", 4))}
		}, `1 INT "int" 4 0x1000020
2 FUNC_PROTO "" to 1, "" 1, "p" 1
3 ARRAY "" of 1, 7
4 ENUM "" 4, "A" 1, "B" 2
5 PTR "" to 1
6 CONST "" to 1
7 STRUCT "" 8, "a" 1, "b" 1 0x20
`},
		{"functions", func() []any {
			i := integer()
			param := func(name string) *dt.DIE { return dt.N(dt.TagFormalParameter, dt.Name(name), dt.Type(i)) }
			return []any{i, dt.N(dt.TagSubprogram, dt.Name("f"), dt.Type(i), param("x"), param(long)),
				dt.N(dt.TagSubprogram, dt.Name("v"), param("fmt"), dt.N(dt.TagUnspecifiedParams)),
				dt.N(dt.TagSubprogram, dt.Name("d"), dt.Declaration(), param("y"))}
		}, `1 INT "int" 4 0x1000020
func "f" to 1: "x" 1 "a_name_that_is_long" 1 flags 0x8
func "v" to 0: "fmt" 1 flags 0x4
func "d" to 0: flags 0x1
`},
		{"blocks and namespaces", func() []any {
			i := integer()
			return []any{dt.N(dt.TagNamespace, dt.Name("n"), i),
				dt.N(dt.TagSubprogram, dt.Name("f"), dt.N(dt.TagLexicalBlock, dt.N(dt.TagTypedef, dt.Name("inner"), dt.Type(i)))),
				dt.N(dt.TagStructureType, dt.Name("s"), dt.Size(4), member("m", i, 0), dt.N(dt.TagSubprogram, dt.Name("method"), dt.N(dt.TagTypedef, dt.Name("deep"), dt.Type(i))), member("n", i, 0))}
		}, `1 INT "int" 4 0x1000020
2 TYPEDEF "inner" to 1
4 TYPEDEF "deep" to 1
3 STRUCT "s" 4, "m" 1, "n" 1
func "f" to 0: flags 0x0
func "method" to 0: flags 0x0
`},
		{"annotations", func() []any {
			tag := func(name, value string) *dt.DIE {
				return dt.N(dt.TagLLVMAnnotation, dt.Name(name), dt.Const(value))
			}
			i := integer()
			return []any{i, dt.N(dt.TagStructureType, dt.Name("s"), dt.Size(8), member("a", i, 0), member("b", i, 4, tag("btf_decl_tag", "second")), tag("btf_decl_tag", "whole")),
				dt.N(dt.TagPointerType, dt.Type(i), tag("btf_type_tag", "user")), dt.N(dt.TagTypedef, dt.Name("t"), dt.Type(i), tag("btf_decl_tag", "of t"), tag("other", "none"))}
		}, `1 INT "int" 4 0x1000020
2 STRUCT "s" 8, "a" 1, "b" 1 0x20
5 TYPE_TAG "user" to 1
3 PTR "" to 5
4 TYPEDEF "t" to 1
6 DECL_TAG "second" to 2, 1
7 DECL_TAG "whole" to 2, -1
8 DECL_TAG "of t" to 4, -1
`},
	}
}

// readWay is one of the ways in which DIEs may be written.
type readWay struct {
	what   string
	file   dt.File
	unit   dt.Unit
	langOf int
}

var readWays = []readWay{
	{"DWARF 5", dt.File{}, dt.Unit{}, 0x1d},
	{"DWARF 5, big-endian", dt.File{BigEndian: true, Machine: dt.MachineS390}, dt.Unit{}, 0x1d},
	{"DWARF 4, inline strings", dt.File{}, dt.Unit{Version: 4, StrForm: dt.FormString}, 0x1d},
	{"DWARF 4, big-endian, siblings", dt.File{BigEndian: true, Machine: dt.MachineS390}, dt.Unit{Version: 4, Siblings: true}, 0x1d},
	{"DWARF64", dt.File{}, dt.Unit{Dwarf64: true, Siblings: true}, 0x1d},
	{"string indexes", dt.File{}, dt.Unit{StrForm: dt.FormStrx}, 0x1d},
	{"Rust", dt.File{}, dt.Unit{}, langRust},
}

// image is a file with the DIEs.
func (w *readWay) image(dies []any) *dt.File {
	f, unit := w.file, w.unit
	unit.Root = dt.N(dt.TagCompileUnit, dt.Name("t.c"), dt.Language(w.langOf)).Add(dies...)
	f.Units = []*dt.Unit{&unit}
	return &f
}

// TestRead: what becomes of DIEs, in each of the ways in which they may be written.
func TestRead(t *testing.T) {
	for _, c := range readCases() {
		for _, way := range readWays {
			r, skip, err := readUnit(t, way.image(c.dies()), all)
			if err != nil || skip {
				t.Errorf("%s, %s: skipped %v, %v", c.what, way.what, skip, err)
				continue
			}
			if got := dump(r); got != c.want {
				t.Errorf("%s, %s: (-want +got)\n%s", c.what, way.what, cmp.Diff(c.want, got))
			}
		}
	}
}

// TestSkip: units that are filtered, by language and by name, and those without types.
func TestSkip(t *testing.T) {
	const c11, rust = 0x1d, langRust
	for _, c := range []struct {
		what string
		o    Options
		skip bool
	}{
		{"no filter", Options{}, false},
		{"wanted", Options{Lang: []uint16{rust, c11}}, false},
		{"not wanted", Options{Lang: []uint16{rust}}, true},
		{"excluded", Options{LangExclude: []uint16{rust, c11}}, true},
		{"another excluded", Options{LangExclude: []uint16{rust}}, false},
		{"excluded by name", Options{CUExclude: "dir/"}, true},
		{"another name excluded", Options{CUExclude: "dirs"}, false},
	} {
		f := dt.File{Units: []*dt.Unit{{Root: dt.N(dt.TagCompileUnit, dt.Name("dir/t.c"), dt.Language(c11),
			dt.N(dt.TagBaseType, dt.Name("int"), dt.Size(4), dt.Encoding(5)))}}}
		r, skip, err := readUnit(t, &f, c.o)
		if err != nil || skip != c.skip || r.Unit.Facts.Filtered != c.skip || r.Unit.Facts.Language != c11 {
			t.Errorf("%s: skipped %v, filtered %v, language %#x, %v", c.what, skip, r.Unit.Facts.Filtered, r.Unit.Facts.Language, err)
		}
	}
	if _, skip, err := readUnit(t, &dt.File{Units: []*dt.Unit{{Root: dt.N(dt.TagCompileUnit, dt.Name("t.c"))}}}, all); !skip || err != nil {
		t.Errorf("a unit without DIEs: skipped %v, %v", skip, err)
	}
}

// TestOldBitfields: DWARF 2 counts bits from the most significant one of a storage unit,
// whose size is the member's own or the size of its type behind typedefs.
func TestOldBitfields(t *testing.T) {
	for _, c := range []struct {
		bigEndian bool
		want      string
	}{
		{false, `, "a" 2 0x3000000, "b" 2 0x5000003, "c" 2 0x7000020, "d" 2 0x8000020`},
		{true, `, "a" 2 0x300001d, "b" 2 0x5000018, "c" 2 0x7000029, "d" 2 0x8000020`},
	} {
		i := dt.N(dt.TagBaseType, dt.Name("int"), dt.Size(4), dt.Encoding(5))
		constant := dt.N(dt.TagConstType, dt.Type(i))
		alias := dt.N(dt.TagTypedef, dt.Name("t"), dt.Type(constant))
		bits := func(name string, at, first, n int, more ...any) *dt.DIE {
			return dt.N(dt.TagMember, dt.Name(name), dt.Type(alias), dt.MemberAt(at), dt.Attr{At: dt.AtBitOffset, Val: first}, dt.BitSize(n)).Add(more...)
		}
		f := dt.File{BigEndian: c.bigEndian, Units: []*dt.Unit{{Version: 2, Root: dt.N(dt.TagCompileUnit, dt.Name("t.c"), dt.Language(1), i, alias, constant,
			dt.N(dt.TagStructureType, dt.Name("s"), dt.Size(12),
				bits("a", 0, 29, 3), bits("b", 0, 24, 5), bits("c", 4, 9, 7, dt.Size(2)), bits("d", 4, 0, 8, dt.Size(1))))}}}
		if c.bigEndian {
			f.Machine = dt.MachineS390
		}
		r, _, err := readUnit(t, &f, all)
		if err != nil {
			t.Fatal(err)
		}
		if got := dump(r); !strings.Contains(got, c.want+"\n") {
			t.Errorf("big-endian %v: %s", c.bigEndian, got)
		}
	}
}

// TestRustOrder: members of Rust's types are sorted by byte offset, and members at one
// offset keep the order of the DIEs.
func TestRustOrder(t *testing.T) {
	i := dt.N(dt.TagBaseType, dt.Name("int"), dt.Size(4), dt.Encoding(5))
	member := func(name string, at int) *dt.DIE {
		return dt.N(dt.TagMember, dt.Name(name), dt.Type(i), dt.MemberAt(at))
	}
	for lang, want := range map[int]string{langRust: `, "b" 1, "c" 1 0x20, "d" 1 0x20, "a" 1 0x40`, 0x1d: `, "a" 1 0x40, "b" 1, "c" 1 0x20, "d" 1 0x20`} {
		f := dt.File{Units: []*dt.Unit{{Root: dt.N(dt.TagCompileUnit, dt.Name("t"), dt.Language(lang), i,
			dt.N(dt.TagStructureType, dt.Name("s"), dt.Size(12), member("a", 8), member("b", 0), member("c", 4), member("d", 4)))}}}
		r, _, err := readUnit(t, &f, all)
		if err != nil || !strings.Contains(dump(r), want+"\n") {
			t.Errorf("language %#x: %v\n%s", lang, err, dump(r))
		}
	}
}
