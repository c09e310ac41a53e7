package arena

// Touched brings memory into the cache ahead of its use: what reads from many places far
// apart reads a word of each first, so that waiting for one overlaps with waiting for the
// others. The words are added up, because the compiler leaves out a read whose result
// nobody uses. The sum means nothing.
type Touched uint32

// Read takes a word, or a byte, that was read for the sake of its memory.
func (t *Touched) Read(w uint32) { *t += Touched(w) }

// ReadFirst reads the first byte of b, if there is one.
func (t *Touched) ReadFirst(b []byte) {
	if len(b) > 0 {
		*t += Touched(b[0])
	}
}
