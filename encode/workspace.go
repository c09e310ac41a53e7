package encode

import (
	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/compactstate"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/unit"
	"github.com/btflite/btflite/internal/unitrecord"
)

// workspace is the memory in which one unit, or group of units, is worked on: what was
// read of it, and what came of judging its functions. It is used again by the next
// unit that takes it.
type workspace struct {
	reader unit.Reader       // of DIEs
	record unitrecord.Reader // of unit records
	unit   *unit.Unit        // of reader: what was read
	judged judged
	size   uint64 // bytes of .debug_info that the workspace stands for
	err    error  // why the unit could not be encoded
	ready  bool   // it has been read, and may be committed
	whole  bool   // no types may be left out of it that are known

	// Of -V: the lines, written when the unit is committed, and the ids that it
	// gives the nodes.
	log []byte
	raw arena.Vec[uint32]
}

// judged is what came of judging the functions of a unit.
type judged struct {
	states  arena.Vec[stateRec]
	params  arena.Vec[compactstate.Param] // of states
	env     callconv.Functions
	entries arena.Vec[nameEntry] // kept from unit to unit
	tokens  []dedup.Name         // scratch of entriesAhead
	texts   [][]byte             // the same for texts, which are parts of the mapping
	touched arena.Touched        // by entriesAhead
	judging *judging             // nil without Options.Functions
}

// stateRec is what one subprogram DIE contributes to the choice of functions,
// while its unit is in work: types are Refs of the unit. The committer turns
// it into a compactstate record.
type stateRec struct {
	Entry   uint32
	Sym     uint32
	Ret     dedup.Ref
	First   uint32 // in judged.params
	N       uint32
	FirstAn uint32 // in unit.Annots
	NAn     uint32
	Name    dedup.Name
	Flags   compactstate.Flags
}

// nameEntry remembers which ELF function a name token stands for.
type nameEntry struct{ name, entry uint32 }

// init prepares a new workspace, whose memory has the limit l.
func (u *workspace) init(l *arena.Limit) {
	arena.Bind(l, u)
	u.unit = &u.reader.Unit
	u.judged.env.Only = func(i uint32) bool { return u.unit.Funcs.S[i].Entry != 0 }
}

// reset prepares the workspace for the next unit.
func (u *workspace) reset() {
	u.log, u.err, u.whole = u.log[:0], nil, false
	u.raw.Trim(arena.KeepBytes)
	u.judged.states.Trim(arena.KeepBytes)
	u.judged.params.Trim(arena.KeepBytes)
	u.reader.Reset()
	if u.unit.Inline != nil {
		u.unit.Inline.Reset(maxInlined)
	}
}

// free gives the workspace's memory back.
func (u *workspace) free() {
	u.reader.Free()
	u.judged.states.Free()
	u.judged.params.Free()
	u.judged.entries.Free()
	u.raw.Free()
	u.judged.judging.free()
	if u.unit.Inline != nil {
		u.unit.Inline.Free()
	}
}

// restart has the workspace's unit read again.
func (u *workspace) restart() {
	c := &u.reader.Cursor
	hdr, first, last := c.Hdr, c.FirstReloc, c.LastReloc
	u.reset()
	c.Hdr, c.FirstReloc, c.LastReloc = hdr, first, last
}

// id is the set id of a Ref after the unit was committed.
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
