package ccobject

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/mmapelf"
	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/testfile"
)

// featureSets are the sets of features with which outputs are compared: pahole's modes without
// features, the sets of kernel builds, all, and some alone.
var featureSets = map[string]encode.Features{
	"none":    0,
	"plain":   encode.BasicFeatures,
	"kernel":  encode.DefaultFeatures,
	"all":     encode.AllFeatures &^ encode.Layout,
	"globals": encode.GlobalVar | encode.Var | encode.EncodeForce,
	"tags":    encode.DeclTag,
	"enums":   encode.Enum64 | encode.EncodeForce,
	"merged":  encode.DefaultFeatures | encode.ForceCUMerging,
}

// encoded is the BTF of a file, or the error.
func encoded(path string, features encode.Features, jobs int) (btf []byte, err error) {
	out, err := encode.Run([]string{path}, encode.Options{Features: features, Jobs: jobs})
	if err != nil {
		return nil, err
	}
	defer out.Close()
	var b bytes.Buffer
	err = out.Write(&b)
	return b.Bytes(), err
}

// sameBTF compares the BTF of two files, with all sets of features.
func sameBTF(t *testing.T, what, dwarf, record string) {
	t.Helper()
	for name, features := range featureSets {
		want, werr := encoded(dwarf, features, 1)
		got, gerr := encoded(record, features, 1)
		switch {
		case (werr == nil) != (gerr == nil):
			t.Errorf("%s, features %s: error %v, with DWARF %v", what, name, gerr, werr)
		case !bytes.Equal(want, got):
			t.Errorf("%s, features %s: %d bytes of BTF differ from the %d with DWARF", what, name, len(got), len(want))
		}
	}
}

// convert converts the object at path to another file, which it returns.
func convert(path string) (string, error) {
	out, err := Convert(mmapelf.Source{Path: path}, "test", nil)
	if err != nil {
		return "", err
	}
	to := strings.TrimSuffix(path, ".o") + ".record.o"
	return to, os.WriteFile(to, out, 0o666)
}

// mustConvert is convert for an object that can be converted.
func mustConvert(t *testing.T, path string) string {
	t.Helper()
	to, err := convert(path)
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// run runs a program in a folder; it skips the test if there is none.
func run(t *testing.T, dir string, words ...string) {
	t.Helper()
	corpus.Installed(t, words[0])
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "arning") {
		t.Fatalf("%s: %v\n%s", strings.Join(words, " "), err, out)
	}
}

// compilers are compilers with the options that make them compile for a machine.
var compilers = []string{
	"gcc", "gcc -m32", "clang", "aarch64-linux-gnu-gcc", "s390x-linux-gnu-gcc", "arm-linux-gnueabihf-gcc",
	"clang --target=aarch64-linux-gnu", "clang --target=s390x-linux-gnu", "clang --target=armv7-linux-gnueabi",
	"riscv64-linux-gnu-gcc", "clang --target=mips64-linux-gnu", "clang --target=riscv64-linux-gnu", "clang --target=powerpc64le-linux-gnu",
}

// TestCompilers: objects of many compilers give the same BTF as from DWARF.
func TestCompilers(t *testing.T) {
	source := testfile.Abs(t, "testdata/unit.c")
	for _, cc := range compilers {
		t.Run(strings.ReplaceAll(cc, " ", ""), func(t *testing.T) {
			for _, options := range []string{"-O2 -gdwarf-5", "-O0 -gdwarf-4", "-O2 -gdwarf-3 -ffunction-sections", "-O2 -g -gz", "-O2 -g3", "-O1 -g -fmerge-all-constants"} {
				if strings.HasPrefix(cc, "clang") && strings.HasSuffix(options, "-gz") && testing.Short() {
					continue
				}
				dir := t.TempDir()
				words := append(strings.Fields(cc), strings.Fields(options)...)
				run(t, dir, append(words, "-ffreestanding", "-w", "-c", "-o", "unit.o", source)...)
				object := filepath.Join(dir, "unit.o")
				record, err := convert(object)
				if err != nil {
					t.Errorf("%s %s: %v", cc, options, err)
					continue
				}
				sameBTF(t, cc+" "+options, object, record)
			}
		})
	}
}

// TestAddressForms: clang can write addresses in several forms. All give the same BTF, and records of them do.
func TestAddressForms(t *testing.T) {
	dir := t.TempDir()
	var first string
	for _, form := range []string{"Disabled", "Ranges", "Expressions", "Form"} {
		object := filepath.Join(dir, form+".o")
		run(t, dir, "clang", "-O2", "-gdwarf-5", "-mllvm", "-minimize-addr-in-v5="+form, "-ffreestanding", "-w", "-c", "-o", object, testfile.Abs(t, "testdata/unit.c"))
		if first == "" {
			first = object
		}
		sameBTF(t, form, first, object)
		sameBTF(t, form+", record", first, mustConvert(t, object))
	}
}

