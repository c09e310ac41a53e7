package pairs

import (
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// known is a difference that is on purpose.
type known struct {
	name  string
	rules []string // of the finding
	says  string   // words of the documents that tell it; any white space fits any other
	ours  string   // part of our standard error, "" for any
	holds func(c *trial, f finding) bool
	shows string // a case that has it
}

// knownDifferences are all that may be found. A row whose case does not show it
// any more is stale.
var knownDifferences = []known{
	{name: "left out", rules: []string{"surplus", "distilled"}, ours: "left out, as BTF cannot say it",
		says:  "pahole writes nothing for such a file.",
		shows: "g++/-O1/refs.cc/o --"},
	{name: "type units", rules: []string{"bytes", "surplus", "pahole crashes", "refused", "distilled", "lines"}, holds: anyFile(typeUnits), // -V: a language filter drops each of them
		says:  "pahole crashes on linked files with type units, and leaves out half of the types of others.",
		shows: "tree/encode/testdata/typeunits/x86-gcc4.elf --"},
	{name: "split DWARF", rules: []string{"bytes", "surplus", "missing", "distilled", "lines"}, holds: anyFile(splitDWARF),
		says:  "pahole reads no `.dwo` or `.dwp` file",
		shows: "tree/encode/testdata/splitdwarf/x86-gcc5/prog --"},
	{name: "LTO in two sections", rules: []string{"surplus", "status", "refused"}, holds: anyFile(partialLTO),
		says:  "the DWARF is in two sections then",
		shows: "gcc/-flto,-ffat-lto-objects/void.c/r gcc//tags.c/r --"},
	{name: "excluded in merged units", rules: []string{"bytes", "surplus", "missing", "distilled", "lines"}, holds: nameAndLanguage,
		says:  "pahole drops units before references to them are resolved",
		shows: "gcc/-flto/plain.c,vars.c/so -- --lang_exclude=c++03 -Xplain"},
	{name: "repeated types", rules: []string{"bytes", "distilled"},
		holds: func(c *trial, f finding) bool { return len(c.bases) > 0 && anyFile(hasPart("clash.c"))(c, f) },
		says:  "pahole may write more types twice than typedefs",
		shows: "gcc//clash.c/so gcc//plain.c,data.c/so -- --btf_base=gcc/-Os,-gdwarf-3/vars.c/exe --btf_compat=libbpf-1.7"},
	{name: "exact", rules: []string{"own"},
		holds: func(c *trial, _ finding) bool {
			return len(c.bases) > 0 && c.hasOwn("--dedup=exact") && !c.hasOwn("--btf_compat=")
		},
		says:  "keep a type that nothing refers to",
		shows: "tree/testdata/inputs/abc -- --btf_base=tree/testdata/inputs/abc --dedup=exact"},
	{name: "over nothing", rules: []string{"over nothing"},
		says:  "A distilled base without types",
		shows: "gcc/-g1/tags.c/exe -- --btf_features=distilled_base --btf_base=gcc/-g1/kfuncs.c/o --btf_compat=libbpf-1.7"},
	{name: "damaged", rules: []string{"refused", "status"}, ours: ": no abbreviation has its code",
		says:  "Damaged DWARF is an error.",
		shows: "clang//funcs.c/so clang/-gz=zlib,-flto=thin,-m32/void.c,clash.c/r --"},
	{name: "LTO and .zdebug", rules: []string{"bytes", "surplus", "distilled", "lines"}, holds: anyFile(zdebugLTO),
		says:  "with `.zdebug_*` sections",
		shows: "gcc/-flto,-ffat-lto-objects/module.c/o/zlibgnu --"},
	{name: "slim LTO and .zdebug", rules: []string{"refused", "status"}, ours: ": .debug_info+0x", holds: anyFile(zdebugSlim),
		says:  "Damaged DWARF is an error.", // objcopy compresses the sections, and leaves their names and flags
		shows: "gcc//kfuncs.c/o gcc/-O2,-gdwarf-4,-flto/odd.c/o/zlibgnu -- --btf_features=force_cu_merging"},
	{name: "32 bits and llvm-objcopy", rules: []string{"surplus", "bytes", "distilled", "lines"}, holds: anyFile(llvmCompressed32),
		says:  "Files of 32 bits whose debug sections `llvm-objcopy` has compressed",
		shows: "gcc/-m32/plain.c/o/llvmzlib --"},
	{name: "unknown language", rules: []string{"status", "refused"}, ours: "unknown language", holds: func(c *trial, _ finding) bool { return len(c.opts) > 1 },
		says:  "An unknown language is an error also in a list that a later one replaces",
		shows: "gcc//plain.c/o -- --lang=klingon --lang_exclude=rust"},
	{name: "misread relocations", rules: []string{"bytes", "distilled", "surplus", "missing", "lines"}, holds: anyFile(hasPart("mips64el", "/sh-")),
		says:  "For 64-bit little-endian MIPS and SuperH the names are wrong",
		shows: "tree/encode/testdata/golden/mips64el-gcc5-r.elf --"},
	{name: "relocations left out", rules: []string{"bytes", "distilled"}, holds: anyFile(hasPart("bpf", "hppa")),
		says:  "for PA-RISC, pahole leaves out all functions",
		shows: "tree/encode/testdata/golden/hppa-gcc4-r.elf --"},
	{name: "other machines", rules: []string{"status", "refused"}, ours: "relocations of machine",
		says:  "It refuses others.",
		shows: "clang@avr//clash.c/o --"},
	{name: "one without DWARF", rules: []string{"status", "refused"}, ours: "no DWARF debug information", holds: severalFiles,
		says:  "Of several inputs, each must have DWARF.",
		shows: "tree/encode/testdata/golden/x86-gcc4.elf gcc//plain.c/o/strip --"},
	{name: "debug file without DWARF", rules: []string{"status", "refused"}, ours: "debug: no .debug_info",
		says:  "A separate debug file without DWARF is an error",
		shows: "tree/encode/testdata/golden/x86-gcc4.elf gcc/-O2,-gdwarf-5/code.S/o/debuglink --"},
	{name: "no ELF file", rules: []string{"status", "refused"}, ours: "bitcode of LLVM",
		says:  "An input that is not an ELF file is an error",
		shows: "clang/-flto/plain.c/o --"},
	{name: "kfuncs of a debug file", rules: []string{"status", "refused"}, ours: "so kernel functions cannot be told",
		says:  "A debug file without the contents of `.BTF_ids` is an error",
		shows: "gcc//kfuncs.c/o/onlydebug -- --btf_features=default"},
	{name: "lines of merged units", rules: []string{"lines"}, holds: merged,
		says:  "the lines about functions that are missing from the symbol table follow the types of their unit, not all types",
		shows: "tree/encode/testdata/golden/x86-gcc4.elf -- --btf_features=force_cu_merging -V"},
	{name: "pointers of two sizes", rules: []string{"verify"}, holds: twoSizes,
		says:  "`verify` goes by the size of `long`",
		shows: "gcc/-m32/plain.c/o gcc//odd.c/r --"},
	{name: "merged split DWARF", rules: []string{"status", "refused"}, ours: "split DWARF is not supported in files whose units are merged",
		says:  "Split DWARF whose units have to be merged (`force_cu_merging`) is refused.",
		shows: "tree/encode/testdata/splitdwarf/x86-gcc5/prog -- --btf_features=default,force_cu_merging"},
	{name: "variables of type units", rules: []string{"own"}, ours: "", holds: extraOfTypeUnit,
		says:  "Variables whose type is in a type unit are refused.",
		shows: "tree/encode/testdata/typeunits/x86-gcc4.elf -- --btf_features=default --extra_vars"},
	{name: "DWARF 5 dwz -m", rules: []string{"pahole crashes", "bytes", "distilled"}, holds: anyFile(hasPart("/dwz/")),
		says:  "pahole crashes or loses types with alternate files of DWARF 5",
		shows: "tree/encode/testdata/dwz/x86-gcc5-sup.elf --"},
	{name: "names in dwz -m", rules: []string{"surplus", "bytes", "distilled"}, holds: anyFile(stringsApart), // beside other files, functions are lost
		says:  "finds no names if only strings are there",
		shows: "clang/-gdwarf-4/const.c/exe/dwzm --"},
	{name: "no symbols", rules: []string{"surplus", "distilled", "over nothing"}, holds: withoutSymbols,
		says:  "pahole fails if the file itself has no symbols",
		shows: "tree/encode/testdata/debugfile/x86-gcc5.stripped.elf --"},
	{name: "BTF as input", rules: []string{"bytes"}, holds: func(c *trial, _ finding) bool {
		return slices.Contains(c.opts, "--format_path=btf,dwarf") && anyEncoded(c)
	},
		says:  "pahole copies the BTF that a file has",
		shows: "gcc//tags.c/so gcc//plain.c/so/encoded -- --format_path=btf,dwarf"},
	{name: "byte order of the base", rules: []string{"refused", "status"}, ours: "byte order differs from the base's",
		says:  "A base in another byte order than the file is an error",
		shows: "tree/encode/testdata/golden/s390x-gcc5.elf -- --btf_base=tree/encode/testdata/golden/x86-gcc4.elf --btf_compat=libbpf-1.7"},
}

func severalFiles(c *trial, _ finding) bool { return len(c.files) > 1 }

func extraOfTypeUnit(_ *trial, f finding) bool {
	return strings.Contains(f.our.stderr, "extra variable whose type is in a type unit")
}

// anyFile holds where an input, or what the base was made of, does.
func anyFile(holds func(name string) bool) func(*trial, finding) bool {
	return func(c *trial, _ finding) bool {
		return slices.ContainsFunc(c.files, holds) || slices.ContainsFunc(c.bases, holds)
	}
}

// twoSizes holds for inputs for 32-bit and 64-bit machines.
func twoSizes(c *trial, _ finding) bool {
	classes := map[elf.Class]bool{}
	for _, name := range slices.Concat(c.files, c.bases) {
		if k, err := kindOf(name); err == nil {
			class := k.elf.Class
			if strings.Contains(name, "gnux32") {
				class = elf.ELFCLASS32
			}
			classes[class] = true
		}
	}
	return len(classes) > 1
}

// merged holds for cases whose units may be merged.
func merged(c *trial, f finding) bool {
	return c.has("force_cu_merging") || anyFile(hasPart("lto", "dwz", "alt", "thin", "slim"))(c, f)
}

// hasPart holds for names that contain one of parts.
func hasPart(parts ...string) func(string) bool {
	return func(name string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(name, p) })
	}
}

