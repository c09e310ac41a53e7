package encode

import "sync/atomic"

// proofs counts the units of a module for which the reader tried to prove types, and how many of these
// units were refused.
type proofs struct{ tried, refused atomic.Int32 }

// mostRefused is how many units must be tried for each one that is refused. A refused unit is read twice,
// which costs about as much as another unit gains by its proofs.
const mostRefused = 4

// worthTrying reports whether to try to prove the types of the unit with this sequence number. For the
// first unit of a module that does not pay: it brings FWDs and copies of typedefs, which it must not find
// in the base, so half of its types become nodes anyway. It does not pay for the units of some modules
// either, because all of them have a name with several definitions.
func (p *proofs) worthTrying(seq int) bool {
	if seq == 0 || p.refused.Load()*mostRefused > p.tried.Load() {
		return false
	}
	p.tried.Add(1)
	return true
}
