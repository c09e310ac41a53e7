// Command bench measures btflite beside pahole and beside a bare scan of all
// DIEs, and writes BENCHMARKS.md, the picture and the figures of the README.
//
//	go run ./bench [-kernels=NAME,...] [-only=time,phases,growth,floor,modules,modulecosts,readers,records,shape] [-n=5]
//
// These parts run only if -only names them. modules compares kernel modules with pahole's,
// file by file. modulecosts measures them. readers measures the commands that print types
// with the programs that print the same. records measures two build folders (-dwarf,
// -records) of a kernel, with and without unit records. See the files of these names.
//
// The part shape measures no program but the source: it prints how long functions
// and how large types are, of the module in the current folder and of those in
// the folders that -tree names. docs/results/shape.md has the table.
//
// Kernels and pahole come from scripts/kernels.sh. Programs run in turns, each
// one in every round, so that a machine that slows down slows all of them.
// Samples are kept in bench/results.json: a run with -only replaces its part of
// them, and -render writes the report again without measuring. On another machine,
// or with another compiler, the samples begin afresh: what is not measured there is
// not in the report.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/btflite/btflite/bench/shape"
	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/gobuild"
)

// config has the values of the flags.
type config struct {
	skipPaholeFloor bool
	n               int
	jobs            []int
	kernels         []string
	main            string // kernel whose floors, phases and growth the report shows
	measured        string // kernel whose floors, phases and growth are measured: main, if it is among kernels
	parts           []string
	corpus          string
	pahole          string
	btflite         string
	to              string // folder of what is written
	render          bool

	sample     int    // modules that pahole is measured on
	allModules bool   // compare all, not only those that pahole has encoded before
	trees      string // folders whose shape is measured

	dwarfTree, recordTree, configuration string // of the part records
}

// parts has the parts of the benchmark, in the order in which they run. Without -only the first
// four run.
var parts = []struct {
	name    string
	measure func(*bench, context.Context) error
}{
	{"time", (*bench).times},
	{"phases", (*bench).phases},
	{"growth", (*bench).growth},
	{"floor", (*bench).floors},
	{"modules", (*bench).modules},
	{"modulecosts", (*bench).moduleCosts},
	{"readers", (*bench).readers},
	{"records", (*bench).records},
}

// partShape stands alone: nothing is run for it.
const partShape = "shape"

func (c *config) resultsFile() string { return filepath.Join(c.to, "bench/results.json") }

func parseFlags() (*config, error) {
	c := new(config)
	var known []string
	for _, p := range parts {
		known = append(known, p.name)
	}
	var jobs, kernels, only string
	flag.IntVar(&c.n, "n", 5, "`runs` of each program")
	flag.StringVar(&jobs, "j", "1,2,4", "worker `counts`, separated by commas")
	flag.StringVar(&kernels, "kernels", "", "`names` of kernels, separated by commas (default all in the corpus)")
	flag.StringVar(&c.main, "main", "v72-amd64", "`name` of the kernel for floors, phases and growth")
	flag.BoolVar(&c.skipPaholeFloor, "skip_pahole_floor", false, "leave pahole's cgroup floor out, which takes several minutes")
	flag.StringVar(&only, "only", strings.Join(known[:4], ","), "`parts` to measure, of "+strings.Join(known, ", ")+", or "+partShape)
	flag.StringVar(&c.to, "to", ".", "`folder` whose bench/results.json, BENCHMARKS.md, README.md and bench/plots are written")
	flag.IntVar(&c.sample, "sample", 200, "`number` of modules of each kernel that pahole is measured on")
	flag.BoolVar(&c.allModules, "all_modules", false, "compare all modules: let pahole make the outputs that are missing in the corpus")
	flag.StringVar(&c.trees, "tree", ".", "`folders` of modules whose shape is measured, separated by commas")
	flag.StringVar(&c.dwarfTree, "dwarf", "", "build `folder` of a kernel with DWARF, for the part records")
	flag.StringVar(&c.recordTree, "records", "", "build `folder` of the same kernel with unit records")
	flag.StringVar(&c.configuration, "configuration", "small", "`name` of its configuration, for the report")
	flag.BoolVar(&c.render, "render", false, "only write the report from the samples there are")
	flag.Parse()
	if flag.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", flag.Arg(0))
	}
	if c.n < 1 {
		return nil, fmt.Errorf("-n=%d: want at least one run", c.n)
	}
	var err error
	if c.jobs, err = jobCounts(jobs); err != nil {
		return nil, err
	}
	c.parts = strings.Split(only, ",")
	if c.render || only == partShape {
		return c, nil
	}
	for _, p := range c.parts {
		if !slices.Contains(known, p) {
			return nil, fmt.Errorf("-only: unknown part %q; there are %s, and %s by itself", p, strings.Join(known, ", "), partShape)
		}
	}
	return c, c.findCorpus(kernels)
}

