package dump_test

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/dump"
)

// strictTexts are the forms of strict C of types: a header, one with all functions declared, and
// what is compiled and encoded again.
func strictTexts(b *btf.Blob) (texts []string) {
	var stubs []uint32
	for id := uint32(1); id < b.TypeCount(); id++ {
		if b.Kind(id) == btf.KindFunc {
			stubs = append(stubs, id)
		}
	}
	for _, o := range []dump.COptions{{Strict: true}, {Strict: true, Stubs: stubs, Declare: true}, {Strict: true, Again: true, Stubs: stubs, PointerSize: 4}} {
		var text bytes.Buffer
		if dump.C(&text, b, o) == nil {
			texts = append(texts, text.String())
		}
	}
	return texts
}

// named makes BTF in which everything that may have a name has one of names.
func named(t testing.TB, names []string, size uint32) *btf.Blob {
	return build(t, func(b *btftest.Builder) {
		n := newMaker(b).int
		for i, name := range names {
			other := names[(i+1)%len(names)]
			num := b.Add(name, btf.Info(btf.KindInt, 0, false), size, 1<<24|8*size)
			flt := b.Add(name, btf.Info(btf.KindFloat, 0, false), size)
			tag := b.Add(name, btf.Info(btf.KindTypeTag, 0, i&1 != 0), num)
			fwd := b.Add(name, btf.Info(btf.KindFwd, 0, false), 0)
			ptr := b.Add(name, btf.Info(btf.KindPtr, 0, false), b.Add("", btf.Info(btf.KindConst, 0, false), fwd))
			enum := b.Add(name, btf.Info(btf.KindEnum, 2, false), 4, b.Str(name), 0, b.Str(other), 1)
			b.Add(other, btf.Info(btf.KindEnum64, 1, false), 8, b.Str(name), 1, 1)
			st := b.Add(name, btf.Info(btf.KindStruct, 3, false), 64, b.Str(name), n, 0, b.Str(other), enum, 64, 0, b.Add(other, btf.Info(btf.KindTypedef, 0, false), tag), 128)
			b.Add(name, btf.Info(btf.KindUnion, 3, false), 64, b.Str(other), st, 0, b.Str(other), flt, 0, b.Str(name), ptr, 0)
			proto := b.Add(name, btf.Info(btf.KindFuncProto, 3, false), num, b.Str(name), st, b.Str(name), ptr, b.Str(other), enum)
			fn := b.Add(name, btf.Info(btf.KindFunc, 1, false), proto)
			b.Add("bpf_kfunc", btf.Info(btf.KindDeclTag, 0, false), fn, 0xffffffff)
			b.Add(name, btf.Info(btf.KindDeclTag, 0, false), fn, 0xffffffff)
			v := b.Add(name, btf.Info(btf.KindVar, 0, false), st, 1)
			b.Add(name, btf.Info(btf.KindDatasec, 1, false), 64, v, 0, 64)
		}
	})
}

// hostileNames would do something if they came to a compiler as they are, or in a string.
var hostileNames = []string{
	"a; }; asm(\".incbin \\\"/etc/passwd\\\"\"); struct b {", "x\n#include \"/dev/zero\"\n", "int\u00a0x;asm", "long\n#pragma once\nint", "\")))asm(\"", "a\\\n", "??=include",
	"*/ int evil; /*", "//", "#", "_Pragma(\"x\")", "__attribute__((constructor))", "__attribute__", "__asm__", "asm", "typeof", "_Pragma", "unsigned int; asm", "signed\tchar",
	"int int", "__btf_type_tag", "é", "\xff", "$a", "1a", "bool", "true", "false", "nullptr", "constexpr", "linux", "static_assert", "__attribute-_", "a.b", "a_b", "", "void", "long double",
	"complex double", "_BitInt(200)", "__FILE__", "btflite_1", "__unnamed_3", "\x00",
}

