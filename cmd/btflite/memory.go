package main

import (
	"os"
	"runtime/debug"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/memlimit"
)

// memoryOfWorker bounds what a worker more than one takes, in bytes. Measured
// with kernels and eight workers: 0.6 to 1.2 MiB.
const memoryOfWorker = 2 << 20

// limitMemory returns how many bytes the run may take, 0 for no limit: the
// smaller of the control group's limit and the one given by hand, if any. The
// Go runtime is told to collect harder before its heap alone takes most of it.
func (c *cli) limitMemory(byHand uint64) uint64 {
	limit := memlimit.Cgroup()
	if byHand != 0 && (limit == 0 || byHand < limit) {
		limit = byHand
	}
	if _, own := c.lookupEnv("GOMEMLIMIT"); limit != 0 && !own {
		debug.SetMemoryLimit(int64(limit - limit/4))
	}
	return limit
}

// jobsFor is how many workers to use for the inputs under a memory limit: what
// was asked for or, if that was all there are, as many as there is memory for.
func (c *config) jobsFor(limit uint64, paths []string) int {
	if limit == 0 || !c.bareJobs {
		return c.jobs
	}
	var size uint64
	for _, p := range paths {
		if info, err := os.Stat(p); err == nil {
			size += uint64(info.Size())
		}
	}
	one := encode.UsualMemory(size)
	if limit <= one {
		return 1
	}
	return int(min(uint64(c.jobs), 1+(limit-one)/memoryOfWorker))
}
