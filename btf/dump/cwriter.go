package dump

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/internal/message"
)

// COptions are the settings for C.
type COptions struct {
	// IDs are the types to define, with what they need, in this order; nil for all types
	// of the blob and its bases, and the prototypes of kfuncs.
	IDs []uint32
	// Unsorted takes the types in the order of their ids. Otherwise they are sorted,
	// by kind and then by name, so that two versions of a kernel can be compared.
	Unsorted bool
	// Strict writes C that compilers accept without a warning. Every name is a C
	// identifier, and members that C cannot express are left out of structs, which keep
	// their layout.
	Strict bool
	// Again is for strict C that is compiled and encoded again, and is to give the types of b: no
	// struct has a member that it has not in b, gaps and padding are bit-fields without a name,
	// names and types that only some compilers know stay, and there is a variable of each number
	// and of a pointer to each type that is only declared, because compilers leave out what
	// nothing uses. A struct with a name may be a member without one (-fms-extensions).
	Again bool
	// PointerSize is 4 or 8; 0 for what the types of the blob tell, or 8.
	PointerSize int
	// Stubs are functions to define after the types, with a body that does not end. Types
	// that stubs in IDs need are defined too.
	Stubs []uint32
	// Declare has the Stubs declared only.
	Declare bool

	// loseFirst leaves out the first type of a sorted header, as bpftool 7.8 does: an
	// enum or struct that nothing else needs is not defined then. For comparisons.
	loseFirst bool
	// after, if it is not nil, is called after the definition of each struct or union id, which C
	// calls by the type named. For tests.
	after func(c *cWriter, named, id uint32)
	uses  []uint32 // numbers, see Again
}

// States of a type in a cWriter.
const (
	fresh = iota
	begun
	written
)

// cWriter writes C.
type cWriter struct {
	*out
	b           *btf.Blob
	pointerSize uint32
	tags        *nameSpace // structs, unions, enums
	idents      *nameSpace // typedefs, enumerators
	number      []uint32   // by id: its name is the n-th of its space; 0: not taken
	state       []uint8    // by id
	announced   []bool     // by id: a declaration of it has been written
	aligns      []uint32   // by id of a struct or union
	links       []uint32   // see declaration
	depth       int
	strict      bool
	again       bool   // see COptions
	gaps        uint64 // members or bit-fields without a name that fill gaps
	defining    uint32 // the type whose definition is being written
	after       func(c *cWriter, named, id uint32)
	steps       int // taken
	maxSteps    int
}

// stepsPerWord bounds the work for each word of the types. Kernels take 3.
const stepsPerWord = 100

func newCWriter(o *out, b *btf.Blob, opt *COptions) *cWriter {
	n := b.TypeCount()
	c := &cWriter{out: o, b: b, pointerSize: uint32(opt.PointerSize), tags: newNameSpace(b, n/8), idents: newNameSpace(b, n/4), // as many as kernels have
		number: arena.Make[uint32](int(n)), state: make([]uint8, n), announced: make([]bool, n), aligns: arena.Make[uint32](int(n)), maxSteps: 1 << 20,
		strict: opt.Strict, again: opt.Again, after: opt.after}
	for ; b != nil; b = b.Base {
		c.maxSteps += stepsPerWord * len(b.Words)
	}
	return c
}

// errNoType is the error for a reference to something that is not a type in C.
var errNoType = errors.New("it is used as a type, and is none in C")

// maxDepth bounds the nesting of types. Kernels stay below 100.
const maxDepth = 2000

// errDepth and errSteps end the work on types that no compiler has made.
var (
	errDepth = errors.New("types lie in each other more than 2,000 deep")
	errSteps = errors.New("types without a name are repeated so often that C would not come to an end")
)

// fail keeps the first error.
func (c *cWriter) fail(err error, id uint32) {
	if c.to.Err == nil {
		c.to.Err = fmt.Errorf("C: type [%d]: %w", id, err)
	}
}

// goesOn counts a step and tells whether the work may go on.
func (c *cWriter) goesOn(id uint32) bool {
	c.steps++
	switch {
	case c.to.Err != nil:
		return false
	case c.depth > maxDepth:
		c.fail(errDepth, id)
		return false
	case c.steps > c.maxSteps:
		c.fail(errSteps, id)
		return false
	}
	return true
}

func (c *cWriter) line(indent int) {
	c.text("\n")
	for range indent {
		c.text("\t")
	}
}

// appendName appends the name at a string offset.
func (c *cWriter) appendName(off uint32) {
	named, plain := c.b.AppendPlain(c.buf, off)
	if !plain {
		named = append(c.buf, message.OneLine(string(unmarked(c.b, off)))...)
	}
	c.steps += (len(named) - len(c.buf)) >> 6
	c.buf = named
}

// appendTaken appends a name that has been taken as the n-th of its space.
func (c *cWriter) appendTaken(off, n uint32) {
	c.appendName(off)
	if n > 1 {
		c.buf = strconv.AppendUint(append(c.buf, "___"...), uint64(n), 10)
	}
}

// appendTypeName appends the name of a struct, union, enum or typedef, and reserves the
// name on first use. A declaration without a body, which is a FWD or an ENUM without
// values, reserves nothing. bpftool takes an ENUM64 without values for a definition.
func (c *cWriter) appendTypeName(id uint32, rec btf.Record) {
	if rec.Name() == 0 {
		return
	}
	if k := rec.Kind(); k == btf.KindFwd || k == btf.KindEnum && rec.Vlen() == 0 {
		c.appendName(rec.Name())
		return
	}
	if c.number[id] == 0 {
		space := c.tags
		if rec.Kind() == btf.KindTypedef {
			space = c.idents
		}
		c.number[id] = space.take(rec.Name())
	}
	c.appendTaken(rec.Name(), c.number[id])
}
