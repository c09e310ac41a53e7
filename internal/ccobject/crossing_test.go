package ccobject

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/mmapelf"
	"github.com/btflite/btflite/test/testfile"
)

// A way is a way of compiling the files of a program.
type way struct {
	name  string
	cc    string // the compiler with the options for all files
	only  string // options for all files but the first
	stays error  // why these files may keep their DWARF; nil if they may not
	calls bool   // the compiler adds calls of functions that no file has
}

// The crossing is run with these ways of compiling.
var ways = []way{
	{name: "gcc4", cc: "gcc -gdwarf-4"},
	{name: "gcc5", cc: "gcc -gdwarf-5"},
	{name: "gcc-gz", cc: "gcc -g -gz=zlib"},
	{name: "gcc-gz4", cc: "gcc -gdwarf-4 -gz=zlib"},
	{name: "gcc-zstd", cc: "gcc -g -gz=zstd"},
	{name: "gcc-sections", cc: "gcc -g -ffunction-sections -fdata-sections"},
	{name: "gcc-macros", cc: "gcc -g3"},
	{name: "gcc-pic", cc: "gcc -g -fPIC"},
	{name: "gcc-kcov", cc: "gcc -g -fsanitize-coverage=trace-pc,trace-cmp", calls: true},
	{name: "gcc-coverage", cc: "gcc -g -fprofile-arcs -ftest-coverage", calls: true},
	{name: "gcc-kasan", cc: "gcc -g -fsanitize=kernel-address", calls: true},
	{name: "gcc-kcsan", cc: "gcc -g -fsanitize=thread", calls: true},
	{name: "gcc-ubsan", cc: "gcc -g -fsanitize=undefined", calls: true},
	{name: "gcc-32", cc: "gcc -g -m32"},
	{name: "gcc-32gz", cc: "gcc -g -m32 -gz=zlib"},
	{name: "gcc-types", cc: "gcc -g", only: "-fdebug-types-section", stays: ErrTypeUnits},
	{name: "gcc-types4", cc: "gcc -gdwarf-4", only: "-fdebug-types-section", stays: ErrTypeUnits},
	{name: "gcc-plain", cc: "gcc -g", only: "-g0", stays: ErrNoDwarf},
	{name: "gcc-lines", cc: "gcc -g", only: "-g1"},
	{name: "gcc-split", cc: "gcc -g", only: "-gsplit-dwarf", stays: ErrSplit},
	{name: "gcc-lto", cc: "gcc -g", only: "-flto", stays: ErrLTO},
	{name: "gcc-lto-sections", cc: "gcc -g -ffunction-sections -fdata-sections -gz=zlib", only: "-flto -ffat-lto-objects", stays: ErrLTO},
	{name: "gcc-lto4", cc: "gcc -gdwarf-4", only: "-flto -ffat-lto-objects", stays: ErrLTO},
	{name: "clang-lto", cc: "clang -g", only: "-flto", stays: ErrLTO},
	{name: "clang-thin", cc: "clang -gdwarf-4", only: "-flto=thin", stays: ErrLTO},
	{name: "clang4", cc: "clang -gdwarf-4"},
	{name: "clang5", cc: "clang -gdwarf-5"},
	{name: "clang-gz", cc: "clang -g -gz=zlib"},
	{name: "clang-zstd", cc: "clang -g -gz=zstd"},
	{name: "clang-sections", cc: "clang -g -ffunction-sections -fdata-sections"},
	{name: "clang-pic", cc: "clang -g -fPIC"},
	{name: "clang-kasan", cc: "clang -g -fsanitize=kernel-address -fsanitize-coverage=trace-pc", calls: true},
	{name: "clang-coverage", cc: "clang -g -fprofile-instr-generate -fcoverage-mapping", calls: true},
	{name: "clang-types", cc: "clang -g", only: "-fdebug-types-section", stays: ErrTypeUnits},
	{name: "clang-split", cc: "clang -g", only: "-gsplit-dwarf", stays: ErrSplit},
}

