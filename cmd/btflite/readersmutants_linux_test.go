package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// The campaign of readers: every command line of readerLines reads every damaged file, in
// both byte orders, and must end with output or one clear error, in bounded time and
// memory.
//
// The test binary is the process that reads. A process reads many files, because a start
// costs more than most readings. A bad reading is repeated in a separate process, and
// that result counts.
//
//	BTFLITE_READER_MUTANTS=5000    so many files of each byte order
//	BTFLITE_READER_REPORT=FILE     write the figures after the marker in FILE
//	BTFLITE_READER_KEEP=DIR        keep the files of bad readings
//	BTFLITE_READER_FROM=17         begin with that file
const (
	readerMutantsEnv = "BTFLITE_READER_MUTANTS"
	readerReportEnv  = "BTFLITE_READER_REPORT"
	readerKeepEnv    = "BTFLITE_READER_KEEP"
	readerFromEnv    = "BTFLITE_READER_FROM"
)

// TestReadersOfMutants is the campaign, over a few files if nothing else is asked for.
func TestReadersOfMutants(t *testing.T) {
	count, from := 12, 0
	if n, err := strconv.Atoi(os.Getenv(readerMutantsEnv)); err == nil {
		count = n
	} else if testing.Short() {
		t.Skip("takes half a minute")
	}
	if n, err := strconv.Atoi(os.Getenv(readerFromEnv)); err == nil {
		from = n
	}
	c := &readerCampaign{t: t, count: count, seeds: []*readerSeeds{newReaderSeeds(t, false), newReaderSeeds(t, true)}, began: time.Now()}
	jobs := make(chan readerJob)
	var group sync.WaitGroup
	for n := range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			p := &readerProcess{c: c, n: n}
			defer p.stop()
			for job := range jobs {
				p.do(job)
			}
		})
	}
	for n := from; n < from+count; n++ {
		jobs <- readerJob{Number: n}
		jobs <- readerJob{Big: true, Number: n}
		if n%100 == 99 {
			t.Logf("%v: %d files of each byte order, %d bad", time.Since(c.began).Round(time.Second), n+1-from, c.bad())
		}
	}
	close(jobs)
	group.Wait()
	t.Log("\n" + c.report())
	if file := os.Getenv(readerReportEnv); file != "" {
		c.writeReport(file)
	}
	if total := c.total(); total.fine == 0 || total.errors == 0 {
		t.Error("all files are taken or all refused")
	}
}

// readerCampaign counts what comes of the readings.
type readerCampaign struct {
	t     *testing.T
	count int // files of each byte order
	seeds []*readerSeeds
	began time.Time

	mu      sync.Mutex
	counted []readerCount // by command line
}

// readerCount is the result of one command line, or of several.
type readerCount struct {
	runs, fine, errors int
	bad                map[string]int
	cpu                time.Duration // of the most expensive one
	memory             int64         // the highest peak, KiB
}

// add adds other readings.
func (n *readerCount) add(other *readerCount) {
	n.runs, n.fine, n.errors = n.runs+other.runs, n.fine+other.fine, n.errors+other.errors
	n.cpu, n.memory = max(n.cpu, other.cpu), max(n.memory, other.memory)
	for what, times := range other.bad {
		if n.bad == nil {
			n.bad = map[string]int{}
		}
		n.bad[what] += times
	}
}

// note counts a reading. What is bad is read again by a process for itself.
func (c *readerCampaign) note(job readerJob, r reading) {
	if r.Bad != "" {
		seeds := c.seeds[0]
		if job.Big {
			seeds = c.seeds[1]
		}
		d := seeds.make(job.Number)
		if alone := r; r.Bad != badHang { // no other process uses the CPU
			if alone = d.readAlone(c.t, r.Line); alone.Bad == "" && r.Bad != badMemory {
				alone.Bad, alone.Why = r.Bad, r.Why+" (among others, not alone)"
			}
			r = alone
		}
		if r.Bad != "" {
			order := "little"
			if job.Big {
				order = "big"
			}
			c.t.Errorf("%s: %s: file %d, %s endian (%s): %s", r.Bad, readerLines[r.Line].words, job.Number, order, d.name, strings.TrimSpace(r.Why[:min(len(r.Why), 400)]))
			if keep := os.Getenv(readerKeepEnv); keep != "" {
				d.put(c.t, filepath.Join(keep, fmt.Sprintf("%d-%s", job.Number, order)))
			}
		}
	}
	one := readerCount{runs: 1, cpu: r.CPU, memory: r.Memory}
	switch {
	case r.Bad != "":
		one.bad = map[string]int{r.Bad: 1}
	case r.Status == exitOK:
		one.fine = 1
	default:
		one.errors = 1
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counted == nil {
		c.counted = make([]readerCount, len(readerLines))
	}
	c.counted[r.Line].add(&one)
}

// total is all readings.
func (c *readerCampaign) total() (all readerCount) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.counted {
		all.add(&c.counted[i])
	}
	return all
}

func (c *readerCampaign) bad() (n int) {
	for _, times := range c.total().bad {
		n += times
	}
	return n
}

