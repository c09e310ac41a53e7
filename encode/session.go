package encode

import (
	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/names"
)

// Session encodes one file after another with the same options. It keeps everything that
// does not depend on the file: the set with the base's types, the pool of names, and the
// workspaces. Each output is the same as Run's. Use a Session from one goroutine at a
// time. Sessions may share a Base and run side by side: btflite modules gives each worker
// a session and the largest module that is left. The zero value is not usable.
type Session struct {
	opt  Options
	set  *dedup.Set
	pool *names.Pool
	// declared has abbreviations of all files.
	declared debuginfo.Declared
	// workspaces of the pipeline, kept between files.
	workspaces []workspace
	limit      arena.Limit // of all memory that is kept
}

// maxPool is how many names the pool of a Session may hold before it is dropped. Most
// names of a module come from kernel headers, but some do not.
const maxPool = 1 << 18

// NewSession makes a Session; opt is as for Run.
func NewSession(opt Options) *Session { return &Session{opt: opt} }

// takeLimit returns the limit of the next run.
func (s *Session) takeLimit() *arena.Limit {
	if s == nil {
		return new(arena.Limit)
	}
	return &s.limit
}

// Close releases the memory.
func (s *Session) Close() {
	s.dropSet()
	s.dropPool()
	for i := range s.workspaces {
		s.workspaces[i].free()
	}
	s.workspaces = nil
}

func (s *Session) dropSet() {
	if s.set != nil {
		s.set.Free()
		s.set = nil
	}
}

func (s *Session) dropPool() {
	if s.pool != nil {
		s.pool.Free()
		s.pool = nil
	}
	for i := range s.workspaces {
		s.workspaces[i].reader.Cursor.Reader.Free() // it has tokens of the pool
	}
}

// takeDeclared returns the abbreviations of earlier files.
func (s *Session) takeDeclared() *debuginfo.Declared {
	if s == nil {
		return nil
	}
	return &s.declared
}

// takePool returns the pool for the next run.
func (s *Session) takePool(base *dedup.Base, l *arena.Limit) *names.Pool {
	if s == nil {
		return names.NewPool(base, l)
	}
	if s.pool != nil && (s.pool.Len() > maxPool || s.pool.Overflow()) {
		s.dropPool()
	}
	if s.pool == nil {
		s.pool = names.NewPool(base, l)
	}
	return s.pool
}

// takeSet returns the set of the last run, emptied down to the base's types; nil if there
// is none.
func (s *Session) takeSet(names dedup.Names) *dedup.Set {
	if s == nil || s.set == nil {
		return nil
	}
	if s.set.Restart(names) != nil {
		s.dropSet()
	}
	return s.set
}

// takeWorkspaces returns n workspaces for the pipeline of a file. Their memory counts for
// the limit l.
func (s *Session) takeWorkspaces(n int, l *arena.Limit) []workspace {
	if s != nil && len(s.workspaces) == n {
		return s.workspaces
	}
	workspaces := make([]workspace, n)
	for i := range workspaces {
		workspaces[i].init(l)
	}
	if s != nil {
		s.workspaces = workspaces
	}
	return workspaces
}

// giveWorkspaces takes the workspaces back after a file.
func (s *Session) giveWorkspaces(workspaces []workspace) {
	for i := range workspaces {
		if u := &workspaces[i]; s == nil {
			u.free()
		} else {
			u.ready = false
			u.funcs.entries.Reset() // it indexes the file's function table
			u.reader.Forget()       // it refers to the file's .debug_abbrev, and to the unit of a specification
		}
	}
}
