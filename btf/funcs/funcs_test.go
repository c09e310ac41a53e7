package funcs

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/view"
)

// builder makes types of words: letters around a type, the innermost last.
type builder struct {
	*btftest.Builder
	types map[string]uint32
}

func newBuilder() *builder {
	b := &builder{btftest.New(), map[string]uint32{"void": 0}}
	i := b.add("int", btf.KindInt, 0, false, 4, 1<<24|32)
	b.types["int"] = i
	b.types["S"] = b.add("S", btf.KindStruct, 1, false, 4, b.Str("m"), i, 0)
	b.types["nameless"] = b.add("", btf.KindStruct, 1, false, 4, b.Str("m"), i, 0)
	b.types["U"] = b.add("U", btf.KindUnion, 1, false, 4, b.Str("m"), i, 0)
	b.types["E"] = b.add("E", btf.KindEnum, 1, false, 4, b.Str("EA"), 3)
	b.types["E64"] = b.add("E64", btf.KindEnum64, 1, false, 8, b.Str("EC"), 3, 4)
	b.types["FS"] = b.add("FS", btf.KindFwd, 0, false, 0)
	b.types["FU"] = b.add("FU", btf.KindFwd, 0, true, 0)
	b.types["double"] = b.add("double", btf.KindFloat, 0, false, 8)
	b.types["f0"] = b.add("", btf.KindFuncProto, 0, false, 0)
	b.types["f3"] = b.add("", btf.KindFuncProto, 3, false, i, b.Str("a"), i, 0, b.types["S"], 0, 0)
	return b
}

func (b *builder) add(name string, k btf.Kind, vlen uint32, flag bool, third uint32, extra ...uint32) uint32 {
	return b.Add(name, btf.Info(k, vlen, flag), third, extra...)
}

// wrappers are the kinds around a type by their letters: "P" for a pointer.
var wrappers = map[string]btf.Kind{
	"P": btf.KindPtr, "c": btf.KindConst, "v": btf.KindVolatile, "r": btf.KindRestrict,
	"t": btf.KindTypedef, "g": btf.KindTypeTag, "a": btf.KindArray, "p": btf.KindFuncProto,
}

// get is the type that words stand for, as "P c int" for a pointer to const int.
func (b *builder) get(words string) uint32 {
	if id, ok := b.types[words]; ok {
		return id
	}
	letter, rest, ok := strings.Cut(words, " ")
	if !ok {
		panic("no type " + words)
	}
	t := b.get(rest)
	var id uint32
	switch k := wrappers[letter]; k {
	case btf.KindArray:
		id = b.add("", k, 0, false, 0, t, b.types["int"], 3)
	case btf.KindFuncProto:
		id = b.add("", k, 1, false, t, b.Str("q"), t)
	case btf.KindTypedef:
		id = b.add("T", k, 0, false, t)
	case btf.KindTypeTag:
		id = b.add("user", k, 0, false, t)
	default:
		id = b.add("", k, 0, false, t)
	}
	b.types[words] = id
	return id
}

// function adds a function that returns the first type and takes the others, whose
// names are p, q and so on.
func (b *builder) function(name string, linkage uint32, types ...string) uint32 {
	var params []uint32
	for i, t := range types[1:] {
		params = append(params, b.Str(string(rune('p'+i))), b.get(t))
	}
	return b.add(name, btf.KindFunc, linkage, false, b.add("", btf.KindFuncProto, uint32(len(types)-1), false, b.get(types[0]), params...))
}

func (b *builder) set(t testing.TB) *Set {
	t.Helper()
	return New(view.New(b.Blob(t)))
}