// readerProcess is a process that reads, and is started when it is needed.
type readerProcess struct {
	c       *readerCampaign
	n       int // which one it is
	cmd     *exec.Cmd
	in      io.WriteCloser
	results *json.Decoder
	ended   func() // closes the pipe
	said    bytes.Buffer
}

// do reads one file by all command lines.
func (p *readerProcess) do(job readerJob) {
	for job.From < len(readerLines) {
		if p.cmd == nil {
			p.start()
		}
		err := json.NewEncoder(p.in).Encode(job)
		for err == nil && job.From < len(readerLines) {
			hung := time.AfterFunc(12*readerCPU, func() { p.cmd.Process.Kill() }) // on a busy machine the limit of CPU takes longer
			var r reading
			err = p.results.Decode(&r)
			hung.Stop()
			if err == nil {
				p.c.note(job, r)
				job.From = r.Line + 1
			}
		}
		if err != nil { // it has died; if that was expected, the reading before says so
			p.stop()
			if !strings.Contains(p.said.String(), readerEnded) {
				p.c.note(job, reading{Line: job.From, Bad: badCrash, Why: err.Error() + ": " + p.said.String()})
				job.From++
			}
		}
	}
}

// start starts the process.
func (p *readerProcess) start() {
	exe, err := os.Executable()
	if err != nil {
		p.c.t.Error(err)
		return
	}
	p.said.Reset()
	p.cmd = exec.Command(exe, "-test.run=^TestReaderWorker$", "-test.timeout=0")
	p.cmd.Env = append(os.Environ(), readerWorkerEnv+"="+strconv.Itoa(p.n))
	p.cmd.Stderr = &p.said
	r, w, err := os.Pipe()
	if err == nil {
		p.cmd.ExtraFiles = []*os.File{w}
		p.in, err = p.cmd.StdinPipe()
	}
	if err == nil {
		err = p.cmd.Start()
		w.Close()
	}
	if err != nil {
		p.c.t.Error(err)
	}
	p.results, p.ended = json.NewDecoder(r), func() { r.Close() }
}

// stop ends the process.
func (p *readerProcess) stop() {
	if p.cmd == nil {
		return
	}
	p.in.Close()
	_ = p.cmd.Wait() // it has died, or ends now
	p.ended()
	p.cmd = nil
}

// programCommand is the program with these words: the test binary, under its name.
func programCommand(exe string, words []string, out, errs io.Writer) *exec.Cmd {
	return &exec.Cmd{Path: exe, Args: append([]string{programName}, words...), Stdout: out, Stderr: errs}
}

// report is the table of the figures.
func (c *readerCampaign) report() string {
	byCommand := map[string]*readerCount{}
	lines := map[string]int{}
	for i := range c.counted {
		name, _, _ := strings.Cut(readerLines[i].words, " ")
		if name == "-C" || strings.HasPrefix(name, "--") {
			name = "(as pahole)"
		}
		if byCommand[name] == nil {
			byCommand[name] = new(readerCount)
		}
		byCommand[name].add(&c.counted[i])
		lines[name]++
	}
	kinds := []string{badBTF, badSilent, badMessage, badText, badLeft, badCrash, badHang, badMemory}
	var b strings.Builder
	total := c.total()
	fmt.Fprintf(&b, "\n%d damaged files of each byte order, %d command lines: %d readings, %d bad. Most expensive: %.1f s of CPU; highest peak: %d MiB.\n\n",
		c.count, len(readerLines), total.runs, c.bad(), total.cpu.Seconds(), total.memory>>10)
	fmt.Fprintf(&b, "| command | lines | readings | status 0, or an answer | clean error | %s | most CPU, s | peak, MiB |\n", strings.Join(kinds, " | "))
	b.WriteString("|---|" + strings.Repeat("--:|", len(kinds)+6) + "\n")
	names := make([]string, 0, len(byCommand))
	for name := range byCommand {
		names = append(names, name)
	}
	slices.Sort(names)
	row := func(name string, lines int, n *readerCount) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |", name, lines, n.runs, n.fine, n.errors)
		for _, kind := range kinds {
			fmt.Fprintf(&b, " %d |", n.bad[kind])
		}
		fmt.Fprintf(&b, " %.2f | %d |\n", n.cpu.Seconds(), n.memory>>10)
	}
	for _, name := range names {
		row(name, lines[name], byCommand[name])
	}
	row("**all**", len(readerLines), &total)
	return b.String()
}

// Lines of the report between which the figures are.
const (
	readerReportBegin = "<!-- What follows is written by make readers. -->\n"
	readerReportEnd   = "\n<!-- What is above is written by make readers. -->"
)

// writeReport puts the figures into the file.
func (c *readerCampaign) writeReport(file string) {
	text, err := os.ReadFile(file)
	before, after, begins := strings.Cut(string(text), readerReportBegin)
	_, after, ends := strings.Cut(after, readerReportEnd)
	if err != nil || !begins || !ends {
		c.t.Errorf("%s: no place for the figures: %v", file, err)
		return
	}
	if err := os.WriteFile(file, []byte(before+readerReportBegin+c.report()+readerReportEnd+after), 0o644); err != nil {
		c.t.Error(err)
	}
}
