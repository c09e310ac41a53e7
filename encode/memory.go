package encode

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/memlimit"
)

// A run that meets its memory limit is to end with an error that says so, not
// by the system's hand: at once if the limit is below what any such input has
// needed, else when what is taken comes near. Memory follows the distinct types
// of the input, which nobody knows before they are read, so that the first
// check is a mild one.

const (
	// leastMemory and leastShare bound from below what a run needs: a part for
	// every run, and one for each leastShare bytes of .debug_info.
	leastMemory = 4 << 20
	leastShare  = 32
	// usualMemory and usualShare are what kernels need: of 197 to 264 MiB of
	// .debug_info, in groups of 24 to 31 MiB.
	usualMemory = 6 << 20
	usualShare  = 11
	// memoryStep is how much of .debug_info is committed, in bytes, but 16 units
	// at most, between two looks at what is taken, each a few microseconds.
	memoryStep = 512 << 10
)

// UsualMemory is how much memory in bytes a run over kernels takes as a rule,
// with one worker; size is that of their .debug_info in bytes.
func UsualMemory(size uint64) uint64 { return usualMemory + size/usualShare }

// checkInput is the first check, when it is known how much is to be read.
func (r *run) checkInput(f *file) error {
	total := r.total + uint64(len(f.info))
	least := leastMemory + total/leastShare
	if limit := r.opt.MemoryLimit; limit != 0 && least > limit {
		return fmt.Errorf("%s: the memory limit of %s cannot suffice for %s of debug information: kernels of that size need %s",
			f.path, mib(limit), mib(total), mib(UsualMemory(total)))
	}
	r.mapped += uint64(len(f.elf.Bytes()))
	if f.dwarf != f.elf {
		r.mapped += uint64(len(f.dwarf.Bytes()))
	}
	r.limitArena()
	return nil
}

// checkMemory is the second check, between units, and before n bytes are taken
// in one step.
func (r *run) checkMemory(n int) error {
	if r.opt.MemoryLimit == 0 {
		return nil
	}
	var full arena.Exhausted
	if errors.As(arena.CheckLimit(n), &full) {
		return r.exhausted(full.Used)
	}
	return nil
}

// limitArena has the tables make the second check when they grow.
func (r *run) limitArena() {
	limit := r.opt.MemoryLimit
	if limit != 0 {
		reserve := memlimit.Reserve(r.mapped, r.opt.Jobs)
		limit = max(limit, reserve+1) - reserve
	}
	arena.SetLimit(limit, memlimit.Used, debug.FreeOSMemory)
}

// exhausted is the error for a limit that leaves no room beside the used bytes.
func (r *run) exhausted(used uint64) error {
	limit := r.opt.MemoryLimit
	return fmt.Errorf("%s: the memory limit of %s is reached: %s are in use; kernels of that size need %s",
		r.path, mib(limit), mib(used), mib(max(UsualMemory(r.total), limit+limit/8)))
}

// mib is n bytes in MiB, rounded up.
func mib(n uint64) string { return fmt.Sprintf("%d MiB", (n+1<<20-1)>>20) }
