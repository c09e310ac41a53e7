// Mutants measures how strong a package's tests are: it puts one small fault
// at a time into the package, runs the package's own tests and lists the faults
// that they do not notice. A fault is a comparison turned round or off by one,
// plus for minus, "and" for "or", a dropped negation, or a constant of a bound
// one too large. The compiler gets the changed file as an overlay, so that the
// tree stays as it is.
//
// With -by the tests of other packages judge, in turn until one notices: those
// of the package that uses this one, or a quick part of the tests first.
//
//	go run ./test/mutants [-n 40] [-seed 1] [-workers 1] [-short] [-at FILE:LINE] [-run TESTS] ./btf
//	go run ./test/mutants -by './internal/unit,./encode:Golden|Rules,./encode' ./internal/unit
package main

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// verdict is what the tests say about a fault.
type verdict int

const (
	noticed verdict = iota // a test failed or took too long
	alive                  // every test passed
	unbuilt                // the compiler noticed: no fault for the tests
)

func main() {
	n := flag.Int("n", 0, "judge a random sample of this many faults that build (0: every fault)")
	seed := flag.Uint64("seed", 1, "seed of the sample")
	workers := flag.Int("workers", 1, "number of test runs at the same time")
	limit := flag.Duration("limit", 0, "longest run of the tests (0: ten seconds and five times a run without a fault)")
	only := flag.String("run", "", "only tests that match this")
	by := flag.String("by", "", "tests that judge, `PACKAGE[:TESTS],...` (empty: the tests of PACKAGE)")
	short := flag.Bool("short", false, "run the tests with -short")
	at := flag.String("at", "", "only faults whose FILE:LINE begins with this")
	report := flag.String("o", "", "write a row into the table of this `FILE`")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: mutants [options] PACKAGE")
		os.Exit(2)
	}
	r, err := run(os.Stdout, flag.Arg(0), suiteOf(flag.Arg(0), *by, *only, *short), *at, *n, *seed, *workers, *limit)
	if err == nil && *report != "" {
		r.tests, r.seed = strings.Trim(*by+" "+*only, " "), *seed
		err = r.write(*report)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, pkg string, by suite, at string, n int, seed uint64, workers int, limit time.Duration) (sample, error) {
	files, err := goFiles(pkg)
	if err != nil {
		return sample{}, err
	}
	var all []fault
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			return sample{}, err
		}
		found, err := faults(name, src)
		if err != nil {
			return sample{}, err
		}
		for _, f := range found {
			if strings.HasPrefix(place(f), at) {
				all = append(all, f)
			}
		}
	}
	start := time.Now()
	if out, err := by.run(10*time.Minute, ""); err != nil {
		return sample{}, fmt.Errorf("the tests that judge %s fail without a fault: %w\n%s", pkg, err, out)
	}
	if limit == 0 {
		limit = 10*time.Second + 5*time.Since(start)
	}
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	if n == 0 {
		n = len(all)
	}
	counts, err := judge(w, by, all, n, workers, limit)
	fmt.Fprintf(w, "%s: of %d faults %d were noticed, %d live on; %d more did not build; %d possible faults\n",
		pkg, counts[noticed]+counts[alive], counts[noticed], counts[alive], counts[unbuilt], len(all))
	return sample{pkg: pkg, tried: counts[noticed] + counts[alive], noticed: counts[noticed], possible: len(all)}, err
}

// judge tries the faults in their order until n have built, and prints those
// that live on.
func judge(w io.Writer, by suite, all []fault, n, workers int, limit time.Duration) (counts [3]int, failed error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	next, running := 0, 0
	more := sync.NewCond(&mu)
	for range workers {
		wg.Go(func() {
			mu.Lock()
			defer mu.Unlock()
			for {
				// A fault under way may turn out not to build.
				for running > 0 && counts[noticed]+counts[alive]+running >= n {
					more.Wait()
				}
				if failed != nil || next == len(all) || counts[noticed]+counts[alive] >= n {
					return
				}
				f := all[next]
				next++
				running++
				mu.Unlock()
				v, err := by.try(f, limit)
				mu.Lock()
				running--
				more.Broadcast()
				if err != nil {
					failed = err
					return
				}
				counts[v]++
				if v == alive {
					fmt.Fprintf(w, "%s: %q becomes %q in %s\n", place(f), f.old, f.new, strings.Join(strings.Fields(f.context), " "))
				}
			}
		})
	}
	wg.Wait()
	return counts, failed
}

func place(f fault) string { return fmt.Sprintf("%s:%d", filepath.Base(f.file), f.line) }
