package encode

// Link-time optimization leaves files whose units refer to each other. pahole merges all
// units of such a file into one (pahole-behaviour 1.4). The result shows this in four
// ways:
//
//   - references lead to any unit of the file;
//   - the first unit decides language, producer and address size;
//   - array indexes have the type of the first int of the file;
//   - declaration tags come after all types, then the names of functions' parameters,
//     then variables.
//
// All but the references can be done unit by unit. So a first look (mergeplan.go) finds
// groups of neighbouring units between which references to types lead, and each group is
// read as one unit (unit/groupread.go). The deduplication merges a group like a unit, and
// the output does not show where one ends. Most types of a group exist once, which is the
// reason why its units refer to each other. So memory still follows the output.
//
// Functions may refer to functions in other groups. Then all functions of the file wait
// until the last unit has been read (mergefuncs.go).

// takeMerged keeps the tags, functions and variables of a committed group, which are added at the end
// of the file.
func (f *input) takeMerged(u *workspace) error {
	m := f.merge
	u.unit.SortTags()
	for _, t := range u.unit.Tags.S {
		m.tags = append(m.tags, mergedTag{u.unit.Types.ID.S[t.Node], f.run.raw.rawOf(u, t.Node+1), t.Value, t.Component})
	}
	if m.pending != nil {
		m.pending.add(u, f.run.raw)
	} else if err := f.saveStates(u); err != nil {
		return err
	} else {
		saveInlined(f, u)
	}
	return f.saveVars(u)
}

// finishMerged adds the parts that waited for the last unit of the file.
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
	if m.pending != nil {
		if err := f.finishPending(m.pending); err != nil {
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
