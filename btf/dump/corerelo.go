package dump

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/btflite/btflite/btf"
)

// The section .BTF.ext of a BPF object, according to the kernel's
// Documentation/bpf/btf.rst: a header with offsets from its end and, in the part of CO-RE
// relocations, the size of a record, then for each section its name and its records.
const (
	extMagic      = 0xeb9f
	extHeaderLen  = 32 // up to the length of that part
	extRelocation = 24 // where its offset and length stand
	minRelocation = 16 // bytes of a record: instruction, type, access, kind
)

// RelocatedNames returns the names of the types that the CO-RE relocations in ext, the
// section .BTF.ext of an object with the types b, refer to: those that the program
// wants to find in the kernel. They are in ascending order and without what follows
// "___", which C programs add to have several versions of a type.
func RelocatedNames(ext []byte, b *btf.Blob) ([]string, error) {
	o := binary.ByteOrder(binary.LittleEndian)
	if b.BigEndian {
		o = binary.BigEndian
	}
	if len(ext) < extHeaderLen || o.Uint16(ext) != extMagic {
		return nil, errors.New("section .BTF.ext: no header with CO-RE relocations")
	}
	start := uint64(o.Uint32(ext[4:])) + uint64(o.Uint32(ext[extRelocation:]))
	size := uint64(o.Uint32(ext[extRelocation+4:]))
	switch {
	case size == 0:
		return nil, errors.New("section .BTF.ext: no CO-RE relocations")
	case start+size > uint64(len(ext)) || size < 4:
		return nil, fmt.Errorf("section .BTF.ext: relocations at %d, %d bytes, lie outside", start, size)
	}
	part := ext[start : start+size]
	each := int64(o.Uint32(part))
	if each < minRelocation {
		return nil, fmt.Errorf("section .BTF.ext: relocations of %d bytes, need %d", each, minRelocation)
	}
	var names []string
	for part = part[4:]; len(part) >= 8; {
		n := int64(o.Uint32(part[4:]))
		if part = part[8:]; n*each > int64(len(part)) {
			return nil, fmt.Errorf("section .BTF.ext: %d relocations lie outside", n)
		}
		for range n {
			if name := essentialName(b, o.Uint32(part[4:])); name != "" {
				names = append(names, name)
			}
			part = part[each:]
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// essentialName is the name of a type, or of what it modifies, without "___" and what
// follows.
func essentialName(b *btf.Blob, id uint32) string {
	for range maxLinks {
		rec := b.Record(id)
		if rec == nil {
			return ""
		}
		if rec.Name() == 0 && btf.ThirdIsRef(rec.Kind()) {
			id = rec.Third()
			continue
		}
		name, _, _ := bytes.Cut(b.NameBytes(rec.Name()), []byte("___"))
		return string(name)
	}
	return ""
}
