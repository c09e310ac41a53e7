package encode

import (
	"errors"
	"slices"

	"github.com/btflite/btflite/dedup"
)

// Commit adds what was read of each unit to the state of the run, one unit after another,
// in file order.

// commitUnit merges a unit that has been read.
func (f *input) commitUnit(u *workspace) error {
	if f.merge == nil {
		if u.err == nil && u.reader.Cursor.Hdr.IsType() {
			return nil // types of this unit are read with the units that refer to them
		}
		u.unit.Facts.Units = 1
	}
	return f.commit(u, func() error { return f.readUnit(u) })
}

// keep stores the function states of a committed unit. It uses nothing that commits of later
// units use, so it may run at the same time as these.
func keep(f *input, u *workspace) {
	defer u.locate()
	f.progress(u)
	if f.merge == nil {
		_ = keepStates(f, u) // it fails only in a merged file
	}
}

// progress counts a finished unit and reports it to Options.Progress.
func (f *input) progress(u *workspace) {
	if f.opt.Progress != nil {
		f.opt.Progress(f.run.doneBytes.Add(u.size), f.run.total)
	}
}

// commit merges the types, functions and variables of u into the state of the run. It calls reread
// if the unit has to be read once more.
func (f *input) commit(u *workspace, reread func() error) error {
	r := f.run
	if u.err != nil {
		return u.err
	}
	defer u.locate()
	if r.names.Overflow() {
		return u.reader.Cursor.UnitError("over 1 GiB of names")
	}
	r.stats.CUs += u.unit.Facts.Units
	r.stats.CUsFiltered += u.unit.Facts.UnitsFiltered
	if err := r.committed(u.size); err != nil {
		return err
	}
	if u.unit.Facts.Filtered {
		r.stats.CUsFiltered++
		f.logFiltered(&u.reader)
		return nil
	}
	for {
		err := r.set.Commit(&u.unit.Types)
		if errors.Is(err, dedup.ErrAlias) || errors.Is(err, dedup.ErrIncomplete) {
			// Either a name of the unit has got another token, or a type was left out
			// that is needed. Read the unit again: with the new token, or with all its
			// types.
			u.restart()
			if u.whole = errors.Is(err, dedup.ErrIncomplete); u.whole {
				f.proofs.refused.Add(1)
			}
			if err := reread(); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return u.reader.Cursor.UnitError(err.Error())
		}
		break
	}
	if l := u.unit.Facts.Foreign; l != 0 && !slices.Contains(r.foreign, l) {
		r.foreign = append(r.foreign, l)
	}
	if err := f.noteTypeUnits(u); err != nil {
		return err
	}
	r.raw.committed(u)
	if r.opt.For == ForReaders {
		r.scopes.add(u)
	}
	f.flushLog(u)
	r.countUnencodable(u)
	r.lacksTypes = r.lacksTypes || u.unit.Facts.LacksTypes
	r.stats.DIEs += u.unit.Facts.DIEs
	r.stats.TypesIn += uint64(len(u.unit.Types.Order.S) + u.unit.Types.LeftOutNodes())
	if r.phase == asking && r.question.isDue(r, u) && r.disagree() {
		return errDisagree
	}
	if r.arrayIndex.Load() == 0 && u.unit.FirstInt != 0 {
		r.arrayIndex.Store(u.id(u.unit.FirstInt))
	}
	if f.merge != nil {
		return f.takeMerged(u)
	}
	if err := f.saveStates(u); err != nil {
		return err
	}
	saveInlined(f, u)
	r.raw.variables(u)
	return f.saveVars(u)
}

// noteTypeUnits notes the type units that u refers to.
func (f *input) noteTypeUnits(u *workspace) error {
	if len(u.reader.NeedTypes) == 0 {
		return nil
	}
	t, err := f.File.Types()
	for _, i := range u.reader.NeedTypes {
		t.Reached(i)
	}
	return err
}
