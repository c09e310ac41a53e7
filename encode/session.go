package encode

import "github.com/btflite/btflite/dedup"

// Session encodes one file after the other with the same options, and keeps
// what does not depend on the file: the set with the base's types, the pool of
// names with what follows what, and the arena slots. Each output is the same
// as that of Run. A Session is for one goroutine at a time; sessions over one
// Base may run side by side. The zero value is not usable.
type Session struct {
	opt  Options
	set  *dedup.Set
	pool *pool
	// slots of the pipeline, between files.
	slots []slot
}

// maxPool is how many names a Session's pool may hold before it starts anew:
// most names of a module are those of kernel headers, but not all.
const maxPool = 1 << 18

// NewSession makes a Session; opt is as for Run.
func NewSession(opt Options) *Session { return &Session{opt: opt} }

// Encode is Run for one file.
func (s *Session) Encode(path string) (*Output, error) {
	return runTrials([]string{path}, s.opt, s)
}

// Close gives the memory back.
func (s *Session) Close() {
	s.dropSet()
	s.dropPool()
	for i := range s.slots {
		s.slots[i].u.free()
	}
	s.slots = nil
}

func (s *Session) dropSet() {
	if s.set != nil {
		s.set.Free()
		s.set = nil
	}
}

func (s *Session) dropPool() {
	if s.pool != nil {
		s.pool.free()
		s.pool = nil
	}
	for i := range s.slots {
		s.slots[i].u.trace.free() // numbers of the pool
	}
}

// takePool is the pool for the next run.
func (s *Session) takePool(base *dedup.Base) *pool {
	if s == nil {
		return newPool(base)
	}
	if s.pool != nil && (s.pool.n > maxPool || s.pool.overflow()) {
		s.dropPool()
	}
	if s.pool == nil {
		s.pool = newPool(base)
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

// takeSlots are n slots for the pipeline of a file.
func (s *Session) takeSlots(n int) []slot {
	if s != nil && len(s.slots) == n {
		return s.slots
	}
	slots := make([]slot, n)
	for i := range slots {
		slots[i].u.init()
	}
	if s != nil {
		s.slots = slots
	}
	return slots
}

// giveSlots ends their use for a file.
func (s *Session) giveSlots(slots []slot) {
	for i := range slots {
		if u := &slots[i].u; s == nil {
			u.free()
		} else {
			slots[i].ready = false
			u.entries.Reset() // of the file's function table
			u.own.Forget()    // of its .debug_abbrev
			u.freeFar()
		}
	}
}