// A link is a way of making a file, out, of the objects $1 to $3.
type link struct{ name, script string }

var links = []link{
	{"ld-r", "ld -r -o out $1 $2 $3"},
	{"ld-r-two", "ld -r -o out $1 $3"},
	{"ld-r-each", "ld -r -o x1 $1 && ld -r -o x2 $2 && ld -r -o x3 $3 && ld -r -o out x1 x2 x3"},
	{"ld-r-twice", "ld -r -o x1 $1 $2 && ld -r -o out x1 $3"},
	{"ld-r-then", "ld -r -o x1 $1 $2 && ld -r -o x2 x1 $3 && ld $SCRIPT -o out x2"},
	{"ld.bfd", "ld.bfd $SCRIPT -o out $1 $2 $3"},
	{"ld.bfd-gc", "ld.bfd $SCRIPT --gc-sections -o out $1 $2 $3"},
	{"ld.bfd-compress", "ld.bfd $SCRIPT --compress-debug-sections=zlib -o out $1 $2 $3"},
	{"ld.bfd-r-compress", "ld.bfd -r --compress-debug-sections=zlib -o x1 $1 $2 && ld.bfd -r -o out x1 $3"},
	{"ld.bfd-relocs", "ld.bfd $SCRIPT --emit-relocs -o out $1 $2 $3"},
	{"ld.bfd-zstd", "ld.bfd $SCRIPT --compress-debug-sections=zstd -o out $1 $2 $3"},
	{"ld.gold-icf", "ld.gold --icf=all -o out $1 $2 $3"},
	{"ld.gold", "ld.gold -o out $1 $2 $3"},
	{"ld.gold-r", "ld.gold -r -o out $1 $2 $3"},
	{"ld.lld", "ld.lld $SCRIPT -o out $1 $2 $3"},
	{"ld.lld-gc", "ld.lld $SCRIPT --gc-sections -o out $1 $2 $3"},
	{"ld.lld-icf", "ld.lld $SCRIPT --icf=all -o out $1 $2 $3"},
	{"ld.lld-r", "ld.lld -r -o out $1 $2 $3"},
	{"ld.lld-r-twice", "ld.lld -r -o x1 $1 $2 && ld.lld -r -o out x1 $3"},
	{"ld.lld-r-then", "ld.lld -r -o x1 $1 $2 $3 && ld.lld $SCRIPT -o out x1"},
	{"ld.lld-relocs", "ld.lld $SCRIPT --emit-relocs -o out $1 $2 $3"},
	{"ld.lld-r-then-bfd", "ld.lld -r -o x1 $1 $2 && ld.bfd $SCRIPT -o out x1 $3"},
	{"ld.bfd-r-then-lld", "ld.bfd -r -o x1 $3 $2 && ld.lld $SCRIPT -o out $1 x1"},
	{"ld.lld-compress", "ld.lld $SCRIPT --compress-debug-sections=zlib -o out $1 $2 $3"},
	{"ar", "ar rcs x.a $3 $2 && ld $SCRIPT -o out $1 x.a"},
	{"ar-thin", "ar rcsT x.a $1 $2 $3 && ld -r -o out --whole-archive x.a"},
	{"ar-of-thin", "ar rcsT y.a $2 && ar rcsT x.a y.a $3 && ld -r -o out $1 --whole-archive x.a"},
	{"ar-of-r", "ld -r -o x1 $2 $3 && ar rcs x.a x1 && ld $SCRIPT -o out $1 x.a"},
	{"objcopy-before", "objcopy --compress-debug-sections=zlib $1 x1 && objcopy $2 x2 && objcopy --compress-debug-sections=zlib $3 x3 && ld -r -o out x1 x2 x3"},
	{"objcopy-after", "ld $SCRIPT -o out $1 $2 $3 && objcopy --compress-debug-sections=zlib out"},
	{"objcopy-both", "ld -r -o x1 $1 $2 && objcopy --compress-debug-sections=zlib x1 x2 && ld -r -o x3 x2 $3 && objcopy --decompress-debug-sections x3 out"},
	{"objcopy-old", "objcopy --compress-debug-sections=zlib-gnu $1 x1 && objcopy --compress-debug-sections=zlib-gnu $2 x2 && ld -r -o out x1 x2 $3"},
	{"objcopy-then-lld", "objcopy --compress-debug-sections=zlib $1 x1 && objcopy --compress-debug-sections=zlib $2 x2 && ld.lld $SCRIPT -o out x1 x2 $3"},
	{"assembler", "echo '.globl q; q: nop; .data; .long q' | as -g $AS -o x4 - && ld -r -o out $1 x4 $2 $3"},
	{"llvm-objcopy", "llvm-objcopy --compress-debug-sections=zlib $1 x1 && llvm-objcopy $2 x2 && ld.lld -r -o out x1 x2 $3"},
	{"gcc-r", "gcc -flto -r -nostdlib -flinker-output=nolto-rel -o out $1 $2 $3"},
	{"gcc", "gcc -flto -nostdlib -static $SCRIPT -o out $1 $2 $3"},
	{"gcc-last", "gcc -flto -nostdlib -static $SCRIPT -o out $3 $2 $1"},
	{"ld.lld-last", "ld.lld $SCRIPT -o out $3 $2 $1"},
	{"strip-one", "strip -g -o x2 $2 && ld -r -o out $1 x2 $3"},
	{"strip-last", "llvm-strip -g -o x3 $3 && ld $SCRIPT -o out $1 $2 x3"},
	{"debug-file", "ld $SCRIPT -o x1 $1 $2 $3 && objcopy --only-keep-debug x1 x2 && strip -g -o out x1 && objcopy --add-gnu-debuglink=x2 out"},
}

