package debuginfo

import (
	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/names"
)

// Cursor is what the DIEs of one unit are read from. Its memory serves one unit
// after the other.
type Cursor struct {
	Position
	Abbrevs *dwarf.Abbrevs // own, or one that units share
	Vals    dwarf.Values   // of the DIE that was decoded last
	Reader  names.Reader   // of its names; kept from unit to unit
	SplitID uint64         // DW_AT_GNU_dwo_id
	Record  []byte         // the unit record that the unit DIE has; part of Hdr.Data

	// Err is the first thing found wrong that does not end the reading at once.
	Err error

	// Of a relocatable file: the entries that belong to the unit.
	FirstReloc, LastReloc int
	nearRange, nearList   nearby // where it was read last in sections with lists
	nearUnit              nearby // where the entries of the unit end

	bases
	own      dwarf.Abbrevs
	copy     arena.Vec[byte] // the relocated unit, which Hdr.Data is then
	typeCopy arena.Vec[byte] // likewise of the type unit in work
	touched  byte            // by touchNames; of no meaning
}

// Position says which unit a cursor is at.
type Position struct {
	File *File // that the unit is in
	Seq  int   // in the order of units, from 0; of none if it is negative
	// Base is what is to be added to offsets in the unit's .debug_info to tell those
	// of an alternate file from the file's: 0, or the size of the other .debug_info.
	Base uint64
	Hdr  dwarf.Unit
	Name dedup.Name // DW_AT_name of the unit
}

// ExprFormat is the format of expressions and location lists in the unit.
func (p *Position) ExprFormat() dwarf.ExprFormat {
	h := &p.Hdr
	return dwarf.ExprFormat{Version: h.Version, AddrSize: h.AddrSize, Dwarf64: h.Dwarf64, BigEndian: p.File.BigEndian, Split: p.File.Split()}
}

// bases are where the unit's parts of sections start that indexes lead to.
type bases struct {
	str      uint64 // DW_AT_str_offsets_base
	addr     uint64 // DW_AT_addr_base
	loclists uint64 // DW_AT_loclists_base
}

// Reset prepares for the next unit. A table above keep bytes is given back.
func (c *Cursor) Reset(keep int) {
	c.copy.Trim(keep)
	c.typeCopy.Trim(keep)
	c.FirstReloc, c.LastReloc, c.Err = 0, 0, nil
	c.nearRange, c.nearList = nearby{}, nearby{}
	c.Reader.Low, c.Reader.Bad = ^uint32(0), false
	c.bases = bases{}
	c.Name, c.Base, c.SplitID, c.Record = 0, 0, 0, nil
}

// Forget ends what is remembered of the sections of a file.
func (c *Cursor) Forget() { c.own.Forget() }

// Free gives the memory back.
func (c *Cursor) Free() {
	c.copy.Free()
	c.typeCopy.Free()
	c.Reader.Free()
}

// Saved is what a cursor knows of the unit that it is at.
type Saved struct {
	file  *File
	hdr   dwarf.Unit
	name  dedup.Name
	bases bases
}

// Save is the unit that the cursor is at, for Restore when others have been read.
func (c *Cursor) Save() Saved { return Saved{c.File, c.Hdr, c.Name, c.bases} }

// Restore goes back to a unit.
func (c *Cursor) Restore(s Saved) { c.File, c.Hdr, c.Name, c.bases = s.file, s.hdr, s.name, s.bases }

// UseAddresses has the unit read its addresses where the unit s has them.
func (c *Cursor) UseAddresses(s *Saved) { c.bases.addr = s.bases.addr }

// unitDefaults sets the bases to those of a unit that does not name them.
func (c *Cursor) unitDefaults() {
	c.bases = bases{8, 8, 12}
	if c.Hdr.Dwarf64 {
		c.bases = bases{16, 16, 20}
	}
	if c.Hdr.Version < 5 {
		c.str, c.bases.addr = 0, 0
	}
}

// UnitDIE reads the unit DIE into Vals, and its name and bases. next is where its
// attributes end, and have has the bits of its values. a is nil if the unit has no
// DIE.
func (c *Cursor) UnitDIE() (a *dwarf.Abbrev, next int, have uint32, err error) {
	e := c.Entries(c.Hdr.First)
	if !e.Next() {
		return nil, 0, 0, EntryError(&c.Position, &e)
	}
	if a = e.Abbrev; a == nil {
		return nil, 0, 0, c.CheckEnd(e.Pos)
	}
	if a.Class != dwarf.ClassUnit {
		return nil, 0, 0, c.DIEError(e.Off, "the first DIE of the unit is not a unit DIE")
	}
	if !e.Decode() {
		return nil, 0, 0, EntryError(&c.Position, &e)
	}
	next, have = e.Pos, e.Have
	// Bases first: names and addresses of this DIE may need them.
	c.unitDefaults()
	for _, x := range []struct {
		v   int
		dst *uint64
	}{{dwarf.VStrBase, &c.str}, {dwarf.VAddrBase, &c.bases.addr}, {dwarf.VLoclistsBase, &c.loclists}} {
		if have>>x.v&1 != 0 && c.Vals[x.v].U < 1<<40 {
			*x.dst = c.Vals[x.v].U
		}
	}
	c.Name = c.NameOf(have)
	c.Record = nil
	if have&(1<<dwarf.VRecord) != 0 {
		if off, n, ok := c.Vals[dwarf.VRecord].Block(); ok {
			c.Record = c.Hdr.Data[off : off+n]
		}
	}
	if have&(1<<dwarf.VDwoID) != 0 {
		c.SplitID = c.Vals[dwarf.VDwoID].U
	}
	return a, next, have, nil
}

// Entries steps over the DIEs of the unit from offset p on. It decodes into Vals.
func (c *Cursor) Entries(p int) dwarf.Entries {
	return dwarf.Entries{Abbrevs: c.Abbrevs, Vals: &c.Vals, Data: c.Hdr.Data, Pos: p}
}

// Lookup is the abbreviation with a code, of the DIE at off.
func (c *Cursor) Lookup(code uint64, off int) (*dwarf.Abbrev, error) {
	if a := c.Abbrevs.Lookup(code); a != nil {
		return a, nil
	}
	return nil, c.DIEError(off, dwarf.FaultNoCode)
}

// DecodeAt reads the attributes of the DIE at an offset of the unit into
// Vals. Its class and the bits of the values that the class captures come
// back.
func (c *Cursor) DecodeAt(off uint64) (class dwarf.Class, have uint32, ok bool) {
	e := c.Entries(0)
	if off < uint64(c.Hdr.First) || off >= uint64(len(e.Data)) || !e.At(int(off)) || e.Abbrev == nil || !e.Decode() {
		return 0, 0, false
	}
	return e.Abbrev.Class, e.Have, true
}
