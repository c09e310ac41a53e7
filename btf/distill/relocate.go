package distill

import (
	"errors"
	"fmt"
	"slices"

	"github.com/btflite/btflite/btf"
)

// Relocator puts split BTF over a distilled base back over a kernel, as a kernel does that loads
// the module.
type Relocator struct {
	kernel *btf.Blob
	named  map[string][]uint32 // types that a distilled base can name, in the order of ids
}

// distilled are the kinds of types of the kernel that a distilled base can name.
const distilled = 1<<btf.KindInt | 1<<btf.KindFloat | 1<<btf.KindFwd | 1<<btf.KindStruct | 1<<btf.KindUnion | 1<<btf.KindEnum | 1<<btf.KindEnum64

// NewRelocator makes a Relocator for a kernel, which must not change as long as it is in use.
func NewRelocator(kernel *btf.Blob) *Relocator {
	r := &Relocator{kernel, map[string][]uint32{}}
	for id := uint32(1); id < kernel.TypeCount(); id++ {
		rec := kernel.Record(id)
		if distilled>>(rec.Kind()&63)&1 != 0 && rec.Name() != 0 {
			name := kernel.Name(rec.Name())
			r.named[name] = append(r.named[name], id)
		}
	}
	return r
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
		d := slices.Clone(split.Base.Record(id))
		if k := d.Kind(); (k == btf.KindStruct || k == btf.KindUnion) && !inside[id] {
			d = btf.MakeRecord(d.Name(), btf.Info(btf.KindFwd, 0, k == btf.KindUnion), 0)
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
	var fits []uint32
	for _, k := range r.named[name] {
		if standsFor(d, r.kernel.Record(k)) {
			fits = append(fits, k)
		}
	}
	if d.Kind() == btf.KindFwd {
		if i := slices.IndexFunc(fits, func(k uint32) bool { return r.kernel.Kind(k) != btf.KindFwd }); i >= 0 {
			return fits[i], nil
		}
	}
	switch {
	case len(fits) == 0:
		return 0, fmt.Errorf("btf: the kernel has no %s %q as in the distilled base", d.Kind(), name)
	case len(fits) > 1 && d.Kind() != btf.KindFwd:
		return 0, fmt.Errorf("btf: the kernel has %d types that may be %s %q of the distilled base", len(fits), d.Kind(), name)
	}
	return fits[0], nil
}

// standsFor tells whether d, of a distilled base, may be k of a kernel, which has its name.
func standsFor(d, k btf.Record) bool {
	switch d.Kind() {
	case btf.KindInt:
		return k.Kind() == btf.KindInt && d.Third() == k.Third() && d.Data() == k.Data()
	case btf.KindFwd:
		union := btf.InfoKflag(d.Info())
		switch k.Kind() {
		case btf.KindFwd:
			return union == btf.InfoKflag(k.Info())
		case btf.KindStruct:
			return !union
		}
		return k.Kind() == btf.KindUnion && union
	case btf.KindEnum, btf.KindEnum64:
		return (k.Kind() == btf.KindEnum || k.Kind() == btf.KindEnum64) && d.Third() == k.Third()
	case btf.KindFloat, btf.KindStruct, btf.KindUnion:
		return d.Kind() == k.Kind() && d.Third() == k.Third()
	}
	return false
}