// TestLinked: what is linked of objects with records gives the same BTF as from DWARF,
// whatever links them, and in any mixture with objects that have DWARF.
func TestLinked(t *testing.T) {
	links := map[string]string{
		"ld":       "ld -o OUT -e entry --orphan-handling=error --no-warn-rwx-segments -T SCRIPT IN",
		"ld -r":    "ld -r -o OUT IN",
		"lld":      "ld.lld -o OUT -e entry IN",
		"gc":       "ld -o OUT -e entry --gc-sections IN",
		"lld gc":   "ld.lld -o OUT -e entry --gc-sections IN",
		"compress": "ld -o OUT -e entry --compress-debug-sections=zlib IN",
	}
	const script = `SECTIONS {
	.text 0x100000 : { *(.text .text.* .init.text) } .rodata : { *(.rodata .rodata.*) } .eh_frame : { *(.eh_frame) }
	.got : { *(.got .got.plt .igot.plt .iplt .rela.got .rela.iplt) }
	.data : { *(.data .data.rel*) } .data..percpu 0 : { *(.data..percpu) } .bss : { *(.bss COMMON) }
	.debug_info 0 : { *(.debug_info) } .debug_abbrev 0 : { *(.debug_abbrev) } .debug_str 0 : { *(.debug_str) }
	.debug_line 0 : { *(.debug_line) } .debug_line_str 0 : { *(.debug_line_str) } .debug_aranges 0 : { *(.debug_aranges) }
	.debug_macro 0 : { *(.debug_macro) } .debug_loclists 0 : { *(.debug_loclists) } .debug_rnglists 0 : { *(.debug_rnglists) }
	.symtab 0 : { *(.symtab) } .strtab 0 : { *(.strtab) } .shstrtab 0 : { *(.shstrtab) }
	/DISCARD/ : { *(.comment .note.*) }
}
`
	dir := t.TempDir()
	source := testfile.Read(t, "testdata/unit.c")
	var objects, records []string
	debug := []string{"-g", "-g3", "-g3", "-g"} // with macros there are section groups of debug information
	for i := range 4 {
		// Units that have much in common, and names of their own.
		text := strings.NewReplacer("struct item", fmt.Sprintf("struct item%d", i%2), "entry(", fmt.Sprintf("entry%d(", i), "global_variable", fmt.Sprintf("global_variable%d", i),
			"long many(", fmt.Sprintf("long many%d(", i), "floating(", fmt.Sprintf("floating%d(", i), "in_init(", fmt.Sprintf("in_init%d(", i),
			"calls_variadic(", fmt.Sprintf("calls_variadic%d(", i), "percpu_variable", fmt.Sprintf("percpu_variable%d", i)).Replace(string(source))
		if i == 0 {
			text += "\nint elsewhere(atomic *a, const struct packed *p) { return a->counter + p->i; }\nvoid *entry = entry0;\n"
		}
		name := fmt.Sprintf("unit%d", i)
		testfile.Write(t, filepath.Join(dir, name+".c"), text)
		run(t, dir, "gcc", "-O2", debug[i], "-ffunction-sections", "-fno-pic", "-ffreestanding", "-w", "-c", name+".c")
		if _, err := convert(filepath.Join(dir, name+".o")); err != nil {
			t.Fatal(err)
		}
		objects, records = append(objects, name+".o"), append(records, name+".record.o")
	}
	testfile.Write(t, filepath.Join(dir, "script"), script)
	mixture := []string{objects[0], records[1], objects[2], records[3]}
	for name, line := range links {
		t.Run(name, func(t *testing.T) {
			link := func(out string, in []string) string {
				words := strings.Fields(strings.NewReplacer("OUT", out, "SCRIPT", "script", "IN", strings.Join(in, " ")).Replace(line))
				run(t, dir, words...)
				return filepath.Join(dir, out)
			}
			want := link("dwarf", objects)
			sameBTF(t, name+", records", want, link("records", records))
			sameBTF(t, name+", a mixture", want, link("mixture", mixture))
		})
	}
}

// TestStripped: what takes debug information away takes records away.
func TestStripped(t *testing.T) {
	for _, line := range []string{"strip -g unit.record.o", "objcopy --strip-debug unit.record.o", "llvm-strip -g unit.record.o"} {
		t.Run(strings.Fields(line)[0], func(t *testing.T) {
			dir := t.TempDir()
			source, _ := filepath.Abs("testdata/unit.c")
			run(t, dir, "gcc", "-O2", "-g", "-w", "-c", "-o", "unit.o", source)
			record := mustConvert(t, filepath.Join(dir, "unit.o"))
			run(t, dir, strings.Fields(line)...)
			f, err := mmapelf.Open(record)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if f.Section(".debug_info") != nil {
				t.Error("the records are still there")
			}
		})
	}
}

// TestReasons: objects that keep their DWARF say why.
func TestReasons(t *testing.T) {
	for _, x := range []struct {
		options string
		want    error
	}{
		{"-O2", ErrNoDwarf},
		{"-g -flto", ErrLTO},
		{"-g -gsplit-dwarf", ErrSplit},
		{"-g -fdebug-types-section", ErrTypeUnits},
		{"-g -gdwarf-4 -fdebug-types-section", ErrTypeUnits},
	} {
		dir := t.TempDir()
		source, _ := filepath.Abs("testdata/unit.c")
		run(t, dir, append(append([]string{"gcc", "-w"}, strings.Fields(x.options)...), "-c", "-o", "unit.o", source)...)
		if _, err := convert(filepath.Join(dir, "unit.o")); err != x.want {
			t.Errorf("gcc %s: %v, want %v", x.options, err, x.want)
		}
	}
	dir := t.TempDir()
	testfile.Write(t, filepath.Join(dir, "a.S"), ".globl f\nf:\n\tnop\n")
	run(t, dir, "gcc", "-g", "-c", "-o", "a.o", "a.S")
	if _, err := convert(filepath.Join(dir, "a.o")); err != ErrAssembler {
		t.Errorf("an assembler's object: %v", err)
	}
	source, _ := filepath.Abs("testdata/unit.c")
	run(t, dir, "gcc", "-g", "-w", "-c", "-o", "unit.o", source)
	record := mustConvert(t, filepath.Join(dir, "unit.o"))
	if _, err := convert(record); err != ErrRecords {
		t.Errorf("an object with records: %v", err)
	}
}
