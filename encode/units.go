package encode

import (
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/unit"
)

// Reading a unit, or a group of units, is the part of the work that needs no order.

// readWorkspace reads the unit or group of u. It keeps an error in u.err.
func (f *input) readWorkspace(u *workspace) {
	if u.err != nil {
		return
	}
	defer u.locate()
	u.err = f.readUnit(u)
}

func (f *input) readUnit(u *workspace) error {
	r := &u.reader
	switch {
	case f.merge != nil:
		r.Record = func() error { return u.fillRecord(f) }
		if err := r.ReadGroup(&f.merge.groups[r.Cursor.Seq], f.run.stopped); err != nil {
			return err
		}
		return f.resolve(u)
	case r.Cursor.Hdr.IsType():
		f.File.SawType()
		return debuginfo.CheckLost(&r.Cursor)
	}
	p, skip, err := r.Start()
	switch {
	case err == nil && u.unit.Facts.Skeleton != nil:
		return f.readSplit(u)
	case err != nil || skip:
		return err
	case r.Cursor.Record.Bytes != nil:
		err = u.readRecord(f)
	default:
		err = u.readDIEs(f, p)
	}
	if err != nil {
		return err
	}
	if err := f.resolve(u); err != nil || !dedup.Refuses(f.run.set, &u.unit.Types) {
		if r.Cursor.Seq == 0 && dedup.Undecided(&u.unit.Types) {
			f.proofs.refused.Add(1) // the next units would be refused, too
		}
		return err
	}
	// The committer would read it again, and the other workers would wait.
	f.proofs.refused.Add(1)
	u.restart()
	u.whole = true
	return f.readUnit(u)
}

// readDIEs reads the unit of u from its DIEs, which start at p. It leaves out types that the
// set knows, if that is possible.
func (u *workspace) readDIEs(f *input, p int) error {
	r := &u.reader
	if u.whole || !f.proves(u) || !unit.MayProve(r) {
		return r.Read(p)
	}
	done, err := unit.ReadKnown(r, p, f.run.set)
	if done {
		if testProofs.check != nil && err == nil {
			testProofs.check(f, u)
		}
		return err
	}
	u.restart()
	u.whole = true
	p, _, err = r.Start()
	if err != nil {
		return err
	}
	return r.Read(p)
}

// Tests set testProofs to look into units that leave out types, or to forbid that.
var testProofs struct {
	off         bool                         // all units are read as a whole
	lateCommits bool                         // units are read long before they are committed
	check       func(f *input, u *workspace) // called for each unit that leaves out types; it may be nil
}

// proves reports whether unit u may leave out types that the set knows. Readers and -V need
// all of them.
func (f *input) proves(u *workspace) bool {
	o := &f.Input.Options
	if testProofs.off || f.run.raw != nil || f.opt.Functions != nil || f.run.phase == batch || o.WholeBitfields || o.Marks || o.KeepSigns {
		return false
	}
	return f.opt.Base == nil || testProofs.check != nil || testProofs.lateCommits || f.proofs.worthTrying(u.reader.Cursor.Seq)
}

// canRead returns an error if this run cannot read the record of u's unit.
func (u *workspace) canRead(f *input) error {
	c := &u.reader.Cursor
	if !f.File.Names.ByText {
		return c.DIEError(c.Hdr.First, "it has a unit record, by an abbreviation that begins inside another one")
	}
	if f.run.inline != nil {
		return c.UnitError("its unit record says nothing of inlined functions: compile it without one, or leave inlined functions out")
	}
	return nil
}

// fillRecord reads the record of a unit that is part of a group.
func (u *workspace) fillRecord(f *input) error {
	if err := u.canRead(f); err != nil {
		return err
	}
	return u.record.Fill(&u.reader, f.run.recordNames(), nil, true)
}

// readRecord reads the unit of u from its record.
func (u *workspace) readRecord(f *input) error {
	if err := u.canRead(f); err != nil {
		return err
	}
	known := f.run.set
	if u.whole || f.run.raw != nil || f.opt.Base != nil || f.run.phase == batch || f.opt.WholeBitfields {
		known = nil
	}
	all := f.run.raw != nil || f.opt.Functions != nil
	return u.record.Read(&u.reader, f.run.recordNames(), known, all)
}

// resolve checks the functions of a unit or group that has been read, and looks its types
// up in the set.
func (f *input) resolve(u *workspace) error {
	if err := f.waitSymbols(); err != nil {
		return err
	}
	c, pending := &u.reader.Cursor, false
	if f.merge != nil {
		pending = f.merge.pending != nil
	} else if err := u.needLists(); err != nil {
		return err
	}
	f.run.raw.types(u)
	if !pending {
		if err := f.functions(u); err != nil && c.Err == nil {
			c.Err = c.UnitError(err.Error())
		}
	}
	if c.Record.Bytes != nil && f.merge == nil { // a group may have several records
		u.record.Judged(u.unit, f.run.recordNames())
	}
	if c.Err == nil {
		f.run.set.Resolve(&u.unit.Types)
	}
	return c.Err
}

// needLists sets the location lists of the unit's parameters. If the section is expanded while it is
// read, it waits for them.
func (u *workspace) needLists() error {
	low, high := ^uint64(0), uint64(0)
	for i := 0; i < len(u.unit.Params.S) && u.reader.Cursor.ExpandsLists(); i++ {
		if x := &u.unit.Params.S[i]; x.LocKind == callconv.LocList {
			low, high = min(low, uint64(x.LocOff)), max(high, uint64(x.LocOff))
		}
	}
	data, more, err := u.reader.Cursor.LocationLists(low <= high, low, high)
	u.funcs.env.Lists.Reset(data, more)
	return err
}

// readSplit reads the unit of a .dwo file in place of its skeleton.
func (f *input) readSplit(u *workspace) error {
	c, skel := &u.reader.Cursor, u.unit.Facts.Skeleton
	if f.opt.Functions != nil {
		if err := definerOf(f, u).noteSkeleton(); err != nil {
			return err
		}
	}
	if u.unit.Inline != nil {
		if err := u.unit.Inline.Skeleton(c); err != nil {
			return err
		}
	}
	defer u.funcs.env.Lists.Reset(nil, nil) // they are in sections of the .dwo file
	return f.File.Enter(c, skel, func(_ *debuginfo.File, at *debuginfo.Saved) (bool, error) {
		p, skip, err := u.reader.Start()
		is := c.IsSplit(skel)
		if err != nil || skip || !is {
			return u.unit.Facts.Filtered || is, err
		}
		c.UseAddresses(at)
		if err := u.reader.ReadSplit(p); err != nil {
			return false, err
		}
		return true, f.resolve(u)
	})
}

// typeBatch is how many type units are read together, of those that no unit has referred
// to.
const typeBatch = 256

// readTypes reads type units that no unit has referred to.
func (f *input) readTypes(u *workspace, seeds []uint32) error {
	defer u.locate()
	if err := u.reader.ReadTypes(seeds); err != nil {
		return err
	}
	return f.resolve(u)
}
