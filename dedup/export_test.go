package dedup

// What the tests of when units are resolved need of Resolve's steps.

// Prepare is prepare.
func (s *Set) Prepare(u *Unit) { s.prepare(u) }

// LookUpNodes is lookUpNodes that lets a writer in.
func (s *Set) LookUpNodes(u *Unit) bool { return s.lookUpNodes(u, true) }

// CatchUp is catchUp.
func (s *Set) CatchUp(u *Unit) { s.catchUp(u) }

// WantWrite reports whether there is a writer to let in.
func (s *Set) WantWrite(yes bool) {
	s.gate.writing.Store(0)
	if yes {
		s.gate.writing.Store(1)
	}
}

// Copies is how many types of the base have own copies.
func (s *Set) Copies() int { return len(s.index.base.copies) }

// Tries is how many types were considered for others.
func (s *Set) Tries() uint64 { return s.tried }

// SetMaxLinear sets how many types of a chain are compared before its family is used, and returns
// what was set.
func SetMaxLinear(n int) (before int) {
	before, maxLinear = maxLinear, n
	return before
}

// Steps is how many types were considered for others, and how many steps walks took.
func (s *Set) Steps() uint64 { return s.tried + s.walk.Walks }
