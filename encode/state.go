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
	"github.com/btflite/btflite/internal/inline"
	"github.com/btflite/btflite/internal/names"
	"github.com/btflite/btflite/internal/unit"
	"github.com/btflite/btflite/internal/unitrecord"
)

// phase says how the types of all units become one set.
type phase uint8

const (
	streaming phase = iota // unit by unit
	asking                 // unit by unit; there is no output if units disagree about a type
	batch                  // all types are kept, then deduplicated by the batch algorithm
)

// run is the state of one encoding: everything that outlives a unit.
type run struct {
	ctx context.Context
	opt Options
	budget
	session  *Session // nil for a run without a session
	phase    phase
	question question // in the phase asking
	inputs   []*input
	lead     int // see Output.Lead

	names   names.Table
	records struct { // the names of unit records
		once  sync.Once
		names *unitrecord.Names
	}
	set        *dedup.Set
	arrayIndex atomic.Uint32 // the Set's int that indexes arrays, 0 until known
	funcs      functions
	vars       compactstate.Vars
	extras     compactstate.ExtraVars
	inline     *inlining // nil if sites of inlined functions are not wanted
	raw        *rawTypes // nil without Options.Verbose
	foreign    []uint16  // see Output
	lacksTypes bool      // see unit.Facts
	scopes     scopes    // with Options.For ForReaders
	// leftMembers becomes Stats.LeftOutMembers.
	leftMembers map[string]struct{}
	stats       Stats
	doneBytes   atomic.Uint64 // bytes of .debug_info of finished units
	clock       clock
}

// functions holds the functions of all units.
type functions struct {
	table   *compactstate.FuncTable
	padding bool // the table has the symbols of padding
	states  *compactstate.States
	names   []dedup.Name // by entry of the table
	block   arena.Block  // backs the tables by function in a file with many functions
	lookups arena.Block  // backs the part of them that only units read
	scratch []compactstate.Annotation
	defined // with Options.Functions
	// With ForReaders: how units describe functions, and the names of functions that have
	// a FUNC by pahole's rules.
	readable []readable
	emitted  map[string]bool
}

// defined holds definitions, in file order.
type defined struct {
	units  []definedUnit
	defs   []definition
	params []definedParam
}

// definedUnit is a unit that has definitions.
type definedUnit struct {
	f        *input
	name     dedup.Name
	lines    uint64 // offset of its line table in .debug_line
	hasLines bool
}

// definition becomes a Definition.
type definition struct {
	low            uint64 // DW_AT_low_pc
	name           dedup.Name
	entry          uint32 // of the function table
	unit           uint32 // index in defined.units
	file           uint32 // number of the file in the unit's line table, if hasFile
	line           uint32
	first, nparams uint32 // index in defined.params, and number
	fault          string
	hasFile        bool
	code           bool // see Definition.Code
}

// definedParam becomes a Parameter.
type definedParam struct {
	name  dedup.Name
	place Place
}

// readable is one unit's description of a function that has code.
type readable struct {
	name    dedup.Name
	foreign bool     // its unit is neither C nor assembler
	proto   []uint32 // the record of its prototype
}

// minBlock is the number of functions from which a separate block is worth it.
const minBlock = 1 << 14

// newTable makes the tables for about n functions. Their memory counts for the limit l.
func (fs *functions) newTable(n int, l *arena.Limit) {
	if n >= minBlock {
		records, lookups := compactstate.FuncTableBytes(n)
		fs.block.Populate(records+(n+1)*(compactstate.EntryBytes+4)+16, l)
		fs.lookups.Populate(lookups, l)
	}
	fs.table = compactstate.NewFuncTable(n, &fs.block, &fs.lookups)
	if fs.padding {
		fs.table.KeepPadding()
	}
	fs.names = arena.Carve[dedup.Name](&fs.block, n+1)[:0]
	fs.states.Reserve(n, &fs.block) // it takes the remainder of the block
}

// endLookups releases what no function needs once all units have been read.
func (fs *functions) endLookups() {
	if fs.table != nil {
		fs.table.EndLookups()
	}
	fs.lookups.Free()
}

// free releases the memory.
func (fs *functions) free() {
	block, lookups := fs.block, fs.lookups
	*fs = functions{} // the garbage collector can free the rest, if memory is short
	block.Free()
	lookups.Free()
}

// inlining is the state of a run that wants sites.
type inlining struct {
	store   inline.Store
	settled *inline.Settled
	names   []byte // the strings that are added

	sections []codeSection // with code, by address
	last     int           // index of the section that was found last
	titles   []title       // names of LOCSECs, by section index

	funcs  []inlinedFunc // of the current unit, by index of its functions
	values []value       // of the parameters of funcs
	words  []uint32
	places []uint32
	why    []string // for Options.InlineMissing
	chain  []uint32
}

// codeSection is a section of the first input that may contain sites.
type codeSection struct {
	addr, size uint64
	index      uint32
}

