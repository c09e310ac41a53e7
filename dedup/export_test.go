package dedup

// What the tests of when units are resolved need of Resolve's steps.

// Begin is begin.
func (s *Set) Begin(u *Unit) { s.begin(u) }

// Resume is resume that lets a writer in.
func (s *Set) Resume(u *Unit) bool { return s.resume(u, true) }

// Renew is renew.
func (s *Set) Renew(u *Unit) { s.renew(u) }

// WantWrite says whether there is a writer to let in.
func (s *Set) WantWrite(yes bool) {
	s.gate.writing.Store(0)
	if yes {
		s.gate.writing.Store(1)
	}
}

// Copies is how many types of the base have own copies.
func (s *Set) Copies() int { return len(s.base.copies) }
