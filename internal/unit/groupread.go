package unit

import (
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/debuginfo"
)

// A group is read together with the type units that it refers to.

// Group is a run of units that are read as one unit.
type Group struct {
	First, End int  // indexes in Merged.Places; End is exclusive
	Cross      bool // references between its units
}

// ReadGroup reads and links the units of a group. Between two units it calls stop, and
// ends with the error of stop, if any.
func (r *Reader) ReadGroup(g *Group, stop func() error) error {
	var ahead debuginfo.Passage
	for k := g.First; k < g.End; k++ {
		if r.In.Merged.Places[k].Skip {
			continue
		}
		if err := stop(); err != nil {
			return err
		}
		if err := r.OpenPlace(k); err != nil {
			return err
		}
		if g.End-g.First > 1 {
			ahead.Ahead(&r.Cursor, r.Cursor.Hdr.End())
		}
		if len(r.Cursor.Hdr.Data) >= crossRef {
			return r.Cursor.UnitError("unit that refers to others is larger than 1 GiB")
		}
		if err := r.readPart(g.Cross); err != nil {
			return err
		}
	}
	r.Cursor.File = r.In.File
	var spans []span
	order := len(r.Unit.Types.Order.S)
	if len(r.group.imports.S) > 0 || r.In.File.Alt != nil {
		spans = r.group.spans()
	}
	if len(r.NeedTypes) > 0 {
		if err := r.readTypes(nil); err != nil {
			return err
		}
	} else {
		r.linkCross()
	}
	if err := r.linkOldBits(); err != nil {
		return err
	}
	if spans != nil {
		if err := r.expand(spans, order); err != nil {
			return err
		}
	}
	r.settle()
	return nil
}

// readPart reads the unit of a group at the cursor.
func (r *Reader) readPart(cross bool) error {
	c, u, facts := &r.Cursor, &r.Unit, &r.Unit.Facts
	r.from = r.tableSizes()
	r.extra.Reset()
	r.starts.Reset()
	if c.Hdr.IsType() {
		c.File.SawType()
		return debuginfo.CheckLost(c)
	}
	dies, order, funcs, imports := facts.DIEs, len(u.Types.Order.S), len(u.FuncOrder.S), len(r.group.imports.S)
	u.Formats.Append(callconv.FormatRun{First: uint32(len(u.Funcs.S)), Version: c.Hdr.Version, Dwarf64: c.Hdr.Dwarf64}) // for the functions that follow
	p, skip, err := r.Start()
	if err == nil && facts.Skeleton != nil {
		return c.UnitError("split DWARF is not supported in files whose units are merged")
	}
	facts.Units++
	if facts.Filtered {
		facts.Filtered = false
		facts.UnitsFiltered++
	}
	if err != nil || skip {
		facts.DIEs += dies
		return err
	}
	facts.Language, facts.Clang = r.In.Merged.Language, r.In.Merged.Clang
	isRecord := c.Record.Bytes != nil
	if isRecord {
		err = r.readRecord()
	} else {
		err = r.walk(p)
	}
	facts.DIEs += dies
	if err != nil {
		return err
	}
	if !isRecord {
		facts.LacksTypes = facts.LacksTypes || len(u.Types.Order.S) == 0 && lacksTypes(c, p)
		if err := r.inlined(); err != nil {
			return err
		}
		r.linkRefs()
	}
	if cross || len(r.NeedTypes) > 0 {
		r.addPart(c.Base + c.Hdr.Off)
		p := &r.group.parts.S[len(r.group.parts.S)-1]
		p.order, p.orderEnd, p.funcs, p.funcsEnd = uint32(order), uint32(len(u.Types.Order.S)), uint32(funcs), uint32(len(u.FuncOrder.S))
		p.imports, p.alt, p.partial = uint32(imports), c.Base != 0, r.partial
	}
	if isRecord {
		return nil // its offsets count from the start of the section
	}
	return r.sectionOffsets()
}
