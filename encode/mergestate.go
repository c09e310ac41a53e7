package encode

import (
	"github.com/btflite/btflite/compactstate"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/unit"
)

// merged is the state of a file whose units are merged: the plan, and what waits for the
// end of the file. Workers read it; only the committer changes it.
type merged struct {
	unit.Merged
	groups     []unit.Group
	dropped    bool // the language filter drops the file
	hasImports bool // units are imported, so each group checks its own functions

	tags      []mergedTag
	names     []dedup.Name // of function states, in reading order
	vars      []mergedVar
	finishing bool // the last unit has been committed
	// varsEnd is set when a variable has ended the variables of the file.
	varsEnd bool
	// pending holds all functions if some refer to other groups, else nil.
	pending *pendingFuncs
}

// mergedTag is a declaration tag for a type of the Set.
type mergedTag struct {
	id, raw   uint32 // raw is the id of -V
	value     dedup.Name
	component int32
}

// mergedVar is a variable that passed the checks. Its type is an id of the Set.
type mergedVar struct {
	v    unit.Var
	raw  uint32 // type id of -V
	size uint64
	tags []unit.Annot
}

// keepNames keeps the names of a function state: their strings come after all types.
func (m *merged) keepNames(params []compactstate.Param, an []unit.Annot) {
	for _, p := range params {
		m.names = append(m.names, p.Name)
	}
	for _, a := range an {
		m.names = append(m.names, a.Value)
	}
}

// pendingFuncs holds the functions of a file in its own workspace. Types are ids of the Set
// until finishPending.
type pendingFuncs struct {
	u workspace
	// Ids of -V for the types of functions and parameters, if it is on.
	rawFuncs, rawParams []uint32
}
