package distill

import (
	"errors"
	"fmt"

	"github.com/btflite/btflite/btf"
)

// Relocator puts split BTF over a distilled base back over a kernel, as a kernel does that loads
// the module.
type Relocator struct {
	kernel *btf.Blob
	types  map[look]found
}

// look identifies types of a kernel: one type of a distilled base may stand for any with its look.
type look struct {
	name       string
	kind       btf.Kind // Enum also of an ENUM64; Fwd also of what it declares
	size, more uint32   // more: what INT has besides, 1 of a FWD for a union
}

// found are these types.
type found struct {
	n       uint32 // how many
	id      uint32 // the first one; for a FWD a definition comes first
	defined bool   // id is of a definition
}

// distilled are the kinds of types of the kernel that a distilled base can name.
const distilled = 1<<btf.KindInt | 1<<btf.KindFloat | 1<<btf.KindFwd | 1<<btf.KindStruct | 1<<btf.KindUnion | 1<<btf.KindEnum | 1<<btf.KindEnum64

// NewRelocator makes a Relocator for a kernel, which must not change as long as it is in use.
func NewRelocator(kernel *btf.Blob) *Relocator {
	r := &Relocator{kernel, map[look]found{}}
	for id := uint32(1); id < kernel.TypeCount(); id++ {
		rec := kernel.Record(id)
		if distilled>>(rec.Kind()&63)&1 == 0 || rec.Name() == 0 {
			continue
		}
		name := kernel.Name(rec.Name())
		defined := rec.Kind() == btf.KindStruct || rec.Kind() == btf.KindUnion
		if defined {
			r.add(lookOf(name, declarationOf(rec)), id, true)
		}
		r.add(lookOf(name, rec), id, false)
	}
	return r
}

func (r *Relocator) add(l look, id uint32, defined bool) {
	f := r.types[l]
	if f.n++; f.n == 1 || defined && !f.defined {
		f.id, f.defined = id, defined
	}
	r.types[l] = f
}

// declarationOf is a forward declaration of a struct or union.
func declarationOf(r btf.Record) btf.Record {
	return btf.MakeRecord(r.Name(), btf.Info(btf.KindFwd, 0, r.Kind() == btf.KindUnion), 0)
}

// lookOf returns the look of a type that a distilled base can name.
func lookOf(name string, r btf.Record) look {
	l := look{name: name, kind: r.Kind(), size: r.Third()}
	switch l.kind {
	case btf.KindInt:
		l.more = r.Data()
	case btf.KindFwd:
		l.size = 0
		if btf.InfoKflag(r.Info()) {
			l.more = 1
		}
	case btf.KindEnum64:
		l.kind = btf.KindEnum
	}
	return l
}

// Relocate returns the types of split, which is over a distilled base, over the kernel. What
// the base names is found by name and kind, an INT also by its encoding, and by size: except for
// structs and unions that split has pointers to, and no fields of. For these a definition is
// taken if there is one, of any size. It is an error if a type is missing, or if a size fits two.
func (r *Relocator) Relocate(split *btf.Blob) (*btf.Blob, error) {
	if split.BigEndian != r.kernel.BigEndian {
		return nil, errors.New("btf: header: byte order differs from the base's")
	}
	ids := make([]uint32, split.FirstID)
	inside := contained(split)
	for id := uint32(1); id < split.FirstID; id++ {
		d := split.Base.Record(id)
		if k := d.Kind(); (k == btf.KindStruct || k == btf.KindUnion) && !inside[id] {
			d = declarationOf(d)
		}
		var err error
		if ids[id], err = r.find(split.Base.Name(d.Name()), d); err != nil {
			return nil, err
		}
	}
	return btf.Rebase(split, r.kernel, func(id uint32) uint32 { return ids[id] })
}

// contained tells by id which types of the base the types of split contain, as members,
// elements, variables or parameters.
func contained(split *btf.Blob) []bool {
	inside := make([]bool, split.FirstID)
	for id := split.FirstID; id < split.TypeCount(); id++ {
		r := split.Record(id)
		switch r.Kind() {
		case btf.KindStruct, btf.KindUnion, btf.KindArray, btf.KindVar, btf.KindFuncProto:
			btf.EachRef(r, func(to *uint32) {
				if of := split.Behind(*to, btf.Modifiers|btf.Typedefs|btf.Arrays); of < split.FirstID {
					inside[of] = true
				}
			})
		}
	}
	return inside
}

// find returns the type of the kernel that d, a type of a distilled base, stands for.
func (r *Relocator) find(name string, d btf.Record) (uint32, error) {
	f := r.types[lookOf(name, d)]
	switch {
	case f.n == 0 || distilled>>(d.Kind()&63)&1 == 0:
		return 0, fmt.Errorf("btf: the kernel has no %s %q as in the distilled base", d.Kind(), name)
	case f.n > 1 && d.Kind() != btf.KindFwd:
		return 0, fmt.Errorf("btf: the kernel has %d types that may be %s %q of the distilled base", f.n, d.Kind(), name)
	}
	return f.id, nil
}
