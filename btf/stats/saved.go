package stats

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// Saved counts what a base saves: the types that would have to be here without it.
type Saved struct {
	// Direct is how many types of the base own types refer to.
	Direct uint32 `json:"direct"`
	// Types is how many types of the base that leads to, TypeBytes what their records
	// take, StringBytes what their names and those that own types find there take.
	Types       uint32 `json:"types"`
	TypeBytes   uint64 `json:"type_bytes"`
	StringBytes uint64 `json:"string_bytes"`
}

// Bytes is the sum of what is saved.
func (s *Saved) Bytes() uint64 { return s.TypeBytes + s.StringBytes }

// savedBy follows all references from own types into the base; nil without a base.
func savedBy(v *view.View) *Saved {
	first := v.FirstOwn()
	if v.Blob().Base == nil {
		return nil
	}
	var below []*stringUse
	for b := v.Blob().Base; b != nil; b = b.Base {
		below = append(below, newStringUse(b))
	}
	s := &Saved{}
	seen := make([]bool, first)
	var work []uint32
	visit := func(t view.Type) {
		r := t.Record()
		btf.EachRef(r, func(id *uint32) {
			if *id != 0 && *id < first && !seen[*id] {
				seen[*id] = true
				work = append(work, *id)
			}
		})
		btf.EachName(r, func(off *uint32) {
			for _, b := range below {
				if *off >= b.blob.StrBase && *off < b.blob.StrEnd() {
					s.StringBytes += b.use(*off, ofTypes)
				}
			}
		})
	}
	for t := range v.Own() {
		visit(t)
	}
	s.Direct = uint32(len(work))
	for len(work) > 0 {
		t := v.Type(work[len(work)-1])
		work = work[:len(work)-1]
		s.Types++
		s.TypeBytes += recordBytes(t)
		visit(t)
	}
	return s
}
