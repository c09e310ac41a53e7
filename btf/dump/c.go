package dump

import (
	"fmt"
	"io"
	"slices"

	"github.com/btflite/btflite/btf"
)

// C writes types as a C header, as "bpftool btf dump file FILE format c". It returns
// the first error of w, or why the types cannot be said in C.
func C(w io.Writer, b *btf.Blob, o COptions) error {
	if err := checkIDs(b, slices.Concat(o.IDs, o.Stubs)); err != nil {
		return err
	}
	begin, end := cBegin, cEnd
	if o.PointerSize == 0 {
		o.PointerSize = b.PointerSize()
	}
	if o.Again {
		o.uses = numbers(b)
	}
	types := b
	var order *orderer
	var tagged []uint32
	for order == nil || len(order.tagged) > 0 { // once more if some need a name
		if o.Strict {
			s, strict, err := strictTypes(types, &o, tagged)
			if err != nil {
				return fmt.Errorf("C: %w", err)
			}
			b = strict
			begin, end = strictBegin+wordsBegin(s.reserved()), wordsEnd(s.reserved())+strictEnd
		}
		order = newOrderer(b)
		order.mayName = o.Strict && !o.Again
		if err := o.place(order); err != nil {
			return fmt.Errorf("C: %w", err)
		}
		tagged = append(tagged, order.tagged...)
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

// The same for compilers that take no word that they do not know. Where the machine cannot read at
// any address (ARMv6), clang warns of structs below packed ones.
const (
	strictBegin = `#ifndef __VMLINUX_H__
#define __VMLINUX_H__

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunknown-warning-option"
#pragma clang diagnostic ignored "-Wunaligned-access"
#endif

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

#ifdef __clang__
#pragma clang diagnostic pop
#endif

#endif /* __VMLINUX_H__ */
`
)
