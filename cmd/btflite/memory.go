package main

import (
	"fmt"
	"os"
	"runtime/debug"

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

// largeInput is how many bytes of input make up for what forget costs: one to two
// milliseconds of CPU time. It makes the peak two mebibytes lower.
const largeInput = 64 << 20

// forget drops what only the work before has used, if the inputs are large: garbage, which
// the heap would hold on to, and code. It is called before the memory of the run is taken,
// and where the largest is taken.
func forget(inputs uint64) {
	if inputs >= largeInput {
		debug.FreeOSMemory()
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
		return e.jobs
	}
	one := encode.UsualMemory(sizeOf(paths))
	if limit <= one {
		return 1
	}
	return int(min(uint64(e.jobs), 1+(limit-one)/memoryOfWorker))
}
