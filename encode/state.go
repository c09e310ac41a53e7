package encode

import (
	"context"
	"fmt"
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/compactstate"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/names"
	"github.com/btflite/btflite/internal/unit"
	"github.com/btflite/btflite/internal/unitrecord"
)

// run is the state of one encoding: everything that outlives a unit.
type run struct {
	ctx context.Context
	opt Options
	budget
	session *Session // nil: of this run alone
	phase   phase
	inputs  []*input
	lead    int // see Output.Lead

	names   names.Table
	records struct { // the names of unit records
		once  sync.Once
		names *unitrecord.Names
	}
	set     *dedup.Set
	index   atomic.Uint32 // the Set's int that indexes arrays, 0 until known
	funcs   functions
	vars    compactstate.Vars
	extras  compactstate.ExtraVars
	inline  *inlining // nil if sites of inlined functions are not wanted
	raw     *rawTypes // nil without Options.Verbose
	foreign string    // see Output
	hides   bool      // see unit.Facts.Hides
	// leftMembers become Stats.LeftOutMembers.
	leftMembers map[string]struct{}
	stats       Stats
	done        atomic.Uint64 // bytes of .debug_info
	clock       clock
}

// functions is what is known of the functions of all units.
type functions struct {
	table   *compactstate.FuncTable
	states  *compactstate.States
	names   []dedup.Name // by entry of the table
	block   arena.Block  // has the tables by function of a file with many
	scratch []compactstate.Annotation
	defined // with Options.Functions
	// With ForReaders: what units say of functions, and the names of those that have a
	// FUNC by pahole's rules.
	readable []readable
	emitted  map[string]bool
}

// minBlock is for how many functions a block of their own pays.
const minBlock = 1 << 14

// newTable makes the tables of about n functions, whose memory has the limit l.
func (f *functions) newTable(n int, l *arena.Limit) {
	if n >= minBlock {
		f.block.Populate(compactstate.FuncTableBytes(n)+(n+1)*(compactstate.EntryBytes+4)+16, l)
	}
	f.table = compactstate.NewFuncTable(n, &f.block)
	f.names = arena.Carve[dedup.Name](&f.block, n+1)[:0]
	f.states.Reserve(n, &f.block) // which takes what is left
}

// free gives the memory back.
func (f *functions) free() {
	b := f.block
	*f = functions{} // garbage, if memory is short
	b.Free()
}

// input is one file that is encoded.
type input struct {
	unit.Input
	run   *run
	opt   *Options
	merge *merged          // of a file whose units are merged, else nil
	first bool             // of the inputs that have a unit to encode; see Output.Lead
	lines *debuginfo.Lines // nil until asked for
	variables
	symbols
}

// variables is where an input's variables are.
type variables struct {
	sections []unit.VarSection        // all that variables may lie in
	starts   map[uint32]*sectionStart // of those that are wanted, by ELF section index
	objects  map[objectKey]struct{}   // of the symbol table; nil until asked for
	seed     maphash.Seed             // of objects
}

// sectionStart is what the symbols say of the start of a section.
type sectionStart struct {
	value uint64   // of a symbol there
	names [][]byte // of the objects there
}

// objectKey stands for an object: its section and a hash of its name.
type objectKey struct {
	section uint32
	hash    uint64
}

// symbols is the reading of the symbol table, beside that of units.
type symbols struct {
	read  sync.WaitGroup
	err   error
	crash any // a panic while the symbols were read
}

// waitSymbols returns when the symbols have been read, with the error of that.
func (s *symbols) waitSymbols() error {
	s.read.Wait()
	if s.crash != nil {
		panic(s.crash)
	}
	return s.err
}

// stopped is an error once the run is to end.
func (r *run) stopped() error {
	if err := r.ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", r.path, err)
	}
	return nil
}

// recordNames are the names of unit records as tokens.
func (r *run) recordNames() *unitrecord.Names {
	r.records.once.Do(func() {
		bytes := 0
		for i := range r.inputs {
			bytes += len(r.inputs[i].File.Info)
		}
		r.records.names = unitrecord.NewNames(&r.names)
		r.names.Expect(bytes / bytesPerName) // which may meet the memory limit
	})
	return r.records.names
}

// bytesPerName is how many bytes of .debug_info with unit records bring a new name, rounded
// down: 67 in a small kernel, 128 in an x86_64 defconfig kernel.
const bytesPerName = 64

// intern adds a name that does not come with a type to the strings.
func (r *run) intern(t dedup.Name) (dedup.Name, error) { return r.set.Intern(t) }

// sectionName is the name of a section of variables.
func (r *run) sectionName(index uint32) string {
	for i := range r.inputs[r.lead].sections {
		if s := &r.inputs[r.lead].sections[i]; s.Index == index {
			return s.Name
		}
	}
	return ""
}

// warn writes a line of -V on standard error.
func (f *input) warn(line string) {
	if f.opt.Warn != nil {
		f.opt.Warn(line)
	}
}
