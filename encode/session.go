package encode

import (
	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/names"
)

// Session encodes one file after the other with the same options, and keeps
// what does not depend on the file: the set with the base's types, the pool of
// names with what follows what, and the arena workspaces. Each output is the same
// as that of Run. A Session is for one goroutine at a time; sessions over one
// Base, which never changes, may run side by side: btflite modules gives each
// worker a session and the largest module that is left. The zero value is not
// usable.
type Session struct {
	opt  Options
	set  *dedup.Set
	pool *names.Pool
	// workspaces of the pipeline, between files.
	workspaces []workspace
	limit      arena.Limit // of all that is kept
}

// maxPool is how many names a Session's pool may hold before it starts anew:
// most names of a module are those of kernel headers, but not all.
const maxPool = 1 << 18

// NewSession makes a Session; opt is as for Run.
func NewSession(opt Options) *Session { return &Session{opt: opt} }

// takeLimit is the limit of the next run.
func (s *Session) takeLimit() *arena.Limit {
	if s == nil {
		return new(arena.Limit)
	}
	return &s.limit
}

// Close gives the memory back.
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
		s.workspaces[i].reader.Cursor.Reader.Free() // numbers of the pool
	}
}

// takePool is the pool for the next run.
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

// takeSet is the set of the last run, empty but for the base; nil if there is
// none.
func (s *Session) takeSet(names dedup.Names) *dedup.Set {
	if s == nil || s.set == nil {
		return nil
	}
	if s.set.Restart(names) != nil {
		s.dropSet()
	}
	return s.set
}

// takeWorkspaces are n workspaces for the pipeline of a file, with memory below the limit l.
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

// giveWorkspaces ends their use for a file.
func (s *Session) giveWorkspaces(workspaces []workspace) {
	for i := range workspaces {
		if u := &workspaces[i]; s == nil {
			u.free()
		} else {
			u.ready = false
			u.judged.entries.Reset() // of the file's function table
			u.reader.Forget()        // of its .debug_abbrev, and the unit of a specification
		}
	}
}
