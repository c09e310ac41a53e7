package encode

import (
	"github.com/btflite/btflite/compactstate"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/unit"
)

// merged is what waits for the end of a file whose units refer to each other, and
// how they are read. Workers read it; the committer changes it.
type merged struct {
	unit.Merged
	groups  []unit.Group
	dropped bool // the language filter drops the file
	all     bool // units are imported: all functions are judged in their group

	tags      []mergedTag
	names     []dedup.Name // of function states, in the order in which they came
	vars      []mergedVar
	finishing bool // the last unit has been committed
	// varsEnd is set when a variable has ended the variables of the file.
	varsEnd bool
	// late holds all functions if some lead to other groups, else nil.
	late *lateFuncs
}

// mergedTag is a declaration tag of a type in the Set.
type mergedTag struct {
	id, raw   uint32 // raw is that of -V
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

// later keeps the names of a function state for when all types are known.
func (m *merged) later(params []compactstate.Param, an []compactstate.Annotation) {
	for _, p := range params {
		m.names = append(m.names, p.Name)
	}
	for _, a := range an {
		m.names = append(m.names, a.Value)
	}
}

// lateFuncs holds the functions of a file in a workspace of its own. Types are ids
// of the Set until finishLate.
type lateFuncs struct {
	u workspace
	// The ids that -V gives the types of functions and parameters, if it is on.
	rawFuncs, rawParams []uint32
}
