package encode

import (
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
)

// GCC's annotations: DIEs beside the types, which refer to a chain of them.

// maxChain bounds a chain of GNU annotations.
const maxChain = 1 << 12

// gnuChain calls fn for each annotation of the chain at off, as long as they
// have the name.
func (f *file) gnuChain(u *unit, off uint32, name string, fn func(value dedup.Name)) {
	saved := u.vals
	for range maxChain {
		_, have, ok := f.decodeAt(u, uint64(off))
		if !ok || string(f.names.Text(f.nameOf(u, have))) != name || have&(1<<dwarf.VConst) == 0 {
			break
		}
		next := uint32(0)
		if have&(1<<dwarf.VAnnotation) != 0 {
			next = uint32(u.vals[dwarf.VAnnotation].U)
		}
		fn(f.nameValue(u, &u.vals[dwarf.VConst]))
		if next == 0 {
			break
		}
		off = next
	}
	u.vals = saved
}

// gnuTypeTags adds TYPE_TAGs for a pointer's GNU annotations and returns what
// the pointer refers to: pointer, first annotation, …, last one, target.
func (f *file) gnuTypeTags(u *unit, off, target uint32) uint32 {
	first, last := uint32(0), uint32(0)
	f.gnuChain(u, off, "btf_type_tag", func(value dedup.Name) {
		k := uint32(len(u.extra.S)) | extraRef
		u.extra.Append(dedup.Node{Info: infoTypeTag, Name: value, Third: target})
		u.types.Order.Append(k)
		if first == 0 {
			first = k
		} else {
			u.extra.S[last&^extraRef].Third = k
		}
		last = k
	})
	if first == 0 {
		return target
	}
	return first
}

// gnuDeclTags adds the declaration tags of a struct's or member's chain.
func (f *file) gnuDeclTags(u *unit, off, node uint32, component int32) {
	if f.opt.Features&DeclTag == 0 || off == 0 {
		return
	}
	f.gnuChain(u, off, "btf_decl_tag", func(value dedup.Name) {
		u.tags.Append(tagRec{node, value, component})
	})
}
