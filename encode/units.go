package encode

import (
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/debuginfo"
)

// The reading of one unit, or group of units: all that needs no order.

// readWorkspace reads the unit, or group, of u. Errors are kept in u.fail.
func (f *input) readWorkspace(u *workspace) {
	if u.fail != nil {
		return
	}
	defer u.locate()
	if u.fail = f.readUnit(u); u.fail == nil {
		u.fail = u.Fail
	}
}

func (f *input) readUnit(u *workspace) error {
	switch {
	case f.merge != nil:
		return f.readGroup(u)
	case u.Hdr.IsType():
		f.SawType()
		return debuginfo.CheckLost(&u.Cursor)
	}
	p, skip, err := f.Start(&u.Unit)
	if err == nil && u.Skeleton != nil {
		return f.readSplit(u)
	}
	if err != nil || skip {
		return err
	}
	if u.Record != nil {
		err = u.readRecord(f)
	} else {
		err = f.Read(&u.Unit, p)
	}
	if err != nil {
		return err
	}
	return f.resolve(u)
}

// readRecord reads the unit of u from its record.
func (u *workspace) readRecord(f *input) error {
	if !f.Names.ByText {
		return u.DIEError(u.Hdr.First, "it has a unit record, by an abbreviation that begins inside another one")
	}
	if f.run.inline != nil {
		return u.UnitError("its unit record says nothing of inlined functions: compile it without one, or leave inlined functions out")
	}
	known := f.run.set
	if u.whole || f.run.raw != nil || f.opt.Base != nil || f.run.phase == batch || f.opt.WholeBitfields {
		known = nil
	}
	all := f.run.raw != nil || f.opt.Functions != nil
	return u.record.Read(&u.Unit, &f.Input, f.run.recordNames(), known, all)
}

// resolve judges the functions of a unit that has been read and looks its types up.
func (f *input) resolve(u *workspace) error {
	if err := f.waitSymbols(); err != nil {
		return err
	}
	if err := u.needLists(); err != nil {
		return err
	}
	f.run.raw.types(u)
	f.functions(u)
	if u.Record != nil {
		u.record.Judged(&u.Unit, f.run.recordNames())
	}
	if u.RelocFail != nil {
		return u.UnitError(u.RelocFail.Error())
	}
	f.run.set.Resolve(&u.Types)
	return nil
}

// needLists waits for the location lists of the unit's parameters.
func (u *workspace) needLists() error {
	low, high := ^uint64(0), uint64(0)
	for i := 0; i < len(u.Params.S) && u.ExpandsLists(); i++ {
		if x := &u.Params.S[i]; x.LocKind == callconv.LocList {
			low, high = min(low, uint64(x.LocOff)), max(high, uint64(x.LocOff))
		}
	}
	data, more, err := u.LocationLists(low <= high, low, high)
	u.env.Lists.Reset(data, more)
	return err
}

// readGroup is readUnit for a group of a merged file.
func (f *input) readGroup(u *workspace) error {
	m := f.merge
	if err := f.ReadGroup(&u.Unit, &m.groups[u.Seq], f.run.stopped); err != nil {
		return err
	}
	if err := f.waitSymbols(); err != nil {
		return err
	}
	f.run.raw.types(u)
	if m.late == nil {
		f.functions(u)
	}
	if u.RelocFail != nil {
		return u.UnitError(u.RelocFail.Error())
	}
	f.run.set.Resolve(&u.Types)
	return nil
}

// readSplit is readUnit for the unit that u.Skeleton stands for.
func (f *input) readSplit(u *workspace) error {
	skel, at := u.Skeleton, u.Save()
	if f.opt.Functions != nil {
		if err := judgingOf(f, u).noteSkeleton(); err != nil {
			return err
		}
	}
	if u.Inline != nil {
		if err := u.Inline.Skeleton(&u.Cursor); err != nil {
			return err
		}
	}
	dwo, err := f.OpenSplit(&u.Cursor, skel)
	if err != nil {
		return err
	}
	defer dwo.Close()
	// What the workspace remembers is of other sections than these.
	u.Cursor.Forget()
	defer func() {
		u.Leave(&at)
		u.env.Lists.Reset(nil, nil)
		u.Cursor.Forget()
	}()
	for off := uint64(0); ; off = u.Hdr.End() {
		if err := dwo.FindSplit(&u.Cursor, off, skel); err != nil {
			return err
		}
		p, skip, err := f.Start(&u.Unit)
		is := u.IsSplit(skel)
		switch {
		case u.Filtered:
			return nil
		case err != nil:
			return err
		case !is:
			continue
		case skip:
			return nil
		}
		u.UseAddresses(&at)
		if err := f.ReadSplit(&u.Unit, p); err != nil {
			return err
		}
		return f.resolve(u)
	}
}

// typeBatch is how many type units that no unit has led to are read together.
const typeBatch = 256

// finishTypes encodes the types that no unit has led to.
func (f *input) finishTypes() error {
	if !f.HasTypes() {
		return nil
	}
	t, err := f.Types()
	if err != nil {
		return err
	}
	left := t.Unreached()
	var u workspace
	u.init(f.run.limit)
	defer u.free()
	u.Seq = -1 // of none of the workspaces
	var seeds []uint32
	for len(left) > 0 {
		seeds = seeds[:0]
		for len(left) > 0 && len(seeds) < typeBatch {
			if !t.IsReached(left[0]) { // an earlier batch may have led to it
				seeds = append(seeds, left[0])
			}
			left = left[1:]
		}
		u.reset()
		u.fail = f.readTypes(&u, seeds)
		err := f.commit(&u, func() error { return f.readTypes(&u, seeds) })
		if err != nil {
			return err
		}
	}
	return nil
}

// readTypes reads type units that no unit has led to.
func (f *input) readTypes(u *workspace, seeds []uint32) error {
	defer u.locate()
	if err := f.ReadTypes(&u.Unit, seeds); err != nil {
		return err
	}
	f.run.raw.types(u)
	f.run.set.Resolve(&u.Types)
	return u.Fail
}
