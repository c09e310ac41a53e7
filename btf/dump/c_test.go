package dump_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/dump"
)

// cOf is the C of types, without what is around them in every header.
func cOf(t testing.TB, b *btf.Blob, o dump.COptions) string {
	t.Helper()
	var text bytes.Buffer
	if err := dump.C(&text, b, o); err != nil {
		t.Fatal(err)
	}
	_, types, _ := strings.Cut(text.String(), "#define __bpf_fastcall\n#endif\n#endif\n\n")
	types, _, _ = strings.Cut(types, "\n/* BPF kfuncs */")
	types, _, _ = strings.Cut(types, "#ifndef BPF_NO_PRESERVE_ACCESS_INDEX")
	return strings.TrimSpace(types)
}

// maker adds types by their kinds.
type maker struct {
	*btftest.Builder
	int uint32
}

func newMaker(b *btftest.Builder) maker {
	return maker{b, b.Add("int", btf.Info(btf.KindInt, 0, false), 4, 1<<24|32)}
}

func (m maker) ref(k btf.Kind, t uint32) uint32 { return m.Add("", btf.Info(k, 0, false), t) }
func (m maker) ptr(t uint32) uint32             { return m.ref(btf.KindPtr, t) }
func (m maker) con(t uint32) uint32             { return m.ref(btf.KindConst, t) }
func (m maker) tag(name string, t uint32) uint32 {
	return m.Add(name, btf.Info(btf.KindTypeTag, 0, false), t)
}
func (m maker) array(t, n uint32) uint32 {
	return m.Add("", btf.Info(btf.KindArray, 0, false), 0, t, m.int, n)
}
func (m maker) fn(ret uint32, params ...uint32) uint32 {
	var words []uint32
	for _, p := range params {
		words = append(words, 0, p)
	}
	return m.Add("", btf.Info(btf.KindFuncProto, uint32(len(params)), false), ret, words...)
}

// TestDeclarations: how types are written, as bpftool does, with the blanks that it
// has.
func TestDeclarations(t *testing.T) {
	for _, tt := range []struct {
		of   func(m maker) uint32
		want string
	}{
		{func(m maker) uint32 { return m.con(m.ref(btf.KindVolatile, m.int)) }, "volatile const int t"},
		{func(m maker) uint32 { return m.ptr(m.con(m.ptr(m.int))) }, "int * const *t"},
		{func(m maker) uint32 { return m.ptr(m.tag("a", m.con(m.int))) }, `const int __attribute__((btf_type_tag("a"))) *t`},
		{func(m maker) uint32 { return m.con(m.tag("a", m.int)) }, `int __attribute__((btf_type_tag("a"))) const t`},
		{func(m maker) uint32 { return m.Add("u", btf.Info(btf.KindTypeTag, 0, true), m.int) }, "int __attribute__((u)) t"},
		{func(m maker) uint32 { return m.con(m.array(m.int, 3)) }, "int t[3]"},
		{func(m maker) uint32 { return m.array(m.con(m.array(m.int, 3)), 2) }, "int t[2][3]"},
		{func(m maker) uint32 { return m.ptr(m.array(m.array(m.ptr(m.int), 2), 3)) }, "int *(*t)[3][2]"},
		{func(m maker) uint32 { return m.array(m.con(m.ptr(m.array(m.int, 2))), 2) }, "int (* const t[2])[2]"},
		{func(m maker) uint32 { return m.array(m.ptr(m.fn(m.int)), 2) }, "int (*t[2])(void)"},
		{func(m maker) uint32 { return m.fn(0, m.int, 0) }, "void t(int, ...)"},
		{func(m maker) uint32 { return m.fn(0, m.ptr(m.array(m.int, 4)), m.ptr(m.fn(0))) }, "void t(int(*)[4], void (*)(void))"},
		{func(m maker) uint32 { return m.ptr(m.fn(m.ptr(m.array(m.ptr(m.fn(0)), 2)))) }, "void (*(* (*t)(void))[2])(void)"},
		{func(m maker) uint32 { return m.fn(m.array(m.int, 2)) }, "int (t(void))[2]"},
		{func(m maker) uint32 { return 0 }, "void t"},
	} {
		b := build(t, func(b *btftest.Builder) {
			m := newMaker(b)
			b.Add("t", btf.Info(btf.KindTypedef, 0, false), tt.of(m))
		})
		if got := cOf(t, b, dump.COptions{}); got != "typedef "+tt.want+";" {
			t.Errorf("%s, want typedef %s;", got, tt.want)
		}
	}
}

