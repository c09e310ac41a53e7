package unitrecord_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/ccobject"
	"github.com/btflite/btflite/internal/unitrecord"
	"github.com/btflite/btflite/mmapelf"
	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/testfile"
)

// TestRoundTrip: records give the BTF of the DWARF that they replace, whatever features are wanted,
// for one unit and for several that share types.
func TestRoundTrip(t *testing.T) {
	const tests = "../ccobject/testdata/"
	sets := map[string]encode.Features{
		"none": 0, "default": encode.DefaultFeatures, "all": encode.AllFeatures &^ encode.Layout,
		"without tags": encode.DefaultFeatures &^ (encode.TypeTag | encode.DeclTag), "merged": encode.DefaultFeatures | encode.ForceCUMerging,
	}
	ways := [][]string{{"-O2"}, {"-O2", "-gdwarf-4"}, {"-O2", "-ffunction-sections"}}
	if runtime.GOARCH == "amd64" {
		ways = append(ways, []string{"-O0", "-m32"})
	}
	for _, options := range ways {
		var dwarf, records [][]byte
		for _, source := range []string{tests + "unit.c", tests + "crossing/a.c", tests + "crossing/b.c"} {
			path := compiled(t, source, options...)
			data := testfile.Read(t, path)
			record, err := ccobject.Convert(mmapelf.Source{Path: path}, "test", nil)
			if err != nil {
				t.Fatal(err)
			}
			dwarf, records = append(dwarf, data), append(records, record)
		}
		files, others := dwarf, records
		if !slices.Contains(options, "-m32") { // ld is asked for files of 64 bits
			files, others = append(files, linked(t, dwarf...)), append(others, linked(t, records...))
		}
		for name, features := range sets {
			for i := range files {
				want, got := withFeatures(t, files[i], features), withFeatures(t, others[i], features)
				if !bytes.Equal(got, want) {
					t.Errorf("%v, features %s: file %d has %d bytes of BTF from records, %d others from DWARF", options, name, i, len(got), len(want))
				}
			}
		}
	}
}

// withFeatures returns the BTF of a file, encoded with features.
func withFeatures(t *testing.T, data []byte, features encode.Features) []byte {
	t.Helper()
	r, err := btflite.Encode(context.Background(), []btflite.Source{{Path: "unit.o", Data: data}},
		btflite.Options{Features: features, AllowRefused: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return bytes.Clone(r.BTF)
}

// TestSmallUnits: units that lack what others have give the BTF and the lines of -V of their DWARF,
// and a unit that no record can describe says why.
func TestSmallUnits(t *testing.T) {
	for _, x := range []struct{ name, source, options, why string }{
		{"no int", "char c[3]; long f(long x) { return x; }", "", ""},
		{"an int after an array", "char c[3]; int i;", "", ""},
		{"signs", "enum e { small = -1, large = 1 } e; enum f { huge = 0xffffffff } f; enum g { wide = 0x100000000 } g; enum h { below = -0x100000000 } h;", "", ""},
		{"no types", "void f(void) {}", "", ""},
		{"the oldest version", "int i, a[2];", "-gdwarf-3", ""},
		{"an older version", "int i;", "-gdwarf-2 -gstrict-dwarf", "version 2"},
	} {
		source := testfile.New(t, "unit.c", x.source)
		path := compiled(t, source, strings.Fields("-O2 "+x.options)...)
		if x.why != "" {
			_, err := ccobject.Convert(mmapelf.Source{Path: path}, "test", nil)
			if !errors.Is(err, unitrecord.ErrNot) || !strings.Contains(err.Error(), x.why) {
				t.Errorf("%s: error %v", x.name, err)
			}
			continue
		}
		want := verbose(t, path)
		records := sameAsDWARF(t, path)
		testfile.Write(t, path, records)
		if got := verbose(t, path); len(records) == 0 || got != want {
			t.Errorf("%s: -V prints\n%s\nof records, and of DWARF\n%s", x.name, got, want)
		}
	}
}

// TestClasses: a record tells parameters that are classes from structs, also if a function takes them from its origin.
func TestClasses(t *testing.T) {
	corpus.Installed(t, "g++")
	source := testfile.New(t, "unit.cc", `class C { public: int a; double b; }; struct S { int a; double b; }; typedef const C T;
		extern "C" long in_class(double d, C c) { return c.b + d; } extern "C" long in_struct(double d, S s) { return s.b + d; }
		extern "C" long in_typedef(double d, T c) { return c.a + d; } extern "C" long in_both(double d, C c, S s) { return c.b + s.a + d; }
		static inline long inner(double d, C c) { return c.a * d; } extern "C" long outer(C *c) { return inner(c->b, *c); }`)
	for _, options := range []string{"-O0", "-O2", "-O2 -fno-inline", "-O2 -gdwarf-4"} {
		path := compiled(t, source, strings.Fields(options)...)
		want := verbose(t, path)
		if strings.Contains(want, "in_class") != strings.Contains(want, "in_typedef") || !strings.Contains(want, "in_struct") {
			t.Errorf("%s: -V prints\n%s", options, want)
		}
		testfile.Write(t, path, sameAsDWARF(t, path))
		if got := verbose(t, path); got != want {
			t.Errorf("%s: -V prints\n%s\nof records, and of DWARF\n%s", options, got, want)
		}
	}
}

// TestNegativeValuesOfUnsignedEnums: -V prints enumerators of a type without a sign as numbers of 64
// bits. Rust has such enums; here the object says that int has no sign.
func TestNegativeValuesOfUnsignedEnums(t *testing.T) {
	source := filepath.Join(t.TempDir(), "unit.c")
	text := "enum first { MINUS = -1 } a; struct s { int x; } s; enum second { FAR = -1000, ONE = 1 } b; enum third { TWO = 2 } c; enum fourth { LEAST = -2147483647 - 1 } d;"
	testfile.Write(t, source, text)
	path := compiled(t, source)
	dwarf := testfile.Read(t, path)
	const signed, unsigned = "\x04\x05int\x00", "\x04\x07int\x00" // size, encoding and name
	if bytes.Count(dwarf, []byte(signed)) != 1 {
		t.Skip("the DIE of int is not found")
	}
	testfile.Write(t, path, bytes.Replace(dwarf, []byte(signed), []byte(unsigned), 1))
	want := verbose(t, path)
	for _, value := range []string{"MINUS val=18446744073709551615", "FAR val=18446744073709550616", "ONE val=1", "TWO val=2", "LEAST val=18446744071562067968"} {
		if !strings.Contains(want, value+"\n") {
			t.Errorf("-V of DWARF lacks %s:\n%s", value, want)
		}
	}
	testfile.Write(t, path, sameAsDWARF(t, path))
	if got := verbose(t, path); got != want {
		t.Errorf("-V prints\n%s\nof records, and of DWARF\n%s", got, want)
	}
}

// verbose returns what -V prints of a file.
func verbose(t *testing.T, path string) string {
	t.Helper()
	var text strings.Builder
	out, err := encode.Run([]string{path}, encode.Options{Features: encode.DefaultFeatures, Verbose: func(lines string) { fmt.Fprintln(&text, lines) }})
	if err != nil {
		t.Fatal(err)
	}
	out.Close()
	return text.String()
}
