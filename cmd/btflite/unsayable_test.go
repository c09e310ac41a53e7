package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/testfile"

	"github.com/google/go-cmp/cmp"
)

// typeTags are the tags of DWARF 5 that types have.
var typeTags = []int{0x01, 0x02, 0x04, 0x0f, 0x10, 0x12, 0x13, 0x15, 0x16, 0x17, 0x1f, 0x20, 0x21, 0x24, 0x26, 0x29, 0x2d, 0x31, 0x35, 0x37, 0x38,
	0x3b, 0x40, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x4b}

// unsayable has the output of the commands for one kind of type. A struct S has a member
// m of it at the offset 16, and a function f a parameter p.
type unsayable struct {
	tag   int
	name  string
	parts func(i *dt.DIE) []any // of the DIE of the type; i is int, which it may have
	show  string                // what show prints of the member, blanks as one; "" for nothing
	param string                // the text of funcs for the parameter; "" if there is no function
	c     string                // what dump prints in C
	json  string                // a part of the JSON
	lost  string                // what is said to be missing of show
	raw   string                // what is said to be missing of raw BTF
}

func unsayables() []unsayable {
	with := func(parts ...any) func(*dt.DIE) []any { return func(*dt.DIE) []any { return parts } }
	ofInt := func(parts ...any) func(i *dt.DIE) []any {
		return func(i *dt.DIE) []any { return append([]any{dt.Type(i)}, parts...) }
	}
	const (
		containing = 0x1d // DW_AT_containing_type
		asVoid     = "1 types of other languages, which are void"
	)
	number := func(name string, size, encoding int) func(*dt.DIE) []any {
		return with(dt.Name(name), dt.Size(size), dt.Encoding(encoding))
	}
	return []unsayable{
		{tag: 0x01, parts: ofInt(dt.N(dt.TagSubrangeType, dt.Count(3))), show: "int m[3]; 16 12", param: "int p", c: "int m[3];", json: `"ARRAY"`},
		{tag: 0x02, parts: with(dt.Name("T"), dt.Size(4)), show: "struct T m; 16 4", param: "struct T p", c: "struct T m;", json: `"STRUCT","name":"T"`},
		{tag: 0x04, parts: with(dt.Name("T"), dt.Size(4), dt.N(dt.TagEnumerator, dt.Name("one"), dt.Const(1))), show: "enum T m; 16 4", param: "enum T p", c: "enum T m;", json: `"ENUM"`},
		{tag: 0x04, name: "of 16 bytes", parts: with(dt.Name("T"), dt.Size(16), dt.N(dt.TagEnumerator, dt.Name("one"), dt.Const(1))),
			show: "enum T m; 16 16", param: "enum T p", c: "enum T m;", json: `"size":16`, raw: "1 enumeration of 16 bytes"},
		{tag: 0x0f, parts: ofInt(), show: "int * m; 16 8", param: "int * p", c: "int *m;", json: `"PTR"`},
		{tag: 0x10, parts: ofInt(), show: "int & m; 16 8", param: "int & p", c: "int * /* & */ m;", json: `"REFERENCE"`, raw: "1 DW_TAG_reference_type"},
		{tag: 0x12, parts: with(dt.Size(5)), show: "string m; 16 5", param: "string p", c: "string m;", json: `"FLOAT"`, raw: "1 DW_TAG_string_type"},
		{tag: 0x13, parts: with(dt.Name("T"), dt.Size(4)), show: "struct T m; 16 4", param: "struct T p", c: "struct T m;", json: `"STRUCT","name":"T"`},
		{tag: 0x15, parts: ofInt(), show: "int ()(void) m; 16 0", param: "int p(void)", c: "int m(void);", json: `"FUNC_PROTO"`},
		{tag: 0x16, parts: ofInt(dt.Name("T")), show: "T m; 16 4", param: "T p", c: "T m;", json: `"TYPEDEF"`},
		{tag: 0x17, parts: with(dt.Name("T"), dt.Size(4)), show: "union T m; 16 4", param: "union T p", c: "union T m;", json: `"UNION"`},
		{tag: 0x1f, parts: func(i *dt.DIE) []any { return []any{dt.Type(i)} }, show: "int ::* m; 16 8", param: "int ::* p", c: "int * /* ::* */ m;", json: `"PTR_TO_MEMBER"`,
			raw: "1 DW_TAG_ptr_to_member_type"},
		{tag: 0x1f, name: "of a class", parts: func(i *dt.DIE) []any {
			// A member of the class that i is in place of: any DIE with a name.
			return []any{dt.Type(i), dt.Attr{At: containing, Val: i}}
		}, show: "int int::* m; 16 8", param: "int int::* p", c: "int * /* int::* */ m;", json: `"PTR_TO_MEMBER","name":"int"`, raw: "1 DW_TAG_ptr_to_member_type"},
		{tag: 0x20, parts: ofInt(dt.Name("T"), dt.Size(4)), show: "T m; 16 4", param: "T p", c: "T m;", json: `"FLOAT"`, raw: asVoid},
		{tag: 0x21, parts: ofInt(dt.Name("T")), show: "void m; 16 0", param: "void p", c: "void m;", json: `"STRUCT"`, lost: "1 subrange types, which are void",
			raw: "1 subrange types, which are void"},
		{tag: 0x24, parts: number("T", 4, 5), show: "T m; 16 4", param: "T p", c: "T m;", json: `"INT","name":"T"`},
		{tag: 0x24, name: "_BitInt", parts: number("_BitInt(200)", 32, 5), show: "_BitInt(200) m; 16 32", param: "_BitInt(200) p", c: "_BitInt(200) m;",
			json: `"FLOAT","name":"_BitInt(200)","size":32`, raw: "1 numbers of 32 bytes, which have 4 in BTF"},
		{tag: 0x24, name: "complex", parts: number("complex float", 8, 3), show: "complex float m; 16 8", param: "complex float p", c: "complex float m;",
			json: `"FLOAT","name":"complex float","size":8`, raw: "1 complex floating-point type"},
		{tag: 0x24, name: "x87", parts: number("x87", 10, 4), show: "x87 m; 16 10", param: "x87 p", c: "x87 m;", json: `"size":10`, raw: "1 floating-point type of 10 bytes"},
		{tag: 0x24, name: "unit of Rust", parts: number("()", 0, 7), show: "() m; 16 0", param: "() p", c: "() m;", json: `"size":0`, raw: "1 numbers of 0 bytes, which have 4 in BTF"},
		{tag: 0x26, parts: ofInt(), show: "const int m; 16 4", param: "const int p", c: "const int m;", json: `"CONST"`},
		{tag: 0x29, parts: ofInt(dt.Size(8)), show: "file m; 16 8", param: "file p", c: "file m;", json: `"FLOAT"`, raw: asVoid},
		{tag: 0x2d, parts: ofInt(), show: "packed int m; 16 4", param: "packed int p", c: "/* packed */ int m;", json: `"QUALIFIER","name":"packed"`, raw: asVoid},
		{tag: 0x31, parts: ofInt(), show: "int m; 16 4", param: "int p", c: "int m;", json: `"QUALIFIER"`, raw: asVoid},
		{tag: 0x35, parts: ofInt(), show: "volatile int m; 16 4", param: "volatile int p", c: "volatile int m;", json: `"VOLATILE"`},
		{tag: 0x37, parts: ofInt(), show: "int restrict m; 16 4", param: "int restrict p", c: "restrict int m;", json: `"RESTRICT"`},
		{tag: 0x38, parts: with(dt.Name("T"), dt.Size(8)), show: "struct T m; 16 8", param: "struct T p", c: "struct T m;", json: `"STRUCT","name":"T"`,
			raw: "1 DW_TAG_interface_type"},
		{tag: 0x3b, parts: with(), show: "void m; 16 0", param: "void p", c: "void m;", json: `"STRUCT"`},
		{tag: 0x3b, name: "nullptr_t", parts: with(dt.Name("decltype(nullptr)")), show: "decltype(nullptr) m; 16 8", param: "decltype(nullptr) p",
			c: "void * /* decltype(nullptr) */ m;", json: `"UNSPECIFIED","name":"decltype(nullptr)"`, raw: "-"},
		{tag: 0x3b, name: "nullptr_t of gcc in C23", parts: with(dt.Name("typeof (nullptr)")), show: "typeof (nullptr) m; 16 8", param: "typeof (nullptr) p",
			c: "void * /* typeof (nullptr) */ m;", json: `"UNSPECIFIED","name":"typeof (nullptr)"`, raw: "-"},
		{tag: 0x3b, name: "named", parts: with(dt.Name("universal")), show: "universal m; 16 0", param: "universal p", c: "void /* universal */ m;", json: `"UNSPECIFIED"`, raw: "-"},
		{tag: 0x40, parts: ofInt(), show: "shared int m; 16 4", param: "shared int p", c: "/* shared */ int m;", json: `"QUALIFIER","name":"shared"`, raw: asVoid},
		{tag: 0x42, parts: ofInt(), show: "int && m; 16 8", param: "int && p", c: "int * /* && */ m;", json: `"RVALUE_REFERENCE"`, raw: "1 DW_TAG_rvalue_reference_type"},
		{tag: 0x43, parts: ofInt(dt.Name("T")), show: "T m; 16 4", param: "T p", c: "T m;", json: `"TYPEDEF"`, raw: asVoid},
		{tag: 0x44, parts: ofInt(), show: "int m; 16 4", param: "int p", c: "int m;", json: `"QUALIFIER"`, raw: asVoid},
		{tag: 0x45, parts: ofInt(), show: "void m; 16 0", param: "void p", c: "void m;", json: `"STRUCT"`, lost: "1 types of a kind that is not known"},
		{tag: 0x46, parts: ofInt(), show: "int m; 16 4", param: "int p", c: "int m;", json: `"QUALIFIER"`, raw: asVoid},
		{tag: 0x47, parts: ofInt(), show: "_Atomic int m; 16 4", param: "_Atomic int p", c: "_Atomic int m;", json: `"ATOMIC"`, raw: "1 DW_TAG_atomic_type"},
		{tag: 0x4b, parts: ofInt(), show: "immutable int m; 16 4", param: "immutable int p", c: "/* immutable */ int m;", json: `"QUALIFIER","name":"immutable"`, raw: asVoid},
	}
}

