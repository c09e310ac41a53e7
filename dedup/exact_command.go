package dedup

import (
	"errors"
	"fmt"

	"github.com/btflite/btflite/btf"
)

// DedupFile merges inputs and deduplicates the result. base is the BTF that all
// inputs were parsed over, or nil. With exact set, and always with a base, the
// result equals libbpf's on every input; otherwise names with several
// definitions may lead to other survivors, in much less memory.
func DedupFile(inputs []*btf.Blob, base *btf.Blob, exact bool) (*btf.Blob, error) {
	in, err := Merge(inputs)
	if err != nil {
		return nil, err
	}
	if in.Base != base {
		return nil, errors.New("dedup: inputs are not split from the given base")
	}
	if exact || base != nil {
		return Exact(in, ExactOptions{})
	}
	return streamDedup(in)
}

// Merge concatenates BTF objects over one base (or all without a base) into one:
// ids and string offsets of each are shifted behind those of the one before.
// Nothing is deduplicated; equal strings stay apart until a string pass. A single
// input is returned as it is.
func Merge(inputs []*btf.Blob) (*btf.Blob, error) {
	if len(inputs) == 0 {
		return nil, errors.New("dedup: no input")
	}
	head := inputs[0]
	if len(inputs) == 1 {
		return head, nil
	}
	if err := exactMergeable(inputs); err != nil {
		return nil, err
	}
	out := &btf.Blob{BigEndian: head.BigEndian, StrBase: head.StrBase, FirstID: head.FirstID, Base: head.Base}
	for _, in := range inputs {
		exactAppend(out, in)
	}
	return out, nil
}

// exactMergeable checks that inputs fit together and do not exceed the format.
func exactMergeable(inputs []*btf.Blob) error {
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
	if types > btf.MaxID || strs > btf.MaxStrOff || words >= exactInProgress {
		return fmt.Errorf("dedup: inputs are too large together: %d types, %d string bytes", types, strs)
	}
	return nil
}

// exactAppend appends the types and strings of in to out.
func exactAppend(out, in *btf.Blob) {
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
	out.Words = append(out.Words, in.Words...)
	out.Strings = append(out.Strings, in.Strings...)
	for i, off := range in.Off {
		end := uint32(len(in.Words))
		if i+1 < len(in.Off) {
			end = in.Off[i+1]
		}
		out.Off = append(out.Off, off+wordShift)
		exactEdit(out.Words[off+wordShift:end+wordShift], shiftID, shiftName)
	}
}

// exactEdit calls ref with every type id and name with every string offset of
// the record r.
func exactEdit(r []uint32, ref, name func(w *uint32)) {
	k, vlen := btf.InfoKind(r[1]), btf.InfoVlen(r[1])
	name(&r[0])
	if btf.ThirdIsRef(k) {
		ref(&r[2])
	}
	start, stride, n := btf.RefWords(k, vlen)
	for i := 0; i < n; i++ {
		ref(&r[start+i*stride])
	}
	stride, n = btf.NameWords(k, vlen)
	for i := 0; i < n; i++ {
		name(&r[3+i*stride])
	}
}
