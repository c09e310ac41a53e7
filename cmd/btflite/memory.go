package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"github.com/btflite/btflite/internal/memlimit"
	"github.com/btflite/btflite/internal/message"
)

// memoryOfWorker is an upper bound, in bytes, for the memory of each further worker.
// Measured with kernels and eight workers: 0.6 to 1.2 MiB.
const memoryOfWorker = 2 << 20

// limitMemory returns how many bytes the run may take, 0 for no limit, and whether the user
// gave the limit. It is the smaller limit of the user's and the control group's. The
// user's limit counts all resident memory (VmHWM), so that anyone can check it. A control
// group reclaims pages of files by itself. The Go runtime gets a lower limit, so that it
// collects garbage more often before its heap alone takes most of the memory.
func (c *cli) limitMemory(given uint64) (limit uint64, byHand bool) {
	first := c.groupLimit == 0
	c.groupLimit = memlimit.Cgroup()
	limit = c.groupLimit
	if byHand = given != 0 && (limit == 0 || given <= limit); byHand {
		limit = given
	}
	if first && c.groupLimit != 0 { // of any size: what matters is how much of it the run leaves
		memlimit.LimitReadAhead()
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

// leastMemory is the smallest limit in bytes. The program itself takes up to 14 MiB before it can tell
// that the limit is reached: code, the Go runtime, and the first tables. The system maps code in pieces,
// the larger the newer it is, so some room is left.
const leastMemory = 16 << 20

// setMemory parses the argument of --memory_limit.
func (c *cli) setMemory(v string) (err error) {
	if c.memory, err = memlimit.Parse(v); err != nil {
		return usagef("%s", message.OneLine(err.Error()))
	}
	if c.memory < leastMemory {
		return usagef("'%s' is too little; give %dM or more, which the program itself takes", message.OneLine(v), leastMemory>>20)
	}
	return nil
}

// room returns an error if a file of n bytes would break the limit of the control
// group: files on tmpfs count as its memory.
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

// gcPercent is how much garbage the heap may hold, in percent of the live part. Almost
// all memory of a run is outside the heap, and the heap has hardly any pointers. So
// frequent collections cost little and keep the peak low.
const gcPercent = 20

// firstPercent lets the heap grow to 8 MiB, twice Go's default, before the first
// collection. With gcPercent there would be ten collections before that size, which cost
// a twentieth of the time for a small module.
const firstPercent = 200

// largeInput is how many bytes of input make up for what forget costs: one to two
// milliseconds of CPU time. It makes the peak two mebibytes lower.
const largeInput = 64 << 20

// muchToPrint is the size of BTF in bytes from which dropStart pays: it costs 0.4 ms of
// CPU time, and saves two mebibytes of memory.
const muchToPrint = 1 << 20

// dropStart drops the code that started the program, if the inputs are large and the command
// prints all of their types. To print one type takes too little time for that.
func dropStart(paths []string) {
	if sizeOf(paths) >= muchToPrint {
		memlimit.DropCode()
	}
}

// codeTrim drops unused code from memory while a run goes on. The start of a run uses code
// that is never needed again, and one call of a function loads 16 pages.
type codeTrim struct {
	next atomic.Uint64 // the next drop, in bytes of finished input; 0 is never
}

// firstTrim is how many bytes are done when a run no longer needs the code of its start.
const firstTrim = 2 << 20

// trimStep is how many bytes of input are between two drops.
const trimStep = 64 << 20

// newCodeTrim returns the codeTrim of a run over inputs of some size in all; it drops
// nothing if they are small.
func newCodeTrim(inputs uint64) *codeTrim {
	t := new(codeTrim)
	if inputs >= largeInput {
		t.next.Store(firstTrim)
	}
	return t
}

// done notes how many bytes are finished. Any goroutine may call it.
func (t *codeTrim) done(bytes uint64) {
	if next := t.next.Load(); next != 0 && bytes >= next && t.next.CompareAndSwap(next, bytes+trimStep) {
		memlimit.DropCode()
	}
}

// sizeOf returns the total size of the files, without files that it cannot find.
func sizeOf(paths []string) (size uint64) {
	for _, p := range paths {
		if info, err := os.Stat(p); err == nil {
			size += uint64(info.Size())
		}
	}
	return size
}

// heap sets how often Go collects garbage.
type heap struct {
	first runtime.Cleanup // sets gcPercent when the first collection has run
}

// growFirst lets the heap grow before the first collection.
func (h *heap) growFirst() {
	debug.SetGCPercent(firstPercent)
	h.first = runtime.AddCleanup(&struct{ p *byte }{}, func(percent int) { debug.SetGCPercent(percent) }, gcPercent)
}

// clear collects garbage now, and then lets the heap grow again: collections in
// between would cost more memory, in tables of functions that they read, than they save.
func (h *heap) clear() {
	h.first.Stop()
	debug.FreeOSMemory()
	h.growFirst()
}

// forget drops garbage and code that only earlier phases used, if the inputs are large. It is
// called before the run takes its memory, and before it takes the largest part.
func (h *heap) forget(inputs uint64) {
	if inputs >= largeInput {
		h.clear()
		memlimit.DropCode()
	}
}