// file is a file with the type, the struct and the function.
func (x *unsayable) file() []byte {
	i := dt.N(dt.TagBaseType, dt.Name("int"), dt.Size(4), dt.Encoding(5))
	of := dt.N(x.tag, x.parts(i)...)
	long := dt.N(dt.TagBaseType, dt.Name("long"), dt.Size(8), dt.Encoding(5))
	s := dt.N(dt.TagStructureType, dt.Name("S"), dt.Size(56), dt.N(dt.TagMember, dt.Name("first"), dt.Type(long), dt.MemberAt(0)),
		dt.N(dt.TagMember, dt.Name("second"), dt.Type(long), dt.MemberAt(8)), dt.N(dt.TagMember, dt.Name("m"), dt.Type(of), dt.MemberAt(16)))
	f := dt.N(dt.TagSubprogram, dt.Name("f"), dt.External(), dt.LowPC(0x1000), dt.N(dt.TagFormalParameter, dt.Name("p"), dt.Type(of), dt.Location(0x55)))
	file := &dt.File{Units: []*dt.Unit{dt.CU(i, long, of, s, f)}, Symbols: []dt.Symbol{dt.Func("f", 0x1000)}}
	return file.Bytes()
}

var blanks = regexp.MustCompile(`[ \t]+`)

