package encode

import (
	"math"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/compactstate"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/unit"
)

// Variables beside the main BTF (Options.ExtraVars): those that the feature
// global_var would add, as split BTF over it.
//
// The types of a unit are all in the main BTF, used or not, so a variable needs
// none that are missing there. What waits for the end is a small record of each
// variable, names as tokens. The rules for variables are those of keepVar, with
// one exception: one of type void does not end those of its unit.

// addExtra keeps a variable whose type is the id of the Set.
func (r *run) addExtra(v *unit.Var, typ uint32, size uint64, tags []unit.Annot) {
	if v.SecOff+size > math.MaxUint32 {
		return // a DATASEC cannot say where it ends
	}
	x := compactstate.ExtraVar{Name: v.Name, Type: typ, Section: v.Section, Offset: uint32(v.SecOff), Size: uint32(size), External: v.External}
	var values []uint32
	if r.opt.Features&DeclTag != 0 {
		for _, a := range tags[:min(len(tags), compactstate.MaxExtraTags)] {
			values = append(values, a.Value)
		}
	}
	r.extras.Add(x, values...)
}

// extraBTF is the BTF of the extra variables over the types numbered by n; empty
// if there are none. VARs come first, in the order of the DATASECs, which come
// last; their DECL_TAGs are between.
func (r *run) extraBTF(n *dedup.Numbering, bigEndian bool) (out arena.Vec[byte], err error) {
	if r.extras.Len() == 0 {
		return out, nil
	}
	more := r.set.MoreStrings()
	defer more.Free()
	asked := 0
	intern := func(t dedup.Name) (off uint32) {
		if asked++; asked%namesStep == 0 {
			r.releaseNames()
		}
		if err == nil {
			off, err = more.Offset(t)
		}
		return off
	}
	arena.Bind(r.limit, &out)
	r.releaseNames()
	r.extras.Settle(intern, n.ID)
	first, count := n.End(), r.extras.Len()
	var below []byte // strings of the main BTF, if that is not written
	if n.Types == 0 {
		below = r.set.Strings()
	}
	const rest = 8 << 10 // DATASECs and their names
	form := r.opt.form(true)
	out.Grow(form.Len() + 28*count + len(below) + len(more.Bytes()) + rest)
	out.Extend(form.Len())
	var buf []byte
	add := func(w ...uint32) {
		buf = btf.AppendWords(buf[:0], bigEndian, w)
		out.AppendSlice(buf)
	}
	ntags := 0
	for i := range count {
		v, tags := r.extras.At(i)
		linkage := uint32(0)
		if v.External {
			linkage = 1
		}
		add(v.Name, btf.Info(btf.KindVar, 0, false), v.Type, linkage)
		ntags += len(tags)
	}
	for i := 0; i < count && ntags > 0; i++ {
		_, tags := r.extras.At(i)
		for _, t := range tags {
			add(intern(t), btf.Info(btf.KindDeclTag, 0, false), first+uint32(i), math.MaxUint32)
		}
	}
	for _, s := range r.extras.Sections() {
		add(intern(r.names.Literal([]byte(r.sectionName(s.Index)))), btf.Info(btf.KindDatasec, uint32(len(s.Vars)), false), s.Size)
		for _, i := range s.Vars {
			v, _ := r.extras.At(int(i))
			add(first+i, v.Offset, v.Size)
		}
	}
	if err != nil {
		out.Free()
		return out, err
	}
	types := len(out.S) - form.Len()
	copy(out.S, form.AppendHeader(nil, bigEndian, uint32(types), uint32(len(below)+len(more.Bytes()))))
	out.AppendSlice(below)
	out.AppendSlice(more.Bytes())
	r.stats.ExtraVars = count
	return out, nil
}

// namesStep is after how many names .debug_str is given back: around each of them,
// the system maps what it has in memory.
const namesStep = 1 << 10

// releaseNames gives back what is mapped of the inputs' .debug_str.
func (r *run) releaseNames() {
	for _, f := range r.inputs {
		f.File.ReleaseNames()
	}
}
