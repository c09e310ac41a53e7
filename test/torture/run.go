//go:build linux

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/internal/kernelbtf"
	"github.com/btflite/btflite/mmapelf"
)

// Limits of one encode.
const (
	maxCPU    = 10 // seconds, RLIMIT_CPU: a busy machine is no reason to call a program slow
	maxWait   = time.Minute
	attempts  = 3         // a program that used no such time but did not end is run again
	maxMemory = 256 << 20 // resident, and RLIMIT_DATA
)

// outcome is what comes of encoding one mutant.
type outcome int

const (
	sameOutput  outcome = iota // status 0, the bytes that the seed itself gives
	otherOutput                // status 0, other bytes that all judges take
	cleanError                 // a status that is not 0
	noOutput                   // status 0 without output
	badOutput                  // status 0, bytes that a judge refuses
	crash                      // a signal, a panic, or a status that tells of a fault
	hang                       // over the limit of time
	memory                     // over the limit of memory
	lost                       // the input was changed, or something left beside it
	outcomes
)

var outcomeNames = [outcomes]string{"valid, same", "valid, differs", "clean error", "exit 0, no output", "REFUSED BTF",
	"CRASH", "HANG", "MEMORY", "LOST"}

// bad reports whether an outcome must not be.
func (o outcome) bad() bool { return o >= noOutput }

// result is one mutant's outcome by one program.
type result struct {
	program, seed, kind string
	number              int
	outcome             outcome
	why                 string
	hash                string        // of the output
	cpu                 time.Duration // user and system
	rss                 int64         // peak, KiB
}

// program is an encoder to run.
type program struct {
	name, path string
	inPlace    bool // the BTF goes into the file itself
	most       int  // mutants of each seed
}

// Names of programs.
const (
	ours        = "btflite"
	oursInPlace = "btflite, in place"
	theirs      = "pahole"
)

func (p *program) ours() bool { return p.name != theirs }

type campaign struct {
	dir      string
	programs []program
	seeds    []*seed

	mu      sync.Mutex
	err     error
	results []result
	judged  map[[32]byte]string // verdict by output
	kernel  int                 // outputs that the running kernel has judged
	// disagreements are outputs on which kernel and verifier differ.
	disagreements int
}

func newCampaign() (*campaign, error) {
	dir, err := os.MkdirTemp(*scratch, "torture")
	if err != nil {
		return nil, err
	}
	c := &campaign{dir: dir, judged: map[[32]byte]string{}}
	for _, p := range []program{{ours, *btflite, false, *mutants}, {oursInPlace, *btflite, true, *inPlaceN}, {theirs, *pahole, false, *paholeN}} {
		if p.path == "" || p.most <= 0 {
			continue
		}
		if p.path, err = filepath.Abs(p.path); err != nil {
			return nil, err
		}
		c.programs = append(c.programs, p)
	}
	return c, nil
}

func (c *campaign) bad() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.results {
		if r.program != theirs && r.outcome.bad() {
			n++
		}
	}
	return n
}

// prepare encodes the seed itself by each program: that must work.
func (c *campaign) prepare(s *seed) error {
	for _, p := range c.programs {
		r := c.encode(0, p, s, s.data)
		if r.outcome != otherOutput {
			if p.ours() {
				return fmt.Errorf("%s: the seed itself: %s %s", s.name, outcomeNames[r.outcome], r.why)
			}
			continue
		}
		s.same[p.name] = r.hash
	}
	return nil
}

// one encodes mutant n of the seed by all programs.
func (c *campaign) one(worker int, s *seed, n int) {
	data, kind := s.mutate(n)
	for _, p := range c.programs {
		if n >= p.most {
			continue
		}
		r := c.encode(worker, p, s, data)
		r.program, r.seed, r.kind, r.number = p.name, s.name, kind, n
		c.mu.Lock()
		c.results = append(c.results, r)
		c.mu.Unlock()
		if p.ours() && r.outcome.bad() {
			fmt.Fprintf(os.Stderr, "%s:%d %s: %s: %s: %s\n", s.name, n, kind, p.name, outcomeNames[r.outcome], r.why)
			if *keep != "" {
				os.WriteFile(filepath.Join(*keep, fmt.Sprintf("%s-%d", filepath.Base(s.name), n)), data, 0o644)
			}
		}
	}
}

// encode runs one program on data.
func (c *campaign) encode(worker int, p program, s *seed, data []byte) (r result) {
	dir := filepath.Join(c.dir, fmt.Sprint(worker))
	for range attempts {
		os.RemoveAll(dir)
		if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "in"), data, 0o644)); err != nil {
			c.fail(err)
			return r
		}
		r = result{}
		r.outcome, r.why = c.attempt(p, s, dir, data, &r)
		if r.outcome != hang {
			break
		}
	}
	return r
}

