package unit

import (
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
)

// GCC's annotations are separate DIEs. A type refers to the first one of a chain.

// maxChain bounds a chain of GNU annotations.
const maxChain = 1 << 12

// gnuChain calls fn for each annotation of the chain at off, up to the first with another
// name. The walk ends with an error if the chains of all DIEs together have more annotations than the
// unit has bytes: many DIEs share long chains, or a chain leads to itself.
func (av *attrs) gnuChain(off uint32, name string, fn func(value dedup.Name)) {
	r := av.r
	saved := r.Cursor.Vals
	for range maxChain {
		if r.annotations++; r.annotations > maxChain+len(av.b) {
			break
		}
		_, have, ok := r.Cursor.DecodeAt(uint64(off))
		if !ok || string(av.f.Names.Text(r.Cursor.NameOf(have))) != name || have&(1<<dwarf.VConst) == 0 {
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

// gnuTypeTags adds TYPE_TAGs for a pointer's GNU annotations. The order is pointer, first
// annotation, …, last annotation, target. It returns the new target of the pointer.
func (av *attrs) gnuTypeTags(off, target uint32) uint32 {
	first, last := uint32(0), uint32(0)
	av.gnuChain(off, "btf_type_tag", func(value dedup.Name) {
		k := av.r.addExtra(dedup.Node{Info: infoTypeTag, Name: value, Third: target})
		if first == 0 {
			first = k
		} else {
			av.r.extra.S[last&^extraRef].Third = k
		}
		last = k
	})
	if first == 0 {
		return target
	}
	return first
}

// gnuDeclTags adds the declaration tags for a struct's or member's chain.
func (av *attrs) gnuDeclTags(off, node uint32, component int32) {
	if !av.in.Options.DeclTag || off == 0 {
		return
	}
	av.gnuChain(off, "btf_decl_tag", func(value dedup.Name) {
		av.r.Unit.Tags.Append(Tag{node, value, component})
	})
}
