package unitrecord

import (
	"encoding/binary"
	"errors"
)

// A record is a number of columns: numbers of one sort, one after the other, because
// similar numbers compress well. The columns begin with their lengths, in this order.
const (
	colHead      = iota // counts and facts of the unit: a reader gets its memory at once, and finds a damaged count early
	colName             // names of functions, variables, annotations and parameters, see names.go
	colDict             // new names: runs in the dictionary, and runs of names that it lacks; three of four follow the one before
	colText             // new names that the dictionary lacks, each behind its length
	colKey              // chunks: keys of 8 bytes, see key.go
	colChunk            // chunks: nodes
	colBlock            // blocks of chunks: chunks, new names, bytes; a reader skips a block whose chunks are known
	colCommon           // the nodes that most references lead to: steps; such a reference takes one byte
	colRef              // types of functions, parameters and variables, see refs.go
	colOrder            // the order in which pahole numbers the nodes: runs of nodes, and the steps between them
	colUnsigned         // ENUMs with negative values and a type without sign, for -V
	colRunKey           // runs of inline functions: keys of 8 bytes
	colRun              // runs of inline functions: functions, new names, bytes
	colInline           // inline functions, run by run, see inline.go
	colFunc             // other functions: flags
	colFuncMore         // functions: origins, specifications, numbers of parameters and annotations
	colFuncOrder        // how inline and other functions take turns; then the order of the table of functions
	colParam            // parameters: flags
	colPlace            // parameters: number of the location; a unit has a handful of different ones
	colOrigin           // parameters: origins that are not where they are expected
	colAddress          // functions and variables: number of the base, offset
	colVar              // variables: flags
	colAnnot            // annotations and declaration tags: numbers and components
	colLocation         // the different locations: lengths and expressions
	numColumns
	// colNode is not a column: the nodes of the block in work, see types.go.
	colNode = numColumns
)

// columns are the columns of the record that is being written, and colNode.
type columns [numColumns + 1][]byte

func (c *columns) byte(col int, b byte)    { c[col] = append(c[col], b) }
func (c *columns) uint(col int, v uint64)  { c[col] = binary.AppendUvarint(c[col], v) }
func (c *columns) step(col int, v int64)   { c.uint(col, zigzag(v)) }
func (c *columns) bytes(col int, b []byte) { c[col] = append(c[col], b...) }
func zigzag(v int64) uint64                { return uint64(v)<<1 ^ uint64(v>>63) }
func unzigzag(v uint64) int64              { return int64(v>>1) ^ -int64(v&1) }
func (c *columns) reset() {
	for i := range c {
		c[i] = c[i][:0]
	}
}

// pack appends the columns to b: their lengths, then their bytes.
func (c *columns) pack(b []byte) []byte {
	for _, col := range c[:numColumns] {
		b = binary.AppendUvarint(b, uint64(len(col)))
	}
	for _, col := range c[:numColumns] {
		b = append(b, col...)
	}
	return b
}

// errDamaged is the error for a record that contradicts itself. The likely cause is a
// program that rewrites DWARF, such as packages run.
var errDamaged = errors.New("the unit record is damaged; encode before dwz or another program rewrites the debug information, or compile again")

// column is a column that is being read. Reading beyond its end gives zeros and sets bad.
type column struct {
	b   []byte
	p   int // of the next byte
	bad bool
}

// left returns how many bytes have not been read.
func (c *column) left() int { return len(c.b) - c.p }

// unpack cuts b into its columns.
func unpack(b []byte, c *[numColumns]column) error {
	var size [numColumns]uint64
	for i := range size {
		v, n := binary.Uvarint(b)
		if n <= 0 || v > uint64(len(b)) {
			return errDamaged
		}
		size[i], b = v, b[n:]
	}
	for i, n := range size {
		if n > uint64(len(b)) {
			return errDamaged
		}
		c[i] = column{b: b[:n:n]}
		b = b[n:]
	}
	if len(b) != 0 {
		return errDamaged
	}
	return nil
}

func (c *column) byte() byte {
	if c.p >= len(c.b) {
		c.bad = true
		return 0
	}
	x := c.b[c.p]
	c.p++
	return x
}

func (c *column) uint() uint64 {
	if c.p < len(c.b) && c.b[c.p] < 0x80 {
		x := c.b[c.p]
		c.p++
		return uint64(x)
	}
	return c.long()
}

// long is uint for a number of more than one byte.
//
//go:noinline
func (c *column) long() uint64 {
	b := c.b[min(c.p, len(c.b)):]
	if len(b) >= 2 && b[0] >= 0x80 && b[1] < 0x80 { // as most are
		c.p += 2
		return uint64(b[0]&0x7f) | uint64(b[1])<<7
	}
	v, n := binary.Uvarint(b)
	if n <= 0 {
		c.bad, c.p = true, len(c.b)
		return 0
	}
	c.p += n
	return v
}

// uint32 is uint for a number of at most 32 bits.
func (c *column) uint32() uint32 {
	v := c.uint()
	if v > 1<<32-1 {
		c.bad = true
	}
	return uint32(v)
}

func (c *column) step() int64 { return unzigzag(c.uint()) }

// count reads a number of things. Each takes at least one byte of column of, so a number
// that is too large is damage.
func (c *column) count(of *column) int {
	v := c.uint()
	if v > uint64(of.left()) {
		c.bad = true
		return 0
	}
	return int(v)
}