// TestOrderOfDefinitions: a type that is used by value comes first, the target of a
// pointer is declared, and a typedef that leads back to its struct waits.
func TestOrderOfDefinitions(t *testing.T) {
	b := build(t, func(b *btftest.Builder) {
		m := newMaker(b)
		st := func(name string, types ...uint32) uint32 {
			var words []uint32
			for i, typ := range types {
				words = append(words, b.Str("m"+string(rune('0'+i))), typ, uint32(64*i))
			}
			return b.Add(name, btf.Info(btf.KindStruct, uint32(len(types)), false), uint32(8*len(types)), words...)
		}
		m.Add("ring", btf.Info(btf.KindTypedef, 0, false), 3)
		st("links", 4)                                   // 3: of a pointer to ring
		m.ptr(2)                                         // 4
		st("outer", 7, 8)                                // 5
		m.Add("far", btf.Info(btf.KindFwd, 0, true), 0)  // 6
		st("inner", 9)                                   // 7
		m.ptr(5)                                         // 8
		m.ptr(6)                                         // 9
		st("inner")                                      // 10: another one
		m.Add("", btf.Info(btf.KindStruct, 0, false), 0) // 11: it has no name to refer to it by
	})
	want := `struct links;

typedef struct links ring;

struct links {
	ring *m0;
};

union far;

struct inner {
	union far *m0;
};

struct outer {
	struct inner m0;
	struct outer *m1;
};

struct inner___2 {};`
	if got := cOf(t, b, dump.COptions{Unsorted: true}); got != want {
		t.Errorf("%s", got)
	}
	sorted := cOf(t, b, dump.COptions{})
	for _, part := range []string{"struct inner {};", "struct inner___2 {\n\tunion far *m0;", "struct inner___2 m0;"} {
		if !strings.Contains(sorted, part) {
			t.Errorf("sorted, without %s: %s", part, sorted)
		}
	}
	if got := cOf(t, b, dump.COptions{IDs: []uint32{10}}); got != "struct inner {};" {
		t.Errorf("one type: %s", got)
	}
}

// TestGaps: gaps are filled where a compiler would not leave them.
func TestGaps(t *testing.T) {
	const long, char = 2, 3
	type member struct{ typ, off, bits uint32 }
	for _, tt := range []struct {
		size    uint32
		members []member
		want    string
	}{
		{8, []member{{1, 0, 0}}, "int m0; long: 0;"},
		{16, []member{{1, 0, 0}, {long, 64, 0}}, "int m0; long m1;"},
		{24, []member{{1, 0, 0}, {long, 128, 0}}, "int m0; long: 64; long m1;"},
		{4, []member{{1, 0, 3}, {1, 5, 3}}, "int m0: 3; char: 2; int m1: 3;"},
		{8, []member{{1, 0, 3}, {1, 32, 3}}, "int m0: 3; int: 29; int m1: 3;"},
		{12, []member{{1, 0, 0}, {long, 32, 0}}, "int m0; long m1; packed"},
		{5, []member{{char, 0, 0}, {1, 8, 0}}, "char m0; int m1; packed"},
		{16, []member{{char, 64, 0}}, "long: 64; char m0; long: 0;"},
		{0, nil, ""},
		{64, []member{{char, 0, 0}}, "char m0; long: 64; long: 64; long: 64; long: 64; long: 64; long: 64; long: 64;"},
	} {
		b := build(t, func(b *btftest.Builder) {
			newMaker(b)
			b.Add("long", btf.Info(btf.KindInt, 0, false), 8, 1<<24|64)
			b.Add("char", btf.Info(btf.KindInt, 0, false), 1, 8)
			var words []uint32
			for i, m := range tt.members {
				words = append(words, b.Str("m"+string(rune('0'+i))), m.typ, m.off|m.bits<<24)
			}
			b.Add("s", btf.Info(btf.KindStruct, uint32(len(tt.members)), true), tt.size, words...)
		})
		got := cOf(t, b, dump.COptions{})
		got = strings.TrimPrefix(strings.Join(strings.Fields(got), " "), "struct s {")
		got = strings.ReplaceAll(strings.ReplaceAll(got, "} __attribute__((packed));", "packed"), "};", "")
		if got = strings.TrimSpace(got); got != tt.want {
			t.Errorf("%v of %d bytes: %s, want %s", tt.members, tt.size, got, tt.want)
		}
	}
}

