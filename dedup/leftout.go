package dedup

import "slices"

// Units may leave out chunks that the Set knows.

// LookUpChunks looks up chunks before the reader reads their nodes. refs has one element for each
// node of all chunks. If the Set knows a chunk, the elements of its nodes get their ids, as Extern;
// otherwise they become 0. All of refs becomes 0 if the unit must be read as a whole. Commits may
// run at the same time. Do not change chunks and refs before the unit is committed.
func (s *Set) LookUpChunks(u *Unit, chunks []Chunk, refs []Ref) {
	s.gate.rlock()
	defer s.gate.runlock()
	u.chunks.view, u.chunks.left = s.index.conflicts, 0
	u.chunks.asked, u.chunks.refs = chunks, refs
	for i, k := range u.chunks.find(&s.chunks, chunks) {
		c := &chunks[i]
		ids := refs[c.First:][:c.Count]
		if k == 0 {
			clear(ids)
			continue
		}
		if !s.chunks.chunkIDs(&s.chunks.known.S[k], ids) {
			clear(refs)
			u.chunks.left = 0
			return
		}
		u.chunks.left += int(c.Count)
	}
}

// renewView repeats the look-up of u's chunks if there were conflicts since then. Mostly they
// concern names of other units. If the result is the same, it counts as one of now.
func (s *Set) renewView(u *Unit) {
	c := &u.chunks
	if c.left == 0 || c.view == s.index.conflicts {
		return
	}
	if c.proved.Types > 0 {
		if s.find.recheck(u) {
			c.view = s.index.conflicts
		}
		return
	}
	now := u.scratch
	for i, k := range c.found {
		if k == 0 {
			continue
		}
		before := c.refs[c.asked[i].First:][:c.asked[i].Count]
		now = slices.Grow(now[:0], len(before))[:len(before)]
		if !s.chunks.chunkIDs(&s.chunks.known.S[k], now) || !slices.Equal(now, before) {
			return
		}
	}
	u.scratch, c.view = now, s.index.conflicts
}
