// Package order brings the types of BTF into an order of their own: by name,
// as Linux 7.x searches it, or into a canonical order, which depends on the
// types alone.
//
// The canonical order divides the types into ordered classes: at first by kind,
// name and content, then as long as types of a class refer to different
// classes, and at last by who refers to them. A class that is divided tells only
// the users of its smaller parts, so each type is told log(n) times at most.
// Rounds make the outcome independent of ids. What is left together are copies:
// any order of these gives the same bytes.
//
// sort.go has the two orders, refine.go the partition that the canonical one is
// made of, names.go ranks and writes strings.
//
// The stable API is package btflite. What it does not use of this package may change.
package order

import (
	"cmp"
	"context"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// ByName returns b with its own types sorted by name: those without one first,
// then by the bytes of the name; what compares equal keeps its order. That is
// the order that resolve_btfids of Linux 7.x gives to kernels and modules, byte
// for byte. Types keep their strings and their references, also those into the
// base, which is not touched. b is left unchanged; the result shares its strings.
//
// ids has the new id of each own type, by its place in b, for split BTF over b. ByName ends
// with the error of ctx when that is done. Other errors say that b has types of kinds that
// are not known (btf.Blob.Skipped), or that names overlap so that comparing them has no
// bound; see rankNames.
func ByName(ctx context.Context, b *btf.Blob) (out *btf.Blob, ids []uint32, err error) {
	var used []uint32
	for id := b.FirstID; id < b.TypeCount(); id++ {
		used = append(arena.Room(used, 1), b.Record(id)[0])
	}
	ranks, err := rankNames(ctx, b, used)
	if err != nil {
		return nil, nil, err
	}
	order := arena.Make[uint32](len(b.Off))
	for i := range order {
		order[i] = uint32(i)
	}
	err = sortUntil(ctx, order, func(x, y uint32) int {
		return cmp.Or(cmp.Compare(ranks.rank[b.Words[b.Off[x]]], ranks.rank[b.Words[b.Off[y]]]), cmp.Compare(x, y))
	})
	if err != nil {
		return nil, nil, err
	}
	out, ids = permuted(b, order)
	return out, ids, nil
}

// Canonical returns b with its own types in an order that depends on the types
// alone, not on the order that they have in b: by kind, then name, then content
// (sizes, elements with their names, offsets and values), then by what they
// refer to, in this order, as far as that reaches. Its strings are those that
// are in use, sorted, so that equal sets of types have equal bytes. The base of
// split BTF is taken as it is. b is left unchanged and shares nothing with the
// result.
//
// Types with equal content and references are told apart by the types that refer
// to them. If several are left, such as copies that nothing refers to, any order of
// them gives the same bytes. (Graphs can be built by hand for which that fails. BTF
// without duplicates has none.)
//
// ids and errors are the same as for ByName.
func Canonical(ctx context.Context, b *btf.Blob) (out *btf.Blob, ids []uint32, err error) {
	var used []uint32
	for id := b.FirstID; id < b.TypeCount(); id++ {
		r := b.Record(id)
		used = arena.Room(used, len(r))
		btf.EachName(r, func(off *uint32) { used = append(used, *off) })
	}
	ranks, err := rankNames(ctx, b, used)
	if err != nil {
		return nil, nil, err
	}
	r := newRefiner(b, ranks)
	r.run(ctx)
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	out, ids = permuted(b, r.types)
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	out.Strings = ranks.write(b)
	for i := range out.Off {
		btf.EachName(out.Record(out.FirstID+uint32(i)), func(off *uint32) { *off = ranks.final[ranks.rank[*off]] })
	}
	return out, ids, nil
}

// permuted is b with the types in another order: order holds, by new place, the
// old place among b's own types. ids is the new id of each, by its place in b.
func permuted(b *btf.Blob, order []uint32) (out *btf.Blob, ids []uint32) {
	out = new(btf.Blob)
	*out = *b
	out.Words = arena.Make[uint32](len(b.Words))[:0]
	out.Off = arena.Make[uint32](len(order))[:0]
	ids = arena.Make[uint32](len(order))
	for to, from := range order {
		ids[from] = b.FirstID + uint32(to)
	}
	for _, from := range order {
		r := b.Record(b.FirstID + from)
		out.Off = append(out.Off, uint32(len(out.Words)))
		at := len(out.Words)
		out.Words = append(out.Words, r...)
		btf.EachRef(out.Words[at:], func(id *uint32) {
			if *id >= b.FirstID {
				*id = ids[*id-b.FirstID]
			}
		})
	}
	return out, ids
}