// oneBlank is text with one blank where there are several, and without what is around the
// places of members.
func oneBlank(text string) string {
	return strings.NewReplacer("/* ", "", " */", "").Replace(blanks.ReplaceAllString(text, " "))
}

// TestUnsayableTags: each DWARF type is printed, or reported as missing.
func TestUnsayableTags(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	var tags []int
	for _, x := range unsayables() {
		if tags = append(tags, x.tag); !slices.Contains(typeTags, x.tag) {
			t.Errorf("%#x is not among the tags of types", x.tag)
		}
		t.Run(fmt.Sprintf("%#x %s", x.tag, x.name), func(t *testing.T) {
			testfile.Write(t, path, x.file())
			shown, lost := btfliteRun(t, exitOK, "show", "S", path)
			if !strings.Contains(oneBlank(shown), "\n "+x.show+"\n") {
				t.Errorf("show has no %q:\n%s", x.show, shown)
			}
			if x.lost == "" && lost != "" || x.lost != "" && !strings.Contains(lost, ": not shown: "+x.lost+"\n") {
				t.Errorf("show says that there is no more than %q, want %q", lost, x.lost)
			}
			if got, _ := btfliteRun(t, exitOK, "funcs", "--prototypes", path); !strings.Contains(oneBlank(got), "void f("+x.param+");") {
				t.Errorf("funcs has no %q:\n%s", x.param, got)
			}
			if got, _ := btfliteRun(t, exitOK, "dump", "--format=c", "--name=S", path); !strings.Contains(got, "\t"+x.c+"\n") {
				t.Errorf("C has no %q:\n%s", x.c, got)
			}
			if got, _ := btfliteRun(t, exitOK, "dump", "--json-lines", path); !strings.Contains(got, x.json) {
				t.Errorf("JSON has no %q:\n%s", x.json, got)
			}
			for _, args := range [][]string{{"dump"}, {"dump", "--strict-c"}} {
				_, lost := btfliteRun(t, exitOK, append(args, path)...)
				if x.raw != "-" && (x.raw == "" && x.lost == "" && lost != "" || !strings.Contains(lost, x.raw)) {
					t.Errorf("%q says %q, want %q", args, lost, x.raw)
				}
			}
		})
	}
	for _, tag := range typeTags {
		if !slices.Contains(tags, tag) {
			t.Errorf("no row for the tag %#x", tag)
		}
	}
}

