package encode

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/compactstate"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/dedup/exact"
	"github.com/btflite/btflite/internal/unit"
)

// The tail comes after the last unit: functions in the order of their names, then the
// DATASECs, then numbering and output.

// saveVars adds a VAR and its DECL_TAGs for each candidate of the unit that passes the
// checks. In a merged file they wait for its end.
func (f *input) saveVars(u *workspace) error {
	r, m := f.run, f.merge
	ended := new(bool)
	if m != nil {
		ended = &m.varsEnd
	}
	for i := range u.unit.Vars.S {
		v := &u.unit.Vars.S[i]
		if *ended && !v.Extra {
			continue
		}
		size, keep, err := f.keepVar(u, v)
		if err == errVoidVar {
			*ended = *ended || !v.Extra
			continue
		}
		if err != nil {
			return err
		}
		typ, raw, tags := u.id(v.Type), r.raw.rawOf(u, v.Type), u.unit.Annots.S[v.FirstAn:][:v.NAn]
		switch {
		case !keep:
		case v.Extra:
			r.addExtra(v, typ, size, tags)
		case m != nil:
			v.Type = typ
			m.vars = append(m.vars, mergedVar{*v, raw, size, slices.Clone(tags)})
		default:
			if err := r.addVar(v, typ, size, tags, raw, u); err != nil {
				return u.reader.Cursor.UnitError(err.Error())
			}
		}
	}
	return nil
}

// addVar adds a VAR and its DECL_TAGs. typ is the id of its type. raw and u are for -V:
// the type's id there, and the unit, which is nil if units are merged.
func (r *run) addVar(v *unit.Var, typ uint32, size uint64, tags []unit.Annot, raw uint32, u *workspace) error {
	name, err := r.intern(v.Name)
	if err != nil {
		return err
	}
	id, err := r.set.AddOwn(btf.MakeRecord(name, btf.Info(btf.KindVar, 0, false), typ, unit.Linkage(v.External)))
	if err != nil {
		return err
	}
	r.stats.TypesIn++
	rawVar := uint32(0)
	if r.raw != nil {
		rawVar = r.raw.variable(v, id, raw, u)
	}
	if r.opt.Features&DeclTag != 0 {
		for _, a := range tags {
			if err := r.addTag(a.Value, id, a.Component); err != nil {
				return err
			}
			if r.raw != nil {
				r.raw.tag(a.Value, rawVar, a.Component)
			}
		}
	}
	r.vars.Add(v.Section, id, uint32(v.SecOff), uint32(size))
	return nil
}

// addTag adds a DECL_TAG and its string for the type id.
func (r *run) addTag(value dedup.Name, id uint32, component int32) error {
	value, err := r.intern(value)
	if err != nil {
		return err
	}
	return r.addTagType(value, id, component)
}

// addTagType adds a DECL_TAG whose string has been added.
func (r *run) addTagType(value dedup.Name, id uint32, component int32) error {
	r.stats.TypesIn++
	_, err := r.set.AddRef(btf.MakeRecord(value, btf.Info(btf.KindDeclTag, 0, false), id, uint32(component)))
	return err
}

// finish adds the tail and numbers the types.
func (r *run) finish() (made *Output, err error) {
	if r.opt.UnitsRead != nil {
		r.opt.UnitsRead()
	}
	if r.opt.Functions == nil { // which asks for symbols by address at the end
		r.funcs.endLookups()
	}
	if err := r.checkMemory(r.funcs.states.Count().Entries * compactstate.ResolveBytes); err != nil {
		return nil, err
	}
	err = r.emitFuncs()
	if err == nil && r.opt.For == ForReaders {
		err = r.addReadable()
	}
	if err != nil {
		return nil, err
	}
	sections := r.vars.Sections()
	if r.opt.For == ForKernel && len(r.inputs) == 1 { // sections of several files are not the same sections
		if err := r.onceEach(sections); err != nil {
			return nil, err
		}
	}
	for _, s := range sections {
		if why := unit.BeyondVlen(len(s.Vars), "variables", r.opt.Libbpf == Libbpf18); why != "" {
			return nil, r.fullSection(s.Index, why)
		}
		name, err := r.intern(r.names.Literal([]byte(r.sectionName(s.Index))))
		if err != nil {
			return nil, err
		}
		w := btf.MakeRecord(name, btf.Info(btf.KindDatasec, uint32(len(s.Vars)), false), s.Size)
		for _, v := range s.Vars {
			w = append(w, v.ID, v.Offset, v.Size)
		}
		if _, err := r.set.AddOwn(w); err != nil {
			return nil, err
		}
		if r.raw != nil {
			r.raw.datasec(r.sectionName(s.Index), s.Size, s.Vars)
		}
		r.stats.TypesIn++
	}
	r.clock.lap("functions, DATASECs")
	if err := r.checkMemory(0); err != nil {
		return nil, err
	}
	n := r.set.Finish()
	defer n.Free()
	out := &Output{limit: r.limit}
	defer func() {
		if made == nil { // after an error, or while a panic is under way
			out.Close()
		}
	}()
	r.scopes = r.scopes.renumbered(n.ID)
	r.stats.SlowCUs = r.set.Slow
	r.stats.Disagree = r.phase == batch && r.opt.Dedup == DedupAuto
	out.BigEndian = r.inputs[r.lead].File.BigEndian
	if r.opt.ExtraVars {
		if err := r.extraBTF(n, out); err != nil {
			return nil, err
		}
	}
	if err := r.settleInlined(n); err != nil {
		return nil, err
	}
	if err := r.output(n, out); err != nil {
		return nil, err
	}
	raw := n.Types
	n.Free()
	in := r.inline
	r.inline = nil
	defer in.free()
	r.free()
	r.clock.lap("numbering, output")
	if r.phase == batch && raw > 0 {
		if err := r.exact(out, in); err != nil {
			return nil, err
		}
	}
	if err := r.addInlined(out, in); err != nil {
		return nil, err
	}
	if err := r.stats.Count(out.data); err != nil {
		return nil, err
	}
	if r.opt.Libbpf == Libbpf18 {
		c, err := btf.Count(out.data)
		out.LongVlen = err == nil && c.Vlen > unit.MaxVlen // the BTF was counted above, so there is no error
	}
	r.stats.InFunctions = r.scopes.inFunctions()
	r.stats.Phases = r.clock.phases
	r.stats.LeftOutMembers = slices.Sorted(maps.Keys(r.leftMembers))
	out.Stats = r.stats
	return out, nil
}