// few are the links that are tried with all ways of compiling if BTFLITE_CROSSING is not set.
var few = []string{"ld-r-each", "ld.bfd", "ld.bfd-gc", "ld.lld-r-then", "ar"}

// TestCrossing: every way of compiling with every way of linking gives the same BTF from records
// as from DWARF, and from both in one file. What a tool lacks is left out. Without
// BTFLITE_CROSSING, a link that is not one of few is tried with every ninth way.
func TestCrossing(t *testing.T) {
	all := os.Getenv("BTFLITE_CROSSING") != ""
	for i, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			p := compileProgram(t, &w)
			for k, l := range links {
				if !all && !slices.Contains(few, l.name) && (i+k)%9 != 0 {
					continue
				}
				p.cross(t, l)
			}
		})
	}
}

// A program is the objects of its files, as the compiler wrote them and converted. An object that
// stays as it is is both.
type program struct {
	dir            string
	emulation      string // words that linkers need
	as             string // words that the assembler needs
	dwarf, records []string
}

// compileProgram compiles the program, and skips the test if the compiler does not know the options.
func compileProgram(t *testing.T, w *way) *program {
	t.Helper()
	p := &program{dir: t.TempDir()}
	if strings.Contains(w.cc, "-m32") {
		p.emulation, p.as = "-melf_i386", "--32"
	}
	if w.calls {
		p.emulation += " --unresolved-symbols=ignore-all"
	}
	testfile.Write(t, filepath.Join(p.dir, percpuScript), percpuText)
	for i, name := range []string{"a", "b", "c"} {
		source := testfile.Abs(t, "testdata/crossing/"+name+".c")
		line := w.cc
		if i > 0 {
			line += " " + w.only
		}
		words := append(strings.Fields(line), "-O2", "-ffreestanding", "-fno-stack-protector", "-fno-asynchronous-unwind-tables", "-c", "-o", name+".o", source)
		if out, err := shell(p.dir, strings.Join(words, " ")); err != nil || strings.Contains(out, "arning") {
			t.Skipf("%s: %v\n%s", line, err, out)
		}
		object := filepath.Join(p.dir, name+".o")
		record, err := object, ErrLTO
		if isELF(t, object) { // LLVM's bitcode is not
			record, err = convert(object)
		}
		switch {
		case err != nil && i > 0 && w.stays != nil && errors.Is(err, w.stays):
			record = object
		case err != nil:
			t.Fatalf("%s: %v", line, err)
		}
		p.dwarf, p.records = append(p.dwarf, object), append(p.records, record)
	}
	return p
}

