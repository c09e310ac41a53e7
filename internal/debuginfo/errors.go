package debuginfo

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/mmapelf"
)

// Error says which input could not be encoded, where, and why.
type Error struct {
	File    string
	Section string
	Unit    string // DW_AT_name, may be empty
	UnitOff uint64 // section offset of the unit header
	Offset  uint64 // section offset of the DIE, 0 if the whole unit is meant
	Name    string // of the type or function, may be empty
	What    string
}

func (e *Error) Error() string {
	s := e.File + ": " + e.Section
	if e.Unit != "" {
		s += ": CU " + Quote([]byte(e.Unit))
	}
	s += fmt.Sprintf(" at %#x", e.UnitOff)
	if e.Offset != 0 {
		s += fmt.Sprintf(", DIE %#x", e.Offset)
	}
	if e.Name != "" {
		s += ", " + Quote([]byte(e.Name))
	}
	return s + ": " + e.What
}

// InFile makes err begin with the name of the file, as those of package mmapelf
// do.
func (f *File) InFile(err error) error {
	if e := (*mmapelf.FormatError)(nil); errors.As(err, &e) {
		return err
	}
	return fmt.Errorf("%s: %w", f.Path, err)
}

// Quote shows a name from a file so that it cannot disturb a terminal.
func Quote(b []byte) string {
	for _, c := range b {
		if c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			return strconv.QuoteToASCII(string(b))
		}
	}
	return `"` + string(b) + `"`
}

// unitName is the name of the unit for errors.
func (c *Cursor) unitName() string { return string(c.File.Names.Text(c.Name)) }

// UnitError is an error about the unit as a whole.
func (c *Cursor) UnitError(what string) error {
	return &Error{File: c.File.Path, Section: ".debug_info", Unit: c.unitName(), UnitOff: c.Hdr.Off, What: what}
}

// TypeError is an error about the type of the unit that is called name.
func (c *Cursor) TypeError(name, what string) error {
	return &Error{File: c.File.Path, Section: ".debug_info", Unit: c.unitName(), UnitOff: c.Hdr.Off, Name: name, What: what}
}

// DIEError is an error about the DIE at an offset of the unit.
func (c *Cursor) DIEError(off int, what string) error {
	return &Error{File: c.File.Path, Section: ".debug_info", Unit: c.unitName(), UnitOff: c.Hdr.Off,
		Offset: c.Hdr.Off + uint64(off), What: what}
}

// CutOff is the error for a DIE that the end of the unit cuts off.
func (c *Cursor) CutOff(off int) error {
	return c.DIEError(off, "DIE goes beyond the end of its unit")
}

// OutOfUnit is the error for a DIE with a reference beyond the unit.
func (c *Cursor) OutOfUnit(off int) error {
	return c.DIEError(off, "reference leads out of the unit")
}

// NoReference is the error for an attribute that refers, by its name, but has a
// form of another class (DWARF 5, sections 7.5.4 and 7.5.6).
func (c *Cursor) NoReference(off int, form dwarf.Form) error {
	return c.DIEError(off, "reference of form "+strconv.Itoa(int(form)))
}

// NoName is the error for a DIE that needs a name and has none that can be read.
func (c *Cursor) NoName(off int, what string) error {
	if c.Reader.Bad {
		what = badName
	}
	return c.DIEError(off, what)
}

// badName says what Cursor.Reader.Bad means.
const badName = "a name lies beyond .debug_str"

// CheckNames is an error if a name of the unit could not be read.
func (c *Cursor) CheckNames() error {
	if !c.Reader.Bad {
		return nil
	}
	return c.UnitError(badName + c.File.suffix)
}

// CheckEnd checks that nothing follows the last DIE of a unit, at p, but
// padding. A DIE there has been cut from its tree by damage before it.
func (c *Cursor) CheckEnd(p int) error {
	for b := c.Hdr.Data; p < len(b); p++ {
		if b[p] != 0 {
			return c.DIEError(p, "DIE behind the end of the unit's tree")
		}
	}
	return nil
}

// Wrap has an error begin with the name of the file; nil stays nil.
func (f *File) Wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", f.Path, err)
}

// BadName is the error for a DIE with a name that cannot be read.
func (c *Cursor) BadName(off int) error { return c.DIEError(off, badName) }
