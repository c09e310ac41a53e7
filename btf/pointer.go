package btf

import (
	"cmp"
	"slices"
)

// longNames has the names by which libbpf recognises the type long. In every ABI of Linux,
// long is as large as a pointer.
var longNames = []string{"long", "long int", "int long", "unsigned long", "long unsigned", "unsigned long int", "unsigned int long",
	"long unsigned int", "long int unsigned", "int unsigned long", "int long unsigned"}

// PointerSize returns the size of a pointer in bytes, 4 or 8. BTF does not have this size, so it
// is LongSize, or 8 if there is no long.
func (b *Blob) PointerSize() int { return cmp.Or(b.LongSize(), 8) }

// LongSize returns the size in bytes, 4 or 8, of the first INT that is called long, and 0 if
// there is no such INT. It looks at the bases first.
func (b *Blob) LongSize() int {
	for id := uint32(1); id < b.TypeCount(); id++ {
		r := b.Record(id)
		if r.Kind() == KindInt && (r.Third() == 4 || r.Third() == 8) && slices.Contains(longNames, string(b.NameBytes(r.Name()))) {
			return int(r.Third())
		}
	}
	return 0
}