// percpuScript is a linker script that adds a section for variables of each CPU, as kernels have
// it, to a linker's own script. $SCRIPT is the option for it.
const (
	percpuScript = "percpu.ld"
	percpuText   = "SECTIONS { .data..percpu : { KEEP(*(.data..percpu)) } } INSERT AFTER .bss;\n"
)

func isELF(t *testing.T, path string) bool {
	return bytes.HasPrefix(testfile.Read(t, path), []byte("\x7fELF"))
}

// shell runs a line in a folder, by the shell.
func shell(dir, line string, args ...string) (string, error) {
	cmd := exec.Command("sh", append([]string{"-c", line, "sh"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SCRIPT=-T "+filepath.Join(filepath.Dir(dir), percpuScript))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// link links objects in a folder of their own.
func (p *program) link(l link, folder string, objects []string) (string, error) {
	dir := filepath.Join(p.dir, l.name+"."+folder)
	if err := os.Mkdir(dir, 0o777); err != nil {
		return "", err
	}
	line := strings.ReplaceAll(l.script, "$AS", p.as)
	if p.emulation != "" {
		for _, ld := range []string{"ld ", "ld.bfd ", "ld.gold ", "ld.lld "} {
			line = strings.ReplaceAll(" "+line, " "+ld, " "+ld+p.emulation+" ")
		}
	}
	out, err := shell(dir, line, objects...)
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", line, err, out)
	}
	return filepath.Join(dir, "out"), nil
}

// cross links the program from DWARF, from records and from both, and compares the BTF.
func (p *program) cross(t *testing.T, l link) {
	t.Helper()
	want, err := p.link(l, "dwarf", p.dwarf)
	if err != nil {
		t.Logf("left out: %v", err)
		return
	}
	btf, err := encoded(want, encode.DefaultFeatures, 1)
	for _, name := range []string{"percpu_first", "first", "node", "BROKEN"} {
		if err == nil && !(name == "percpu_first" && strings.HasPrefix(l.name, "ld.gold") || name == "first" && strings.HasSuffix(l.name, "-gc")) && !bytes.Contains(btf, []byte("\x00"+name+"\x00")) {
			err = fmt.Errorf("it has no %s", name)
		}
	}
	if err != nil {
		t.Errorf("%s: %v", l.name, err)
	}
	for what, objects := range map[string][]string{
		"records":  p.records,
		"mixture":  {p.dwarf[0], p.records[1], p.dwarf[2]},
		"mixture2": {p.records[0], p.dwarf[1], p.records[2]},
	} {
		if slices.Equal(objects, p.dwarf) {
			continue
		}
		got, err := p.link(l, what, objects)
		if err != nil {
			t.Errorf("%s, %s: %v", l.name, what, err)
			continue
		}
		sameBTF(t, l.name+", "+what, want, got)
	}
}

// TestAlignment: a unit with a record begins where the one before it ends. So the new section is not
// aligned as the section was that the compiler had compressed.
func TestAlignment(t *testing.T) {
	p := compileProgram(t, &way{cc: "gcc -g -gz=zlib"})
	f, err := mmapelf.Open(p.records[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, name := range []string{".debug_info", ".debug_abbrev"} {
		if s := f.Section(name); s == nil || s.Align != 1 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}