// attempt runs a program on the file "in" of dir, which holds data, and notes
// in r what it used and the hash of what it wrote.
func (c *campaign) attempt(p program, s *seed, dir string, data []byte, r *result) (outcome, string) {
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	args := []string{"-J", "--btf_features=" + *features, in}
	if !p.inPlace {
		args = append(args, "--btf_encode_detached="+out)
	}
	state, o, why := c.start(p, dir, args, r)
	switch {
	case o.bad():
		return o, why
	case p.ours() && !tidy(dir, in, data, p.inPlace, state.ExitCode() == 0):
		return lost, why
	case state.ExitCode() != 0:
		return cleanError, why
	}
	written, err := readOutput(in, out, p.inPlace)
	if err != nil || len(written) == 0 {
		return noOutput, fmt.Sprint(why, err)
	}
	sum := sha256.Sum256(written)
	r.hash = string(sum[:])
	if same, ok := s.same[p.name]; ok && same == r.hash {
		return sameOutput, ""
	}
	if verdict := c.judge(sum, s, written); verdict != "" {
		return badOutput, verdict
	}
	return otherOutput, ""
}

// start runs a program in dir to its end and notes in r what it used. The outcome
// is one of crash, hang and memory, or means nothing; why is what the program says.
func (c *campaign) start(p program, dir string, args []string, r *result) (state *os.ProcessState, o outcome, why string) {
	ctx, cancel := context.WithTimeout(context.Background(), maxWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.path, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		c.fail(err)
		return new(os.ProcessState), crash, err.Error()
	}
	for what, limit := range map[int]uint64{unix.RLIMIT_DATA: maxMemory, unix.RLIMIT_CPU: maxCPU} {
		unix.Prlimit(cmd.Process.Pid, what, &unix.Rlimit{Cur: limit, Max: limit}, nil) // it may have ended already
	}
	cmd.Wait()
	state = cmd.ProcessState
	why = firstLine(stderr.Bytes())
	usage := state.SysUsage().(*syscall.Rusage)
	r.cpu, r.rss = time.Duration(usage.Utime.Nano()+usage.Stime.Nano()), int64(usage.Maxrss)
	status := state.Sys().(syscall.WaitStatus)
	switch {
	case ctx.Err() != nil, status.Signaled() && r.cpu >= maxCPU*time.Second:
		return state, hang, why
	case r.rss > maxMemory>>10:
		return state, memory, fmt.Sprintf("%d KiB; %s", r.rss, why)
	case status.Signaled():
		return state, crash, status.Signal().String()
	case p.ours() && status.ExitStatus() == 2,
		bytes.Contains(stderr.Bytes(), []byte("goroutine ")):
		return state, crash, why
	}
	return state, sameOutput, why
}

// tidy reports whether the file in still has its bytes, or was to get others,
// and nothing is in the folder that should not be there.
func tidy(dir, in string, data []byte, inPlace, done bool) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if name := e.Name(); name != "in" && (name != "out" || inPlace || !done) {
			return false
		}
	}
	if inPlace && done {
		return true
	}
	now, err := os.ReadFile(in)
	return err == nil && bytes.Equal(now, data)
}

// readOutput reads the BTF that a run has written.
func readOutput(in, out string, inPlace bool) ([]byte, error) {
	if !inPlace {
		return os.ReadFile(out)
	}
	f, err := mmapelf.Open(in)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	section := f.Section(".BTF")
	if section == nil {
		return nil, errors.New("no .BTF")
	}
	data, err := f.Data(section)
	return bytes.Clone(data), err
}

func (c *campaign) fail(err error) {
	c.mu.Lock()
	c.err = errors.Join(c.err, err)
	c.mu.Unlock()
}

func firstLine(b []byte) string {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		b = b[:i]
	}
	return string(b[:min(len(b), 300)])
}

// judge returns why a judge refuses an output, or "".
func (c *campaign) judge(sum [32]byte, s *seed, data []byte) string {
	c.mu.Lock()
	verdict, known := c.judged[sum]
	c.mu.Unlock()
	if known {
		return verdict
	}
	rules := verify.Rules{Kernel: verify.Release{Major: 7}, PointerSize: 8}
	inlined := strings.Contains(*features, "inline") // which no release takes
	if inlined {
		rules.Kernel = verify.Release{}
	}
	if !s.class64 {
		rules.PointerSize = 4
	}
	if _, err := verify.Check(data, nil, rules); err != nil {
		verdict = "verifier: " + err.Error()
	}
	strict, asked, refused := verdict != "", false, false
	if s.class64 && data[0] == 0x9f && !inlined {
		err := kernelbtf.Load(data)
		asked, refused = !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.ENOSYS), err != nil
		if asked && refused {
			verdict += " kernel: " + err.Error() + ": " + kernelbtf.Log(data)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if asked {
		c.kernel++
	}
	if asked && refused != strict {
		c.disagreements++
		fmt.Fprintf(os.Stderr, "%s: judges disagree:%s\n", s.name, verdict)
	}
	c.judged[sum] = verdict
	return verdict
}
