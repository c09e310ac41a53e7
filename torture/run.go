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
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/btflite/btflite/verify"
	"github.com/btflite/btflite/verify/kernelbtf"
)

// Limits of one encode.
const (
	maxTime   = 10 * time.Second
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
	hang
	memory
	outcomes
)

var outcomeNames = [outcomes]string{"valid, same", "valid, differs", "clean error", "exit 0, no output", "REFUSED BTF",
	"CRASH", "HANG", "MEMORY"}

// bad reports whether an outcome must not be.
func (o outcome) bad() bool { return o >= noOutput }

// result is one mutant's outcome by one program.
type result struct {
	program, seed, kind string
	number              int
	outcome             outcome
	why                 string
}

// program is an encoder to run.
type program struct {
	name, path string
	args       []string // before the output and the input
}

type campaign struct {
	dir      string
	programs []program
	seeds    []*seed

	mu      sync.Mutex
	err     error
	results []result
	judged  map[[32]byte]string // verdict by output
	kernel  bool                // the running kernel took an output
}

func newCampaign() (*campaign, error) {
	dir, err := os.MkdirTemp(*scratch, "torture")
	if err != nil {
		return nil, err
	}
	c := &campaign{dir: dir, judged: map[[32]byte]string{}}
	for _, p := range []program{{name: "btflite", path: *btflite}, {name: "pahole", path: *pahole}} {
		if p.path == "" {
			continue
		}
		if p.path, err = filepath.Abs(p.path); err != nil {
			return nil, err
		}
		p.args = []string{"-J", "--btf_features=default"}
		c.programs = append(c.programs, p)
	}
	return c, nil
}

func (c *campaign) bad() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.results {
		if r.program == "btflite" && r.outcome.bad() {
			n++
		}
	}
	return n
}

// prepare encodes the seed itself by each program: that must work.
func (c *campaign) prepare(s *seed) error {
	for _, p := range c.programs {
		o, why, out := c.encode(0, p, s, s.data)
		if o != otherOutput {
			if p.name == "btflite" {
				return fmt.Errorf("%s: the seed itself: %s %s", s.name, outcomeNames[o], why)
			}
			continue
		}
		s.same[p.name] = out
	}
	return nil
}

// one encodes mutant n of the seed by all programs.
func (c *campaign) one(worker int, s *seed, n int) {
	data, kind := s.mutate(n)
	for _, p := range c.programs {
		if p.name == "pahole" && n >= *paholeN {
			continue
		}
		o, why, _ := c.encode(worker, p, s, data)
		c.mu.Lock()
		c.results = append(c.results, result{p.name, s.name, kind, n, o, why})
		c.mu.Unlock()
		if p.name == "btflite" && o.bad() {
			fmt.Fprintf(os.Stderr, "%s:%d %s: %s: %s\n", s.name, n, kind, outcomeNames[o], why)
			if *keep != "" {
				os.WriteFile(filepath.Join(*keep, fmt.Sprintf("%s-%d", filepath.Base(s.name), n)), data, 0o644)
			}
		}
	}
}

// encode runs one program on data. The hash of the output is returned if all
// judges take it.
func (c *campaign) encode(worker int, p program, s *seed, data []byte) (o outcome, why, hash string) {
	dir := filepath.Join(c.dir, fmt.Sprint(worker))
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	os.RemoveAll(dir)
	if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(in, data, 0o644)); err != nil {
		c.fail(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.path, append(p.args, "--btf_encode_detached="+out, in)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		c.fail(err)
		return
	}
	limit := unix.Rlimit{Cur: maxMemory, Max: maxMemory}
	unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_DATA, &limit, nil) // it may have ended already
	cmd.Wait()
	state := cmd.ProcessState
	why = firstLine(stderr.Bytes())
	usage := state.SysUsage().(*syscall.Rusage)
	status := state.Sys().(syscall.WaitStatus)
	switch {
	case ctx.Err() != nil:
		return hang, why, ""
	case usage.Maxrss > maxMemory>>10:
		return memory, fmt.Sprintf("%d KiB; %s", usage.Maxrss, why), ""
	case status.Signaled():
		return crash, status.Signal().String(), ""
	case p.name == "btflite" && status.ExitStatus() == 2,
		bytes.Contains(stderr.Bytes(), []byte("goroutine ")):
		return crash, why, ""
	case status.ExitStatus() != 0:
		return cleanError, why, ""
	}
	written, err := os.ReadFile(out)
	if err != nil || len(written) == 0 {
		return noOutput, why, ""
	}
	sum := sha256.Sum256(written)
	hash = string(sum[:])
	if same, ok := s.same[p.name]; ok && same == hash {
		return sameOutput, "", hash
	}
	if verdict := c.judge(sum, s, written, out); verdict != "" {
		return badOutput, verdict, ""
	}
	return otherOutput, "", hash
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
func (c *campaign) judge(sum [32]byte, s *seed, data []byte, path string) string {
	c.mu.Lock()
	verdict, known := c.judged[sum]
	c.mu.Unlock()
	if known {
		return verdict
	}
	rules := verify.Rules{BeforeLinux72: true, PointerSize: 8}
	if !s.class64 {
		rules.PointerSize = 4
	}
	if _, err := verify.Check(data, nil, rules); err != nil {
		verdict = "verifier: " + err.Error()
	}
	if s.class64 && data[0] == 0x9f {
		if err := kernelbtf.Load(data); err != nil && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.ENOSYS) {
			verdict += " kernel: " + err.Error() + ": " + kernelbtf.Log(data)
		} else if err == nil {
			c.mu.Lock()
			c.kernel = true
			c.mu.Unlock()
		}
	}
	if *bpftool != "" {
		if out, err := exec.Command(*bpftool, "btf", "dump", "file", path).CombinedOutput(); err != nil {
			verdict += " bpftool: " + err.Error() + ": " + firstLine(out)
		}
	}
	c.mu.Lock()
	c.judged[sum] = verdict
	c.mu.Unlock()
	return verdict
}