// TestHostileC: types that no compiler makes end with an error, not with the memory
// of the machine.
func TestHostileC(t *testing.T) {
	st := btf.Info(btf.KindStruct, 1, false)
	for name, add := range map[string]func(b *btftest.Builder){
		"itself":     func(b *btftest.Builder) { b.Add("s", st, 4, b.Str("m"), 1, 0) },
		"each other": func(b *btftest.Builder) { b.Add("s", st, 4, b.Str("m"), 2, 0); b.Add("u", st, 4, b.Str("m"), 1, 0) },
		"typedef":    func(b *btftest.Builder) { b.Add("t", btf.Info(btf.KindTypedef, 0, false), 1) },
		"pointer":    func(b *btftest.Builder) { b.Add("", btf.Info(btf.KindPtr, 0, false), 1) },
		"array":      func(b *btftest.Builder) { b.Add("", btf.Info(btf.KindArray, 0, false), 0, 1, 1, 1) },
		"no name": func(b *btftest.Builder) {
			b.Add("", st, 8, b.Str("m"), 2, 0)
			b.Add("", btf.Info(btf.KindPtr, 0, false), 1)
		},
		"of a function": func(b *btftest.Builder) {
			b.Add("", btf.Info(btf.KindFuncProto, 0, false), 0)
			b.Add("f", btf.Info(btf.KindFunc, 0, false), 1)
			b.Add("s", st, 4, b.Str("m"), 2, 0)
		},
		"deep": func(b *btftest.Builder) {
			for i := range uint32(100000) {
				b.Add("", btf.Info(btf.KindConst, 0, false), i+2)
			}
			b.Add("int", btf.Info(btf.KindInt, 0, false), 4, 32)
		},
		"doubling": func(b *btftest.Builder) {
			for i := range uint32(60) {
				b.Add("", btf.Info(btf.KindStruct, 2, false), 8, b.Str("a"), i+2, 0, b.Str("b"), i+2, 0)
			}
			b.Add("int", btf.Info(btf.KindInt, 0, false), 4, 32)
			b.Add("s", st, 4, b.Str("m"), 1, 0)
		},
	} {
		var text bytes.Buffer
		if err := dump.C(&text, build(t, add), dump.COptions{}); err == nil || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%s: error %v, text %.500s", name, err, &text)
		}
	}
}

// TestDepth: types may lie in each other 2,000 deep, in whatever way. One more is an error.
func TestDepth(t *testing.T) {
	const most = 2000
	kfunc := func(m maker, proto uint32) {
		m.Add("bpf_kfunc", btf.Info(btf.KindDeclTag, 0, false), m.Add("f", btf.Info(btf.KindFunc, 1, false), proto), 0xffffffff)
	}
	one := btf.Info(btf.KindStruct, 1, false)
	nest := map[string]func(m maker, in uint32) uint32{
		"pointers":   maker.ptr,
		"arrays":     func(m maker, in uint32) uint32 { return m.array(in, 1) },
		"parameters": func(m maker, in uint32) uint32 { return m.fn(0, in) },
		"structs":    func(m maker, in uint32) uint32 { return m.Add("", one, 4, m.Str("m"), in, 0) },
	}
	for _, tt := range []struct {
		name  string
		inner int // how many of the 2,000 are the types around these
		end   func(m maker, id uint32)
		kinds []string
	}{
		{"a typedef", 1, func(m maker, id uint32) { m.Add("t", btf.Info(btf.KindTypedef, 0, false), id) },
			[]string{"pointers", "arrays", "parameters", "structs"}},
		{"the result of a kfunc", 1, func(m maker, id uint32) { kfunc(m, m.fn(id)) }, []string{"pointers", "arrays"}},
	} {
		for _, kind := range tt.kinds {
			for n, ok := range map[int]bool{most - tt.inner: true, most - tt.inner + 1: false, 20 * most: false} {
				b := build(t, func(b *btftest.Builder) {
					m := newMaker(b)
					id := m.int
					for range n {
						id = nest[kind](m, id)
					}
					tt.end(m, id)
				})
				var text bytes.Buffer
				err := dump.C(&text, b, dump.COptions{Unsorted: true})
				if ok != (err == nil) || !ok && !strings.Contains(err.Error(), "more than 2,000 deep") {
					t.Errorf("%s of %d %s: %v", tt.name, n, kind, err)
				}
			}
		}
	}
}

