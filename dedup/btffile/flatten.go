package btffile

import (
	"errors"
	"fmt"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/dedup/exact"
)

// Flattener joins BTF and files that are split from it into one file without a base. The
// types of the base come first and keep their ids. Types that several files have come once,
// where the first of the files has them.
//
// Each file is a unit of a dedup.Set over the base, so a Flattener has the types of the output
// and one file in memory. References to types of the base are compared by id: a file has
// left out what the base has.
type Flattener struct {
	from   *btf.Blob
	base   *dedup.Base
	names  *textTokens
	set    *dedup.Set
	unit   dedup.Unit
	placed []placedFile // by file; nil unless asked for
	keep   bool
	form   btf.Form
}

// placedFile says where the types of a file are: their ids in the set, in the file's order.
type placedFile []uint32

// NewFlattener makes a Flattener over base, which has no base and must not change until Free. limit may be nil.
// With origins, Origin can be asked at the end.
func NewFlattener(base *btf.Blob, limit *arena.Limit, origins bool) (*Flattener, error) {
	if base.Base != nil {
		return nil, errors.New("dedup: the base is split from another")
	}
	b, err := dedup.NewBase(base)
	if err != nil {
		return nil, err
	}
	f := &Flattener{from: base, base: b, names: newTextTokens(b), keep: origins, form: base.Form}
	if f.set, err = dedup.NewSplitSet(f.names, b, 1<<16, false); err != nil {
		f.names.free()
		b.Free()
		return nil, err
	}
	if limit != nil {
		f.set.SetLimit(limit)
	}
	return f, nil
}

// Free releases the memory.
func (f *Flattener) Free() {
	f.unit.Free()
	f.set.Free()
	f.names.free()
	f.base.Free()
}

// ErrIrregular is the error for BTF that Add does not take: records that no compiler writes, or
// types nested too deep. Batch takes it.
var ErrIrregular = errors.New("dedup: BTF that has to be merged as a whole")

// Add adds the own types of b, which was split from the base. b is not needed afterwards.
func (f *Flattener) Add(b *btf.Blob) error {
	if b.Base != f.from {
		return errors.New("dedup: it is not split from the base")
	}
	for id := b.FirstID; id < b.TypeCount(); id++ {
		if irregular(b.Record(id)) {
			return ErrIrregular
		}
	}
	f.form = btf.JoinForms([]*btf.Blob{{Form: f.form}, {Form: b.Form}})
	f.unit.Reset(arena.KeepBytes)
	r := Reader{in: b, token: func(off uint32) (dedup.Name, error) { return f.names.token(b.NameBytes(off)) }, below: b.FirstID}
	if err := r.Read(&f.unit, b.FirstID, b.TypeCount()); err != nil {
		return err
	}
	f.set.Resolve(&f.unit)
	if err := f.set.Commit(&f.unit); errors.Is(err, dedup.ErrChain) {
		return ErrIrregular
	} else if err != nil {
		return fmt.Errorf("btf: types: %w", err)
	}
	if f.keep {
		f.placed = append(f.placed, arena.Clone(placedFile(f.unit.ID.S)))
	}
	return nil
}

// Flat is the result of a Flattener.
type Flat struct {
	// Data is the file.
	Data []byte
	// Origin has the ids in Data of the own types of each file, in the order of Add and of
	// the types; nil unless asked for. A type that is only declared in a file may have the
	// id of its definition.
	Origin [][]uint32
}

// Finish returns the result. Nothing may be added afterwards.
func (f *Flattener) Finish() (*Flat, error) {
	f.unit.Free()
	n := f.set.Finish()
	defer n.Free()
	flat := &Flat{}
	for _, p := range f.placed {
		for i, id := range p {
			p[i] = n.ID(id)
		}
		flat.Origin = append(flat.Origin, p)
	}
	f.set.DropIndexes()
	types, strs := 4*len(f.from.Words)+n.TypeBytes, len(f.from.Strings)+len(f.set.Strings())
	if strs > btf.MaxStrOff || types > btf.MaxStrOff {
		return nil, fmt.Errorf("btf: %d bytes of types and %d of strings exceed the limit", types, strs)
	}
	data := arena.Make[byte](f.form.Len() + types + strs)[:0]
	data = f.form.AppendHeader(data, f.from.BigEndian, uint32(types), uint32(strs))
	data = btf.AppendWords(data, f.from.BigEndian, f.from.Words)
	own := data[len(data):][:n.TypeBytes]
	n.PutTypes(own, f.from.BigEndian, 1)
	data = append(data[:len(data)+len(own)], f.form.Layout...)
	data = append(data, f.from.Strings...)
	flat.Data = append(data, f.set.Strings()...)
	return flat, nil
}

// Batch does the work of a Flattener for all files at once, by libbpf's algorithm: it takes any
// BTF, and more memory.
func Batch(base *btf.Blob, files []*btf.Blob) (*Flat, error) {
	merged, err := exact.Merge(files)
	if err != nil {
		return nil, err
	}
	split, ids, err := exact.DedupWithMap(merged, exact.Options{})
	if err != nil {
		return nil, err
	}
	flat := &Flat{}
	at := merged.FirstID
	for _, b := range files {
		own := make([]uint32, len(b.Off))
		for i := range own {
			own[i] = ids[at]
			at++
		}
		flat.Origin = append(flat.Origin, own)
	}
	out := &btf.Blob{BigEndian: base.BigEndian, Form: btf.JoinForms(append([]*btf.Blob{base}, files...))}
	for _, b := range []*btf.Blob{base, split} {
		out.Words = append(out.Words, b.Words...)
		out.Strings = append(out.Strings, b.Strings...)
	}
	flat.Data = out.Encode()
	return flat, nil
}
