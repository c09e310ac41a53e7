package debuginfo

import (
	"strconv"

	"github.com/btflite/btflite/internal/dwarf"
)

// Errors about a unit, with the place.

// unitName returns the name of the unit for errors.
func (p *Position) unitName() string { return string(p.File.Names.Text(p.Name)) }

// UnitError returns an error about the unit as a whole.
func (p *Position) UnitError(what string) error {
	return &Error{File: p.File.Path, Section: ".debug_info", Unit: p.unitName(), UnitOff: p.Hdr.Off, What: what}
}

// TypeError returns an error about the type with this name.
func (p *Position) TypeError(name, what string) error {
	return &Error{File: p.File.Path, Section: ".debug_info", Unit: p.unitName(), UnitOff: p.Hdr.Off, Name: name, What: what}
}

// DIEError returns an error about the DIE at an offset of the unit.
func (p *Position) DIEError(off int, what string) error {
	return &Error{File: p.File.Path, Section: ".debug_info", Unit: p.unitName(), UnitOff: p.Hdr.Off,
		Offset: p.Hdr.Off + uint64(off), What: what}
}

// CutOff is the error for a DIE that extends beyond the end of the unit.
func (p *Position) CutOff(off int) error {
	return p.DIEError(off, dwarf.FaultCutOff)
}

// EntryError returns an error for the fault that e has met in the unit at p; nil if there
// is none.
func EntryError(p *Position, e *dwarf.Entries) error {
	if e.Fault == "" {
		return nil
	}
	return p.DIEError(e.Off, e.Fault)
}

// OutOfUnit is the error for a DIE with a reference beyond the unit.
func (p *Position) OutOfUnit(off int) error {
	return p.DIEError(off, "reference leads out of the unit")
}

// NoReference is the error for an attribute that should refer to a DIE and has a form of
// another class (DWARF 5, sections 7.5.4 and 7.5.6).
func (p *Position) NoReference(off int, form dwarf.Form) error {
	return p.DIEError(off, "reference of form "+strconv.Itoa(int(form)))
}

// NoName is the error for a DIE that needs a name and has none, or an unreadable one.
func (c *Cursor) NoName(off int, what string) error {
	if c.Reader.Bad {
		what = badName
	}
	return c.DIEError(off, what)
}

// badName explains Cursor.Reader.Bad.
const badName = "a name lies beyond .debug_str"

// CheckNames returns an error if a name of the unit could not be read.
func (c *Cursor) CheckNames() error {
	if !c.Reader.Bad {
		return nil
	}
	return c.UnitError(badName + c.File.suffix)
}

// CheckEnd checks that only padding follows the last DIE of a unit, at at. A DIE there
// means that damage before it has ended the tree too early.
func (p *Position) CheckEnd(at int) error {
	for b := p.Hdr.Data; at < len(b); at++ {
		if b[at] != 0 {
			return p.DIEError(at, "DIE behind the end of the unit's tree")
		}
	}
	return nil
}

// BadName is the error for a DIE with a name that cannot be read.
func (p *Position) BadName(off int) error { return p.DIEError(off, badName) }
