package encode

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/memlimit"
	"github.com/btflite/btflite/mmapelf"
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
	// usualMemory and usualShare are what kernels need with one worker: of 184 to 264 MiB of
	// .debug_info, in groups of 24 to 31 MiB. Whoever follows the advice is not to be told another number, so
	// it has some room. usualWorker is what each further worker needs.
	usualMemory = 9 << 20
	usualShare  = 11
	usualWorker = 2 << 20
	// recordTenths is what kernels with unit records need beside usualMemory, for ten bytes of
	// .debug_info: of 4 and 26 MiB, with limits of 26 and 52 MiB.
	recordTenths = 12
	// memoryStep is how much of .debug_info is committed, in bytes, but 16 units
	// at most, between two looks at what is taken, each a few microseconds.
	memoryStep = 512 << 10
	// Resident memory is looked at for each unit. In between it grows by the pages
	// of a unit and of the names that it uses: the system maps 16 pages for each
	// that is touched, so that a large unit brings all of .debug_str, of kernels up
	// to 6 MiB. Measured were 4 to 9 MiB in all.
	residentStep, residentNames, residentWorker = 3 << 20, 6 << 20, 512 << 10
)

// ResidentProgram is what is resident of the program and its start, in bytes:
// measured, 6 MiB of text and data, and 2 MiB more.
const ResidentProgram = 8 << 20

// UsualMemory is how much memory in bytes a run over kernels takes as a rule,
// with one worker; size is that of their .debug_info in bytes.
func UsualMemory(size uint64) uint64 { return usualMemory + size/usualShare }

// budget is what the memory of a run is checked against.
type budget struct {
	limit  *arena.Limit
	opt    *Options
	stop   func() error // an error once the run is to end
	path   string       // of the input that is, or was, read
	total  uint64       // bytes of .debug_info of the inputs that checkInput was called for
	packed uint64       // of them, those of inputs with unit records
	mapped uint64       // bytes of the inputs

	unchecked uint64 // bytes of .debug_info since the last look at the memory
	step      uint64 // when to look again
	nameBytes uint64 // of the largest .debug_str
}

// checkInput is the first check, when it is known how much is to be read.
func (b *budget) checkInput(f *debuginfo.File) error {
	b.total += uint64(len(f.Info))
	if f.Survey.Records {
		b.packed += uint64(len(f.Info))
	}
	least := leastMemory + b.total/leastShare
	b.mapped += uint64(len(f.ELF.Bytes()))
	if f.Dwarf != f.ELF {
		b.mapped += uint64(len(f.Dwarf.Bytes()))
	}
	b.nameBytes = max(b.nameBytes, uint64(len(f.Names.Data)))
	if b.opt.LimitResident {
		least += ResidentProgram + b.residentReserve()
	}
	if limit := b.opt.MemoryLimit; limit != 0 && least > limit {
		return fmt.Errorf("%s: the memory limit of %s cannot suffice for %s of debug information: %s", f.Path, mib(limit), mib(b.total), b.need(0))
	}
	b.limitArena()
	return nil
}

// checkMemory is the second check, between units, and before n bytes are taken
// in one step.
func (b *budget) checkMemory(n int) error {
	err := b.limit.Check(n)
	if err == nil {
		return nil
	}
	var full arena.Exhausted
	if errors.As(err, &full) {
		return b.exhausted(full.Used)
	}
	return fmt.Errorf("%s: %w", b.path, err)
}

// need says how much memory a run over kernels of the size of the inputs takes: with as many workers as
// this one, and with one. least is a bound for it that the run has shown.
func (b *budget) need(least uint64) string {
	n := max(b.usual(b.opt.Jobs), least)
	if one := b.usual(1); b.opt.Jobs > 1 && one > b.opt.MemoryLimit {
		return fmt.Sprintf("kernels of that size need %s with -j%d, and %s with -j1", mib(n), b.opt.Jobs, mib(one))
	} else if b.opt.Jobs > 1 {
		return fmt.Sprintf("kernels of that size need %s with -j%d; -j1 needs less", mib(n), b.opt.Jobs)
	}
	return "kernels of that size need " + mib(n)
}

// usual is UsualMemory by what counts for the limit, by what of the size is unit records, and for a number of
// workers.
func (b *budget) usual(jobs int) uint64 {
	n := UsualMemory(b.total-b.packed) + b.packed/10*recordTenths
	if jobs > 1 {
		n += uint64(jobs-1) * usualWorker
	}
	if b.opt.LimitResident {
		n += ResidentProgram + b.residentReserve()
	}
	return n
}

// residentReserve is how far below the limit resident memory is to be whenever
// it is looked at, in bytes.
func (b *budget) residentReserve() uint64 {
	each := min(b.mapped, residentStep) + min(b.nameBytes, residentNames) + uint64(max(b.opt.Jobs, 1))*residentWorker
	return each * uint64(max(b.opt.Sessions, 1))
}

// limitArena has the tables make the second check when they grow.
func (b *budget) limitArena() { b.limit.Set(b.bounds()) }

// expanding is the limit of the sections that are expanded before it is known how much is to
// be read.
func (b *budget) expanding() *arena.Limit {
	l := new(arena.Limit)
	l.Set(b.bounds())
	return l
}

// whileExpanding turns the error of that limit into one that says what to do.
func (b *budget) whileExpanding(path string, err error) error {
	var full arena.Exhausted
	if errors.As(err, &full) {
		return fmt.Errorf("%s: the memory limit of %s is reached while compressed sections are expanded: %s are in use; objcopy --decompress-debug-sections makes a file that is read in pieces",
			path, mib(b.opt.MemoryLimit), mib(full.Used))
	}
	return err
}

// bounds are those of the options.
func (b *budget) bounds() arena.Bounds {
	l := arena.Bounds{Stop: b.stop, Bytes: b.opt.MemoryLimit, Used: memlimit.Used, Reclaim: debug.FreeOSMemory}
	b.step = memoryStep
	if l.Bytes != 0 {
		reserve := memlimit.Reserve(b.mapped, b.opt.Jobs)
		if b.opt.LimitResident {
			l.Used, l.Drop = memlimit.Resident, mmapelf.ReleaseAll
			reserve = b.residentReserve()
			b.step = 1
		}
		l.Bytes = max(l.Bytes, reserve+1) - reserve
	}
	return l
}

// committed counts n bytes of .debug_info that were read, and makes the second
// check from time to time.
func (b *budget) committed(n uint64) error {
	if b.unchecked += n + memoryStep/16; b.unchecked < b.step {
		return nil
	}
	b.unchecked = 0
	return b.checkMemory(0)
}

// exhausted is the error for a limit that leaves no room beside the used bytes.
func (b *budget) exhausted(used uint64) error {
	limit := b.opt.MemoryLimit
	return fmt.Errorf("%s: the memory limit of %s is reached: %s are in use; %s", b.path, mib(limit), mib(used), b.need(limit+limit/8))
}

// mib is n bytes in MiB, rounded up.
func mib(n uint64) string { return fmt.Sprintf("%d MiB", (n+1<<20-1)>>20) }
