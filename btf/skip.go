package btf

import (
	"cmp"
	"fmt"
	"slices"
)

// skipUnknown replaces each record of an unknown kind by one of KindVoid, and counts it.
// It is an error if the layout section does not say how long such a record is.
func (b *Blob) skipUnknown() error {
	layout := LayoutFor(b.Form.Layout, b.Base)
	words := make([]uint32, 0, len(b.Words))
	for w := 0; w < len(b.Words); {
		r := b.Words[w:]
		if len(r) < recordHead {
			return fmt.Errorf("btf: types: truncated record at offset %d", 4*w)
		}
		k, vlen := InfoKind(r[1]), InfoVlen(r[1])
		n, ok := recordHead+ExtraWords(k, vlen), k.known()
		if k > lastKind {
			n, ok = UnknownWords(layout, k, vlen)
		}
		switch {
		case !ok && k != KindVoid && len(layout) > 0:
			return fmt.Errorf("btf: types: unknown kind %d at offset %d, which the layout section does not describe", k, 4*w)
		case !ok:
			return fmt.Errorf("btf: types: unknown kind %d at offset %d", k, 4*w)
		case n > len(r):
			return fmt.Errorf("btf: types: truncated %s at offset %d", k, 4*w)
		case k.known():
			words = append(words, r[:n]...)
		default:
			words = append(words, 0, 0, 0)
			b.Skipped = CountSkipped(b.Skipped, k)
		}
		w += n
	}
	b.Words = words
	return nil
}

// CountSkipped adds one type of kind k to a list that is sorted by kind, and returns the
// list.
func CountSkipped(list []Skipped, k Kind) []Skipped {
	i, ok := slices.BinarySearchFunc(list, k, func(s Skipped, k Kind) int { return cmp.Compare(s.Kind, k) })
	if !ok {
		list = slices.Insert(list, i, Skipped{Kind: k})
	}
	list[i].Types++
	return list
}

// CheckKnown returns an error if types of b were skipped (see Skipped). It is for callers
// that have to know what each type refers to.
func (b *Blob) CheckKnown() error {
	if len(b.Skipped) == 0 {
		return nil
	}
	return fmt.Errorf("btf: types: there is one of kind %d, which is not known", b.Skipped[0].Kind)
}

// WithoutSkipped returns b without the types that were skipped (see Skipped), so that it
// can be encoded. Later types get other ids. It is an error if a type refers to a skipped
// one. b is not changed; the result shares its strings.
func (b *Blob) WithoutSkipped() (*Blob, error) {
	if len(b.Skipped) == 0 {
		return b, nil
	}
	ids := make([]uint32, len(b.Off)) // new id of each type, 0 for those that are left out
	next := b.FirstID
	for i := range b.Off {
		if b.Kind(b.FirstID+uint32(i)) != KindVoid {
			ids[i] = next
			next++
		}
	}
	out := new(Blob)
	*out = *b
	out.Words, out.Off, out.Skipped = make([]uint32, 0, len(b.Words)), make([]uint32, 0, len(b.Off)), nil
	for i, id := range ids {
		if id == 0 {
			continue
		}
		at := len(out.Words)
		out.Off = append(out.Off, uint32(at))
		out.Words = append(out.Words, b.Record(b.FirstID+uint32(i))...)
		lost := false
		EachRef(out.Words[at:], func(ref *uint32) {
			if *ref < b.FirstID {
				return
			}
			*ref = ids[*ref-b.FirstID]
			lost = lost || *ref == 0
		})
		if lost {
			old := b.FirstID + uint32(i)
			return nil, fmt.Errorf("btf: types: %s [%d] refers to a type of a kind that is not known, which cannot be left out", b.Kind(old), old)
		}
	}
	return out, nil
}