// TestHostileNames: whatever the names are, strict C has only declarations.
func TestHostileNames(t *testing.T) {
	for i, name := range hostileNames {
		for size := range uint32(18) {
			for _, text := range strictTexts(named(t, []string{name, hostileNames[(i+7)%len(hostileNames)], "plain"}, size)) {
				if err := checkC(text); err != nil {
					t.Fatalf("%q, size %d: %v", name, size, err)
				}
			}
		}
	}
	for _, bad := range []string{"asm(\"nop\");", "int x = 1;", "int f(void)\n{\n\treturn 1;\n}", "#include \"x\"", "char *s = \"x\";", "__attribute__((constructor)) int f(void);",
		"int x __attribute__((section(\"x\")));", "struct s { int a; };;", "extern int f(void);", "_Static_assert(0);", "int a\\\n;", "#define x y"} {
		if checkC(bad) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// FuzzStrictNames has any names in all places of types.
func FuzzStrictNames(f *testing.F) {
	for i, name := range hostileNames {
		f.Add(name, hostileNames[len(hostileNames)-1-i], uint32(i%9))
	}
	f.Fuzz(func(t *testing.T, name, other string, size uint32) {
		name, _, _ = strings.Cut(name, "\x00")
		other, _, _ = strings.Cut(other, "\x00")
		for _, text := range strictTexts(named(t, []string{name, other}, size%40)) {
			if err := checkC(text); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// FuzzStrict has the strict C of BTF of any content parsed.
func FuzzStrict(f *testing.F) {
	for _, name := range []string{"small/small.btf", "inputs/c11.btf", "split/x86.base.btf", "split/s390x.base.btf"} {
		if data, err := os.ReadFile("../../testdata/" + name); err == nil {
			f.Add(data)
		}
	}
	f.Add(odd(f).Encode())
	f.Add(named(f, hostileNames[:3], 4).Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := btf.Parse(data, nil)
		if err != nil {
			return
		}
		for _, text := range strictTexts(b) {
			if len(text) > maxChecked {
				continue
			}
			if err := checkC(text); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// maxChecked is how long C is that is parsed: 15 MB, of gaps, take longer than a fuzzer waits.
const maxChecked = 1 << 20

// commentOf is a comment of C.
var commentOf = regexp.MustCompile(`(?s)/\*.*?\*/`)

// FuzzMarks puts any text into marks, which become comments: the C outside of these comments
// must not change.
func FuzzMarks(f *testing.F) {
	beside := func(t *testing.T, text string) string {
		b := build(t, func(b *btftest.Builder) {
			n := newMaker(b).int
			parts := []uint32{}
			for i, k := range []btf.MarkKind{btf.MarkQualifier, btf.MarkReference, btf.MarkMember, btf.MarkName} {
				ptr := b.Add("", btf.Info(btf.KindPtr, 0, false), n)
				tag := b.Add(string(btf.AppendMark(nil, k, []byte(text)...)), btf.Info(btf.KindTypeTag, 0, false), ptr)
				parts = append(parts, b.Str(fmt.Sprint("m", i)), tag, uint32(64*i))
			}
			b.Add("s", btf.Info(btf.KindStruct, 4, false), 32, parts...)
		})
		b.Marked = true
		var out bytes.Buffer
		if err := dump.C(&out, b, dump.COptions{}); err != nil {
			t.Fatal(err)
		}
		return commentOf.ReplaceAllString(out.String(), "")
	}
	for _, name := range append(hostileNames, "*/ asm(\"nop\"); /*", "**/", "*\\\n/ int x; /*", "*??/\n/", "/", "*", "&", "&&", "_Atomic", "packed") {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text, _, _ = strings.Cut(text, "\x00")
		if text == "" || text == "_Atomic" {
			return // other C, without a comment
		}
		if want, got := beside(t, "x"), beside(t, text); got != want {
			t.Errorf("mark %q: beside comments the C is\n%s, want\n%s", text, got, want)
		}
	})
}
