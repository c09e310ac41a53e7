//go:build linux

package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
)

// Several inputs in one command: two to four seeds of any machine and byte order,
// each of them damaged or whole, into another file or into the first of them, with
// one to four workers. The number of the run decides all of it.

// severalMarkers enclose the figures of these runs in the report. They lie before
// marker, so that both campaigns can be run without the other.
const (
	severalBegin = "<!-- What follows is written by go run ./test/torture -several=N. -->\n"
	severalEnd   = "<!-- What is above is written by go run ./test/torture -several=N. -->\n"
)

// ensemble is one run with several inputs.
type ensemble struct {
	number  int
	seeds   []*seed
	data    [][]byte
	damaged int
	args    []string // options; the inputs are in0, in1 …
	inPlace bool
}

// manyFunctions is a seed whose function table is far larger than those of the
// others, so that what an input leaves behind in a table is beyond what the next
// one has.
func manyFunctions() (*seed, error) {
	i := dt.N(dt.TagBaseType, dt.Name("int"), dt.Size(4), dt.Encoding(5))
	f := &dt.File{Units: []*dt.Unit{dt.CU(i)}}
	for n := range 3000 {
		name, addr := fmt.Sprintf("function_%d", n), uint64(dt.TextAddr+16*n)
		f.Units[0].Root.Add(dt.N(dt.TagSubprogram, dt.Name(name), dt.Type(i), dt.External(), dt.LowPC(addr)))
		f.Symbols = append(f.Symbols, dt.Func(name, addr))
	}
	return newSeed("many functions", f.Bytes())
}

// newEnsemble returns run n.
func newEnsemble(seeds []*seed, n int) *ensemble {
	r := rand.New(rand.NewPCG(0x5e7e7a1, uint64(n)))
	e := &ensemble{number: n, inPlace: r.IntN(4) == 0}
	features := []string{"default", "all", "default,global_var", "default,+force_cu_merging"}[r.IntN(4)]
	e.args = []string{"-J", fmt.Sprintf("-j%d", 1+r.IntN(4)), "--btf_features=" + features}
	if r.IntN(8) == 0 {
		e.args = append(e.args, "--dedup=exact")
	}
	for range 2 + r.IntN(3) {
		s := seeds[r.IntN(len(seeds))]
		data := s.data
		if r.IntN(3) == 0 {
			data, _ = s.mutate(r.IntN(1 << 20))
			e.damaged++
		}
		e.seeds, e.data = append(e.seeds, s), append(e.data, data)
	}
	return e
}

func (e *ensemble) name(i int) string { return fmt.Sprintf("in%d", i) }

// command is the arguments of the run, in the folder of the inputs.
func (e *ensemble) command() []string {
	args := slices.Clone(e.args)
	for i := range e.data {
		args = append(args, e.name(i))
	}
	if !e.inPlace {
		args = append(args, "--btf_encode_detached=out")
	}
	return args
}

// String tells how to repeat the run.
func (e *ensemble) String() string {
	var names []string
	for _, s := range e.seeds {
		names = append(names, s.name)
	}
	return fmt.Sprintf("-several_gen=%d:DIR (%s %s)", e.number, strings.Join(e.args, " "), strings.Join(names, " "))
}

// put writes the inputs into an empty folder.
func (e *ensemble) put(dir string) error {
	err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o755))
	for i, data := range e.data {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, e.name(i)), data, 0o644))
	}
	return err
}

// attemptSeveral runs btflite on the inputs in dir.
func (c *campaign) attemptSeveral(p program, dir string, e *ensemble, r *result) (outcome, string) {
	state, o, why := c.start(p, dir, e.command(), r)
	if o.bad() {
		return o, why
	}
	changed, ok := e.changed(dir, state.ExitCode() == 0)
	switch {
	case !ok:
		return lost, why
	case state.ExitCode() != 0:
		return cleanError, why
	}
	written, err := readOutput(filepath.Join(dir, e.name(changed)), filepath.Join(dir, "out"), e.inPlace)
	if err != nil || len(written) == 0 {
		return noOutput, fmt.Sprint(why, err)
	}
	// The input that stands for all decides the size of a pointer; judged is by
	// either, as which one that is depends on the damage.
	sum, verdict := sha256.Sum256(written), ""
	for _, s := range e.seeds {
		if verdict = c.judge(sum, s, written); verdict == "" {
			return otherOutput, ""
		}
		sum[0]++ // another question, for the record of verdicts
	}
	return badOutput, verdict
}

