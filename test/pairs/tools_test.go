package pairs

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/btflite/btflite/test/corpus"
)

// A kind of input file has a name of words between slashes, from which the file
// can be made again:
//
//	tree/PATH                          a file of the repository
//	corpus/PATH                        a kernel or module of the corpus
//	TOOL/FLAG,…/SOURCE,…/FORM[/POST…]  compiled from testdata
//
// A TOOL is a compiler, with @TARGET for one that clang has. A FORM is what it
// gives: o an object, r a partial link as of modules, exe, so. A POST changes the
// file afterwards.

// tool is a compiler with what it takes.
type tool struct {
	name  string
	flags [][]string // one or none of each row
	forms []string
	posts []string
	langs string // ends of the names of its sources
}

var (
	levels    = []string{"-O0", "-O1", "-O2", "-Os"}
	dwarfs    = []string{"-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5", "-gdwarf-4", "-gdwarf-5"}
	newDwarfs = []string{"-gdwarf-4", "-gdwarf-5"}
	standards = []string{"", "", "", "-std=gnu89", "-std=gnu99", "-std=gnu11", "-std=gnu17"}
	squeezed  = []string{"", "", "", "-gz=zlib"}
	changes   = []string{"zlib", "zlibgnu", "zstd", "llvmzlib", "dwz", "dwzm", "debuglink", "onlydebug", "strip", "encoded"}
	gccMore   = []string{"", "", "", "", "-fdebug-types-section", "-gsplit-dwarf", "-flto", "-flto,-ffat-lto-objects", "-gstrict-dwarf", "-gdwarf64",
		"-g1", "-fcommon", "-fno-eliminate-unused-debug-types", "-femit-struct-debug-baseonly", "-ffunction-sections"}
	clangMore = []string{"", "", "", "", "-fdebug-types-section", "-gsplit-dwarf", "-flto", "-flto=thin", "-gline-tables-only", "-fstandalone-debug",
		"-fcommon", "-ffunction-sections", "-gdwarf64"}
	crossMore = []string{"", "", "", "-fdebug-types-section", "-gdwarf64"}
)

const (
	langsC   = ".c.S"
	langsCxx = ".cc"
)

var tools = []tool{
	{"gcc", [][]string{levels, dwarfs, standards, squeezed, gccMore, {"", "", "", "-m32"}}, []string{"o", "r", "exe", "so"}, changes, langsC},
	{"clang", [][]string{levels, dwarfs, standards, squeezed, clangMore, {"", "", "", "-m32"}}, []string{"o", "r", "exe", "so"}, changes, langsC},
	{"g++", [][]string{levels, newDwarfs, gccMore}, []string{"o", "r", "so"}, changes, langsCxx},
	{"clang++", [][]string{levels, newDwarfs, clangMore}, []string{"o", "r", "so"}, changes, langsCxx},
	{"rustc", nil, []string{"o"}, []string{"zlib", "strip"}, ".rs"},
	{"aarch64-linux-gnu-gcc", [][]string{levels, newDwarfs, crossMore}, []string{"o", "r", "exe"}, nil, langsC},
	{"s390x-linux-gnu-gcc", [][]string{levels, newDwarfs, crossMore}, []string{"o", "r", "exe"}, nil, langsC},
	{"arm-linux-gnueabihf-gcc", [][]string{levels, newDwarfs, crossMore}, []string{"o", "r", "exe"}, nil, langsC},
	target("aarch64_be"), target("armeb"), target("riscv64"), target("riscv32"), target("s390x"), target("powerpc"), target("powerpc64"), target("powerpc64le"),
	target("mips"), target("mipsel"), target("mips64"), target("mips64el"), target("sparc"), target("sparcv9"), target("hexagon"),
	target("bpf"), target("bpfeb"), target("m68k"), target("avr"), target("x86_64-linux-gnux32"),
}

// target is clang for another machine, of which it has no linker here.
func target(name string) tool {
	return tool{"clang@" + name, [][]string{levels, newDwarfs, crossMore}, []string{"o"}, nil, langsC}
}

// sourceNames are the sources that the tool takes.
func (t *tool) sourceNames() (names []string) {
	entries, _ := os.ReadDir("testdata")
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); ext != "" && strings.Contains(t.langs+".", ext+".") {
			names = append(names, e.Name())
		}
	}
	return names
}

// treeFiles are the files of the repository that are kinds.
func treeFiles() (names []string) {
	for _, pattern := range []string{"golden/*.elf", "typeunits/*.elf", "dwz/*.elf", "leftout/*.elf", "debugfile/*.elf", "splitdwarf/*/prog"} {
		found, _ := filepath.Glob(filepath.Join(root, "encode/testdata", pattern))
		for _, f := range found {
			rel, _ := filepath.Rel(root, f)
			names = append(names, "tree/"+filepath.ToSlash(rel))
		}
	}
	for _, rel := range []string{"testdata/small/small", "testdata/inputs/a.o", "testdata/inputs/b.o", "testdata/inputs/c.o",
		"testdata/inputs/abc", "testdata/inputs/cab", "testdata/inputs/c11", "testdata/inputs/c99"} {
		names = append(names, "tree/"+rel)
	}
	return names
}

// modules are the small modules of a kernel of the corpus, nil if there are none.
func modules(kernel string) (names []string) {
	const small = 300 << 10
	filepath.WalkDir(filepath.Join(corpus.Dir(), "modules", kernel), func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".ko" {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Size() < small {
			rel, _ := filepath.Rel(corpus.Dir(), path)
			names = append(names, "corpus/"+filepath.ToSlash(rel))
		}
		return nil
	})
	return names
}

// besides are the ends of names of files that belong to the one beside them.
var besides = []string{".alt", ".dwo", ".dwp", ".debug"}
