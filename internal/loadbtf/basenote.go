package loadbtf

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/btflite/btflite/btf"
)

// SectionBaseSum is the section of objects with a note on the base of .BTF.
const SectionBaseSum = ".note.btflite.base"

// The note's owner and type. Its contents are the checksum of btf.Blob.Sum.
const (
	noteOwner   = "btflite\x00"
	noteBaseSum = 1
)

// BaseNote is the contents of SectionBaseSum in the byte order of base.
func BaseNote(base *btf.Blob) []byte {
	o := btf.Order(base.BigEndian)
	sum := base.Sum()
	var b []byte
	for _, n := range []int{len(noteOwner), len(sum), noteBaseSum} {
		b = o.AppendUint32(b, uint32(n))
	}
	return append(append(b, noteOwner...), sum[:]...)
}

// CheckBase looks for signs that b, read from raw, is not over the right base.
func CheckBase(raw *Raw, b *btf.Blob) error {
	if raw.BaseSum != nil && b.Base != nil && !bytes.Equal(raw.BaseSum, BaseNote(b.Base)) {
		return errors.New("section " + SectionBaseSum + ": the checksum of the BTF that it was split from is not the base's")
	}
	return b.CheckBase()
}

// Over is the base of raw: the distilled one that it brings along, or base.
func Over(raw Raw, base *btf.Blob) (*btf.Blob, error) {
	if raw.Base == nil {
		return base, nil
	}
	b, err := btf.Parse(raw.Base, nil)
	if err != nil {
		return nil, fmt.Errorf("section .BTF.base: %w", err)
	}
	return b, nil
}