// compiled is the object that a compiler makes of a file of testdata/unsayable.
func compiled(t *testing.T, source string, command ...string) string {
	t.Helper()
	corpus.Installed(t, command[0])
	object := filepath.Join(t.TempDir(), command[0]+".o")
	args := append(command[1:], "-g", "-w", "-c", "-o", object, filepath.Join("testdata/unsayable", source))
	if out, err := exec.Command(command[0], args...).CombinedOutput(); err != nil {
		t.Skipf("%s: %v: %s", command[0], err, out)
	}
	return object
}

// forcedPadding matches bit-fields in place of padding, which pahole prints and show does
// not.
var forcedPadding = regexp.MustCompile(`\n\t/\* Force padding: \*/\n(\tchar +:8;\n)+\n`)

// TestUnsayableC: of C with atomic types and complex numbers, show and funcs print what pahole
// and pfunct do.
func TestUnsayableC(t *testing.T) {
	for _, compiler := range []string{"gcc", "clang"} {
		t.Run(compiler, func(t *testing.T) {
			object := compiled(t, "c.c", compiler)
			shown, lost := btfliteRun(t, exitOK, "show", object)
			if lost != "" {
				t.Error(lost)
			}
			for _, want := range []string{"_Atomic int counter; 4 4", "_Atomic int * p; 8 8", "aint t; 16 4", "_Atomic struct base s; 20 4", "_Atomic int arr[3]; 32 12",
				"_Atomic int * ap; 48 8", "_Atomic void * vp; 56 8", "void (*fn)(_Atomic int *, aint); 64 8"} {
				if !strings.Contains(oneBlank(shown), "\n "+want+"\n") {
					t.Errorf("show has no %q:\n%s", want, shown)
				}
			}
			c, _ := btfliteRun(t, exitOK, "dump", "--format=c", "--name=atomics", object)
			if out, err := compileC(t, c); err != nil {
				t.Errorf("the C does not compile: %v: %s\n%s", err, out, c)
			}
			funcs, _ := btfliteRun(t, exitOK, "funcs", "--prototypes", object)
			if want := "_Atomic int  get(_Atomic int  * p, aint q);\n"; !strings.Contains(funcs, want) {
				t.Errorf("funcs has no %q:\n%s", want, funcs)
			}
			program := corpus.Pahole()
			if program == "" {
				t.Skip("no pahole 1.32 (BTFLITE_PAHOLE) to compare with")
			}
			theirs, err := exec.Command(program, object).Output()
			if err != nil {
				t.Fatal(err)
			}
			if want := forcedPadding.ReplaceAllString(string(theirs), "\n"); shown != want {
				t.Errorf("show is not pahole: (-pahole +show)\n%s", cmp.Diff(want, shown))
			}
			theirs, err = exec.Command(filepath.Join(filepath.Dir(program), "pfunct"), "-P", object).Output()
			if err != nil {
				t.Fatal(err)
			}
			if ours, want := sortedLines(funcs), sortedLines(string(theirs)); !slices.Equal(ours, want) {
				t.Errorf("funcs is not pfunct: (-pfunct +funcs)\n%s", cmp.Diff(want, ours))
			}
		})
	}
}

