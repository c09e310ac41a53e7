package unitrecord

import "github.com/btflite/btflite/dedup"

// Reader reads records, one after the other, and uses its memory again. The zero value is
// ready.
type Reader struct {
	cols     [numColumns]column
	names    nameReader
	chunk    chunkReader
	inline   inlineReader
	refs     refReader
	bases    bases
	spans    []span      // of the locations, in colLocation
	funcRefs []dedup.Ref // by number of the function: 1 + its index, or Extern
	columns  []byte      // scratch of open
	bad      bool
	seen     []uint64 // scratch of order
	turns    []turn   // the result of order
}

// span is a part of colLocation.
type span struct{ off, n uint32 }

// bases are the addresses from which the offsets of a record count.
type bases struct {
	words     []byte
	size      int // bytes of one
	bigEndian bool
}

// chunkReader has the chunks of the unit that is being read.
type chunkReader struct {
	chunks []dedup.Chunk
	places []chunkPlace // of a block
	blocks []byte
	own    []dedup.Chunk // chunks whose nodes the unit gets; First is the index there
	from   []uint32      // by index in own: number of the first node
}

// chunkPlace has the numbers that a block gives for a chunk.
type chunkPlace struct{ elements, names, bytes int }

// inlineReader has the inline functions of the unit that is being read.
type inlineReader struct {
	runs []run
	at   int // the current run
	done int // how many of its functions are done
}

// run is a run of inline functions.
type run struct {
	key   uint64
	count int // functions
	names int // number of the first new name
	fresh int // how many new names
	body  column
	first int // in Unit.Funcs, of those that have been read
	read  bool
}

// turn is a run of n nodes or functions with ascending numbers, from one on.
type turn struct{ from, n uint32 }

// ref reads a reference that is not part of a node.
func (r *Reader) ref() dedup.Ref {
	return r.refs.read(&r.cols[colRef], 0)
}

// name reads a name that is not part of a node.
func (r *Reader) name() dedup.Name {
	return r.names.name(&r.cols[colName])
}

// order reads the order of n nodes or functions from a column, as runs. Each number occurs
// once. The slice is valid until the next call.
func (r *Reader) order(col, n int) []turn {
	c, words := &r.cols[col], (n+63)/64
	if cap(r.seen) < words {
		r.seen = make([]uint64, words)
	}
	seen := r.seen[:words]
	clear(seen)
	r.turns = r.turns[:0]
	next := int64(0)
	for left := n; ; {
		run := c.uint()
		if next < 0 || next > int64(n) || run > uint64(left) || run > uint64(int64(n)-next) || !take(seen, int(next), int(run)) {
			r.bad = true
			return nil
		}
		r.turns = append(r.turns, turn{uint32(next), uint32(run)})
		if left, next = left-int(run), next+int64(run); left == 0 {
			return r.turns
		}
		next += c.step()
		if r.bad = c.bad; r.bad {
			return nil
		}
	}
}

// take sets n bits of set, from bit from on. It reports whether none of them was set.
func take(set []uint64, from, n int) bool {
	for n > 0 {
		k := min(n, 64-from&63)
		mask := (^uint64(0) >> (64 - k)) << (from & 63)
		w := &set[from>>6]
		if *w&mask != 0 {
			return false
		}
		*w |= mask
		from, n = from+k, n-k
	}
	return true
}
