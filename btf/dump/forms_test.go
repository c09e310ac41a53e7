package dump_test

import (
	"bytes"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/dump"
	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/testfile"
)

var update = flag.Bool("update", false, "write testdata/forms again")

// TestForms: types that are made to reach the rare lines of the printers come out as testdata/forms
// has them. bpftool has no words for most of them. -update writes the files again: read the diff.
func TestForms(t *testing.T) {
	base := btftest.Build(t, nil, addNames)
	for name, c := range map[string]struct {
		add   func(b *btftest.Builder)
		base  *btf.Blob
		forms []string
	}{
		"kinds":   {btftest.EveryKind, nil, []string{"raw", "JSON", "pretty JSON", "C", "unsorted C", "strict C", "strict C of 32 bits", "C again"}},
		"marks":   {addMarks, nil, []string{"raw", "JSON", "C", "strict C"}},
		"numbers": {addNumbers, nil, []string{"strict C", "strict C of 32 bits", "C again"}},
		"layout":  {layoutOf(btf.KindStruct, btf.KindUnion), nil, []string{"unsorted C", "strict C", "C again"}},
		"aligns":  {addAligns, nil, []string{"C", "strict C", "strict C of 32 bits"}},
		"values":  {addValues, nil, []string{"C", "unsorted C", "strict C", "C again"}},
		"names":   {addNames, nil, []string{"C", "strict C of 32 bits", "C again"}},
		"sorted":  {addSorted, nil, []string{"C"}},
		"split":   {addSplit, base, []string{"raw", "JSON", "strict C"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := btftest.Build(t, c.base, c.add)
			b.Marked = name == "marks"
			sameAsFile(t, "testdata/forms/"+name+".txt", textOf(b, c.forms))
		})
	}
}

// TestEscapesOfSplitStrings: a name at the very beginning of the strings of split BTF is escaped as every other.
func TestEscapesOfSplitStrings(t *testing.T) {
	base := btftest.Build(t, nil, func(b *btftest.Builder) { b.Int("int", 4) })
	for name, want := range map[string]string{`\`: `\\`, `"`: `\"`, "\x1b": `\u001b`, "x": "x"} {
		var text bytes.Buffer
		b := btftest.Build(t, base, func(b *btftest.Builder) { b.Typedef(name, 1) })
		if err := dump.JSON(&text, b, nil, dump.Lines); err != nil || text.String() != `{"id":2,"kind":"TYPEDEF","name":"`+want+`","type_id":1}`+"\n" {
			t.Errorf("%q: %v, %s", name, err, &text)
		}
	}
}

// TestFormsAgainstBpftool: bpftool prints the same of types that the kernel takes, although no
// compiler makes them.
func TestFormsAgainstBpftool(t *testing.T) {
	tool := corpus.Need(t, "bpftool")
	for name, add := range map[string]func(b *btftest.Builder){"layout": layoutOf(btf.KindStruct), "aligns": addAligns, "values": addValues, "sorted": addSorted,
		"values of 32 bits": func(b *btftest.Builder) { b.Int("long", 4); addValues(b) }} {
		made := btftest.New()
		add(made)
		path := testfile.New(t, name, made.Encode(false))
		for _, f := range forms {
			if err := compare(tool, path, "", made.Blob(t), f); err != nil {
				t.Errorf("%s, %s: %v", name, f.name, err)
			}
		}
	}
}

// folded puts a type of C or of raw text on one line, so that a diff shows whole types.
var folded = strings.NewReplacer("\n\t", "↵\t", "\n}", "↵}", "\n\n", "↵\n")

// sameAsFile compares a text with a file that has it folded, or writes the file.
func sameAsFile(t *testing.T, path, text string) {
	t.Helper()
	text = folded.Replace(text)
	if *update {
		testfile.Write(t, path, text)
		return
	}
	want := testfile.Read(t, path)
	if text == string(want) {
		return
	}
	got, lines := strings.Split(text, "\n"), strings.Split(string(want), "\n")
	for i := range min(len(got), len(lines)) {
		if got[i] != lines[i] {
			t.Fatalf("%s:%d: %q, want %q", path, i+1, got[i], lines[i])
		}
	}
	t.Fatalf("%s: %d lines, want %d", path, len(got), len(lines))
}

