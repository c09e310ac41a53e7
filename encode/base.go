package encode

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
)

// Base is BTF that modules are encoded over. Split BTF over it does not repeat its types
// and strings. A Base is immutable, and any number of runs may share it.
type Base struct {
	d     *dedup.Base
	types uint32 // how many type ids it has, with void
}

// NewBase prepares blob as a base. blob may itself be split BTF; the Base keeps using it, so it must
// not change. It is an error if blob has too many types or strings (dedup.MaxIDs,
// dedup.MaxBaseStrings). Call Free in the end.
func NewBase(blob *btf.Blob) (*Base, error) {
	d, err := dedup.NewBase(blob)
	if err != nil {
		return nil, err
	}
	return &Base{d, blob.TypeCount()}, nil
}

// Free releases the memory. No run may use the Base afterwards.
func (base *Base) Free() { base.d.Free() }
