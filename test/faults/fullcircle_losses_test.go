package faults

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/testfile"
)

// circleCases are pieces of C that were once reported as lost, or are similar.
var circleCases = []struct{ name, flags, source string }{
	{"words of C23", "-std=gnu11", `typedef _Bool bool; enum { false = 0, true = 1 }; struct s { bool up:1; int nullptr, constexpr; bool alignas, thread_local; } g;
		bool f(struct s *static_assert) { return static_assert->up == true; }`},
	{"names in ISO C", "-std=c11", `struct s { int asm, typeof, linux, unix, i386; } g; int f(int typeof, struct s *asm) { return typeof + asm->linux; }`},
	{"an old standard", "-std=gnu89", `struct s { int restrict; char *__restrict p; } g; int f(const char *__restrict p) { return *p; }`},
	{"members without a name", "-fms-extensions", `struct in { int a; long b; }; typedef struct { int c; } td; union u { int d; char e; };
		struct s { struct in; td; union u; struct { int f; }; const struct { int h; }; } g;`},
	{"unions", "", `union a { char c[40]; long l; } __attribute__((aligned(64))); union b { char c[5]; int i; }; union c { int i; char c[5]; } __attribute__((packed));
		union d { struct { char a[40]; } x; } __attribute__((aligned(32))); struct s { int i; union a a; char e; union b b; union c c; union d d[2]; char z; } g;`},
	{"packed by place", "", `struct in { long a; int b[2]; } __attribute__((packed)); struct s { int i; struct in in; long z; } g; struct t { char c; struct in in[2]; short s; } h;
		struct u { char c; long l __attribute__((packed)); int i; } k; struct v { short s; long long q __attribute__((packed, aligned(2))); } l;`},
	{"aligned", "", `struct s { int a; int b __attribute__((aligned(64))); char c; long d __attribute__((aligned(32))); } g; struct t { char c; struct s s; char e; } h;
		struct u { long l; } __attribute__((aligned(128))); struct v { struct u u; char c; } k; typedef int a16 __attribute__((aligned(16))); struct w { char c; a16 i; char d; } l;`},
	{"bit-fields", "", `struct s { int a:3, :5, b:4; long c:40, d:20; char e:2; unsigned f:31; short g; } g; struct t { char c; int a:20, b:20; long long q:60; } __attribute__((packed)) h;
		struct u { char c; int :0; char d; int e:7; int :0; int f:3; } k; enum e { A, B = 300 }; struct v { enum e e:10; unsigned char u:7; _Bool b:1; } l;`},
	{"numbers", "", `struct s { long double ld; _Complex double cd; _Complex float cf; __int128 i; unsigned __int128 u; signed char c; _Float128 q; } g;
		unsigned long long f(unsigned short a, long b, double c, signed char d) { return a + b + c + d; }`},
	{"declared only", "", `struct a; union b; enum e; struct s { struct a *a; union b *b; enum e *e; const struct a *const *ca; } g; int f(struct a *x, enum e *y) { return !x + !y; }`},
	{"enums", "", `enum a { A = -1 }; enum b { B = 0xffffffff }; enum c { C = 1LL << 40 }; enum d { D } __attribute__((packed)); enum e { E = 300 } __attribute__((packed));
		enum f { F = -1, G = 0xffffffff }; struct s { enum a a; enum b b; enum c c; enum d d; enum e e; enum f f; } g;`},
	{"empty and flexible", "", `struct none {}; struct s { struct none n; int a; struct none m[3]; int z[0]; char c[]; } g; struct t { union { int z[0]; long l; }; char d[0]; } h;`},
	{"functions", "", `typedef int fn(const char *, ...); struct s { fn *f; int (*(*g)(int (*)[3]))[4]; } g; const int *const f(volatile int *restrict p, fn *h, ...) { return (const int *)p; }
		const int k(const int n) { return n; } typedef char *str; int m(str restrict p) { return *p; }`},
	{"nameless in prototypes", "", `struct s { void (*f)(struct { int x; } *, int (*)(enum { Q })); void (*g)(); } g; typedef int fn(); fn *h; typedef union { long l; } t; struct v { int (*f)(t *); } v;`},
	{"qualifiers of arrays", "", `typedef int a[5]; typedef const a ca; typedef a aa[3]; struct s { ca e; const aa g; const aa *h; const a i[2]; const int j[2][3]; volatile const aa k; const ca l; } g;`},
	{"members over others", "", `struct __attribute__((packed)) s { int a : 3; int b : 32; int c : 5; } g; union u { struct { int a : 3; int b : 32; } __attribute__((packed)) s; long l; } h;`},
	{"unions of what BTF lacks", "", `union u { _Atomic long l; _Atomic int i; } g;`},
	{"arrays of vectors", "", `typedef unsigned v4 __attribute__((vector_size(16), aligned(16))); typedef v4 v4x; struct s { v4 a, b[6]; v4x c[2][3]; v4 (*p)[5]; } g;
		int f(struct s *s, v4 (*p)[7]) { return (*p)[1][0]; }`},
	{"bit-fields without sign", "-funsigned-bitfields", `struct s { short s:3; int k:4; long l:5; signed m:2; } g; int f(struct s *p) { return p->s; }`},
	{"short enums", "-fshort-enums", `enum a { A }; enum b { B = 300 }; struct s { enum a a; enum b b; char c; } g;`},
	{"unsigned char", "-funsigned-char", `struct s { char c; signed char d; unsigned char e; char b:3; } g; int f(char c) { return c; }`},
	{"conversions", "-O2", `struct s { unsigned char b; short h; } g; int f(struct s *p, unsigned char c) { unsigned x = c; long y = (signed char)c; return p->b + x + (int)(y >> 1); }`},
}

