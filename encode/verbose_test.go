package encode_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/test/testfile"
)

// verboseRun encodes files and gives what -V prints on both streams.
func verboseRun(t *testing.T, paths []string, opt encode.Options) (stdout, stderr string, data []byte) {
	t.Helper()
	var out, warnings strings.Builder
	opt.Verbose = func(lines string) { out.WriteString(lines + "\n") }
	opt.Warn = func(line string) { warnings.WriteString(line + "\n") }
	data = mustRun(t, paths, opt)
	return out.String(), warnings.String(), data
}

// TestVerboseIsPaholes compares the lines of -V with pahole's, and the BTF with a run
// without -V.
func TestVerboseIsPaholes(t *testing.T) {
	t.Chdir("testdata") // the lines have the names of files
	base := readBase(t, "golden/x86-clang4-o.default.btf")
	defer base.Free()
	for _, c := range []struct {
		log, files string
		opt        encode.Options
	}{
		{"x86-gcc5.all", "x86-gcc5", encode.Options{Features: encode.AllFeatures}},
		{"x86-clang5.default", "x86-clang5", encode.Options{Features: encode.DefaultFeatures}},
		{"x86-gcc5-dwz.over", "x86-gcc5-dwz", encode.Options{Features: encode.AllFeatures, Base: base}},
		{"x86-gcc5-lto.all", "x86-gcc5-lto", encode.Options{Features: encode.AllFeatures}},
		{"x86-tags.none", "x86-tags", encode.Options{Features: encode.BasicFeatures}},
		{"x86-g++4-slim.float", "x86-g++4-slim", encode.Options{Features: encode.Float}},
		{"x86-mixture.rust", "x86-mixture", encode.Options{Features: encode.DefaultFeatures, Lang: []uint16{0x1c}}},
		{"x86-mixture.norust", "x86-mixture", encode.Options{Features: encode.DefaultFeatures, LangExclude: []uint16{0x1c}}},
		{"x86-mixture.nor99f", "x86-mixture", encode.Options{Features: encode.DefaultFeatures, LangExclude: []uint16{0x1c, 0x0c}, CUExclude: "f"}},
		{"x86-mixture.r99nof", "x86-mixture", encode.Options{Features: encode.DefaultFeatures, Lang: []uint16{0x1c, 0x0c}, CUExclude: "f"}},
		{"x86-mixture.r11nof", "x86-mixture", encode.Options{Features: encode.DefaultFeatures, Lang: []uint16{0x1c, 0x1d}, CUExclude: "f"}},
		{"x86-gcc5+r.default", "x86-gcc5 x86-gcc5-r", encode.Options{Features: encode.DefaultFeatures}},
		{"i386-gcc4.float", "i386-gcc4", encode.Options{Features: encode.DefaultFeatures&^encode.Float | encode.GlobalVar}},
	} {
		want := testfile.Read(t, "verbose/"+c.log+".log")
		var paths []string
		for _, name := range strings.Fields(c.files) {
			paths = append(paths, "golden/"+name+".elf")
		}
		plain := mustRun(t, paths, c.opt)
		for _, jobs := range []int{1, 4} {
			c.opt.Jobs = jobs
			got, warnings, data := verboseRun(t, paths, c.opt)
			if got != string(want) {
				t.Errorf("%s, jobs=%d: (-want +got)\n%s", c.log, jobs, cmp.Diff(string(want), got))
			}
			if warnings != "" {
				t.Errorf("%s: on standard error: %s", c.log, warnings)
			}
			if !bytes.Equal(data, plain) {
				t.Errorf("%s, jobs=%d: -V changes the output", c.log, jobs)
			}
		}
	}
}

// TestVerboseOfAllFiles: -V changes no output and each id is given once, in
// order, but for those without a line.
func TestVerboseOfAllFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("all golden files again")
	}
	paths := goldenFiles(t)
	for _, pattern := range []string{"testdata/typeunits/*.elf", "testdata/splitdwarf/*/prog", "testdata/leftout/*.elf"} {
		more, err := filepath.Glob(pattern)
		if err != nil || len(more) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(more), err)
		}
		paths = append(paths, more...)
	}
	for _, path := range paths {
		for _, opt := range []encode.Options{{Features: encode.AllFeatures}, {Features: encode.DefaultFeatures, CULimit: 1}, {Features: encode.DefaultFeatures, ExtraVars: true}} {
			want, err := runFiles([]string{path}, opt)
			if err != nil {
				continue
			}
			lines, _, got := verboseRun(t, []string{path}, opt)
			if !bytes.Equal(got, want) {
				t.Errorf("%s: -V changes the output", path)
			}
			last := 0
			for line := range strings.Lines(lines) {
				id := 0
				if n, _ := fmt.Sscanf(line, "[%d]", &id); n == 1 {
					if id <= last || id > last+8 {
						t.Fatalf("%s: type %d follows %d: %s", path, id, last, line)
					}
					last = id
				}
			}
		}
	}
}

// TestVerboseWarnings: -V reports on standard error which variables are left out, in
// pahole's words.
func TestVerboseWarnings(t *testing.T) {
	i, empty := intType(), structure("empty", 0)
	file := dt.File{Units: []*dt.Unit{dt.CU(i, empty, variable("ok", i, dt.PercpuAddr+8), variable("bad-\nname", i, dt.PercpuAddr+16),
		variable("nothing", empty, dt.PercpuAddr+32))}, Symbols: []dt.Symbol{dt.Func("f", fn1)}, Sections: []dt.Section{dt.Percpu()}}
	path := t.TempDir() + "/in"
	testfile.Write(t, path, file.Bytes())
	got, warnings, _ := verboseRun(t, []string{path}, encode.Options{Features: encode.DefaultFeatures})
	const wantWarnings = "PAHOLE: Warning: Found invalid variable name when encoding btf, ignored (sym: 'bad-?name').\n" +
		"Ignoring zero-sized variable 'nothing'...\n"
	want := "File " + path + ":\n" +
		"[1] INT int size=4 nr_bits=32 encoding=SIGNED\n" +
		"[2] STRUCT empty size=0\n" +
		"search cu 't.c' for percpu global variables.\n" +
		"Variable 'ok' from CU 't.c' at address 0x8 encoded\n" +
		"[3] VAR ok type=1 linkage=1\n" +
		"[4] DATASEC .data..percpu size=12 vlen=1\n" +
		"\ttype=3 offset=8 size=4\n"
	if warnings != wantWarnings || got != want {
		t.Errorf("got\n%s%s\nwant\n%s%s", got, warnings, want, wantWarnings)
	}
}
