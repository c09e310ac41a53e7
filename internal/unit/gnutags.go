package unit

import (
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
)

// GCC's annotations: DIEs beside the types, which refer to a chain of them.

// maxChain bounds a chain of GNU annotations.
const maxChain = 1 << 12

// gnuChain calls fn for each annotation of the chain at off, as long as they
// have the name.
func (w *attrs) gnuChain(off uint32, name string, fn func(value dedup.Name)) {
	r := w.r
	saved := r.Cursor.Vals
	for range maxChain {
		_, have, ok := r.Cursor.DecodeAt(uint64(off))
		if !ok || string(w.f.Names.Text(r.Cursor.NameOf(have))) != name || have&(1<<dwarf.VConst) == 0 {
			break
		}
		next := uint32(0)
		if have&(1<<dwarf.VAnnotation) != 0 {
			next = uint32(r.Cursor.Vals[dwarf.VAnnotation].U)
		}
		fn(r.Cursor.NameValue(&r.Cursor.Vals[dwarf.VConst]))
		if next == 0 {
			break
		}
		off = next
	}
	r.Cursor.Vals = saved
}

// gnuTypeTags adds TYPE_TAGs for a pointer's GNU annotations and returns what
// the pointer refers to: pointer, first annotation, …, last one, target.
func (w *attrs) gnuTypeTags(off, target uint32) uint32 {
	first, last := uint32(0), uint32(0)
	w.gnuChain(off, "btf_type_tag", func(value dedup.Name) {
		k := w.r.addExtra(dedup.Node{Info: infoTypeTag, Name: value, Third: target})
		if first == 0 {
			first = k
		} else {
			w.r.extra.S[last&^extraRef].Third = k
		}
		last = k
	})
	if first == 0 {
		return target
	}
	return first
}

// gnuDeclTags adds the declaration tags of a struct's or member's chain.
func (w *attrs) gnuDeclTags(off, node uint32, component int32) {
	if !w.in.Options.DeclTag || off == 0 {
		return
	}
	w.gnuChain(off, "btf_decl_tag", func(value dedup.Name) {
		w.r.Unit.Tags.Append(Tag{node, value, component})
	})
}