// title is the string offset of a section's LOCSEC.
type title struct{ section, name uint32 }

// inlinedFunc is a function of the unit: 1 + its index in the store, or the reason why
// the store does not have it.
type inlinedFunc struct {
	index uint32
	first uint32 // index of its first parameter in inlining.values
	drop  inline.Drop
	bad   bool
}

// value describes the type of a parameter, to check its places. size is 0 if it is
// unknown.
type value struct {
	size   uint32
	signed bool
}

// maxInlined is how many bytes of tables stay allocated between units.
const maxInlined = 128 << 10

// rawTypes numbers types as if nothing were merged. It exists with Options.Verbose only,
// when units are read one by one.
type rawTypes struct {
	out        func(lines string)
	names      *names.Table
	search     bool                // print lines about the search for variables
	next       uint32              // id of the next type
	arrayIndex uint32              // id of the int that indexes arrays, 0 until known
	started    bool                // the name of the file has been written
	vars       map[uint32]uint32   // ids of VARs, by id of the Set
	protos     map[uint32][]uint32 // ids of return type and parameters, by index of the state
	line       []byte
	kflag      bool // the current struct has had a bit-field
	// differ has, by name of a function, the lines about states with different
	// prototypes. They wait until the function is decided.
	differ map[string][]string
}

// input is one file of a run.
type input struct {
	unit.Input
	run   *run
	opt   *Options
	merge *merged          // of a file whose units are merged, else nil
	first bool             // the first input that has a unit to encode; see Output.Lead
	lines *debuginfo.Lines // nil until first use
	variables
	replaced *replaced // nil if it does not matter
	proofs   proofs
	symbols
}

// variables has the places where an input's variables may be.
type variables struct {
	sections []unit.VarSection        // all sections that may contain variables
	starts   map[uint32]*sectionStart // of the sections that are wanted, by ELF section index
	objects  map[objectKey]struct{}   // of the symbol table; nil until first use
	seed     maphash.Seed             // of objects
}

// sectionStart has the symbols at the start of a section.
type sectionStart struct {
	name  string   // of the section
	value uint64   // of a symbol there
	names [][]byte // of the objects there
}

// objectKey identifies an object by its section and a hash of its name.
type objectKey struct {
	section uint32
	hash    uint64
}

// replaced describes the debug sections that a file with unit records would have with DWARF.
type replaced struct {
	size map[string]uint64 // of the debug sections, in bytes
	// before and behind name the sections that the file lacks, before and after .debug_info, in
	// the order of the first object.
	before, behind []string
	next           uint32 // section index that the next missing section gets
}

// symbols reads the symbol table while units are read.
type symbols struct {
	read  sync.WaitGroup
	err   error
	crash any // a panic while the symbols were read
}

// waitSymbols returns when the symbols have been read, with the error of reading them.
func (sy *symbols) waitSymbols() error {
	sy.read.Wait()
	if sy.crash != nil {
		panic(sy.crash)
	}
	return sy.err
}

// stopped returns an error once the run has to end.
func (r *run) stopped() error {
	if err := r.ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", r.path, err)
	}
	return nil
}

// countUnencodable adds to the statistics what BTF had no kind for in a committed unit.
func (r *run) countUnencodable(u *workspace) {
	for what, n := range u.unit.Unencodable.Counts {
		r.leftOut(what, n)
	}
	for _, name := range u.unit.Unencodable.Members {
		if r.leftMembers == nil {
			r.leftMembers = map[string]struct{}{}
		}
		if len(r.leftMembers) < unit.MaxMembers {
			r.leftMembers[name] = struct{}{}
		}
	}
}

// leftOut counts n left-out things of one sort.
func (r *run) leftOut(what string, n int) {
	if r.stats.Unencodable == nil {
		r.stats.Unencodable = make(map[string]int)
	}
	r.stats.Unencodable[what] += n
}

// recordNames returns the names of unit records as tokens.
func (r *run) recordNames() *unitrecord.Names {
	r.records.once.Do(func() {
		bytes := 0
		for i := range r.inputs {
			bytes += len(r.inputs[i].File.Info)
		}
		r.records.names = unitrecord.NewNames(&r.names)
		r.names.Expect(bytes / bytesPerName) // this may reach the memory limit
	})
	return r.records.names
}

// bytesPerName is how many bytes of .debug_info with unit records bring one new name,
// rounded down: 67 in a small kernel, 128 in an x86_64 defconfig kernel.
const bytesPerName = 64

// intern adds a name to the strings that no type has brought.
func (r *run) intern(t dedup.Name) (dedup.Name, error) { return r.set.Intern(t) }

func (r *run) sectionName(index uint32) string {
	if s := r.inputs[r.lead].starts[index]; s != nil {
		return s.name
	}
	return ""
}

// warn writes a line of -V to standard error.
func (f *input) warn(line string) {
	if f.opt.Warn != nil {
		f.opt.Warn(line)
	}
}
