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

// Own returns the BTF of raw over its distilled base or, if it has none, over base. It shares memory with raw.
func Own(raw *Raw, base *btf.Blob) (*btf.Blob, error) { return own(raw, base, btf.ParseShared) }

// own is Own by btf.Parse or btf.ParseShared.
func own(raw *Raw, base *btf.Blob, by func([]byte, *btf.Blob) (*btf.Blob, error)) (*btf.Blob, error) {
	if raw.Base != nil {
		distilled, err := btf.Parse(raw.Base, nil)
		if err != nil {
			return nil, fmt.Errorf("section .BTF.base: %w", err)
		}
		base = distilled
	}
	b, err := by(raw.BTF, base)
	if err == nil {
		err = CheckBase(raw, b)
	}
	return b, err
}
