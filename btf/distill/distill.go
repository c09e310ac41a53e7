// Package distill makes split BTF that can be loaded over another build of its
// base. It reads and writes finished BTF and knows nothing of how it was made.
//
// The stable API is package btflite. What it does not use of this package may change.
package distill

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/btflite/btflite/btf"
)

// Split makes split BTF independent of the ids of its base. base has only what is needed
// to find the base types that split uses in another build of the base, and out is split
// renumbered over it. A kernel relocates out from base to its own BTF when it loads the
// module. Both have the bytes that btf__distill_base of libbpf writes.
//
// Base types that can be found by name go to base: INT, FLOAT and FWD as they are, STRUCT
// and UNION with their size only, ENUM and ENUM64 as an ENUM without values. The other
// base types that own types lead to are copied into out, after the own types. The search
// stops at named structs and unions. Both parts keep the order of the old ids. Their
// headers are as long as the header of split, and neither has a layout section.
//
// split is not changed and shares no memory with the results. It is an error if split has
// no base, has types of unknown kinds, or refers to a FUNC, VAR, DATASEC or DECL_TAG of
// the base. When ctx is done, Split ends soon with its error.
func Split(ctx context.Context, split *btf.Blob) (base, out *btf.Blob, err error) {
	if split.Base == nil {
		return nil, nil, errors.New("btf: only split BTF has a base to distil")
	}
	if err := split.CheckKnown(); err != nil {
		return nil, nil, err
	}
	d := distiller{ctx: ctx, split: split, ids: map[uint32]uint32{}}
	if err := d.collect(); err != nil {
		return nil, nil, err
	}
	if base, err = d.makeBase(); err != nil {
		return nil, nil, err
	}
	if out, err = d.makeSplit(base); err != nil {
		return nil, nil, err
	}
	base.Form.HeaderLen, out.Form.HeaderLen = split.Form.HeaderLen, split.Form.HeaderLen
	return base, out, nil
}

// distiller is the state of one Split.
type distiller struct {
	ctx   context.Context
	steps int // types that have been looked at
	split *btf.Blob
	used  []uint32          // ids of the base that are needed, ascending
	ids   map[uint32]uint32 // new id of each of used; 0 until it has one
	own   uint32            // new id of the first own type
}

// step is called for each type that is looked at. Now and then it returns the error
// of the context.
func (d *distiller) step() error {
	if d.steps++; d.steps%1024 != 1 {
		return nil
	}
	return d.ctx.Err()
}

// collect finds the base types that own types lead to.
func (d *distiller) collect() error {
	for id := d.split.FirstID; id < d.split.TypeCount(); id++ {
		if err := d.step(); err != nil {
			return err
		}
		d.need(d.split.Record(id))
	}
	for i := 0; i < len(d.used); i++ { // grows meanwhile
		if err := d.step(); err != nil {
			return err
		}
		r := d.split.Record(d.used[i])
		switch k := btf.InfoKind(r[1]); k {
		case btf.KindVoid:
			return fmt.Errorf("btf: types: [%d] of the base is referred to, which is of a kind that is not known", d.used[i])
		case btf.KindFunc, btf.KindVar, btf.KindDatasec, btf.KindDeclTag:
			return fmt.Errorf("btf: types: %s [%d] of the base is referred to, which cannot be distilled", k, d.used[i])
		case btf.KindStruct, btf.KindUnion:
			if r[0] != 0 {
				continue
			}
		}
		d.need(r)
	}
	slices.Sort(d.used)
	return nil
}

// need adds the base types that r refers to.
func (d *distiller) need(r []uint32) {
	btf.EachRef(r, func(id *uint32) {
		if *id == 0 || *id >= d.split.FirstID {
			return
		}
		if _, ok := d.ids[*id]; !ok {
			d.ids[*id] = 0
			d.used = append(d.used, *id)
		}
	})
}

// makeBase builds the new base and gives ids to what it holds.
func (d *distiller) makeBase() (*btf.Blob, error) {
	b := btf.NewBuilder(d.split.BigEndian, nil)
	for _, id := range d.used {
		if err := d.step(); err != nil {
			return nil, err
		}
		r := d.split.Record(id)
		name := d.split.Name(r[0])
		switch k := btf.InfoKind(r[1]); k {
		case btf.KindInt, btf.KindFloat, btf.KindFwd:
			d.ids[id] = b.Add(name, r[1], r[2], r[3:]...)
		case btf.KindStruct, btf.KindUnion:
			if r[0] != 0 {
				d.ids[id] = b.Add(name, btf.Info(k, 0, false), r[2])
			}
		case btf.KindEnum, btf.KindEnum64:
			if r[0] != 0 {
				d.ids[id] = b.Add(name, btf.Info(btf.KindEnum, 0, false), r[2])
			}
		}
	}
	return b.Blob()
}

// makeSplit builds the new split BTF: own types, then the rest of used.
func (d *distiller) makeSplit(base *btf.Blob) (*btf.Blob, error) {
	d.own = base.TypeCount()
	next := d.own + uint32(len(d.split.Off))
	for _, id := range d.used {
		if d.ids[id] == 0 {
			d.ids[id] = next
			next++
		}
	}
	b := btf.NewBuilder(d.split.BigEndian, base)
	for id := d.split.FirstID; id < d.split.TypeCount(); id++ {
		if err := d.copyType(b, id); err != nil {
			return nil, err
		}
	}
	for _, id := range d.used {
		if d.ids[id] < d.own {
			continue
		}
		if err := d.copyType(b, id); err != nil {
			return nil, err
		}
	}
	return b.Blob()
}

// copyType adds type id to b with new ids and names.
func (d *distiller) copyType(b *btf.Builder, id uint32) error {
	if err := d.step(); err != nil {
		return err
	}
	r := slices.Clone(d.split.Record(id))
	name := d.split.Name(r[0])
	btf.EachName(r, func(off *uint32) { *off = b.Str(d.split.Name(*off)) })
	btf.EachRef(r, func(id *uint32) {
		if *id >= d.split.FirstID {
			*id += d.own - d.split.FirstID
		} else if *id != 0 {
			*id = d.ids[*id]
		}
	})
	b.Add(name, r[1], r[2], r[3:]...)
	return nil
}
