package ccline

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

// TestBehind: a compiler cache in front of the compiler is not an input.
func TestBehind(t *testing.T) {
	for line, want := range map[string]string{
		"gcc -g a.c":                      "-g a.c",
		"ccache gcc -g a.c":               "-g a.c",
		"/usr/bin/ccache clang-19 -c":     "-c",
		"ccache aarch64-linux-gnu-gcc -c": "-c",
		"gcc gcc":                         "gcc",
		"./mycc a.c":                      "a.c",
		"ccache":                          "",
		"ccache -s":                       "-s",
	} {
		if got := strings.Join(Behind(strings.Fields(line)), " "); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// TestReduced: the option that leaves types out, whatever stands around it.
func TestReduced(t *testing.T) {
	for line, want := range map[string]string{
		"-g -c a.c":                              "",
		"-g1 -c a.c":                             "-g1",
		"-g1 -g -c a.c":                          "",
		"-g1 -gdwarf-5 -c a.c":                   "",
		"-g1 -gsplit-dwarf -c a.c":               "-g1",
		"-g3 -gline-tables-only -c a.c":          "-gline-tables-only",
		"-g -femit-struct-debug-baseonly -c a.c": "-femit-struct-debug-baseonly",
		"-g -femit-struct-debug-baseonly -femit-struct-debug-detailed=any -c a.c": "",
		"-femit-struct-debug-baseonly -c a.c":                                     "",
		"-g -femit-struct-debug-baseonly -E a.c":                                  "",
	} {
		if got := Parse(strings.Fields(line)).Reduced; got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, x := range []struct{ line, want string }{
		{"-g -c a.c", "a.o"},
		{"-g -c dir/a.c", "a.o"},
		{"-g -c a.c b.c", "a.o b.o"},
		{"-g -c -o x.o a.c", "x.o"},
		{"-g -c -ox.o a.c", "x.o"},
		{"-g -c --output=x.o a.c", "x.o"},
		{"-gdwarf-5 -O2 -c a.i", "a.o"},
		{"-g -c -x c -o x.o -", "x.o"},
		{"-g -xc -c -o x.o -", "x.o"},
		{"-g3 -c a.c", "a.o"},
		{"--debug -c a.c", "a.o"},
		{"--debug=3 -c a.c", "a.o"},
		{"-g --debug=0 -c a.c", ""},
		{"-glldb -c a.c", "a.o"},
		{"-g --std c99 --include b.h -c a.c", "a.o"},
		{"-g -gz -c a.c", "a.o"},
		// No debug information, or none any more.
		{"-c a.c", ""},
		{"-g -g0 -c a.c", ""},
		{"-g0 -g -c a.c", "a.o"},
		{"-gtoggle -c a.c", "a.o"},
		{"-g -gtoggle -c a.c", ""},
		{"-gtoggle -g0 -gtoggle -c a.c", "a.o"},
		{"-gz -c a.c", ""},
		{"-gno-record-gcc-switches -c a.c", ""},
		// No object.
		{"-g a.c", ""},
		{"-g -S a.c", ""},
		{"-g -E -c a.c", ""},
		{"-g -c a.c -fsyntax-only", ""},
		{"-g -M -c a.c", ""},
		{"-g -MD -MF a.d -c a.c", "a.o"},
		{"--version", ""},
		{"-print-file-name=plugin", ""},
		{"", ""},
		// No C.
		{"-g -c a.S", ""},
		{"-g -c a.s", ""},
		{"-g -c -x assembler-with-cpp a.c", ""},
		{"-g -c a.cc", ""},
		{"-g -c -x c a.S", "a.o"},
		{"-g -c -x c a.S -x none b.S", "a.o"},
		{"-g -c a.c w.o b.S", "a.o"},
		{"-g -c -o x.o a.c w.o", "x.o"},
		{"-g -c -x c .hid", ".hid.o"},
		{"-g -c -x c dir.d/.hid", ".hid.o"},
		{"-g -c .c", ".c.o"},
		{"-g -c a.b.c", "a.b.o"},
		// Values that look like options, and options that look like values.
		{"-g -o -c a.c", ""},
		{"-g -c -I -E a.c", "a.o"},
		{"-g -c -D -S a.c", "a.o"},
		{"-g -c -MT -M a.c", "a.o"},
		{"-g -c -include -c a.c", "a.o"},
		{"-c -include -g a.c", ""},
		{"-g -c -Xclang -fsyntax-only a.c", "a.o"},
		{"-g -c a.c -o", "a.o"},
	} {
		if got := strings.Join(Parse(strings.Fields(x.line)).Objects, " "); got != x.want {
			t.Errorf("%s: %q, want %q", x.line, got, x.want)
		}
	}
}

// TestOptionFiles: words come from files, too, which may name others.
func TestOptionFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		testfile.Write(t, path, text)
		return path
	}
	inner := write("inner", "-c\n-o 'x y.o'")
	outer := write("outer", "-g @"+inner)
	loop := write("loop", "-g -c a.c @"+filepath.Join(dir, "loop"))
	for _, x := range []struct {
		words []string
		want  []string
	}{
		{[]string{"@" + outer, "a.c"}, []string{"x y.o"}},
		{[]string{"@" + filepath.Join(dir, "nothing"), "-g", "-c", "a.c"}, nil},
		{[]string{"@" + loop}, nil},
	} {
		got := Parse(x.words).Objects
		if x.want == nil && len(got) < maxFiles+2 {
			continue // the compiler complains about it
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("%q: %q, want %q", x.words, got, x.want)
		}
	}
}

func TestSplit(t *testing.T) {
	for text, want := range map[string][]string{
		"":                     nil,
		" a  b\n\tc ":          {"a", "b", "c"},
		`-DX="a b" 'c d'`:      {"-DX=a b", "c d"},
		`a\ b "c\"d" ''`:       {"a b", `c"d`, ""},
		`"open to the end`:     {"open to the end"},
		`ends with backslash\`: {"ends", "with", `backslash\`},
	} {
		if got := split(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestIsCompiler(t *testing.T) {
	for _, name := range []string{"cc", "gcc", "clang", "gcc-12", "clang-14", "aarch64-linux-gnu-gcc", "x86_64-linux-gnu-gcc-12.2"} {
		if !IsCompiler(name) {
			t.Errorf("%s is a compiler", name)
		}
	}
	for _, name := range []string{"btflite", "pahole", "g++", "clang++", "clang-format", "gcc-ar", "ld", "pahole-1.32", "", "12", "btflite-gcc.bak"} {
		if IsCompiler(name) {
			t.Errorf("%s is not a compiler", name)
		}
	}
}

// TestForMachine: options that may change layouts, and nothing that could be a path.
func TestForMachine(t *testing.T) {
	for _, w := range strings.Fields("-m32 -mabi=lp64 -march=armv7-a+fp -mlong-double-64 -malign-double -fshort-enums -funsigned-char -mcpu=cortex-a7 -mbe -mfloat-abi=soft -mfpu=vfp") {
		if !ForMachine(w) {
			t.Errorf("%s is for the machine", w)
		}
	}
	for _, w := range []string{"", "-m", "-m128", "-mtune=generic", "-mcmodel=kernel", "-mabi=ms;x", "-march=/x", "-march=A", "-O2", "-fplugin=x", "-fsigned-chars", "march"} {
		if ForMachine(w) {
			t.Errorf("%s is not for the machine", w)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("-g -c a.c")
	f.Add("-g\x00-o\x00-c a.c")
	f.Fuzz(func(t *testing.T, line string) {
		words := strings.Split(line, " ")
		if slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "@") }) {
			return // whatever file that is
		}
		for _, o := range Parse(words).Objects {
			if o == "" {
				t.Errorf("%q: an object without a name", words)
			}
		}
	})
}

// TestForLanguage: options that choose the language, and nothing that could be a path.
func TestForLanguage(t *testing.T) {
	for _, w := range []string{"-std=gnu23", "-std=c11", "-std=iso9899:1999", "-ansi", "-fms-extensions", "-fplan9-extensions"} {
		if !ForLanguage(w) {
			t.Errorf("%s is for the language", w)
		}
	}
	for _, w := range []string{"", "-std", "-std=/x", "-std=c;x", "-fplugin=x", "-O2", "std=c11"} {
		if ForLanguage(w) {
			t.Errorf("%s is not for the language", w)
		}
	}
}
