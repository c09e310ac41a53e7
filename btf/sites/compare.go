package sites

import (
	"hash/maphash"
	"slices"

	"github.com/btflite/btflite/btf"
)

// Difference says how the sites of two files differ: by section, offset, function and
// what is said of the parameters.
type Difference struct {
	A, B       Counts
	Gone, Come int // sites of A that B lacks, and the other way round
}

// Same reports whether there is no difference.
func (d *Difference) Same() bool { return d.Gone+d.Come == 0 }

// Compare compares the sites of two files. Sites of their bases do not count.
func Compare(a, b *btf.Blob) (d Difference) {
	d.A, d.B = Count(a), Count(b)
	if d.A.Sites+d.B.Sites == 0 {
		return d
	}
	seed := maphash.MakeSeed()
	x, y := hashes(a, seed, d.A.Sites), hashes(b, seed, d.B.Sites)
	for len(x) > 0 && len(y) > 0 {
		switch {
		case x[0] == y[0]:
			x, y = x[1:], y[1:]
		case x[0] < y[0]:
			d.Gone++
			x = x[1:]
		default:
			d.Come++
			y = y[1:]
		}
	}
	d.Gone += len(x)
	d.Come += len(y)
	return d
}

// hashes gives the sorted hashes of the n sites of b.
func hashes(b *btf.Blob, seed maphash.Seed, n int) []uint64 {
	list := make([]uint64, 0, n)
	var h maphash.Hash
	h.SetSeed(seed)
	for i := range b.Off {
		r := b.Record(b.FirstID + uint32(i))
		if r.Kind() != btf.KindLocsec {
			continue
		}
		section(b, r, func([]byte, string, uint32) bool { return true }, func(s *Site) bool {
			h.Reset()
			maphash.WriteComparable(&h, [2]string{s.Section, s.Func})
			maphash.WriteComparable(&h, s.Offset)
			for _, p := range s.Params {
				maphash.WriteComparable(&h, p.Name)
				if p.Place != nil {
					maphash.WriteComparable(&h, p.Place.Third())
					maphash.WriteComparable(&h, btf.LocText(p.Place))
				}
			}
			list = append(list, h.Sum64())
			return true
		})
	}
	slices.Sort(list)
	return list
}
