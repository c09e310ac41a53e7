// Package sites tells where inlined functions are by the BTF kinds LOCSEC, LOC_PROTO and
// LOC_PARAM.
//
// The stable API is package btflite. What it does not use of this package may change.
package sites

import (
	"iter"
	"strings"

	"github.com/btflite/btflite/btf"
)

// Site is the body of an inlined function.
type Site struct {
	Section string // ELF section, such as ".text"
	Offset  uint32 // from its start, in bytes
	Func    string // name of the function
	Params  []Param
}

// Param is a parameter of a site.
type Param struct {
	Name string
	// Place is the LOC_PARAM that says where it is; nil if nothing does.
	Place btf.Record
}

// prefix comes before the section name in the name of a LOCSEC.
const prefix = "inline"

// Each calls fn with the sites of b, in the order of its LOCSECs, and then of its base,
// as long as fn returns true. wanted reports which functions and offsets matter; others
// are skipped.
func Each(b *btf.Blob, wanted func(name []byte, section string, offset uint32) bool, fn func(s *Site) bool) {
	for all := b; all != nil; all = all.Base {
		for r := range locsecs(all) {
			name := strings.TrimPrefix(b.Name(r.Name()), prefix)
			for j := range int(r.Vlen()) {
				id, proto, offset := r.Site(j)
				f := b.Record(id)
				if b.Kind(id) != btf.KindFunc || !wanted(b.NameBytes(f.Name()), name, offset) {
					continue
				}
				if !fn(&Site{Section: name, Offset: offset, Func: b.Name(f.Name()), Params: params(b, f, proto)}) {
					return
				}
			}
		}
	}
}

// locsecs gives the LOCSECs of b, without its base's.
func locsecs(b *btf.Blob) iter.Seq[btf.Record] {
	return func(yield func(btf.Record) bool) {
		for i := range b.Off {
			if r := b.Record(b.FirstID + uint32(i)); r.Kind() == btf.KindLocsec && !yield(r) {
				return
			}
		}
	}
}

// params returns the parameters of the FUNC f with the places of a LOC_PROTO. An ellipsis
// does not count.
func params(b *btf.Blob, f btf.Record, proto uint32) (list []Param) {
	if b.Kind(proto) != btf.KindLocProto {
		return nil
	}
	sig, places := b.Record(f.Third()), b.Record(proto)
	for j := range int(sig.Vlen()) {
		name, typ := sig.Param(j)
		if typ == 0 {
			continue
		}
		p := Param{Name: b.Name(name)}
		if j < int(places.Vlen()) {
			if r := b.Record(places[3+j]); r != nil && r.Kind() == btf.KindLocParam {
				p.Place = r
			}
		}
		list = append(list, p)
	}
	return list
}

// Counts says how much there is.
type Counts struct {
	Sites int // in all LOCSECs
	All   int // sites where all parameters have places
}

// Count counts the sites of b, without its base's.
func Count(b *btf.Blob) (c Counts) {
	whole := map[uint32]bool{} // by LOC_PROTO: its function's parameters have places
	for r := range locsecs(b) {
		for j := range int(r.Vlen()) {
			id, proto, _ := r.Site(j)
			all, known := whole[proto]
			if !known {
				all = isWhole(b, id, proto)
				whole[proto] = all
			}
			if c.Sites++; all {
				c.All++
			}
		}
	}
	return c
}

// isWhole reports whether a LOC_PROTO has a place for each parameter of a function. Types of other kinds
// count as whole. Many LOC_PROTOs may be for one long prototype, so the work is bounded by the LOC_PROTO.
func isWhole(b *btf.Blob, fn, proto uint32) bool {
	if b.Kind(fn) != btf.KindFunc || b.Kind(proto) != btf.KindLocProto {
		return true
	}
	sig, places := b.Record(b.Record(fn).Third()), b.Record(proto)
	if sig.Vlen() != places.Vlen() {
		return false
	}
	for j, id := range places[3:] {
		if _, typ := sig.Param(j); typ != 0 && b.Kind(id) != btf.KindLocParam {
			return false
		}
	}
	return true
}