// spellings are prototypes as pfunct prints them, with and without the names of
// parameters. Where it differs there is a second text.
var spellings = []struct{ words, want, pfunct string }{
	{"int", "int f(int p); int f(int);", ""},
	{"void", "void f(void p); void f(void);", "void f(void); void f(void);"},
	{"S", "struct S f(struct S p); struct S f(struct S);", ""},
	{"nameless", "struct  f(struct  p); struct  f(struct );", ""},
	{"U", "union U f(union U p); union U f(union U);", ""},
	{"E", "enum E f(enum E p); enum E f(enum E);", ""},
	{"E64", "enum E64 f(enum E64 p); enum E64 f(enum E64);", ""},
	{"FS", "struct FS f(struct FS p); struct FS f(struct FS);", ""},
	{"FU", "union FU f(union FU p); union FU f(union FU);", ""},
	{"double", "double f(double p); double f(double);", "single double f(single double p); single double f(single double);"},
	{"P void", "void * f(void * p); void * f(void *);", ""},
	{"P P int", "int * * f(int * * p); int * * f(int * *);", ""},
	{"P c int", "const int  * f(const int  * p); const int * f(const int *);", ""},
	{"c P int", "const int *  f(const int *  p); const int * f(const int *);", ""},
	{"c c int", "const const int   f(const const int   p); const const int f(const const int);", ""},
	{"P c P int", "int * const * f(int * const * p); int * const * f(int * const *);", ""},
	{"P c g P int", "const int *  * f(const int *  * p); const int * * f(const int * *);", ""},
	{"P g c P int", "const int *  * f(const int *  * p); const int * * f(const int * *);", ""},
	{"P v P int", "volatile int *  * f(volatile int *  * p); volatile int * * f(volatile int * *);", ""},
	{"r P int", "int * restrict  f(int * restrict  p); int * restrict f(int * restrict);", ""},
	{"c v P int", "const volatile int *   f(const volatile int *   p); const volatile int * f(const volatile int *);", ""},
	{"t P int", "T f(T p); T f(T);", ""},
	{"P c t int", "const T  * f(const T  * p); const T * f(const T *);", ""},
	{"P g int", "int * f(int * p); int * f(int *);", ""},
	{"P a int", "int * f(int * p); int * f(int *);", ""},
	{"a void", "void f(void p); void f(void);", "<ERROR(__tag__name:667): 0 not found!> f(<ERROR(__tag__name:667): 0 not found!> p); <ERROR(__tag__name:667): 0 not found!> f(<ERROR(__tag__name:667): 0 not found!>);"},
	{"P f0", "void ()(void) * f(void (*p)(void)); void ()(void) * f(void (*)(void));", ""},
	{"P f3", "int ()(int a, struct S, ...) * f(int (*p)(int a, struct S, ...)); int ()(int, struct S, ...) * f(int (*)(int, struct S, ...));", ""},
	{"P P f0", "void ()(void) * * f(void ()(void) * * p); void ()(void) * * f(void ()(void) * *);", ""},
	{"f0", "void ()(void) f(void p(void)); void ()(void) f(void (void));", "void ()(void) f(inline void p(void)); void ()(void) f(inline void (void));"},
	{"P p P c S", "const struct S  * ()(const struct S  * q) * f(const struct S  * (*p)(const struct S  * q)); " +
		"const struct S * ()(const struct S *) * f(const struct S * (*)(const struct S *));", ""},
}

func TestSpelling(t *testing.T) {
	for _, tt := range spellings {
		b := newBuilder()
		b.function("f", 0, tt.words, tt.words)
		var text []byte
		for f := range b.set(t).Own() {
			text = append(Style{}.AppendPrototype(text, f), ' ')
			text = Style{NoParamNames: true}.AppendPrototype(text, f)
		}
		if string(text) != tt.want {
			t.Errorf("%s: %s\nwant %s", tt.words, text, tt.want)
		}
	}
}

func TestFunctions(t *testing.T) {
	b := newBuilder()
	a := b.function("a", 0, "void", "P S", "c int")
	for _, tag := range []struct {
		text string
		at   int
	}{{"bpf_kfunc", -1}, {"", -1}, {"second", -1}, {"nullable", 0}, {"beyond", 7}} {
		b.add(tag.text, btf.KindDeclTag, 0, false, a, uint32(tag.at))
	}
	b.function("b", 1, "P S")
	b.function("a", 1, "int")
	b.add("varied", btf.KindFunc, 0, false, b.get("f3"))
	s := b.set(t)
	var lines []string
	for f := range s.All() {
		lines = append(lines, string(Style{}.AppendPrototype(nil, f)))
	}
	want := []string{
		"bpf_kfunc second void a(nullable struct S * p, const int  q);",
		"struct S * b(void);",
		"int a(void);",
		"int varied(int a, struct S, ...);",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("%q\nwant %q", lines, want)
	}
	as := s.Named("a")
	if len(as) != 2 || as[0].Global() || !as[1].Global() || as[0].NumParams() != 2 {
		t.Errorf("%d functions named a", len(as))
	}
	if v := s.Named("varied")[0]; !v.Variadic() || v.NumParams() != 2 || len(slices.Collect(s.Own())) != 4 {
		t.Errorf("varied has %d parameters", v.NumParams())
	}
}