func typeUnits(name string) bool {
	return hasPart("-fdebug-types-section", "/typeunits/")(name)
}

func partialLTO(name string) bool {
	return strings.Contains(name, "-flto,-ffat-lto-objects") && strings.Contains(name, "/r")
}

// zdebugLTO holds for fat objects whose sections were renamed when compressed.
func zdebugLTO(name string) bool {
	return strings.Contains(name, "-flto,-ffat-lto-objects") && strings.Contains(name, "zlibgnu")
}

// zdebugSlim is zdebugLTO for objects without code.
func zdebugSlim(name string) bool {
	return strings.Contains(name, "gcc/") && strings.Contains(name, "-flto") && !strings.Contains(name, "-ffat") && strings.HasSuffix(name, "/o/zlibgnu")
}

// stringsApart holds for files whose alternate file has strings alone.
func stringsApart(name string) bool {
	k, err := kindOf(name)
	if err != nil || !strings.Contains(name, "/dwzm") {
		return false
	}
	f, err := elf.Open(filepath.Join(k.dir, "x.alt"))
	if err != nil {
		return false
	}
	defer f.Close()
	return f.Section(".debug_info") == nil
}

// llvmCompressed32 holds for files that elfutils cannot read.
func llvmCompressed32(name string) bool {
	k, err := kindOf(name)
	return err == nil && strings.HasSuffix(name, "/llvmzlib") && k.elf.Class == elf.ELFCLASS32
}