// textOf has the types in forms, each under a heading. An error is a text, too. What is around the
// types of C stands in the source of the package, and is left out.
func textOf(b *btf.Blob, forms []string) string {
	var funcs []uint32
	for id := uint32(1); id < b.TypeCount(); id++ {
		if b.Kind(id) == btf.KindFunc {
			funcs = append(funcs, id)
		}
	}
	c := map[string]dump.COptions{
		"C":                   {},
		"unsorted C":          {Unsorted: true, PointerSize: 4},
		"strict C":            {Strict: true},
		"strict C of 32 bits": {Strict: true, Unsorted: true, PointerSize: 4, Stubs: funcs, Declare: true},
		"C again":             {Strict: true, Unsorted: true, Again: true, Stubs: funcs},
	}
	var all strings.Builder
	for _, form := range forms {
		var w bytes.Buffer
		var err error
		switch form {
		case "raw":
			err = dump.Raw(&w, b, nil)
		case "JSON":
			err = dump.JSON(&w, b, nil, dump.Lines)
		case "pretty JSON":
			err = dump.JSON(&w, b, nil, dump.Pretty)
		default:
			o := c[form]
			if form == "strict C" {
				o.Asserts()
			}
			err = dump.C(&w, b, o)
		}
		text := w.String()
		for _, around := range dump.Around() {
			text = strings.Replace(text, around, "", 1)
		}
		fmt.Fprintf(&all, "== %s\n%s", form, text)
		if err != nil {
			fmt.Fprintf(&all, "error: %v\n", err)
		}
	}
	lost, err := dump.Lost(b)
	fmt.Fprintf(&all, "== strict C lacks %d members, error %v\n", lost, err)
	return all.String()
}

// addMarks adds what BTF made from DWARF of C++ and Rust has, in each place of a declaration.
func addMarks(b *btftest.Builder) {
	i := b.Int("int", 4)
	mark := func(k btf.MarkKind, text string, of uint32) uint32 {
		return b.TypeTag(string(btf.AppendMark(nil, k, []byte(text)...)), of)
	}
	parent := b.Struct("parent", 4, b.Member("x", i, 0))
	members := []btftest.Part{b.Member(string(btf.AppendMark(nil, btf.MarkBase, []byte("parent")...)), parent, 0)}
	for _, m := range []struct {
		kind btf.MarkKind
		text string
	}{
		{btf.MarkQualifier, "_Atomic"}, {btf.MarkQualifier, "shared"}, {btf.MarkQualifier, "*/ asm"}, {btf.MarkReference, "&"}, {btf.MarkReference, "&&"},
		{btf.MarkMember, "parent"}, {btf.MarkMember, ""}, {btf.MarkName, "decltype(nullptr)"}, {btf.MarkName, ""},
	} {
		for _, of := range []uint32{i, b.Ptr(i), b.Array(i, i, 3), b.Ptr(b.Proto(i, b.Param("p", i)))} {
			typ := mark(m.kind, m.text, of)
			members = append(members, b.Member(fmt.Sprint("m", len(members)), b.Ptr(typ), uint32(64*len(members))))
			members = append(members, b.Member(fmt.Sprint("m", len(members)), b.Array(b.Const(typ), i, 0), uint32(64*len(members))))
		}
	}
	b.Struct("marks", uint32(8*len(members)), members...)
	wide := b.Add("double", btf.Info(btf.KindFloat, 4, false), 8)
	b.Struct("aligned", 12, b.Member("i", i, 0), b.Member("d", wide, 32))
	b.Struct("plain tag", 4, b.Member("t", b.TypeTag("user", i), 0))
	b.Add("attribute", btf.Info(btf.KindTypeTag, 0, true), i)
}

