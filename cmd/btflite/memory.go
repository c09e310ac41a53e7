package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/memlimit"
	"github.com/btflite/btflite/internal/message"
)

// memoryOfWorker bounds what a worker more than one takes, in bytes. Measured
// with kernels and eight workers: 0.6 to 1.2 MiB.
const memoryOfWorker = 2 << 20

// smallGroup is the size of a control group, in bytes, below which it matters how
// many pages of the program are read at once.
const smallGroup = 64 << 20

// limitMemory returns how many bytes the run may take, 0 for no limit, and whether the
// limit was given by hand. It is the smaller one of that and of the control group's.
// A limit given by hand is for all resident memory (VmHWM), so that anyone can check
// it. A control group takes pages of files back itself. The Go runtime gets a limit
// below that, so that it collects more often before its heap alone takes most of it.
func (c *cli) limitMemory(given uint64) (limit uint64, byHand bool) {
	c.groupLimit = memlimit.Cgroup()
	limit = c.groupLimit
	if byHand = given != 0 && (limit == 0 || given <= limit); byHand {
		limit = given
	}
	if c.groupLimit != 0 && c.groupLimit < smallGroup {
		memlimit.ReadProgramSingly()
	}
	if _, own := c.lookupEnv("GOMEMLIMIT"); limit != 0 && !own {
		debug.SetMemoryLimit(int64(limit - limit/4))
	}
	return limit, byHand
}

// The option that limits memory.
const (
	memoryOption = "memory_limit"
	memoryHelp   = "take no more memory than `SIZE`, as 64M or 1.5G"
)

// setMemory takes the argument of --memory_limit.
func (c *cli) setMemory(v string) (err error) {
	if c.memory, err = memlimit.Parse(v); err != nil {
		return usagef("%s", message.OneLine(err.Error()))
	}
	return nil
}

// room reports an error if a file of n bytes would break the limit of the control
// group: what is written to tmpfs is memory of the group.
func (c *cli) room(file string, n int64) error {
	if c.groupLimit == 0 || !memlimit.InMemory(file) {
		return nil
	}
	memlimit.CountFiles()
	reserve := memlimit.Reserve(0, 1)
	if used := memlimit.Used(); used+uint64(n)+reserve > c.groupLimit {
		return fmt.Errorf("%s: cannot write %d KiB: it lies on tmpfs, which is memory, the control group has %d MiB, and %d MiB are in use",
			message.OneLine(file), n>>10, c.groupLimit>>20, used>>20)
	}
	memlimit.AddFile(uint64(n))
	return nil
}

// gcPercent is how much garbage the heap may hold beside what is live. Almost
// all memory of a run is outside the heap, and what is in it holds hardly any
// pointers: collecting often costs nothing and keeps the peak down.
const gcPercent = 20

// firstPercent makes the heap grow to 8 MiB, twice what Go starts from, before it
// is collected for the first time. With gcPercent a run would collect ten times
// on the way there, a twentieth of all time for a small module.
const firstPercent = 200

// heap tells Go how often to collect garbage.
type heap struct {
	first runtime.Cleanup // sets gcPercent when the first collection has run
}

// growFirst has the heap grow before it is collected for the first time.
func (h *heap) growFirst() {
	debug.SetGCPercent(firstPercent)
	h.first = runtime.AddCleanup(&struct{ p *byte }{}, func(percent int) { debug.SetGCPercent(percent) }, gcPercent)
}

// clear gives back what is garbage now, and has the heap grow again: collections
// in between would save less than the tables of functions that they touch take.
func (h *heap) clear() {
	h.first.Stop()
	debug.FreeOSMemory()
	h.growFirst()
}

// largeInput is how many bytes of input make up for what forget costs: one to two
// milliseconds of CPU time. It makes the peak two mebibytes lower.
const largeInput = 64 << 20

// forget drops what only the work before has used, if the inputs are large: garbage, which
// the heap would hold on to, and code. It is called before the memory of the run is taken,
// and where the largest is taken.
func (h *heap) forget(inputs uint64) {
	if inputs >= largeInput {
		h.clear()
		memlimit.DropCode()
	}
}

// muchToPrint is how many bytes of BTF make up for what dropStart costs: 0.4 ms of CPU
// time, for two mebibytes of memory.
const muchToPrint = 1 << 20

// dropStart drops the code of the start of the program if the inputs of a command that
// prints all of their types are large. Whoever prints one type is done sooner.
func dropStart(paths []string) {
	if sizeOf(paths) >= muchToPrint {
		memlimit.DropCode()
	}
}

// codeTrim drops the code that is no longer used while a run goes on: a run begins with
// code of which it needs nothing later, and a function that is called once keeps 16 pages.
type codeTrim struct {
	step uint64        // bytes of input between two times
	next atomic.Uint64 // when so many bytes are done; 0 is never
}

// firstTrim is how many bytes are done when a run has used the code of its start.
const firstTrim = 2 << 20

// newCodeTrim returns the codeTrim of a run over inputs of some size in all; it drops
// nothing if they are small.
func newCodeTrim(inputs, step uint64) *codeTrim {
	t := &codeTrim{step: step}
	if inputs >= largeInput {
		t.next.Store(firstTrim)
	}
	return t
}

// done notes how many bytes are done. Any goroutine may call it.
func (t *codeTrim) done(bytes uint64) {
	if next := t.next.Load(); next != 0 && bytes >= next && t.next.CompareAndSwap(next, bytes+t.step) {
		memlimit.DropCode()
	}
}

// sizeOf is how many bytes the files have together, as far as they can be found.
func sizeOf(paths []string) (size uint64) {
	for _, p := range paths {
		if info, err := os.Stat(p); err == nil {
			size += uint64(info.Size())
		}
	}
	return size
}

// jobsFor is how many workers to use for the inputs under a memory limit: what
// was asked for or, if that was all there are, as many as there is memory for.
func (e *encoding) jobsFor(limit uint64, paths []string) int {
	if limit == 0 || !e.bareJobs {
		return e.opt.Encode.Jobs
	}
	one := encode.UsualMemory(sizeOf(paths))
	if limit <= one {
		return 1
	}
	return int(min(uint64(e.opt.Encode.Jobs), 1+(limit-one)/memoryOfWorker))
}
