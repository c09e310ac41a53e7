package unitrecord_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/unitrecord"
	"github.com/btflite/btflite/test/testfile"
)

// TestEnds: a column that is longer or shorter than the others say is damage, although its checksum
// is right, and so are blocks that no chunk needs.
func TestEnds(t *testing.T) {
	data := object(t)
	if !encodes(t, remakes(t, data, same, same)) {
		t.Fatal("the object itself cannot be encoded")
	}
	for k := range unitrecord.NumColumns {
		for name, edit := range map[string]func(b []byte) []byte{
			"a zero more":        func(b []byte) []byte { return append(b, 0) },
			"a one more":         func(b []byte) []byte { return append(b, 1) },
			"eight bytes more":   func(b []byte) []byte { return append(b, 1, 2, 3, 4, 5, 6, 7, 8) },
			"a byte less":        func(b []byte) []byte { return b[:max(0, len(b)-1)] },
			"eight bytes less":   func(b []byte) []byte { return b[:max(0, len(b)-8)] },
			"nothing":            func([]byte) []byte { return nil },
			"a number too long":  func(b []byte) []byte { return append(b, bytes.Repeat([]byte{0xff}, 11)...) },
			"a number cut short": func(b []byte) []byte { return append(b, 0x80) },
		} {
			changed := false
			columns := func(packed []byte) []byte {
				return unitrecord.EditColumns(packed, func(i int, b []byte) []byte {
					if i != k {
						return b
					}
					to := edit(bytes.Clone(b))
					changed = !bytes.Equal(b, to)
					return to
				})
			}
			made := remakes(t, data, columns, same)
			if unitrecord.OpenColumn(k) && strings.HasSuffix(name, "more") {
				continue // it is read to its end, wherever that is
			}
			if changed && encodes(t, made) {
				t.Errorf("column %d with %s is taken", k, name)
			}
		}
	}
	for name, edit := range map[string]func(b []byte) []byte{
		"a byte more":  func(b []byte) []byte { return append(b, 0) },
		"a byte less":  func(b []byte) []byte { return b[:len(b)-1] },
		"a block more": func(b []byte) []byte { return append(b, make([]byte, 8)...) },
	} {
		if encodes(t, remakes(t, data, same, edit)) {
			t.Errorf("blocks with %s are taken", name)
		}
	}
}

// TestSharedChunks: units that share a part of their types, in runs that begin and end anywhere, give
// the BTF of their DWARF: a reader leaves out what it knows.
func TestSharedChunks(t *testing.T) {
	var dwarf, records [][]byte
	for unit, parts := range [][][2]int{{{0, 300}}, {{100, 350}}, {{350, 420}, {0, 50}, {340, 360}}, {{7, 9}, {200, 230}}, {{0, 420}}} {
		var text strings.Builder
		name := fmt.Sprintf("unit%d", unit)
		fmt.Fprintf(&text, "struct %s { int own; };\n", name)
		for _, part := range parts {
			for i := part[0]; i < part[1]; i++ {
				fmt.Fprintf(&text, "#ifndef S%d\n#define S%d\nstruct s%d { const char *a%d; struct t%d *b; long c%d:%d; }; enum e%d { E%d = %d, F%d }; typedef int (*f%d)(struct s%d *s, enum e%d);\n"+
					"static inline int in%d(struct s%d *p, f%d f) { return f(p, E%d); }\n#endif\n", i, i, i, i, i+1, i%9, 1+i%40, i, i, i*i, i, i, i, i, i, i, i, i)
			}
		}
		fmt.Fprintf(&text, "int %s(struct %s *p) { return p->own; } struct %s %s_variable;\n", name, name, name, name)
		source := testfile.New(t, name+".c", text.String())
		path := compiled(t, source, "-fno-eliminate-unused-debug-types", "-fkeep-inline-functions")
		record := sameAsDWARF(t, path)
		data, err := os.ReadFile(path)
		if record == nil || err != nil {
			t.Fatalf("%s: not converted, %v", name, err)
		}
		dwarf, records = append(dwarf, data), append(records, record)
	}
	d, r := linked(t, dwarf...), linked(t, records...)
	for name, features := range recordSets {
		if want, got := withFeatures(t, d, features), withFeatures(t, r, features); !bytes.Equal(got, want) {
			t.Errorf("features %s: %d bytes of BTF from records, %d others from DWARF", name, len(got), len(want))
		}
	}
}