// addNumbers adds numbers of all sizes, with names that mean another size in C, or none.
func addNumbers(b *btftest.Builder) {
	const signed, char, boolean = 1, 2, 4
	use := func(typ uint32) { b.Typedef(fmt.Sprint("t", typ), typ) }
	for _, size := range []uint32{0, 1, 2, 3, 4, 8, 16, 32} {
		for _, encoding := range []uint32{0, signed, char, boolean} {
			use(b.Add(fmt.Sprintf("made_%d_%d", size, encoding), btf.Info(btf.KindInt, 0, false), size, encoding<<24|8*size&0xff))
		}
		use(b.Float(fmt.Sprint("made", size), size))
		use(b.Float("float", size))
		use(b.Float("long double", size))
		use(b.Float("complex double", size))
		use(b.Float("_Float16", size))
		use(b.Float("complex made", size))
	}
	for _, size := range []uint32{4, 8} {
		for _, name := range []string{"int", "unsigned int", "long unsigned int", "unsigned long", "long long int", "short", "short unsigned int", "char", "__int128 unsigned", "_Bool", "u32", "long"} {
			use(b.Int(name, size))
		}
	}
	for _, name := range []string{"__Poly8_t", "__Poly16_t", "__Poly64_t", "__Poly128_t", "_", "x_y"} {
		use(b.Add(name, btf.Info(btf.KindInt, 0, false), 16, 128))
	}
}

// layoutOf returns a function that adds structs or unions whose members lie where compilers do not
// put them, and that are as large as a member, or a bit or a byte more or less.
func layoutOf(kinds ...btf.Kind) func(b *btftest.Builder) {
	return func(b *btftest.Builder) {
		for _, kind := range kinds {
			addLayout(b, kind)
		}
	}
}

func addLayout(b *btftest.Builder, kind btf.Kind) {
	i, char, long := b.Int("int", 4), b.Int("char", 1), b.Int("long", 8)
	odd, quad := b.Int("made", 3), b.Int("__int128", 16)
	fwd, void := b.Fwd("declared"), b.Typedef("nothing", 0)
	empty := b.Struct("empty", 0)
	few := b.Of(btf.KindEnum, "few", true, 4, b.Value("LOW", -4), b.Value("HIGH", 3))
	some := b.Enum("some", b.Value("NONE", 0), b.Value("SEVEN", 7))
	wide := b.Enum64("wide", b.Value64("WIDE", 1<<40))
	n := 0
	bits := func(typ uint32, width, off uint32) btftest.Part {
		n++
		return b.Member(fmt.Sprint("b", n), typ, width<<24|off)
	}
	member := func(typ, off uint32) btftest.Part { n++; return b.Member(fmt.Sprint("m", n), typ, off) }
	for _, size := range []uint32{0, 3, 4, 5, 8, 9, 16} {
		b.Of(kind, fmt.Sprintf("of_%d_%d", kind, size), false, size, member(char, 0), member(i, 32), member(b.Array(char, i, 0), 64), member(long, 64))
		b.Of(kind, fmt.Sprintf("first_%d_%d", kind, size), false, size, member(i, 0), member(b.Array(char, i, 5), 0), member(b.Array(i, i, 2), 0))
		b.Of(kind, fmt.Sprintf("bits_%d_%d", kind, size), true, size, bits(i, 3, 0), bits(i, 5, 3), bits(char, 8, 8), bits(i, 16, 16), bits(long, 1, 33), bits(i, 0, 64))
	}
	for _, width := range []uint32{1, 2, 3, 8, 9, 32, 33, 64, 65} {
		b.Of(kind, fmt.Sprintf("width_%d_%d", kind, width), true, 72, bits(i, width, 0), bits(char, width, 0), bits(few, width, 64), bits(some, width, 128), bits(wide, width, 192),
			bits(long, width, 256), bits(odd, width, 320), bits(quad, width, 384), bits(b.Ptr(i), width, 448), bits(b.Typedef(fmt.Sprint("td", n), b.Const(some)), width, 512))
	}
	for k, typ := range []uint32{fwd, void, 0, empty, b.Array(fwd, i, 2), b.Array(void, i, 0), b.Array(b.Int("sizeless", 0), i, 2), b.Array(b.Proto(0), i, 2),
		b.Array(empty, i, 4), b.Const(empty), odd, quad, b.Ptr(fwd), b.Array(b.Ptr(void), i, 2)} {
		b.Of(kind, fmt.Sprintf("type_%d_%d", kind, k), false, 32, member(typ, 0), member(typ, 128))
		b.Of(kind, fmt.Sprintf("end_%d_%d", kind, k), false, 16, member(i, 0), member(typ, 128))
	}
	for k, off := range []uint32{0, 5, 7, 8, 9, 16, 31, 32, 33, 64, 95, 120} {
		b.Of(kind, fmt.Sprintf("gap_%d_%d", kind, k), true, 24, bits(i, 5, 0), bits(i, 1, off), bits(long, 2, off+9), bits(char, 0, 136))
		b.Of(kind, fmt.Sprintf("next_%d_%d", kind, k), true, 24, bits(i, 5, 0), bits(char, 0, (off+7)/8*8), bits(i, 0, (off+31)/8*8), bits(long, 0, 128))
	}
	b.Of(kind, fmt.Sprint("nested_", kind), false, 40, member(empty, 0), member(b.Struct("", 3, member(char, 0)), 0), b.Member("", b.Union("", 8, member(i, 0), member(char, 0)), 32),
		b.Member("", b.Struct(fmt.Sprint("inner_", kind), 8, member(i, 0), b.Member("", i, 32)), 128), b.Member("", few, 192), b.Member("", b.Const(b.Typedef("number", i)), 224))
	b.Of(btf.KindUnion, "aligned", false, 16, member(b.Array(char, i, 13), 0), member(i, 0))
	b.Of(btf.KindUnion, "not a power", false, 24, member(b.Array(char, i, 13), 0))
}