func sortedLines(text string) []string {
	return slices.Sorted(slices.Values(strings.Split(strings.TrimSpace(text), "\n")))
}

// compileC compiles C by gcc, if there is one.
func compileC(t *testing.T, text string) ([]byte, error) {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		return nil, nil
	}
	cmd := exec.Command("gcc", "-fsyntax-only", "-x", "c", "-")
	cmd.Stdin = strings.NewReader(text)
	return cmd.CombinedOutput()
}

// TestUnsayableCpp: references, pointers to members and base classes have their places. pahole
// has wrong sizes for some of them.
func TestUnsayableCpp(t *testing.T) {
	for _, compiler := range []string{"g++", "clang++"} {
		t.Run(compiler, func(t *testing.T) {
			object := compiled(t, "cc.cc", compiler, "-std=c++11")
			shown, lost := btfliteRun(t, exitOK, "show", "C,Der,In,Uses", object)
			text := oneBlank(shown)
			for _, want := range []string{"struct B <ancestor>; 0 16", "struct B2 <ancestor>; 16 8", "int & ref; 24 8", "int && rref; 32 8", "const struct B & cref; 40 8",
				"int B::* pm; 48 8", "void ()(struct B *, int) B::* pmf; 56 16", "int [3] & aref; 72 8", "void ()(int) & fref; 80 8", "decltype(nullptr) n; 88 8",
				"struct Empty <ancestor>; 0 0", "struct B & r; 0 8", "intref r; 0 8", "np n; 8 8", "pmt p; 16 8"} {
				if !strings.Contains(text, "\n "+want+"\n") {
					t.Errorf("show has no %q:\n%s", want, shown)
				}
			}
			if strings.Contains(text, "static") || !strings.Contains(lost, "not shown: 1 virtual base classes") {
				t.Errorf("show says that it does not show %q:\n%s", lost, shown)
			}
			funcs, _ := btfliteRun(t, exitOK, "funcs", "--prototypes", object)
			for _, want := range []string{"int & retref(int & a, int && b, const struct B  & c, int B::* d, void ()(struct B *, int) B::* e, decltype(nullptr));",
				"int nsf(struct In & i);", "int plain(int & x);", "struct Uses * uses(struct Uses * u, struct Der d, struct C * c);"} {
				if !strings.Contains(funcs, want+"\n") {
					t.Errorf("funcs has no %q:\n%s", want, funcs)
				}
			}
			if !regexp.MustCompile(`int method\((const )?struct C \* +this, int a\);`).MatchString(funcs) {
				t.Errorf("funcs has no method:\n%s", funcs)
			}
		})
	}
}