// TestFullcircleCases: fullcircle reported losses that did not exist, because it compiled
// bpftool's C, without the file's standard of C and options. Mended in e51a820.
//
// Input: circleCases, by each installed compiler. Nothing may be lost, whether the
// compiler is found or named.
func TestFullcircleCases(t *testing.T) {
	compilers := []string{"gcc", "gcc-16", "clang", "gcc -m32", "gcc -mx32", "clang -m32", "clang --target=x86_64-linux-gnux32", "clang --target=riscv32-linux-gnu",
		"clang --target=riscv64-linux-gnu", "aarch64-linux-gnu-gcc", "s390x-linux-gnu-gcc", "arm-linux-gnueabihf-gcc", "clang --target=aarch64_be-linux-gnu"}
	if testing.Short() {
		compilers = compilers[:3]
	}
	dir := t.TempDir()
	n := 0
	for _, cc := range compilers {
		words := strings.Fields(cc)
		if _, err := exec.LookPath(words[0]); err != nil {
			t.Logf("left out: no %s", words[0])
			continue
		}
		for _, tt := range circleCases {
			source, object := filepath.Join(dir, "x.c"), filepath.Join(dir, "x.o")
			testfile.Write(t, source, []byte(tt.source))
			args := slices.Concat(words[1:], []string{"-g", "-O1", "-w", "-fno-eliminate-unused-debug-types", "-c", "-o", object}, strings.Fields(tt.flags), []string{source})
			if out, err := exec.Command(words[0], args...).CombinedOutput(); err != nil {
				t.Logf("left out: %s: %s: %.200s", cc, tt.name, out)
				continue
			}
			for _, line := range [][]string{{"fullcircle", object}, {"fullcircle", "--cc=" + cc, object}} {
				status, stdout, stderr := run(t, line...)
				switch {
				case strings.Contains(stderr, "name a compiler by --cc"):
					t.Logf("left out: %s: %s", cc, stderr)
				case status != 0:
					t.Errorf("%q: %s: status %d\n%s%s", line, tt.name, status, stdout, stderr)
				default:
					n++
				}
			}
		}
	}
	t.Logf("%d objects came around", n)
	if n == 0 {
		t.Skip("no compiler")
	}
}

