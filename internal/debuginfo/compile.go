package debuginfo

import (
	"bytes"

	"github.com/btflite/btflite/internal/dwarf"
)

// abbrevMargin is how many bytes of a compressed .debug_abbrev are asked for at first.
// Nearly all tables are shorter.
const abbrevMargin = 16 << 10

// compile compiles the unit's abbreviation table into t.
func (c *Cursor) compile(t *dwarf.Abbrevs) error {
	t.Cache = c.File.shared.declared
	err := c.Table(dwarf.Types, t)
	if f := c.File; !f.shared.charge(t.Work(), uint64(len(f.other.abbrev))) {
		return errAbbrevWork
	}
	return err
}

// Table compiles the unit's abbreviation table into t by a plan. Start does so by the
// plan Types, for Abbrevs.
func (c *Cursor) Table(plan *dwarf.Plan, t *dwarf.Abbrevs) error {
	f := c.File
	all := f.other.abbrev
	for n := uint64(abbrevMargin); ; n *= 4 {
		sec, err := f.inOrder.abbrev.need(c.Seq, all, c.Hdr.AbbrevOff, n)
		if err != nil {
			return err
		}
		if err = t.Compile(sec, &c.Hdr, plan, f.Names.Base+1); err == nil || len(sec) == len(all) {
			return err
		}
	}
}

// compileAbbrevs sets c.Abbrevs to the unit's abbreviation table.
func (c *Cursor) compileAbbrevs() error {
	h, shared := &c.Hdr, &c.File.shared
	if c.Again && c.Abbrevs == &c.own { // a unit that is read twice does not make its table shared
		return c.compile(&c.own)
	}
	if !shared.isShared(h.AbbrevOff) {
		c.Abbrevs = &c.own
		return c.compile(&c.own)
	}
	tables := shared.cache()
	if tables == nil {
		c.Abbrevs = &c.own
		return c.compile(&c.own)
	}
	key := h.AbbrevOff<<16 | uint64(h.Version)<<8 | uint64(h.AddrSize)<<1
	if h.Dwarf64 {
		key |= 1
	}
	if t, ok := tables.Get(key); ok {
		c.Abbrevs = t
		return nil
	}
	if t := shared.largeTable(key); t != nil {
		c.Abbrevs = t
		return nil
	}
	t := new(dwarf.Abbrevs)
	if err := c.compile(t); err != nil {
		return err
	}
	if n := t.Bytes(); n > abbrevBudget/2 {
		shared.keepLarge(key, t)
	} else {
		tables.Set(key, t, int64(n))
	}
	c.Abbrevs = t
	return nil
}

// FromAbbrevs returns n bytes of .debug_abbrev, off bytes after the start of the unit's
// abbreviations. They are valid until the unit is done. ok is false if the section ends
// before.
func (p *Position) FromAbbrevs(off, n uint64) (b []byte, ok bool, err error) {
	all, from := p.File.other.abbrev, p.Hdr.AbbrevOff
	if size := uint64(len(all)); from > size || off > size-from || n > size-from-off {
		return nil, false, nil
	}
	from += off
	all, err = p.File.inOrder.abbrev.need(p.Seq, all, from, n)
	if err != nil {
		return nil, false, err
	}
	return all[from : from+n], true, nil
}

// CheckLost returns an error if the unit looks like a unit record that was not found:
// then the abbreviation that leads to it is damaged.
func CheckLost(c *Cursor) error {
	if _, err := c.File.inOrder.info.need(c.Seq, c.File.Info, c.Hdr.Off, uint64(len(c.Hdr.Data))); err != nil {
		return err
	}
	if c.Record.Bytes == nil && bytes.Contains(c.Hdr.Data, []byte(dwarf.RecordMark)) {
		return c.DIEError(c.Hdr.First, "it has a unit record that is damaged, so that its attribute is not found")
	}
	return nil
}

// Start makes the unit ready to be read: its bytes are loaded and relocated, and its
// abbreviations compiled. Call UnitDIE next.
func (c *Cursor) Start() error {
	f := c.File
	if _, err := f.inOrder.info.need(c.Seq, f.Info, c.Hdr.Off, uint64(len(c.Hdr.Data))); err != nil {
		return err
	}
	if err := c.relocate(); err != nil {
		return err
	}
	if err := c.compileAbbrevs(); err != nil {
		return &Error{File: f.Path, Section: ".debug_info", UnitOff: c.Hdr.Off, What: err.Error()}
	}
	return nil
}
