package encode

import (
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
