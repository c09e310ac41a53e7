package stats

import (
	"cmp"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// Waste counts the unused bytes of structs, as pahole does.
type Waste struct {
	// Structs is how many structs have unused bytes or bits, Bytes the sum of their
	// holes and padding, as of one of each.
	Structs uint32 `json:"structs"`
	Bytes   uint64 `json:"bytes"`
	// Most are the structs with the most unused bytes, Holes those with the most
	// holes.
	Most  []Struct `json:"most"`
	Holes []Struct `json:"most_holes"`
}

// Struct is a struct with unused bytes.
type Struct struct {
	ID       uint32 `json:"id"`
	Name     string `json:"name"`
	Size     uint64 `json:"size"`
	Holes    int    `json:"holes"`
	HoleSize uint64 `json:"hole_bytes"`
	BitHoles int    `json:"bit_holes"`
	BitSize  uint64 `json:"bit_hole_bits"`
	Padding  uint64 `json:"padding"`
	// Unused is the bytes of holes and padding.
	Unused uint64 `json:"unused"`
}

func wasteOf(v *view.View, n int) Waste {
	var w Waste
	most := newTop(n, func(x, y *Struct) int {
		return cmp.Or(cmp.Compare(y.Unused, x.Unused), cmp.Compare(x.ID, y.ID))
	})
	holes := newTop(n, func(x, y *Struct) int {
		return cmp.Or(cmp.Compare(y.Holes, x.Holes), cmp.Compare(y.Unused, x.Unused), cmp.Compare(x.ID, y.ID))
	})
	layouts := view.NewLayouts(v)
	for t := range v.Own() {
		if t.Kind() != btf.KindStruct {
			continue
		}
		l := layouts.Of(t)
		s := Struct{
			ID: t.ID, Name: string(t.Name()), Size: l.Size, Holes: l.Holes, HoleSize: l.SumHoles,
			BitHoles: l.BitHoles, BitSize: l.SumBitHoles, Padding: l.Padding,
			Unused: l.SumHoles + l.Padding,
		}
		layouts.Done(l)
		if s.Unused == 0 && s.BitHoles == 0 {
			continue
		}
		w.Structs++
		w.Bytes += s.Unused
		if s.Unused > 0 {
			most.add(s)
		}
		if s.Holes > 0 {
			holes.add(s)
		}
	}
	w.Most, w.Holes = most.sorted(), holes.sorted()
	return w
}