// TestOverBase: functions of the base come first. They have tags of the base and of
// the split BTF.
func TestOverBase(t *testing.T) {
	low := newBuilder()
	f := low.function("low", 0, "int")
	up := btftest.Over(low.Blob(t))
	up.Add("tag", btf.Info(btf.KindDeclTag, 0, false), f, ^uint32(0))
	up.Add("up", btf.Info(btf.KindFunc, 0, false), up.Add("", btf.Info(btf.KindFuncProto, 0, false), 0))
	s := New(view.New(up.Blob(t)))
	var own, all []byte
	for f := range s.Own() {
		own = Style{}.AppendPrototype(own, f)
	}
	for f := range s.All() {
		all = Style{}.AppendPrototype(all, f)
	}
	if string(own) != "void up(void);" || string(all) != "tag int low(void);void up(void);" {
		t.Errorf("own %q, all %q", own, all)
	}
}

func TestTaking(t *testing.T) {
	for _, tt := range []struct {
		words           string
		takes, pointsTo bool
	}{
		{"S", true, false}, {"P S", true, true}, {"P c S", true, false}, {"P P S", true, false}, {"t P S", true, false},
		{"P t S", true, false}, {"P a c S", true, false}, {"P g S", true, false}, {"int", false, false}, {"P U", false, false}, {"P f3", false, false},
	} {
		b := newBuilder()
		b.function("f", 0, "P S", "int", tt.words)
		s := b.set(t)
		f := s.Named("f")[0]
		taking, pointing := s.Taking("S"), s.Pointing("S")
		for range 2 { // the second answer comes from what it remembers
			if taking.Has(f) != tt.takes {
				t.Errorf("%s: Has is %v", tt.words, !tt.takes)
			}
			if pointing.Has(f) != tt.pointsTo {
				t.Errorf("%s: Has is %v of a pointer", tt.words, !tt.pointsTo)
			}
		}
		if s.Pointing("nothing").Has(f) || s.Pointing("").Has(f) {
			t.Errorf("%s: a pointer to nothing", tt.words)
		}
	}
	b := newBuilder()
	b.function("f", 0, "int", "P U", "E", "t int")
	s := b.set(t)
	for _, name := range []string{"U", "E", "T"} {
		if !s.Taking(name).Has(s.Named("f")[0]) {
			t.Errorf("does not take %s", name)
		}
	}
}

// TestEndless: prototypes with endless text, or text that doubles with each type, are
// cut.
func TestEndless(t *testing.T) {
	b := newBuilder()
	id := b.add("", btf.KindConst, 0, false, 0)
	blobOf := func() *Set {
		s := b.set(t)
		for i, off := range s.v.Blob().Off { // const of itself
			if uint32(i)+1 == id {
				s.v.Blob().Words[off+2] = id
			}
		}
		return s
	}
	b.types["ring"] = id
	b.function("ring", 0, "P ring", "P ring")
	b.types["double"] = b.get("f0")
	for range 40 {
		p := b.add("", btf.KindPtr, 0, false, b.types["double"])
		b.types["double"] = b.add("", btf.KindFuncProto, 2, false, p, 0, p, 0, p)
	}
	b.function("doubles", 0, "P double", "P double")
	b.types["long"] = b.add(strings.Repeat("L", maxText), btf.KindStruct, 0, false, 0)
	b.function("long", 0, "long", "long")
	s := blobOf()
	for f := range s.Own() {
		text := Style{}.AppendPrototype(nil, f)
		if len(text) > maxText+len("...")+1 || !bytes.Contains(text, []byte("...")) {
			t.Errorf("%s: %d bytes", f.Name(), len(text))
		}
		if s.Taking("S").Has(f) {
			t.Errorf("%s takes S", f.Name())
		}
	}
}

func FuzzFuncs(f *testing.F) {
	b := newBuilder()
	for _, tt := range spellings {
		id := b.function("f", 0, tt.words, tt.words, "int")
		b.add("tag", btf.KindDeclTag, 0, false, id, 1)
	}
	f.Add(b.Encode(false))
	f.Fuzz(func(t *testing.T, data []byte) {
		blob, err := btf.Parse(data, nil)
		if err != nil {
			return
		}
		s := New(view.New(blob))
		taking := s.Taking("S")
		var buf []byte
		n := 0
		for x := range s.All() {
			if n += len(buf); n > 2*maxText {
				break // enough of long ones
			}
			buf = Style{}.AppendPrototype(buf[:0], x)
			if len(buf) > maxText+len("...")+1 || buf[len(buf)-1] != ';' && !bytes.HasSuffix(buf, []byte("...")) {
				t.Errorf("%d bytes, end %q", len(buf), buf[max(0, len(buf)-10):])
			}
			if taking.Has(x); x.NumParams() < 0 {
				t.Error("negative number of parameters")
			}
		}
	})
}
