package core

import (
	"errors"
	"slices"

	"github.com/btflite/btflite/btf"
)

// RelocatedNames returns the essential names of the types that the relocations in ext, the
// section .BTF.ext of an object with the types b, refer to: those that the program wants to
// find in the kernel. They are in ascending order. No relocations is an error.
func RelocatedNames(ext []byte, b *btf.Blob) (names []string, err error) {
	some := false
	err = eachRecord(ext, b, func(r record) error {
		some = true
		if name := nameOf(b, r.typ); len(name) > 0 {
			names = append(names, string(essential(name)))
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case !some:
		return nil, errors.New("no CO-RE relocations")
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// nameOf returns the name of a type, or of what it modifies or points to.
func nameOf(b *btf.Blob, id uint32) []byte {
	for range btf.MaxDepth {
		r := b.Record(id)
		if r == nil {
			return nil
		}
		if r.Name() != 0 || !btf.ThirdIsRef(r.Kind()) {
			return b.NameBytes(r.Name())
		}
		id = r.Third()
	}
	return nil
}