// ofKernel holds for files that a kernel or a module may be made of.
func ofKernel(name string) bool {
	k, err := kindOf(name)
	if err != nil {
		return false
	}
	f, err := elf.Open(filepath.Join(k.dir, k.main))
	if err != nil {
		return false
	}
	defer f.Close()
	for _, section := range []string{".BTF_ids", ".modinfo", "__ksymtab_strings", ".gnu.linkonce.this_module"} {
		if f.Section(section) != nil {
			return true
		}
	}
	symbols, _ := f.Symbols()
	return slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return s.Name == "linux_banner" })
}

// withoutSymbols holds where pahole finds no symbol table.
func withoutSymbols(c *trial, f finding) bool {
	return strings.Contains(f.pahole.stderr, "Error creating BTF encoder") || anyFile(hasPart(".stripped.elf"))(c, f)
}

// nameAndLanguage holds for merged units that are left out by names and by languages.
func nameAndLanguage(c *trial, f finding) bool {
	some := func(prefixes ...string) bool {
		return slices.ContainsFunc(c.opts, func(o string) bool {
			return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(o, p) })
		})
	}
	return merged(c, f) && some("-X", "--cu_exclude") && some("--lang_exclude", "PAHOLE_LANG_EXCLUDE")
}

func splitDWARF(name string) bool {
	return hasPart("-gsplit-dwarf", "/splitdwarf/")(name)
}

// explain is the row that the finding is of, or nil.
func explain(c *trial, f finding) *known {
	for i := range knownDifferences {
		k := &knownDifferences[i]
		if slices.Contains(k.rules, f.rule) && strings.Contains(f.our.stderr, k.ours) && (k.holds == nil || k.holds(c, f)) {
			return k
		}
	}
	return nil
}

// TestKnown: each row has words in the documents, and its case still shows it.
func TestKnown(t *testing.T) {
	var documents strings.Builder
	for _, pattern := range []string{"*.md", "docs/*", "btflite*.1", "man/*"} {
		names, _ := filepath.Glob(filepath.Join(root, pattern))
		for _, name := range names {
			data, _ := os.ReadFile(name)
			documents.WriteString(strings.Join(strings.Fields(strings.ReplaceAll(string(data), `\-`, "-")), " ") + " ")
		}
	}
	for i := range knownDifferences {
		k := &knownDifferences[i]
		t.Run(k.name, func(t *testing.T) {
			if !strings.Contains(documents.String(), strings.Join(strings.Fields(k.says), " ")) {
				t.Errorf("no document says %q", k.says)
			}
			c, err := parseTrial(k.shows)
			if err != nil {
				t.Fatal(err)
			}
			found, err := judgeTrial(c)
			if err != nil {
				t.Skip(err) // a compiler is missing
			}
			if pahole == "" {
				t.Skip("no pahole 1.32")
			}
			for _, f := range found {
				if explain(c, f) == k {
					return
				}
			}
			t.Errorf("stale: %s\nshows %v", c, found)
		})
	}
}
