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

// A run that reaches its memory limit must end with an error that says so, before the
// system kills it. The first check comes before reading: it refuses a limit that no such
// input has ever fitted in. The second check compares the memory in use with the limit as
// the run goes on. Only the second can be exact, because memory follows the distinct
// types of the input, and nobody knows these before reading.

const (
	// leastMemory and leastShare give a lower bound for a run: leastMemory, and 1 byte
	// for each leastShare bytes of .debug_info.
	leastMemory = 4 << 20
	leastShare  = 32
	// usualMemory and usualShare give what kernels need with one worker. They were
	// measured with 176 to 252 MiB of .debug_info, in control groups of 22 to 27 MiB.
	// There are 1 to 3 MiB of room in them, so that a user who follows the advice does
	// not get another number the next time. usualWorker is for each further worker: when
	// memory is scarce, fewer units are in work at once.
	usualMemory = 9 << 20
	usualShare  = 14
	usualWorker = 512 << 10
	// recordTenths adds, for kernels with unit records, so many tenths of .debug_info to
	// usualMemory. It was measured with 4 and 26 MiB, in limits of 26 and 52 MiB.
	recordTenths = 12
	// memoryStep is how many bytes of .debug_info are committed between two checks, but
	// at most 16 units. A check takes a few microseconds.
	memoryStep = 512 << 10
	// scarceRun and scarceWorker are bytes: see scarce.
	scarceRun, scarceWorker = 512 << 10, 512 << 10
	// startShare is how many bytes of a limit there are for each unit in work at the start.
	// A unit of a kernel takes 1.3 MiB, and the tables for all units grow beside.
	startShare = 4 << 20
	// Resident memory is checked after each unit. Between two checks it grows by the
	// pages of a unit and of the names that the unit uses. The system maps 16 pages for
	// each one that is touched, so a large unit maps all of .debug_str, which is up to 6
	// MiB in kernels. The measured growth was 4 to 9 MiB in all.
	residentStep, residentNames, residentWorker = 3 << 20, 6 << 20, 512 << 10
)

// ResidentProgram is how much of the program itself is resident after its start, in
// bytes: 6 MiB of text and data were measured, and 2 MiB of other memory.
const ResidentProgram = 8 << 20

// UsualMemory returns how many bytes a run over kernels usually takes with one worker.
// size is the size of their .debug_info in bytes.
func UsualMemory(size uint64) uint64 { return usualMemory + size/usualShare }

// ErrMemory is found by errors.Is in the error of a run that Options.MemoryLimit has ended. With
// more memory, the same input may be encoded.
var ErrMemory = errors.New("the memory limit is reached")

// limitError is the text of an error for which errors.Is finds ErrMemory.
type limitError string

// overLimit returns a limitError with a text.
func overLimit(format string, args ...any) error { return limitError(fmt.Sprintf(format, args...)) }

// Error implements error.
func (e limitError) Error() string { return string(e) }

// Is reports whether target is ErrMemory, for errors.Is.
func (limitError) Is(target error) bool { return target == ErrMemory }

// memoryUsed is replaced by a test.
var memoryUsed = memlimit.Used

// budget compares the memory of a run with its limits.
type budget struct {
	limit  *arena.Limit
	opt    *Options
	stop   func() error // returns an error once the run has to end
	path   string       // of the input that was read last
	total  uint64       // bytes of .debug_info of the inputs given to checkInput
	packed uint64       // the part of total that has unit records
	mapped uint64       // bytes of the inputs

	// useLess, if set, makes the run go on with less memory. It is called when little is left.
	useLess func()

	unchecked uint64 // bytes of .debug_info since the last check
	step      uint64 // value of unchecked at which the next check is due
	nameBytes uint64 // of the largest .debug_str
}

// checkInput is the first check, when the size of an input is known.
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
		return overLimit("%s: the memory limit of %s cannot suffice for %s of debug information: %s", f.Path, mib(limit), mib(b.total), b.need(0))
	}
	b.limitArena()
	return nil
}

// checkMemory is the second check, between units, and before n bytes are allocated at
// once.
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

// need returns a sentence about how much memory kernels of this size take, with this
// run's number of workers and with one. least is a lower bound that the run itself has
// shown.
func (b *budget) need(least uint64) string {
	n := max(b.usual(b.opt.Jobs), least)
	if one := b.usual(1); b.opt.Jobs > 1 && one > b.opt.MemoryLimit {
		return fmt.Sprintf("kernels of that size need %s with -j%d, and %s with -j1", mib(n), b.opt.Jobs, mib(one))
	} else if b.opt.Jobs > 1 {
		return fmt.Sprintf("kernels of that size need %s with -j%d; -j1 needs less", mib(n), b.opt.Jobs)
	}
	return "kernels of that size need " + mib(n)
}

// usual is UsualMemory for the inputs of this run and jobs workers. It counts unit
// records and resident memory as the limit does.
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

// residentReserve is the distance in bytes that resident memory must keep from the limit
// at each check.
func (b *budget) residentReserve() uint64 {
	each := min(b.mapped, residentStep) + min(b.nameBytes, residentNames) + uint64(max(b.opt.Jobs, 1))*residentWorker
	return each * uint64(max(b.opt.Sessions, 1))
}

// limitArena makes the tables check the limit when they grow.
func (b *budget) limitArena() { b.limit.Set(b.bounds()) }

// expanding returns the limit for sections that are expanded before the size of the input
// is known.
func (b *budget) expanding() *arena.Limit {
	l := new(arena.Limit)
	l.Set(b.bounds())
	return l
}

// whileExpanding turns an error of that limit into one that says what to do.
func (b *budget) whileExpanding(path string, err error) error {
	var full arena.Exhausted
	if errors.As(err, &full) {
		return overLimit("%s: the memory limit of %s is reached while compressed sections are expanded: %s are in use; objcopy --decompress-debug-sections makes a file that is read in pieces",
			path, mib(b.opt.MemoryLimit), mib(full.Used))
	}
	return err
}

// bounds returns the limits of the options.
func (b *budget) bounds() arena.Bounds {
	l := arena.Bounds{Stop: b.stop, Bytes: b.opt.MemoryLimit, Used: memoryUsed, Reclaim: debug.FreeOSMemory}
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

// committed counts n bytes of .debug_info that were read, and makes the second check from
// time to time.
func (b *budget) committed(n uint64) error {
	if b.unchecked += n + memoryStep/16; b.unchecked < b.step {
		return nil
	}
	b.unchecked = 0
	if b.useLess != nil && b.limit.Check(scarce(b.opt.Jobs)) != nil {
		b.useLess()
	}
	return b.checkMemory(0)
}

// startUnits returns how many of n units may be in work at the start.
func startUnits(opt *Options, n int) int {
	if limit := opt.MemoryLimit; limit/startShare < uint64(n) && limit != 0 {
		return max(int(limit/startShare), 1)
	}
	return n
}

// scarce is how many bytes must be left for the workers to go on as before: what units and tables
// may take until the next check.
func scarce(jobs int) int { return scarceRun + max(jobs, 1)*scarceWorker }

// exhausted is the error for a limit that is reached with used bytes.
func (b *budget) exhausted(used uint64) error {
	limit := b.opt.MemoryLimit
	return overLimit("%s: the memory limit of %s is reached: %s are in use; %s", b.path, mib(limit), mib(used), b.need(limit+limit/8))
}

// mib formats n bytes in MiB, rounded up.
func mib(n uint64) string { return fmt.Sprintf("%d MiB", (n+1<<20-1)>>20) }