// TestFullcircleOfRecords: fullcircle reported losses for objects with unit records.
// Mended in 3481874.
//
// Input: objects of btflite cc, alone and linked. Nothing may be lost. A note explains a
// file that has units of both gcc and clang.
func TestFullcircleOfRecords(t *testing.T) {
	dir := t.TempDir()
	sources := []string{"../../encode/testdata/src/types.c", "../../encode/testdata/src/funcs.c", "../../encode/testdata/src/fields.c", "../../btf/show/testdata/bits.c",
		"../../btf/show/testdata/types.c", "../../btf/dump/testdata/types.c", "../../test/pairs/testdata/module.c", "../../internal/ccobject/testdata/unit.c"}
	compilers := []string{"gcc", "clang", "aarch64-linux-gnu-gcc"}
	if testing.Short() {
		compilers = compilers[:2]
	}
	circle := func(status int, file string) (stderr string) {
		t.Helper()
		got, out, errs := run(t, "fullcircle", file)
		if got != status {
			t.Errorf("%s: status %d, want %d\n%s%s", file, got, status, out, errs)
		}
		return errs
	}
	first := map[string]string{} // an object of each compiler
	for _, cc := range compilers {
		if _, err := exec.LookPath(cc); err != nil {
			t.Logf("left out: no %s", cc)
			continue
		}
		var objects []string
		for i, source := range sources {
			object := filepath.Join(dir, cc+string(rune('a'+i))+".o")
			cmd := exec.Command(program, "cc", cc, "-g", "-O2", "-w", "-c", "-o", object, source)
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v: %s", source, err, text)
			}
			circle(0, object)
			objects = append(objects, object)
		}
		first[cc] = objects[0]
		if linked := filepath.Join(dir, cc+".o"); !strings.Contains(cc, "-") {
			link(t, linked, objects[0], objects[len(objects)-1])
			circle(0, linked)
		}
	}
	if first["gcc"] != "" && first["clang"] != "" {
		linked := filepath.Join(dir, "both.o")
		link(t, linked, first["gcc"], first["clang"])
		if text := circle(1, linked); !strings.Contains(text, "by gcc and by clang") {
			t.Error(text)
		}
	}
}

// link makes one object of two.
func link(t *testing.T, out string, objects ...string) {
	t.Helper()
	if text, err := exec.Command("ld", append([]string{"-r", "-z", "muldefs", "-o", out}, objects...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

// TestFullcircleHostileNames: bytes of a name in the file could reach the compiler as C
// or as options. Mended in e51a820.
//
// Input: an object whose member and producer contain C and options. The C must not have
// them.
func TestFullcircleHostileNames(t *testing.T) {
	corpus.Installed(t, "gcc")
	dir := t.TempDir()
	source, object, kept := filepath.Join(dir, "x.c"), filepath.Join(dir, "x.o"), filepath.Join(dir, "kept.c")
	evil := `a; }; asm(".incbin \"x.c\""); struct b {`
	plain := "m" + strings.Repeat("x", len(evil)-1)
	testfile.Write(t, source, []byte("struct s { int "+plain+"; } g; int f(struct s *p) { return p->"+plain+"; }\n"))
	if out, err := exec.Command("gcc", "-g", "-c", "-o", object, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	data := testfile.Read(t, object)
	if !bytes.Contains(data, []byte(plain)) {
		t.Fatal("the name is not in the object")
	}
	data = bytes.ReplaceAll(data, []byte(plain), []byte(evil))
	i := bytes.Index(data, []byte("GNU C"))
	copy(data[i+len("GNU C17 12"):], ".2 -fplugin=x -B/x -include/x @x")
	testfile.Write(t, object, data)
	status, stdout, stderr := run(t, "fullcircle", "--keep="+kept, object)
	if status != 0 || !strings.Contains(stdout, "names that C does not have") {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
	text, err := os.ReadFile(kept)
	if err != nil || bytes.Contains(text, []byte("asm(")) || bytes.Contains(text, []byte("incbin \\")) {
		t.Errorf("%v: %s", err, text)
	}
}