// TestFunctionsInlinedWithOtherTypes: a reader skips inline functions if it has seen that they have
// no symbol. It reads those that have one in each unit, because they may have other types there.
// The functions around them have no symbol of their name.
func TestFunctionsInlinedWithOtherTypes(t *testing.T) {
	got := inlined(t, "odd(x) + same(x) + none((long)x)",
		inline+"int odd(int x) { return x + 1; } "+inline+"int same(int x) { return x + 2; } "+inline+"int none(int x) { return x + 3; }",
		inline+"int odd(long x) { return x + 1; } "+inline+"int same(int x) { return x + 2; } "+inline+"int none(char *x) { return x[3]; }",
		symbols("odd", "same"))
	for name, is := range map[string]bool{"same": true, "odd": false, "none": false} {
		if bytes.Contains(got, []byte("\x00"+name+"\x00")) != is {
			t.Errorf("the BTF has the function %s: %v, want %v", name, !is, is)
		}
	}
}

// TestInlinedWithoutNames: a function whose parameter has no name is left out of BTF, also if there is
// a symbol of its name. In another unit it has no such parameter, and there it is read.
func TestInlinedWithoutNames(t *testing.T) {
	const n = 8 // more functions than a run has
	for other, argument := range map[string]string{"int x": "x", "void": ""} {
		var unit [2]strings.Builder
		var uses, names []string
		for k := range n {
			names = append(names, fmt.Sprint("odd", k))
			for i, param := range []string{"int", other} {
				fmt.Fprintf(&unit[i], "%sint %s(%s) { return %d; } ", inline, names[k], param, k)
			}
			uses = append(uses, names[k]+"(ARGUMENT)")
		}
		got := inlined(t, strings.Join(uses, " + "), "#define ARGUMENT x\n"+unit[0].String(),
			"#define ARGUMENT "+argument+"\n"+unit[1].String(), symbols(names...))
		for _, name := range names {
			if !bytes.Contains(got, []byte("\x00"+name+"\x00")) {
				t.Errorf("a parameter without a name, then %s: the BTF lacks the function %s", other, name)
			}
		}
	}
}

const inline = "static inline __attribute__((always_inline)) "

// symbols is a unit that has nothing but symbols of functions.
func symbols(names ...string) string {
	text := "asm(\""
	for _, name := range names {
		text += fmt.Sprintf(".globl %s; .type %s, %%function; %s: ", name, name, name)
	}
	return text + ".byte 0\");"
}

// inlined compiles units and links them. It returns the BTF, which must be the same from records and
// from DWARF. Units with inline functions get functions that evaluate an expression of them.
func inlined(t *testing.T, expr string, units ...string) []byte {
	t.Helper()
	var dwarf, records [][]byte
	for i, text := range units {
		if strings.Contains(text, inline) {
			for k := range 8 { // more functions than a run has
				text += fmt.Sprintf(" int f%d(int x) asm(\"renamed%d_%d\"); int f%d(int x) { return %s; }", k, i, k, k, expr)
			}
		}
		source := testfile.New(t, "unit.c", text+fmt.Sprintf(" int used%d;", i))
		path := compiled(t, source, "-O2", "-std=gnu2x")
		data, err := os.ReadFile(path)
		record := sameAsDWARF(t, path)
		if record == nil || err != nil {
			t.Fatalf("unit %d: not converted, %v", i, err)
		}
		dwarf, records = append(dwarf, data), append(records, record)
	}
	want, got := withFeatures(t, linked(t, dwarf...), encode.DefaultFeatures), withFeatures(t, linked(t, records...), encode.DefaultFeatures)
	if !bytes.Equal(got, want) {
		t.Errorf("%d bytes of BTF from records, %d others from DWARF", len(got), len(want))
	}
	return got
}