// jobCounts reads a list of counts.
func jobCounts(list string) ([]int, error) {
	var counts []int
	for _, word := range strings.Split(list, ",") {
		j, err := strconv.Atoi(word)
		if err != nil || j < 1 {
			return nil, fmt.Errorf("-j: %q is not a number of workers", word)
		}
		counts = append(counts, j)
	}
	return counts, nil
}

// findCorpus completes the configuration with what scripts/kernels.sh fetched.
func (c *config) findCorpus(kernels string) (err error) {
	c.corpus = corpus.Dir()
	if c.pahole, err = filepath.Abs(corpus.Program("pahole")); err != nil {
		return err
	}
	if kernels != "" {
		c.kernels = strings.Split(kernels, ",")
	} else {
		var err error
		if c.kernels, err = corpus.KernelNames(); err != nil {
			return err
		}
	}
	if c.measured = c.main; !slices.Contains(c.kernels, c.main) {
		c.measured = c.kernels[0]
	}
	return nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	c, err := parseFlags()
	if err != nil {
		return err
	}
	if c.render {
		r, err := read(c.resultsFile())
		if err != nil {
			return err
		}
		return writeReport(r, c)
	}
	if slices.Equal(c.parts, []string{partShape}) {
		table, err := shape.Table(strings.Split(c.trees, ",")...)
		fmt.Print(table)
		return err
	}
	dir, err := os.MkdirTemp("", "btflite-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, err := prepare(ctx, c, dir)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if !slices.Contains(c.parts, p.name) {
			continue
		}
		if err := p.measure(b, ctx); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if err := b.results.save(c.resultsFile()); err != nil {
			return err
		}
	}
	return writeReport(b.results, c)
}

// bench is one run of this program.
type bench struct {
	*config
	runner  runner
	results *Results
	scan    string // bare scan
}

// prepare builds the programs and loads earlier results.
func prepare(ctx context.Context, c *config, dir string) (*bench, error) {
	b := &bench{config: c, runner: runner{measure: filepath.Join(dir, "measure"), dir: dir}}
	if err := gobuild.Command(b.runner.measure, "bench/measure", "-trimpath"); err != nil {
		return nil, err
	}
	c.btflite = filepath.Join(dir, "btflite")
	if err := gobuild.Command(c.btflite, "cmd/btflite", "-trimpath", "-pgo=cmd/btflite/btflite.pgo"); err != nil {
		return nil, err
	}
	b.scan = filepath.Join(dir, "yardstick")
	if err := gobuild.Command(b.scan, "bench/yardstick", "-trimpath"); err != nil {
		return nil, err
	}
	machine := thisMachine()
	version, err := exec.CommandContext(ctx, c.pahole, "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("pahole: %w; get it with: scripts/kernels.sh pahole", err)
	}
	machine.Pahole = strings.TrimPrefix(strings.TrimSpace(string(version)), "v")
	machine.Options = features
	b.results, err = load(c.resultsFile(), machine)
	return b, err
}

// say reports progress.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...)
}
