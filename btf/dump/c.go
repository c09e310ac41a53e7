package dump

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/btflite/btflite/btf"
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
	// asserts writes assertions of sizes and offsets after each struct.
	asserts bool
	uses    []uint32 // numbers, see Again
}

// C writes types as a C header, as "bpftool btf dump file FILE format c". It returns
// the first error of w, or why the types cannot be said in C.
func C(w io.Writer, b *btf.Blob, o COptions) error {
	if err := checkIDs(b, slices.Concat(o.IDs, o.Stubs)); err != nil {
		return err
	}
	begin, end := cBegin, cEnd
	if o.Strict {
		if o.PointerSize == 0 {
			o.PointerSize = b.PointerSize()
		}
		s, strict, err := strictTypes(b, &o)
		if err != nil {
			return fmt.Errorf("C: %w", err)
		}
		if o.Again {
			o.uses = numbers(b)
		}
		b = strict
		begin, end = strictBegin+wordsBegin(s.reserved()), wordsEnd(s.reserved())+strictEnd
	}
	order := newOrderer(b)
	if err := o.place(order); err != nil {
		return fmt.Errorf("C: %w", err)
	}
	if hasManyGaps(b, o.Again) { // an error comes before a part of the text
		if err := o.write(io.Discard, b, order.defined, begin, end); err != nil {
			return err
		}
	}
	return o.write(w, b, order.defined, begin, end)
}

// write writes the types with the ids defined, in that order, between begin and end.
func (o *COptions) write(w io.Writer, b *btf.Blob, defined []uint32, begin, end string) error {
	c := newCWriter(newOut(w), b, o)
	c.text(begin)
	for _, id := range defined {
		c.define(id)
		if c.keepUp(); c.to.Err != nil {
			return c.to.Err
		}
	}
	if o.IDs == nil && !o.Again {
		c.kfuncs()
	}
	c.stubs(o)
	if o.Again {
		writeUses(c, o.uses)
	}
	c.text(end)
	return c.end()
}

// place takes the types in their order.
func (o *COptions) place(order *orderer) error {
	switch {
	case o.IDs == nil && !o.Unsorted:
		return order.placeSorted(o.loseFirst)
	case o.IDs == nil:
		for id := uint32(1); id < order.b.TypeCount(); id++ {
			if _, err := order.place(id, false); err != nil {
				return err
			}
		}
	}
	for _, id := range o.IDs {
		if _, err := order.place(id, false); err != nil {
			return err
		}
	}
	return nil
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
	namer
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
	asserts     bool
	steps       int // taken
	maxSteps    int
}

// stepsPerWord bounds the work for each word of the types. Kernels take 3.
const stepsPerWord = 100

func newCWriter(o *out, b *btf.Blob, opt *COptions) *cWriter {
	n := b.TypeCount()
	c := &cWriter{out: o, namer: newNamer(b), pointerSize: uint32(opt.PointerSize), tags: newNameSpace(b, n/8), idents: newNameSpace(b, n/4), // as many as kernels have
		number: make([]uint32, n), state: make([]uint8, n), announced: make([]bool, n), aligns: make([]uint32, n), maxSteps: 1 << 20,
		strict: opt.Strict, again: opt.Again, asserts: opt.asserts}
	if c.pointerSize == 0 {
		c.pointerSize = uint32(b.PointerSize())
	}
	for ; b != nil; b = b.Base {
		c.maxSteps += stepsPerWord * len(b.Words)
	}
	return c
}

// errNoType is the error for a reference to something that is not a type in C.
var errNoType = errors.New("it is used as a type, and is none in C")

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

// What is around the types.
const (
	cBegin = `#ifndef __VMLINUX_H__
#define __VMLINUX_H__

#ifndef BPF_NO_PRESERVE_ACCESS_INDEX
#pragma clang attribute push (__attribute__((preserve_access_index)), apply_to = record)
#endif

#ifndef __ksym
#define __ksym __attribute__((section(".ksyms")))
#endif

#ifndef __weak
#define __weak __attribute__((weak))
#endif

#ifndef __bpf_fastcall
#if __has_attribute(bpf_fastcall)
#define __bpf_fastcall __attribute__((bpf_fastcall))
#else
#define __bpf_fastcall
#endif
#endif

`
	cEnd = `#ifndef BPF_NO_PRESERVE_ACCESS_INDEX
#pragma clang attribute pop
#endif

#endif /* __VMLINUX_H__ */
`
)

// The same for compilers that take no word that they do not know.
const (
	strictBegin = `#ifndef __VMLINUX_H__
#define __VMLINUX_H__

#if defined(__clang__) && defined(__bpf__) && !defined(BPF_NO_PRESERVE_ACCESS_INDEX)
#pragma clang attribute push (__attribute__((preserve_access_index)), apply_to = record)
#endif

#ifndef __ksym
#define __ksym __attribute__((section(".ksyms")))
#endif

#ifndef __weak
#define __weak __attribute__((weak))
#endif

#ifdef __has_attribute
#if __has_attribute(bpf_fastcall)
#define __bpf_fastcall __attribute__((bpf_fastcall))
#endif
#if __has_attribute(btf_type_tag)
#define __btf_type_tag(name) __attribute__((btf_type_tag(name)))
#endif
#endif
#ifndef __bpf_fastcall
#define __bpf_fastcall
#endif
#ifndef __btf_type_tag
#define __btf_type_tag(name)
#endif

`
	strictEnd = `#if defined(__clang__) && defined(__bpf__) && !defined(BPF_NO_PRESERVE_ACCESS_INDEX)
#pragma clang attribute pop
#endif

#endif /* __VMLINUX_H__ */
`
)