// changed returns the number of the input that has other bytes now, 0 if there is
// none. ok tells that this is as it should be after a run, and that nothing else is
// in the folder.
func (e *ensemble) changed(dir string, done bool) (input int, ok bool) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, false
	}
	n := 0
	for i, data := range e.data {
		now, err := os.ReadFile(filepath.Join(dir, e.name(i)))
		if err != nil {
			return 0, false
		}
		if !bytes.Equal(now, data) {
			input = i
			n++
		}
	}
	out := len(entries) - len(e.data)
	if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
		out--
		n++
	}
	return input, out == 0 && (n == 0 || n == 1 && done)
}

// runSeveral makes n runs and writes their figures into the report.
func runSeveral(seeds []*seed, n int) error {
	c, err := newCampaign()
	if err != nil {
		return err
	}
	defer os.RemoveAll(c.dir)
	p := c.programs[0]
	work := make(chan int)
	var group sync.WaitGroup
	for worker := range *jobs {
		group.Go(func() {
			dir := filepath.Join(c.dir, fmt.Sprint(worker))
			for i := range work {
				c.several(p, dir, newEnsemble(seeds, i))
			}
		})
	}
	for i := range n {
		work <- i
		if (i+1)%1000 == 0 {
			fmt.Fprintf(os.Stderr, "%d sent; so far bad: %d\n", i+1, c.bad())
		}
	}
	close(work)
	group.Wait()
	if c.err != nil {
		return c.err
	}
	if err := writeBetween(*report, severalBegin, severalEnd, c.severalReport(n)); err != nil {
		return err
	}
	if n := c.bad(); n > 0 {
		return fmt.Errorf("%d runs have an outcome that must not be", n)
	}
	return nil
}

// several makes one run and keeps its result.
func (c *campaign) several(p program, dir string, e *ensemble) {
	r := result{program: p.name, number: e.number}
	r.seed = fmt.Sprintf("%d inputs, %d of them damaged", len(e.data), e.damaged)
	for range attempts {
		if err := e.put(dir); err != nil {
			c.fail(err)
			return
		}
		r.why = ""
		if r.outcome, r.why = c.attemptSeveral(p, dir, e, &r); r.outcome != hang {
			break
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.results = append(c.results, r)
	if r.outcome.bad() {
		fmt.Fprintf(os.Stderr, "%v: %s: %s\n", e, outcomeNames[r.outcome], r.why)
	}
}

func (c *campaign) severalReport(n int) string {
	var b strings.Builder
	refused := 0
	for _, why := range c.judged {
		if why != "" {
			refused++
		}
	}
	fmt.Fprintf(&b, "\n### btflite, several inputs\n\n%d runs (`go run ./test/torture -several=%d`) with two to four seeds each, of any machine and byte order, a third of them damaged,\n"+
		"with one to four workers, four sets of features, a quarter of them in place. %s\n", n, n, c.worst(ours))
	if refused == 0 {
		fmt.Fprintf(&b, "%d outputs were judged, none was refused.\n", len(c.judged))
	}
	c.table(&b, ours, "inputs", func(r *result) string { return r.seed })
	b.WriteString("\n")
	return b.String()
}

// writeBetween puts text between two lines of a file. They are added at its end if
// they are not there.
func writeBetween(path, begin, end, text string) error {
	old, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	head, rest, found := strings.Cut(string(old), begin)
	_, tail, closed := strings.Cut(rest, end)
	if found && !closed {
		return fmt.Errorf("%s: no line %q", path, strings.TrimSpace(end))
	}
	return os.WriteFile(path, []byte(head+begin+text+end+tail), 0o644)
}

// generateSeveral makes run n's folder of inputs and tells its command.
func generateSeveral(seeds []*seed, n int, dir string) error {
	e := newEnsemble(seeds, n)
	if err := e.put(dir); err != nil {
		return err
	}
	fmt.Println("cd", dir, "&& btflite", strings.Join(e.command(), " "))
	return nil
}
