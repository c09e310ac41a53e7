package encode

import (
	"fmt"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/names"
)

// Base is BTF that modules are encoded over: what it has, their split BTF does
// not repeat. It is immutable and may be shared by any number of runs.
type Base struct {
	d     *dedup.Base
	types uint32 // and void
}

// NewBase prepares blob, which may itself be split BTF, as a base. It holds on
// to blob. Errors: more types or strings than ids and offsets leave room for.
func NewBase(blob *btf.Blob) (*Base, error) {
	d, err := dedup.NewBase(blob, names.InlineToken)
	if err != nil {
		return nil, err
	}
	return &Base{d, blob.TypeCount()}, nil
}

// Free gives the memory back. No run may use the Base any more.
func (b *Base) Free() { b.d.Free() }

// newSet makes the set that the units are merged into, and the pool of names.
func (r *run) newSet() error {
	if err := r.takeSet(); err != nil {
		return err
	}
	r.set.SetLimit(r.limit)
	return nil
}

func (r *run) takeSet() (err error) {
	var base *dedup.Base
	if r.opt.Base != nil {
		base = r.opt.Base.d
	}
	r.names.Use(r.session.takePool(base, r.limit))
	if r.set = r.session.takeSet(&r.names); r.set != nil {
		return nil
	}
	switch {
	case r.opt.Exact:
		r.set = dedup.NewSet(&r.names, 1<<17)
		r.set.Raw = true
	case base != nil:
		r.set, err = dedup.NewSplitSet(&r.names, base, 1<<12, r.opt.LibbpfTypedefBug)
	default:
		r.set = dedup.NewSet(&r.names, 1<<17)
	}
	return err
}

// bytesPerString is how many bytes of .debug_info kernels have for each distinct
// string of their BTF. maxReserved keeps the tables of other files small.
const (
	bytesPerString = 2048
	maxReserved    = 1 << 17
)

// reserve prepares the set for the names of the first file.
func (r *run) reserve(f *file) {
	if len(r.files) == 1 && r.opt.Base == nil {
		r.set.Reserve(min(len(f.info)/bytesPerString, maxReserved))
	}
}

// checkBase compares an input with the base.
func (f *file) checkBase() error {
	if b := f.opt.Base; b != nil && b.d.BigEndian() != f.bigEndian {
		return fmt.Errorf("%s: ELF header: byte order differs from the base's", f.path)
	}
	return nil
}
