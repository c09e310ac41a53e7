package encode

import "github.com/btflite/btflite/internal/unit"

// Files whose units refer to each other, as link-time optimization leaves
// them. pahole makes one unit of all units of such a file
// (pahole-behaviour 1.4). What shows of that in the result:
//
//   - references lead to any unit of the file;
//   - language, producer and address size are those of the first unit;
//   - array indexes are the first int of the file;
//   - declaration tags follow all types, then the names of functions'
//     parameters, then variables.
//
// All of it can be had unit by unit, but for the references. So the file is
// looked through first (mergeplan.go), and only neighbouring units between
// which references to types lead are read as one group (unit/groupread.go). For
// the deduplication a group is a unit; where one ends does not show. Most of
// the types of such groups exist once, which is why their units refer to each
// other, so that memory still follows the output.
//
// Functions may refer to functions in other groups: then all functions of
// the file wait until its last unit has been read (mergefuncs.go).

// takeMerged keeps of a committed group what waits for the end of the file.
func (f *input) takeMerged(u *workspace) error {
	m := f.merge
	u.unit.SortTags()
	for _, t := range u.unit.Tags.S {
		m.tags = append(m.tags, mergedTag{u.unit.Types.ID.S[t.Node], f.run.raw.rawOf(u, t.Node+1), t.Value, t.Component})
	}
	if m.late != nil {
		m.late.add(u, f.run.raw)
	} else if err := f.saveStates(u); err != nil {
		return err
	} else {
		saveInlined(f, u)
	}
	for i := range u.unit.Vars.S {
		v := u.unit.Vars.S[i]
		if m.varsEnd && !v.Extra {
			continue
		}
		size, keep, err := f.keepVar(u, &v)
		if err == errVoidVar {
			m.varsEnd = m.varsEnd || !v.Extra
			continue
		}
		if err != nil {
			return err
		}
		switch {
		case !keep:
		case v.Extra:
			f.run.addExtra(&v, u.id(v.Type), size, u.unit.Annots.S[v.FirstAn:][:v.NAn])
		default:
			raw := f.run.raw.rawOf(u, v.Type)
			v.Type = u.id(v.Type)
			tags := append([]unit.Annot(nil), u.unit.Annots.S[v.FirstAn:][:v.NAn]...)
			m.vars = append(m.vars, mergedVar{v, raw, size, tags})
		}
	}
	return nil
}

// finishMerged adds what has waited for the last unit of the file.
func (f *input) finishMerged() error {
	r, m := f.run, f.merge
	fail := func(err error) error {
		return &Error{File: f.File.Path, Section: ".debug_info", What: err.Error()}
	}
	m.finishing = true
	for _, t := range m.tags {
		if err := r.addTag(t.value, t.id, t.component); err != nil {
			return fail(err)
		}
		if r.raw != nil {
			r.raw.tag(t.value, t.raw, t.component)
		}
	}
	for _, t := range m.names {
		if _, err := r.intern(t); err != nil {
			return fail(err)
		}
	}
	if m.late != nil {
		if err := f.finishLate(m.late); err != nil {
			return err
		}
	}
	r.raw.variables(nil)
	for i := range m.vars {
		v := &m.vars[i]
		if err := r.addVar(&v.v, v.v.Type, v.size, v.tags, v.raw, nil); err != nil {
			return fail(err)
		}
	}
	return nil
}
