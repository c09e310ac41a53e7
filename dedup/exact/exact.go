// Package exact deduplicates finished BTF with libbpf's bytes.
//
// It is the batch algorithm: all types in memory, passes over the whole input,
// and the same candidate order as libbpf, so that the output equals libbpf's
// byte for byte on every input, ambiguous names included. It costs memory by
// the input; package dedup streams instead. The passes, in order:
//
//	strings      strings.go  equal names get equal offsets
//	primitives   prims.go    INT FLOAT FWD ENUM ENUM64
//	structs      graph.go    STRUCT UNION TYPEDEF, by graph comparison
//	forwards     refs.go     a FWD whose name has one owner
//	references   refs.go     everything that only points elsewhere
//	compaction   refs.go     survivors renumbered, references rewritten
//
// Types of a base take part as candidates but never change.
//
// The stable API is package btflite. What it does not use of this package may change.
package exact

import "github.com/btflite/btflite/btf"

// Dedup deduplicates in and returns a new Blob over the same base. in is left
// unchanged. It needs several times the size of in as memory. Errors: references
// that form a loop without a struct, union or typedef, and struct graphs that
// reach a VAR, DATASEC or DECL_TAG; types of kinds that are not known (btf.Blob.Skipped).
func Dedup(in *btf.Blob, opt Options) (*btf.Blob, error) {
	out, _, err := DedupWithMap(in, opt)
	return out, err
}

// DedupWithMap is Dedup that also returns a map of ids: m[id] is the id in the output for
// id of the input; see deduptest.Certificate.
func DedupWithMap(in *btf.Blob, opt Options) (out *btf.Blob, m []uint32, err error) {
	if err := in.CheckKnown(); err != nil {
		return nil, nil, err
	}
	d, err := newState(in, opt)
	if err != nil {
		return nil, nil, err
	}
	strs := in.Strings
	if !opt.KeepStrings {
		if strs, err = d.strings(); err != nil {
			return nil, nil, err
		}
	}
	d.indexBase()
	if err := d.primitives(); err != nil {
		return nil, nil, err
	}
	if err := d.structs(); err != nil {
		return nil, nil, err
	}
	d.forwards()
	if err := d.references(); err != nil {
		return nil, nil, err
	}
	return d.compact(strs)
}
