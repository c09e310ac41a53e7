package loadbtf

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/btflite/btflite/btf"
)

// SectionBaseSum is a section that btflite writes beside split BTF. Its note has the checksum of the
// base, so that a reader can recognise the right one.
const SectionBaseSum = ".note.btflite.base"

// The owner and the type of the note. Its contents are the checksum of btf.Blob.Sum.
const (
	noteOwner   = "btflite\x00"
	noteBaseSum = 1
)

// BaseNote returns the contents of SectionBaseSum for a base, in its byte order.
func BaseNote(base *btf.Blob) []byte {
	o := btf.Order(base.BigEndian)
	sum := base.Sum()
	var b []byte
	for _, n := range []int{len(noteOwner), len(sum), noteBaseSum} {
		b = o.AppendUint32(b, uint32(n))
	}
	return append(append(b, noteOwner...), sum[:]...)
}

// CheckBase returns an error if b, which was read from raw, is over a wrong base, as far as that can
// be seen.
func CheckBase(raw *Raw, b *btf.Blob) error {
	if raw.BaseSum != nil && b.Base != nil && !bytes.Equal(raw.BaseSum, BaseNote(b.Base)) {
		return errors.New("section " + SectionBaseSum + ": the checksum of the BTF that it was split from is not the base's")
	}
	return b.CheckBase()
}

// Over returns the base of raw: its distilled base if it has one, otherwise base.
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