// TestKfuncs: prototypes of functions with the tag, by name.
func TestKfuncs(t *testing.T) {
	b := build(t, func(b *btftest.Builder) {
		m := newMaker(b)
		p := m.fn(0, m.int)
		for _, name := range []string{"zeta", "alpha", "other"} {
			f := b.Add(name, btf.Info(btf.KindFunc, 1, false), p)
			if name != "other" {
				b.Add("bpf_kfunc", btf.Info(btf.KindDeclTag, 0, false), f, 0xffffffff)
			}
			b.Add("bpf_fastcall", btf.Info(btf.KindDeclTag, 0, false), f, uint32(int32(-len(name)/5)))
		}
	})
	var text bytes.Buffer
	if err := dump.C(&text, b, dump.COptions{}); err != nil {
		t.Fatal(err)
	}
	want := "#ifndef BPF_NO_KFUNC_PROTOTYPES\nextern __bpf_fastcall void alpha(int) __weak __ksym;\nextern void zeta(int) __weak __ksym;\n#endif\n"
	if !strings.Contains(text.String(), want) {
		t.Errorf("%s", &text)
	}
}

// TestDeclaredEnums: an ENUM without values is a declaration, which takes no name, but an ENUM64
// is none. So bpftool has it.
func TestDeclaredEnums(t *testing.T) {
	for _, tt := range []struct {
		kind btf.Kind
		want string
	}{
		{btf.KindEnum, "enum e;\n\nenum e {\n\ta = 0,\n};\n\nenum e;"},
		{btf.KindEnum64, "enum e;\n\nenum e___2 {\n\ta = 0,\n};\n\nenum e___3;"},
	} {
		b := build(t, func(b *btftest.Builder) {
			b.Add("e", btf.Info(tt.kind, 0, false), 4)
			b.Add("e", btf.Info(btf.KindEnum, 1, false), 4, b.Str("a"), 0)
			b.Add("e", btf.Info(tt.kind, 0, false), 4)
		})
		if got := cOf(t, b, dump.COptions{Unsorted: true}); got != tt.want {
			t.Errorf("%v: %s", tt.kind, got)
		}
	}
}

// withGap is a struct with a gap of so many bytes between two members.
func withGap(t *testing.T, bytes uint32) *btf.Blob {
	return build(t, func(b *btftest.Builder) {
		n := newMaker(b).int
		b.Add("s", btf.Info(btf.KindStruct, 2, false), bytes+8, b.Str("a"), n, 0, b.Str("b"), n, 8*(bytes+4))
	})
}

// TestLargeGaps: gaps are counted out as bpftool does, as long as that is text that somebody can
// use. More than that is an error that says so, before any text.
func TestLargeGaps(t *testing.T) {
	var text bytes.Buffer
	if err := dump.C(&text, withGap(t, 16<<20), dump.COptions{PointerSize: 8}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(text.String(), "\tlong: 64;\n"); n != 2<<20-1 {
		t.Errorf("%d lines", n)
	}
	text.Reset()
	huge := withGap(t, 1<<28)
	if err := dump.C(&text, huge, dump.COptions{}); err == nil || !strings.Contains(err.Error(), "type [2]: gaps between members") || text.Len() > 0 {
		t.Errorf("error %v, %d bytes of text", err, text.Len())
	}
	if err := dump.C(&text, huge, dump.COptions{Strict: true}); err != nil || !strings.Contains(text.String(), "unsigned char __gap_1[268435456];") {
		t.Errorf("strict: %v, %.500s", err, &text)
	}
	text.Reset()
	if err := dump.C(&text, withGap(t, 2<<20), dump.COptions{Strict: true, Again: true}); err == nil || !strings.Contains(err.Error(), "more than 1,048,576 bytes") || text.Len() > 0 {
		t.Errorf("again: error %v, %d bytes of text", err, text.Len())
	}
}