// addAligns adds structs with numbers that are longer than a pointer, or of an odd size, where one
// machine wants them and another does not.
func addAligns(b *btftest.Builder) {
	i := b.Int("int", 4)
	wide := b.Enum64("wide", b.Value64("WIDE", 1<<40))
	long, quad := b.Int("long", 8), b.Int("__int128", 16)
	for k, typ := range []uint32{long, quad, wide, b.Float("double", 8), b.Float("long double", 12), b.Float("long double", 16), b.Int("made", 12),
		b.Array(quad, i, 1), b.Typedef("quad", b.Const(quad)), b.Struct("of quad", 16, b.Member("q", quad, 0)), b.Ptr(i)} {
		for _, off := range []uint32{32, 64, 96, 128} {
			b.Struct(fmt.Sprintf("at_%d_%d", k, off), 40, b.Member("i", i, 0), b.Member("m", typ, off))
		}
		for _, size := range []uint32{12, 16, 20, 24, 32} {
			b.Struct(fmt.Sprintf("of_%d_%d", k, size), size, b.Member("m", typ, 0))
			b.Union(fmt.Sprintf("union_%d_%d", k, size), size, b.Member("m", typ, 0), b.Member("i", i, 0))
		}
	}
}

// addValues adds enums of all sizes, with the values at which another size is needed.
func addValues(b *btftest.Builder) {
	b.Int("int", 4)
	i := 0
	for _, signed := range []bool{false, true} {
		for _, size := range []uint32{1, 2, 4} {
			for _, v := range []int32{0, 127, 128, 255, 256, 32767, 32768, 65535, 65536, -1, -128, -129, -32768, -32769} {
				b.Of(btf.KindEnum, fmt.Sprint("e", i), signed, size, b.Value(fmt.Sprint("E", i), v), b.Value(fmt.Sprint("F", i), 1))
				i++
			}
			for _, v := range []uint64{0, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, 1<<64 - 1} {
				b.Of(btf.KindEnum64, fmt.Sprint("e", i), signed, 2*size, b.Value64(fmt.Sprint("E", i), v), b.Value64(fmt.Sprint("F", i), 1))
				i++
			}
		}
		b.Of(btf.KindEnum, fmt.Sprint("none", signed), signed, 4)
		b.Of(btf.KindEnum64, fmt.Sprint("none64", signed), signed, 8)
		b.Of(btf.KindEnum, "", signed, 4)
		b.Of(btf.KindEnum, "", signed, 4, b.Value("", 3), b.Value("again", 4), b.Value("again", 5))
	}
	b.Typedef("alone", b.Of(btf.KindEnum, "", false, 1, b.Value("IN_TYPEDEF", 3)))
}

