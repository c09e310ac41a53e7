package ccobject

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

// typeMaker writes C files that declare types of the same names: some define a struct
// that others only declare, some define it otherwise. So what a unit has of a type that
// is known may be all of it, or not enough.
type typeMaker struct {
	random  *rand.Rand
	structs int // names there are
	rarity  int // one definition of so many is another one
	text    strings.Builder
}

// pick is one of the words.
func (m *typeMaker) pick(words ...string) string { return words[m.random.IntN(len(words))] }

// member is a member, of a struct that may only point to other structs.
func (m *typeMaker) member(name string) string {
	other := fmt.Sprintf("struct s%d", m.random.IntN(m.structs))
	return m.pick("int ", "unsigned long ", "const char *", other+" *", other+" **", "t0 ", "e0 ", "t1 *",
		"union { int x; "+other+" *y; } ", "struct { "+other+" *p; long n; } ") + name + m.pick(";", ";", ";", "[4];")
}

// structure defines struct k. Nearly all files have variant 0.
func (m *typeMaker) structure(k, variant int) string {
	own := &typeMaker{random: rand.New(rand.NewPCG(uint64(k), uint64(variant))), structs: m.structs}
	s := fmt.Sprintf("struct s%d {\n", k)
	for j := range 1 + own.random.IntN(6) {
		s += "\t" + own.member("m"+strconv.Itoa(j)) + "\n"
	}
	if own.random.IntN(3) == 0 {
		s += "\tint (*call)(struct s" + strconv.Itoa(own.random.IntN(m.structs)) + " *, t0 n);\n\tunsigned bits : 3, more : 7;\n"
	}
	return s + "};\n"
}

// file is a C file, whose functions make the compiler keep its types.
func (m *typeMaker) file(n int) string {
	m.text.Reset()
	m.text.WriteString("typedef unsigned long t0; typedef enum { A, B = 7, C } e0;\n")
	if m.random.IntN(4) == 0 {
		m.text.WriteString("struct s1; typedef struct s1 t1;\n")
	} else {
		m.text.WriteString("typedef struct { int counter; t0 *next; } t1;\n")
	}
	defined := m.random.Perm(m.structs)[:1+m.random.IntN(m.structs)]
	if m.random.IntN(3) > 0 {
		slices.Sort(defined)
	}
	for _, k := range defined {
		variant := 0
		if m.random.IntN(m.rarity) == 0 {
			variant = 1 + m.random.IntN(2)
		}
		m.text.WriteString(m.structure(k, variant))
	}
	for j, k := range defined {
		fmt.Fprintf(&m.text, "struct s%d v%d_%d; int f%d_%d(struct s%d *p, t0 n, struct s%d *q, const e0 *e) { return p != 0 && n && q == 0 && e; }\n",
			k, n, j, n, j, k, m.random.IntN(m.structs))
	}
	if m.random.IntN(2) == 0 {
		fmt.Fprintf(&m.text, "int byvalue%d(struct s%d x, t1 *y) { return sizeof x + (y != 0); }\n", n, defined[0])
	}
	return m.text.String()
}

// TestUnits links files that share more or less of their types. Records, whose known types are
// skipped, give the BTF of their DWARF. BTFLITE_PROGRAMS asks for more rounds than three.
func TestUnits(t *testing.T) {
	rounds := 3
	if s := os.Getenv("BTFLITE_PROGRAMS"); s != "" {
		rounds, _ = strconv.Atoi(s)
	}
	for round := range rounds {
		t.Run(strconv.Itoa(round), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			m := typeMaker{random: rand.New(rand.NewPCG(uint64(round), 16)), structs: 4 + round%3*20, rarity: 8 << (round & 3)}
			var dwarf, records []string
			for n := range 14 {
				name := fmt.Sprintf("u%d", n)
				testfile.Write(t, filepath.Join(dir, name+".c"), m.file(n))
				run(t, dir, "gcc", "-g", "-O1", "-w", "-c", "-o", name+".o", name+".c")
				record := mustConvert(t, filepath.Join(dir, name+".o"))
				dwarf, records = append(dwarf, name+".o"), append(records, record)
			}
			run(t, dir, append([]string{"ld", "-r", "-o", "dwarf.o"}, dwarf...)...)
			run(t, dir, append([]string{"ld", "-r", "-o", "records.o"}, records...)...)
			sameBTF(t, "round "+strconv.Itoa(round), filepath.Join(dir, "dwarf.o"), filepath.Join(dir, "records.o"))
		})
	}
}

