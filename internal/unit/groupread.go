package unit

import "github.com/btflite/btflite/internal/debuginfo"

// Reading of a group, with the type units that it leads to.

// Group is a run of units that are read as one.
type Group struct {
	First, End int  // indexes in Merged.Places; End is not of it
	Cross      bool // references lead from unit to unit
}

// ReadGroup reads the units of a group, and links them. stop ends it between two
// units if it gives an error.
func (in *Input) ReadGroup(u *Unit, g *Group, stop func() error) error {
	var ahead debuginfo.Passage
	for k := g.First; k < g.End; k++ {
		if in.Merged.Places[k].Skip {
			continue
		}
		if err := stop(); err != nil {
			return err
		}
		if err := in.OpenPlace(u, k); err != nil {
			return err
		}
		if g.End-g.First > 1 {
			ahead.Ahead(&u.Cursor, u.Hdr.End())
		}
		if len(u.Hdr.Data) >= crossRef {
			return u.UnitError("unit that refers to others is larger than 1 GiB")
		}
		if err := in.readPart(u, g.Cross); err != nil {
			return err
		}
	}
	u.File = in.File
	var spans []span
	order := len(u.Types.Order.S)
	if len(u.imports.S) > 0 || in.Alt != nil {
		spans = u.spans()
	}
	if len(u.NeedTypes) > 0 {
		if err := in.readTypes(u, nil); err != nil {
			return err
		}
	} else {
		in.linkCross(u)
	}
	if spans != nil {
		if err := in.expand(u, spans, order); err != nil {
			return err
		}
	}
	return in.settle(u)
}

// readPart reads the unit u.Hdr of a group.
func (in *Input) readPart(u *Unit, cross bool) error {
	u.from = u.mark()
	u.extra.Reset()
	u.starts.Reset()
	if u.Hdr.IsType() {
		u.File.SawType()
		return debuginfo.CheckLost(&u.Cursor)
	}
	dies, order, funcs, imports := u.DIEs, len(u.Types.Order.S), len(u.FuncOrder.S), len(u.imports.S)
	u.addFormat()
	p, skip, err := in.Start(u)
	if err == nil && u.Skeleton != nil {
		return u.UnitError("split DWARF is not supported in files whose units are merged")
	}
	u.Units++
	if u.Filtered {
		u.Filtered = false
		u.UnitsFiltered++
	}
	if err != nil || skip {
		u.DIEs += dies
		return err
	}
	u.Language, u.Clang = in.Merged.Language, in.Merged.Clang
	err = in.walk(u, p)
	u.DIEs += dies
	if err != nil {
		return err
	}
	u.Hides = u.Hides || len(u.Types.Order.S) == 0 && u.hides(p)
	if err := u.CheckNames(); err != nil {
		return err
	}
	if err := in.inlined(u); err != nil {
		return err
	}
	in.linkRefs(u)
	if cross || len(u.NeedTypes) > 0 {
		u.addPart(u.Base + u.Hdr.Off)
		p := &u.parts.S[len(u.parts.S)-1]
		p.order, p.orderEnd, p.funcs, p.funcsEnd = uint32(order), uint32(len(u.Types.Order.S)), uint32(funcs), uint32(len(u.FuncOrder.S))
		p.imports, p.alt = uint32(imports), u.Base != 0
	}
	return u.sectionOffsets()
}
