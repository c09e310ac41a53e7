package encode

import (
	"math"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/compactstate"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/unit"
)

// Options.ExtraVars writes the variables that the feature global_var would add into split
// BTF over the main BTF.
//
// The main BTF has all types of a unit, used or not, so these variables need no further
// types. Until the end, a run keeps one small record of each variable, with tokens for
// names. keepVar has the rules, with one exception: a variable of type void does not end
// the variables of its unit.

// addExtra keeps a variable. typ is the id of its type in the Set, and size is in bytes.
func (r *run) addExtra(v *unit.Var, typ uint32, size uint64, tags []unit.Annot) {
	if v.SecOff+size > math.MaxUint32 {
		return // a DATASEC has 32 bits for the end of a variable
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

// extraBTF stores the BTF of the extra variables in to. Their types have the ids that n gives. Without
// extra variables, extraBTF leaves to as it is. VARs come first, in the order of the DATASECs, then their
// DECL_TAGs, then the DATASECs.
func (r *run) extraBTF(n *dedup.Numbering, to *Output) (err error) {
	if r.extras.Len() == 0 {
		return nil
	}
	out := &to.extraMem
	added := r.set.MoreStrings()
	defer added.Free()
	asked := 0
	intern := func(t dedup.Name) (off uint32) {
		if asked++; asked%namesStep == 0 {
			r.releaseNames()
		}
		if err == nil {
			off, err = added.Offset(t)
		}
		return off
	}
	arena.Bind(r.limit, out)
	r.releaseNames()
	r.extras.Settle(intern, n.ID)
	first, count := n.End(), r.extras.Len()
	var below []byte // strings of the main BTF, if the main BTF is not written
	if n.Types == 0 {
		below = r.set.Strings()
	}
	const tailRoom = 8 << 10 // DATASECs and their names
	form := r.opt.form(true)
	out.Grow(form.Len() + 28*count + len(below) + len(added.Bytes()) + tailRoom)
	out.Extend(form.Len())
	var buf []byte
	add := func(w ...uint32) {
		buf = btf.AppendWords(buf[:0], to.BigEndian, w)
		out.AppendSlice(buf)
	}
	ntags := 0
	for i := range count {
		v, tags := r.extras.At(i)
		add(v.Name, btf.Info(btf.KindVar, 0, false), v.Type, unit.Linkage(v.External))
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
		return err
	}
	types := len(out.S) - form.Len()
	copy(out.S, form.AppendHeader(nil, to.BigEndian, uint32(types), uint32(len(below)+len(added.Bytes()))))
	out.AppendSlice(below)
	out.AppendSlice(added.Bytes())
	to.extra = out.S
	r.stats.ExtraVars = count
	return nil
}

// namesStep is the number of names after which the pages of .debug_str are released.
// Around each name that is read, the system maps the cached pages of the file.
const namesStep = 1 << 10

// releaseNames releases the mapped pages of the inputs' .debug_str.
func (r *run) releaseNames() {
	for _, f := range r.inputs {
		f.File.ReleaseNames()
	}
}