// fullSection is the error for an ELF section with more variables than a DATASEC can
// hold.
func (r *run) fullSection(index uint32, why string) error {
	why = fmt.Sprintf("%s: DATASEC %q: %s", r.inputs[r.lead].File.Path, r.sectionName(index), why)
	if r.opt.Features&GlobalVar != 0 {
		why += "; --extra_vars=FILE instead of the feature global_var divides them among DATASECs of a file beside"
	}
	return errors.New(why)
}

// exact deduplicates the raw types of all units by the batch algorithm.
func (r *run) exact(out *Output, sites *inlining) error {
	in, err := btf.Parse(out.data, nil)
	if err != nil {
		return err
	}
	var extra *btf.Blob
	if len(out.extra) > 0 {
		extra, err = btf.Parse(out.extra, in)
	}
	out.Close()
	if err != nil {
		return err
	}
	shift := uint32(0) // how far ids move
	if r.opt.Base != nil {
		if in, err = exact.Split(in, r.opt.Base.d.Blob()); err != nil {
			return err
		}
		shift = in.FirstID - 1
	}
	done, ids, err := exact.DedupWithMap(in, exact.Options{KeepStrings: true, LibbpfTypedefBug: r.opt.Libbpf == Libbpf17})
	if err != nil {
		return &refusal{err}
	}
	out.data = done.Encode()
	r.scopes = r.scopes.renumbered(func(id uint32) uint32 { return ids[id+shift] })
	if sites != nil {
		sites.settled.Retype(func(id uint32) uint32 {
			if id == 0 {
				return 0
			}
			return ids[id+shift]
		})
	}
	if extra != nil {
		if extra, err = btf.Rebase(extra, done, func(id uint32) uint32 { return ids[id+shift] }); err != nil {
			return err
		}
		out.extra = extra.Encode()
	}
	r.clock.lap("exact deduplication")
	return nil
}

// refusal is the batch algorithm's error: it cannot deduplicate these types.
type refusal struct{ error }

// match reports whether two types in prototypes of a function are the same to pahole, which otherwise
// calls the function inconsistent: pahole-behaviour 4.6.
func (r *run) match(x, y uint32, depth int) bool {
	for {
		if x == y {
			return true
		}
		if x == 0 || y == 0 || depth > 64 {
			return false
		}
		a, b := r.set.Record(x), r.set.Record(y)
		ak, bk := foldFwd(a.Info()), foldFwd(b.Info())
		if ak != bk {
			switch {
			case ak == btf.KindConst:
				x = a.Third()
			case bk == btf.KindConst:
				y = b.Third()
			default:
				return false
			}
			continue
		}
		switch ak {
		case btf.KindInt:
			return a.Third() == b.Third() && a.Data() == b.Data() && a.Name() == b.Name()
		case btf.KindFloat:
			return a.Third() == b.Third() && a.Name() == b.Name()
		case btf.KindTypedef, btf.KindStruct, btf.KindUnion, btf.KindEnum, btf.KindEnum64:
			return a.Name() == b.Name()
		case btf.KindPtr, btf.KindVolatile, btf.KindConst, btf.KindRestrict, btf.KindTypeTag:
			x, y = a.Third(), b.Third()
		case btf.KindArray:
			elemA, _, nA := a.Array()
			elemB, _, nB := b.Array()
			if nA != nB {
				return false
			}
			x, y = elemA, elemB
		case btf.KindFuncProto:
			n := a.Vlen()
			if n != b.Vlen() || !r.match(a.Third(), b.Third(), depth+1) {
				return false
			}
			for j := range int(n) {
				_, x := a.Param(j)
				_, y := b.Param(j)
				if !r.match(x, y, depth+1) {
					return false
				}
			}
			return true
		default:
			return false
		}
	}
}

// foldFwd returns the kind of a type. A forward declaration has the kind that it
// declares.
func foldFwd(info uint32) btf.Kind {
	k := btf.InfoKind(info)
	if k == btf.KindFwd {
		if btf.InfoKflag(info) {
			return btf.KindUnion
		}
		return btf.KindStruct
	}
	return k
}
