package exact

import (
	"errors"
	"fmt"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// Merge concatenates BTF objects over one base (or all without a base) into one. The ids
// and string offsets of each one continue after the previous one. Nothing is
// deduplicated; equal strings stay apart until a string pass. Header and layout section
// are the longest of any input. A single input is returned as it is.
func Merge(inputs []*btf.Blob) (*btf.Blob, error) {
	if len(inputs) == 0 {
		return nil, errors.New("dedup: no input")
	}
	head := inputs[0]
	if len(inputs) == 1 {
		return head, nil
	}
	if err := mergeable(inputs); err != nil {
		return nil, err
	}
	out := &btf.Blob{BigEndian: head.BigEndian, StrBase: head.StrBase, FirstID: head.FirstID, Base: head.Base, Form: btf.JoinForms(inputs)}
	for _, in := range inputs {
		appendBlob(out, in)
	}
	return out, nil
}

// mergeable checks that inputs fit together and do not exceed the format.
func mergeable(inputs []*btf.Blob) error {
	head := inputs[0]
	types, words, strs := uint64(head.FirstID), uint64(0), uint64(head.StrBase)
	for i, in := range inputs {
		if in.BigEndian != head.BigEndian {
			return fmt.Errorf("dedup: input %d: byte order differs from the first input's", i)
		}
		if in.Base != head.Base {
			return fmt.Errorf("dedup: input %d: base differs from the first input's", i)
		}
		types += uint64(len(in.Off))
		words += uint64(len(in.Words))
		strs += uint64(len(in.Strings))
	}
	if types > btf.MaxID || strs > btf.MaxStrOff || words >= inProgress {
		return fmt.Errorf("dedup: inputs are too large together: %d types, %d string bytes", types, strs)
	}
	return nil
}

// appendBlob appends the types and strings of in to out.
func appendBlob(out, in *btf.Blob) {
	idShift := uint32(len(out.Off))
	strShift := uint32(len(out.Strings))
	wordShift := uint32(len(out.Words))
	shiftID := func(w *uint32) {
		if *w >= in.FirstID {
			*w += idShift
		}
	}
	shiftName := func(w *uint32) {
		if *w != 0 && *w >= in.StrBase {
			*w += strShift
		}
	}
	out.Words = append(arena.Room(out.Words, len(in.Words)), in.Words...)
	out.Strings = append(arena.Room(out.Strings, len(in.Strings)), in.Strings...)
	out.Off = arena.Room(out.Off, len(in.Off))
	for i, off := range in.Off {
		end := uint32(len(in.Words))
		if i+1 < len(in.Off) {
			end = in.Off[i+1]
		}
		out.Off = append(out.Off, off+wordShift)
		r := out.Words[off+wordShift : end+wordShift]
		btf.EachRef(r, shiftID)
		btf.EachName(r, shiftName)
	}
}
