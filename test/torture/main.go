//go:build linux

// Command torture damages ELF files and has btflite and pahole encode them.
//
// Every seed, an undamaged file that a compiler wrote, gives a number of
// mutants; which ones depends on the seed's name and the mutant's number
// only. Each mutant is encoded by a process of its own, with limits of time and
// memory, and what comes of it is sorted into outcomes (see outcome). Outputs
// are judged by package verify and by the running kernel where it is able to.
// The figures go into docs/results/torture.md, behind the line that says so.
//
//	go run ./test/torture                      all seeds, 2,000 mutants each
//	go run ./test/torture -n 50 -out /dev/null a look, without a report
//	go run ./test/torture -gen x86-gcc5:17     write one mutant to standard output
//	go run ./test/torture -features=default,inline -out /dev/null
//	go run ./test/torture -several 10000       runs with several inputs each (several.go)
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

var (
	mutants  = flag.Int("n", 2000, "mutants of each seed")
	only     = flag.String("seeds", "", "only seeds whose name contains this")
	gen      = flag.String("gen", "", "write the mutant SEED:NUMBER and exit")
	several  = flag.Int("several", 0, "make this many runs with several inputs, damaged and whole ones, and nothing else")
	severalG = flag.String("several_gen", "", "NUMBER:FOLDER: put the inputs of that run into the folder, print its command, and exit")
	report   = flag.String("out", "docs/results/torture.md", "the report: everything after its marker is written anew")
	keep     = flag.String("keep", "", "keep mutants with bad outcomes of btflite in this folder")
	jobs     = flag.Int("j", runtime.NumCPU(), "processes at once")
	features = flag.String("features", "default", "the features to encode with; pahole passes over those that it does not know")
	btflite  = flag.String("btflite", "./btflite", "the btflite to run")
	pahole   = flag.String("pahole", os.Getenv("BTFLITE_PAHOLE"), "the pahole to run beside it; empty for none")
	paholeN  = flag.Int("pahole_n", 1<<30, "run pahole on the first mutants of each seed only")
	inPlaceN = flag.Int("in_place_n", 250, "encode the first mutants of each seed into the file itself, too")
	scratch  = flag.String("tmp", "/dev/shm", "where to keep the mutants while they are encoded")
)

func main() {
	os.Setenv("GOMAXPROCS", "4") // for the programs: there are at most as many workers as threads
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(1)
	}
}

func run() error {
	seeds, err := loadSeeds()
	if err != nil {
		return err
	}
	if *several > 0 || *severalG != "" {
		many, err := manyFunctions()
		if err != nil {
			return err
		}
		seeds = append(seeds, many)
	}
	if *gen != "" {
		return generate(seeds)
	}
	if number, dir, ok := strings.Cut(*severalG, ":"); ok {
		n, err := strconv.Atoi(number)
		if err != nil {
			return fmt.Errorf("-several_gen: want NUMBER:FOLDER")
		}
		return generateSeveral(seeds, n, dir)
	}
	if *several > 0 {
		return runSeveral(seeds, *several)
	}
	c, err := newCampaign()
	if err != nil {
		return err
	}
	defer os.RemoveAll(c.dir)
	for _, s := range seeds {
		if !strings.Contains(s.name, *only) {
			continue
		}
		if err := c.prepare(s); err != nil {
			return err
		}
		c.seeds = append(c.seeds, s)
	}
	work := make(chan [2]int)
	var group sync.WaitGroup
	for worker := range *jobs {
		group.Go(func() {
			for w := range work {
				c.one(worker, c.seeds[w[0]], w[1])
			}
		})
	}
	for i := range c.seeds {
		for n := range *mutants {
			work <- [2]int{i, n}
		}
		fmt.Fprintf(os.Stderr, "%s sent; so far bad: %d\n", c.seeds[i].name, c.bad())
	}
	close(work)
	group.Wait()
	if c.err != nil {
		return c.err
	}
	if err := c.writeReport(*report); err != nil {
		return err
	}
	if n := c.bad(); n > 0 {
		return fmt.Errorf("%d mutants have an outcome that must not be", n)
	}
	return nil
}

// seedNames are the seeds, below encode/testdata: gcc and clang, DWARF 2 to 5
// and 64-bit DWARF, ET_EXEC and ET_REL, LTO, dwz, type units, compressed sections,
// 32 bits, big endian, type tags, ten machines.
var seedNames = []string{
	"golden/arm-gcc4", "golden/arm64-gcc4-r", "golden/arm64-gcc5", "golden/i386-gcc4", "golden/i386-gcc4-zgnu",
	"golden/i386-gcc5-r", "golden/loong64-clang5-o", "golden/mips-gcc4-r", "golden/mips64el-gcc5-r",
	"golden/ppc-clang4-o", "golden/ppc64-gcc4-r", "golden/ppc64le-gcc5-r", "golden/riscv64-gcc5-r", "golden/s390x-gcc2",
	"golden/s390x-gcc4-dwz", "golden/s390x-gcc5-lto", "golden/s390x-gcc5-zlib", "golden/x86-clang4-lto",
	"golden/x86-clang4-o", "golden/x86-clang5", "golden/x86-clang5-lto", "golden/x86-gcc3-O0", "golden/x86-gcc4",
	"golden/x86-gcc5", "golden/x86-gcc5-64", "golden/x86-gcc5-dwz", "golden/x86-gcc5-dyn", "golden/x86-gcc5-lto",
	"golden/x86-gcc5-r", "golden/x86-gcc5-zstd", "golden/x86-tags", "typeunits/x86-gcc4", "typeunits/s390x-gcc5",
}

// loadSeeds reads the seeds.
func loadSeeds() (seeds []*seed, err error) {
	for _, name := range seedNames {
		data, err := os.ReadFile(filepath.Join("encode/testdata", name+".elf"))
		if err != nil {
			return nil, fmt.Errorf("%w; run it in the top folder of the repository", err)
		}
		s, err := newSeed(strings.TrimPrefix(name, "golden/"), data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		seeds = append(seeds, s)
	}
	return seeds, nil
}

// generate writes one mutant.
func generate(seeds []*seed) error {
	name, number, _ := strings.Cut(*gen, ":")
	n, err := strconv.Atoi(number)
	if err != nil {
		return fmt.Errorf("-gen: want SEED:NUMBER")
	}
	for _, s := range seeds {
		if s.name == name {
			data, kind := s.mutate(n)
			fmt.Fprintln(os.Stderr, kind)
			_, err := os.Stdout.Write(data)
			return err
		}
	}
	return fmt.Errorf("no seed %s", name)
}
