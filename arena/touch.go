package arena

// Touched brings memory into the cache before it is used. Code that needs many places far
// apart first reads a word of each, so that its cache misses overlap. It gives the words to a
// Touched, which adds them up: otherwise the compiler would leave the reads out. The sum means
// nothing. One goroutine may use a Touched at a time.
type Touched uint32

// Read takes a word or a byte that was read only to load its memory into the cache.
func (t *Touched) Read(w uint32) { *t += Touched(w) }

// ReadFirst reads the first byte of b, if there is one.
func (t *Touched) ReadFirst(b []byte) {
	if len(b) > 0 {
		*t += Touched(b[0])
	}
}
