package encode

import (
	"fmt"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/compactstate"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/unit"
	"github.com/btflite/btflite/internal/unitrecord"
)

// workspace is the memory for the work on one unit, or group of units: what was read, and
// the result of checking its functions. The next unit uses it again.
type workspace struct {
	reader unit.Reader       // reads DIEs
	record unitrecord.Reader // reads unit records
	unit   *unit.Unit        // the result of reader
	funcs  unitFuncs
	size   uint64 // bytes of .debug_info that the workspace stands for
	err    error  // why the unit could not be encoded
	ready  bool   // it has been read, so it can be committed
	whole  bool   // leave out no types, even known ones

	// For -V: the lines, written when the unit is committed, and the ids of the nodes.
	log []byte
	raw arena.Vec[uint32]
}

// unitFuncs is the result of checking the functions of a unit.
type unitFuncs struct {
	states  arena.Vec[stateRec]
	params  arena.Vec[compactstate.Param] // of states
	env     callconv.Functions
	entries arena.Vec[nameEntry] // kept from unit to unit
	tokens  []dedup.Name         // scratch of entriesAhead: names that are not in entries
	texts   [][]byte             // scratch of entriesAhead: their texts, which are slices of the mapping
	touched arena.Touched        // written by entriesAhead
	definer *definer             // nil without Options.Functions
}

// stateRec is how one subprogram DIE describes its function, while its unit is in work.
// Types are Refs of the unit, and ids of the Set from placeState on.
type stateRec struct {
	Entry   uint32 // of the function table
	Sym     uint32 // see compactstate.FuncTable.Symbol
	Ret     uint32 // return type
	First   uint32 // index of the first parameter in unitFuncs.params
	N       uint32 // number of parameters
	FirstAn uint32 // index of the first annotation in unit.Annots
	NAn     uint32 // number of annotations
	Name    dedup.Name
	Flags   compactstate.Flags
}

// nameEntry is a cached look-up: the entry of a name token in the ELF function table.
type nameEntry struct{ name, entry uint32 }

// definer notes the definitions of a workspace, with Options.Functions only.
type definer struct {
	f *input
	u *workspace
	defined
	decls   dwarf.Abbrevs   // of the plan Places
	seen    map[uint32]bool // of a merged file: DIE offsets
	skel    definedUnit     // the unit of a skeleton, in a file with split DWARF
	far     *unit.Reader    // reads other units of a merged file
	farUnit int             // 1 + the number of the unit that far has read; 0 if none
}

// free releases the memory.
func (j *definer) free() {
	if j != nil && j.far != nil {
		j.far.Free()
		j.far, j.farUnit = nil, 0
	}
}

// init prepares a new workspace. Its memory counts for the limit l.
func (u *workspace) init(l *arena.Limit) {
	arena.Bind(l, u)
	u.unit = &u.reader.Unit
	u.funcs.env.Only = func(i uint32) bool { return u.unit.Funcs.S[i].Entry != 0 }
}

// reset prepares the workspace for the next unit.
func (u *workspace) reset() {
	u.log, u.err, u.whole = u.log[:0], nil, false
	u.raw.Trim(arena.KeepBytes)
	u.funcs.states.Trim(arena.KeepBytes)
	u.funcs.params.Trim(arena.KeepBytes)
	u.reader.Reset()
	if u.unit.Inline != nil {
		u.unit.Inline.Reset(maxInlined)
	}
}

// free releases the workspace's memory.
func (u *workspace) free() {
	u.reader.Free()
	u.funcs.states.Free()
	u.funcs.params.Free()
	u.funcs.entries.Free()
	u.raw.Free()
	u.funcs.definer.free()
	if u.unit.Inline != nil {
		u.unit.Inline.Free()
	}
}

// restart prepares to read the workspace's unit again.
func (u *workspace) restart() {
	c := &u.reader.Cursor
	hdr, first, last := c.Hdr, c.FirstReloc, c.LastReloc
	u.reset()
	c.Hdr, c.FirstReloc, c.LastReloc, c.Again = hdr, first, last, true
}

// id returns the set's id of a Ref, after the unit was committed.
func (u *workspace) id(ref dedup.Ref) uint32 {
	switch {
	case ref == 0:
		return 0
	case ref&dedup.Extern != 0:
		return ref &^ dedup.Extern
	case ref == unit.Dropped:
		return ref
	}
	return u.unit.Types.ID.S[ref-1]
}

// locate is deferred around the work on a unit. It adds the unit and the place in it to a
// panic, and panics again.
func (u *workspace) locate() {
	if x := recover(); x != nil {
		panic(asWorkerPanic(x, fmt.Sprintf(" .debug_info: unit at %#x:", u.reader.Cursor.Hdr.Off)))
	}
}