// TestSeveralDefinitions: a struct whose text is the same everywhere is several types,
// because it leads to others that differ. Which of them a unit means that only declares
// those is decided by what came before: known chunks must not decide it.
func TestSeveralDefinitions(t *testing.T) {
	dir := t.TempDir()
	var dwarf, records []string
	for n, variant := range []string{"", "char x;", "", "long y[2];", "", "char x;", "long y[2];", "", "char x;", ""} {
		var c strings.Builder
		for k := range 24 {
			if variant != "" {
				fmt.Fprintf(&c, "struct b%d { %s int k%d; };\n", k, variant, k)
			} else {
				fmt.Fprintf(&c, "struct b%d;\n", k)
			}
			fmt.Fprintf(&c, "struct a%d { struct b%d *p; int n%d; };\n", k, k, k)
			fmt.Fprintf(&c, "int f%d_%d(struct a%d *a, struct b%d **b) { return a && b; }\n", n, k, k, k)
		}
		name := fmt.Sprintf("u%d", n)
		testfile.Write(t, filepath.Join(dir, name+".c"), c.String())
		run(t, dir, "gcc", "-g", "-O1", "-c", "-o", name+".o", name+".c")
		record := mustConvert(t, filepath.Join(dir, name+".o"))
		dwarf, records = append(dwarf, name+".o"), append(records, record)
	}
	run(t, dir, append([]string{"ld", "-r", "-o", "dwarf.o"}, dwarf...)...)
	run(t, dir, append([]string{"ld", "-r", "-o", "records.o"}, records...)...)
	sameBTF(t, "several definitions", filepath.Join(dir, "dwarf.o"), filepath.Join(dir, "records.o"))
}

// TestSeveralUnits: an object with several units, linked of others before it is converted, has
// a record for each one, with its nodes at another place of .debug_abbrev.
func TestSeveralUnits(t *testing.T) {
	source := testfile.Abs(t, "testdata/unit.c")
	for _, cc := range compilers {
		if cc == "clang --target=s390x-linux-gnu" {
			continue // an older lld does not link for it
		}
		t.Run(strings.ReplaceAll(cc, " ", ""), func(t *testing.T) {
			dir := t.TempDir()
			words := strings.Fields(cc)
			m := typeMaker{random: rand.New(rand.NewPCG(5, 7)), structs: 12, rarity: 8}
			objects := []string{"unit.o"}
			run(t, dir, append(slices.Clone(words), "-g", "-O2", "-ffreestanding", "-w", "-c", "-o", "unit.o", source)...)
			for n := range 3 {
				name := "u" + strconv.Itoa(n)
				testfile.Write(t, filepath.Join(dir, name+".c"), m.file(n))
				run(t, dir, append(slices.Clone(words), "-g", "-O2", "-ffreestanding", "-w", "-c", "-o", name+".o", name+".c")...)
				objects = append(objects, name+".o")
			}
			linker := []string{"-r", "-nostdlib", "-o", "all.o"}
			if words[0] == "clang" {
				linker = append(linker, "-fuse-ld=lld")
			}
			run(t, dir, slices.Concat(words, linker, objects)...)
			record := mustConvert(t, filepath.Join(dir, "all.o"))
			sameBTF(t, cc, filepath.Join(dir, "all.o"), record)
		})
	}
}