// TestUnsayableStatics: static members are counted, not shown, whether they are members or variables,
// of a struct or a union, with linkage or without.
func TestUnsayableStatics(t *testing.T) {
	for _, compiler := range []string{"g++", "clang++"} {
		for _, version := range []string{"-gdwarf-4", "-gdwarf-5"} {
			object := compiled(t, "statics.cc", compiler, version, "-std=c++11")
			shown, lost := btfliteRun(t, exitOK, "show", object)
			if strings.Contains(shown, "gone") || !strings.Contains(lost, "not shown: 6 static members of classes") {
				t.Errorf("%s %s: show says that it does not show %q:\n%s", compiler, version, lost, shown)
			}
			if n := strings.Count(shown, "members: 2 "); n != 1 {
				t.Errorf("%s %s: show has %d structs of two members:\n%s", compiler, version, n, shown)
			}
		}
	}
}

// TestUnsayableRust: the variants of an enum of Rust are a union.
func TestUnsayableRust(t *testing.T) {
	i := dt.N(dt.TagBaseType, dt.Name("u32"), dt.Size(4), dt.Encoding(7))
	part := func(name string, at int) *dt.DIE {
		return dt.N(0x19, dt.N(dt.TagMember, dt.Name(name), dt.Type(i), dt.MemberAt(at)))
	}
	s := dt.N(dt.TagStructureType, dt.Name("En"), dt.Size(16), dt.N(dt.TagMember, dt.Name("before"), dt.Type(i), dt.MemberAt(12)),
		dt.N(0x33, dt.N(dt.TagMember, dt.Type(i), dt.MemberAt(0)), part("A", 0), part("B", 8)), dt.N(dt.TagMember, dt.Name("behind"), dt.Type(i), dt.MemberAt(4)))
	unit := dt.CU(dt.Language(0x1c), i, s)
	path := testfile.New(t, "file", (&dt.File{Units: []*dt.Unit{unit}}).Bytes())
	got, lost := btfliteRun(t, exitOK, "show", "En", path)
	for _, want := range []string{" union {\n u32 discriminant; 0 4\n u32 A; 0 4\n struct {\n", " u32 B ", " 8 4\n", " u32 behind; 4 4\n", " u32 before "} {
		if !strings.Contains(oneBlank(got), want) || lost != "" {
			t.Errorf("show has no %q:\n%s%s", want, got, lost)
		}
	}
	if _, lost := btfliteRun(t, exitOK, "dump", path); !strings.Contains(lost, "not shown: 1 variant parts of structs") {
		t.Errorf("dump says that it does not show %q", lost)
	}
}

// TestGapsOfBTF: -J says which members are left out, show takes the DWARF beside such BTF, and
// tells of gaps where there is BTF only.
func TestGapsOfBTF(t *testing.T) {
	dir := t.TempDir()
	path, raw := filepath.Join(dir, "file"), filepath.Join(dir, "raw.btf")
	atomic := unsayable{tag: 0x47, parts: func(i *dt.DIE) []any { return []any{dt.Type(i)} }}
	testfile.Write(t, path, atomic.file())
	_, said := btfliteRun(t, exitOK, "-J", "--btf_features=default", "--btf_encode_detached="+raw, path)
	if want := "gaps stay where these members were: S.m\n"; !strings.Contains(said, want) {
		t.Errorf("-J says %q, not %q", said, want)
	}
	if out, _ := btfliteRun(t, exitOK, "-J", "--btf_features=default", "--stats=json", "--btf_encode_detached="+raw, path); !strings.Contains(out, `"left_out_members":["S.m"]`) {
		t.Errorf("the statistics are %s", out)
	}
	const gaps = "1 struct has gaps that no alignment explains, first: S;"
	if _, said := btfliteRun(t, exitOK, "show", "S", raw); !strings.Contains(said, gaps) {
		t.Errorf("show of BTF says %q, not %q", said, gaps)
	}
	btfliteRun(t, exitOK, "-J", "--btf_features=default", path)
	shown, said := btfliteRun(t, exitOK, "show", "S", path)
	if !strings.Contains(oneBlank(shown), " _Atomic int m; 16 4\n") || !strings.Contains(said, "its DWARF has types that BTF cannot say") {
		t.Errorf("show of a file with both: %s\n%s", said, shown)
	}
	if _, said := btfliteRun(t, exitOK, "show", "-F", "btf", "S", path); !strings.Contains(said, gaps) {
		t.Errorf("show -F btf says %q, not %q", said, gaps)
	}
}
