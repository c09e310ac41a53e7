// Package btffile deduplicates finished BTF.
//
// A file has no compile units, so its types are cut into runs that may each be
// merged as a unit of a dedup.Set (see runs). A run refers to itself and to
// earlier runs; the latter by the ids that the Set gave them.
//
// The stable API is package btflite. What it does not use of this package may change.
package btffile

import (
	"errors"
	"fmt"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/dedup/exact"
)

// Dedup merges inputs and deduplicates the result. base is the BTF that all
// inputs were parsed over, or nil. With byLibbpf set, and always with a base,
// the result equals libbpf's on every input; otherwise names with several
// definitions may lead to other survivors, in much less memory. Types of kinds that are
// not known (btf.Blob.Skipped) are left out.
func Dedup(inputs []*btf.Blob, base *btf.Blob, byLibbpf bool) (*btf.Blob, error) {
	known := make([]*btf.Blob, len(inputs))
	for i, in := range inputs {
		var err error
		if known[i], err = in.WithoutSkipped(); err != nil {
			return nil, err
		}
	}
	in, err := exact.Merge(known)
	if err != nil {
		return nil, err
	}
	if in.Base != base {
		return nil, errors.New("dedup: inputs are not split from the given base")
	}
	if byLibbpf || base != nil {
		return exact.Dedup(in, exact.Options{})
	}
	out, _, err := Stream(in)
	return out, err
}

// Stream deduplicates in run by run. It returns a new Blob and what became of
// each type, as exact.DedupWithMap does; in, which must have no base, is left
// unchanged. The few inputs that the Set does not take are handed to package
// exact: irregular records (see irregular) and references nested deeper than
// the Set follows.
func Stream(in *btf.Blob) (out *btf.Blob, m []uint32, err error) {
	if in.Base != nil {
		return nil, nil, errors.New("dedup: split BTF cannot be streamed")
	}
	if in.TypeCount() >= dedup.MaxIDs {
		return nil, nil, fmt.Errorf("dedup: more than %d types", dedup.MaxIDs-1)
	}
	for id := uint32(1); id < in.TypeCount(); id++ {
		if irregular(in.Record(id)) {
			return exact.DedupWithMap(in, exact.Options{})
		}
	}
	out, m, err = streamRuns(in)
	if errors.Is(err, dedup.ErrChain) {
		return exact.DedupWithMap(in, exact.Options{}) // takes any depth, and names the type of a loop
	}
	return out, m, err
}

// irregular reports records that no compiler writes and for which the Set's
// short cuts do not hold: stray names, flags or words on kinds that have none,
// missing names, and anonymous enumerations without values, which stand for
// any anonymous enumeration. Kinds that the Set does not take count as well: the
// kinds of inlined functions, and any that is not listed here.
func irregular(r btf.Record) bool {
	info := r.Info()
	switch k := btf.InfoKind(info); k {
	case btf.KindPtr, btf.KindConst, btf.KindVolatile, btf.KindRestrict:
		return r.Name() != 0 || info != btf.Info(k, 0, false)
	case btf.KindArray:
		return r.Name() != 0 || r.Third() != 0 || info != btf.Info(k, 0, false)
	case btf.KindFuncProto:
		return r.Name() != 0
	case btf.KindFwd:
		return r.Name() == 0 || r.Third() != 0 || btf.InfoVlen(info) != 0
	case btf.KindTypedef:
		return r.Name() == 0
	case btf.KindEnum, btf.KindEnum64:
		return r.Name() == 0 && btf.InfoVlen(info) == 0
	case btf.KindInt, btf.KindStruct, btf.KindUnion, btf.KindFunc, btf.KindVar, btf.KindDatasec, btf.KindFloat, btf.KindDeclTag, btf.KindTypeTag:
		return false
	}
	return true
}

// streamRuns feeds the runs of in to a Set and builds the result.
func streamRuns(in *btf.Blob) (*btf.Blob, []uint32, error) {
	names := NewTokens(in)
	defer names.Free()
	r := NewReader(in, names.Token)
	if err := r.numberShapes(); err != nil {
		return nil, nil, err
	}
	s := dedup.NewSet(names, len(in.Off)/8)
	defer s.Free()
	c := newRuns(in)
	var u dedup.Unit
	defer u.Free()
	for first := uint32(1); first < in.TypeCount(); {
		end := c.next(first)
		u.Reset(arena.KeepBytes)
		if err := r.Read(&u, first, end); err != nil {
			return nil, nil, err
		}
		s.Resolve(&u)
		if err := s.Commit(&u); err != nil {
			return nil, nil, fmt.Errorf("btf: types [%d] to [%d]: %w", first, end-1, err)
		}
		copy(r.Placed[first:end], u.ID.S)
		first = end
	}
	out, m, err := Finish(s, in.BigEndian, r.Placed)
	if err == nil {
		out.Form = in.Form
	}
	return out, m, err
}

// Finish finishes s, which has no base, and returns what it holds as a Blob.
// placed holds ids of the Set and becomes the ids of the result.
func Finish(s *dedup.Set, bigEndian bool, placed []uint32) (*btf.Blob, []uint32, error) {
	n := s.Finish()
	defer n.Free()
	strs := s.Strings()
	if len(strs) > btf.MaxStrOff {
		return nil, nil, fmt.Errorf("btf: strings: %d bytes exceed the limit", len(strs))
	}
	data := arena.Make[byte](btf.HeaderLen + n.TypeBytes + len(strs))[:0]
	data = btf.AppendHeader(data, bigEndian, uint32(n.TypeBytes), uint32(len(strs)))
	types := data[len(data):][:n.TypeBytes]
	n.PutTypes(types, bigEndian, 1)
	data = append(data[:len(data)+len(types)], strs...)
	for id := range placed {
		placed[id] = n.ID(placed[id])
	}
	out, err := btf.Parse(data, nil)
	return out, placed, err
}
