package dedup

import "slices"

// Units that leave out chunks which the Set knows.

// LookUpChunks gives the nodes of the known ones among chunks their ids, as Refs: to has a
// place for each node of all chunks, and is 0 where the node is not known. If it is found
// that the unit has to be read as a whole, to is all 0. It may run beside Commits. chunks and
// to must stay as they are until the unit is committed.
func (s *Set) LookUpChunks(u *Unit, chunks []Chunk, to []Ref) {
	s.gate.rlock()
	defer s.gate.runlock()
	u.chunks.view, u.chunks.left = s.index.conflicts, 0
	u.chunks.asked, u.chunks.got = chunks, to
	for i, k := range u.chunks.find(&s.chunks, chunks) {
		c := &chunks[i]
		at := to[c.First:][:c.Count]
		if k == 0 {
			clear(at)
			continue
		}
		if !s.chunks.chunkIDs(&s.chunks.known.S[k], at) {
			clear(to)
			u.chunks.left = 0
			return
		}
		u.chunks.left += int(c.Count)
	}
}

// renewView makes the look-up of u's chunks one of the Set as it is now, if it would give the
// same: a conflict that came since then is mostly about names of other units.
func (s *Set) renewView(u *Unit) {
	c := &u.chunks
	if c.left == 0 || c.view == s.index.conflicts {
		return
	}
	now := u.scratch
	for i, k := range c.found {
		if k == 0 {
			continue
		}
		got := c.got[c.asked[i].First:][:c.asked[i].Count]
		now = slices.Grow(now[:0], len(got))[:len(got)]
		if !s.chunks.chunkIDs(&s.chunks.known.S[k], now) || !slices.Equal(now, got) {
			return
		}
	}
	u.scratch, c.view = now, s.index.conflicts
}