// addNames adds types whose names are taken, are words of C, or are missing.
func addNames(b *btftest.Builder) {
	i := b.Int("int", 4)
	for _, name := range []string{"taken", "taken", "asm", "linux", "nullptr", "1 é", "", "btflite__x"} {
		s := b.Struct(name, 8, b.Member(name, i, 0), b.Member("", i, 32))
		d := b.Typedef(name, s)
		e := b.Enum(name, b.Value(name, 1))
		b.Enum64(name, b.Value64(name+"2", 1))
		f := b.Fwd(name)
		u := b.FwdUnion(name)
		only := b.Fwd(name + "_only")
		b.Of(btf.KindEnum, name+"_enum", false, 4)
		p := b.Proto(s, b.Param(name, b.Ptr(f)), b.Param(name, b.Ptr(u)), b.Param("", e), b.Param("of", b.Array(b.Ptr(b.Struct("", 4, b.Member("x", i, 0))), i, 2)), b.Param("", 0))
		fn := b.Func(name, btftest.Global, p)
		b.DeclTag("bpf_kfunc", fn, btftest.Whole)
		b.DeclTag("bpf_fastcall", fn, btftest.Whole-uint32(len(name)%2))
		b.DeclTag("bpf_kfunc", s, btftest.Whole)
		b.Func(name+"_f", btftest.Static, b.Proto(b.Const(d), b.Param("v", b.Const(b.Ptr(only))), b.Param("r", b.Restrict(b.Ptr(d))), b.Param("q", b.Restrict(i)),
			b.Param("t", b.Ptr(b.TypeTag(name, b.Const(i))))))
		v := b.Var(name, b.Ptr(b.Volatile(b.Const(b.Volatile(d)))), btftest.Global)
		b.Datasec(".data."+name, 16, btftest.Place(v, 0, 8), btftest.Place(i, 8, 4))
		b.Struct(name, 8, b.Member("other", b.Ptr(s), 0))
	}
}

// addSorted adds types that have all names in common, so that only hashes and ids put them in order.
func addSorted(b *btftest.Builder) {
	i, char := b.Int("int", 4), b.Int("char", 1)
	typedef := func(to uint32) { b.Typedef("same", to) }
	for n := range uint32(4) {
		typedef(b.Array(i, i, n))
		typedef(b.Array(b.Array(char, i, n), i, 7-n))
		typedef(b.Ptr(b.Array(b.Ptr(i), i, n)))
		s := b.Struct("same", 8, b.Member("same", b.Array(i, i, n), 0), b.Member(fmt.Sprint("m", n), char, 32))
		typedef(s)
		typedef(b.Ptr(b.Const(s)))
		typedef(b.Struct("", 8, b.Member("é", b.Ptr(i), 0), b.Member(fmt.Sprint("é", n), i, 32)))
		b.Union("same", 4, b.Member(fmt.Sprint("u", 3-n), i, 0))
		b.Enum("same", b.Value(fmt.Sprint("V", n), 0), b.Value(fmt.Sprint("W", 3-n), 1))
		b.Enum("", b.Value(fmt.Sprint("A", 3-n), 0))
		b.Enum64("same", b.Value64(fmt.Sprint("X", 5-n), 0), b.Value64(fmt.Sprint("Y", n), 1))
		typedef(b.Ptr(b.Proto(i, b.Param("p", char), b.Param(fmt.Sprint(n), b.Ptr(s)))))
		typedef(b.Ptr(b.TypeTag(fmt.Sprint("tag", n%2), b.Volatile(i))))
		b.Int("same", 1<<n)
		b.Float("same", 1<<n)
		b.Fwd(fmt.Sprint("fwd", 3-n))
		typedef(b.Ptr(b.Fwd("same")))
		typedef(0)
		b.Enum("", b.Value("same", 0))
		b.Ptr(b.Proto(0, b.Param("", b.Ptr(b.Struct("", 4, b.Member(fmt.Sprint("in", n), i, 0))))))
		b.Array(b.Ptr(b.Typedef(fmt.Sprint("late", 3-n), i)), i, 2)
	}
	b.Enum("")
}

// addSplit adds types over the types of addNames.
func addSplit(b *btftest.Builder) {
	s := b.Struct("over", 16, b.Member("i", 1, 0), b.Member("taken", 2, 64))
	b.Typedef("taken", s)
	b.Func("called", btftest.Static, b.Proto(1, b.Param("p", b.Ptr(s)), b.Param("q", b.Ptr(2))))
	b.Struct("\"quoted\\", 4, b.Member("i", 1, 0))
}
