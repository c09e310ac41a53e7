package debuginfo

import (
	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/names"
)

// Cursor reads the DIEs of one unit. It is used for one unit after another.
type Cursor struct {
	Position
	Abbrevs *dwarf.Abbrevs // its own, or a shared one
	Vals    dwarf.Values   // of the DIE that was decoded last
	Reader  names.Reader   // reads its names; kept from unit to unit
	SplitID uint64         // DW_AT_GNU_dwo_id
	Again   bool           // the unit is read once more
	Record  Record         // the unit record in the unit DIE

	// Err is the first fault that did not end the reading at once.
	Err error

	// In a relocatable file: the relocations of the unit.
	FirstReloc, LastReloc int
	nearRange, nearList   nearby // the last places read in sections with lists
	nearUnit              nearby // where the relocations of the unit end

	bases
	own      dwarf.Abbrevs
	copy     arena.Vec[byte] // the relocated unit; Hdr.Data is this copy then
	typeCopy arena.Vec[byte] // the same for the current type unit
	touched  byte            // written by touchNames, so that the compiler keeps its reads
}

// Record is the unit record of a unit: a part of Hdr.Data.
type Record struct {
	Bytes []byte // nil if the unit has no record
	At    int    // where they begin in the unit
}

// Position says at which unit a cursor is.
type Position struct {
	File *File // the file of the unit
	Seq  int   // number of the unit, from 0; negative if it has none
	// Base is added to offsets in the unit's .debug_info, to tell offsets in an alternate
	// file from offsets in the file: 0, or the size of the other .debug_info.
	Base uint64
	Hdr  dwarf.Unit
	Name dedup.Name // DW_AT_name of the unit
}

// ExprFormat returns the format of expressions and location lists in the unit.
func (p *Position) ExprFormat() dwarf.ExprFormat {
	h := &p.Hdr
	return dwarf.ExprFormat{Version: h.Version, AddrSize: h.AddrSize, Dwarf64: h.Dwarf64, BigEndian: p.File.BigEndian, Split: p.File.Split()}
}

// bases are the starts of the unit's parts of indexed sections.
type bases struct {
	str      uint64 // DW_AT_str_offsets_base
	addr     uint64 // DW_AT_addr_base
	loclists uint64 // DW_AT_loclists_base
}

// Reset prepares for the next unit. It releases tables above keep bytes.
func (c *Cursor) Reset(keep int) {
	c.copy.Trim(keep)
	c.typeCopy.Trim(keep)
	c.FirstReloc, c.LastReloc, c.Err = 0, 0, nil
	c.nearRange, c.nearList = nearby{}, nearby{}
	c.Reader.Low, c.Reader.Bad = ^uint32(0), false
	c.bases = bases{}
	c.Name, c.Base, c.SplitID, c.Record, c.Again = 0, 0, 0, Record{}, false
}

// Forget drops what the cursor remembers about the sections of a file.
func (c *Cursor) Forget() { c.own.Forget() }

// Free releases the memory.
func (c *Cursor) Free() {
	c.copy.Free()
	c.typeCopy.Free()
	c.Reader.Free()
}

// Saved is the position of a cursor, for Restore.
type Saved struct {
	file  *File
	hdr   dwarf.Unit
	name  dedup.Name
	bases bases
}

// Save returns the position of the cursor, to return to it after other units were read.
func (c *Cursor) Save() Saved { return Saved{c.File, c.Hdr, c.Name, c.bases} }

// Restore returns to a saved position.
func (c *Cursor) Restore(s Saved) { c.File, c.Hdr, c.Name, c.bases = s.file, s.hdr, s.name, s.bases }

// UseAddresses makes the unit read addresses from the place where unit s has them.
func (c *Cursor) UseAddresses(s *Saved) { c.bases.addr = s.bases.addr }

// unitDefaults sets the bases of a unit that does not name them.
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
// attributes end, and have has a bit for each value that it has. a is nil if the unit has
// no DIE.
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
	// Bases come first, because names and addresses of this DIE may need them.
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
	c.Record = recordOf(c, have)
	if have&(1<<dwarf.VDwoID) != 0 {
		c.SplitID = c.Vals[dwarf.VDwoID].U
	}
	return a, next, have, nil
}

// recordOf returns the unit record of the unit DIE whose values are in Vals.
func recordOf(c *Cursor, have uint32) (r Record) {
	if have&(1<<dwarf.VRecord) == 0 {
		return r
	}
	off, n, ok := c.Vals[dwarf.VRecord].Block()
	if !ok && have&(1<<dwarf.VRecordBlock) != 0 {
		off, n, ok = c.Vals[dwarf.VRecordBlock].Block()
	}
	if !ok {
		return Record{}
	}
	r.Bytes, r.At = c.Hdr.Data[off:off+n], off
	return r
}

// Entries returns the DIEs of the unit from offset p on. It decodes into Vals.
func (c *Cursor) Entries(p int) dwarf.Entries {
	return dwarf.Entries{Abbrevs: c.Abbrevs, Vals: &c.Vals, Data: c.Hdr.Data, Pos: p}
}

// Lookup returns the abbreviation with a code, for the DIE at off.
func (c *Cursor) Lookup(code uint64, off int) (*dwarf.Abbrev, error) {
	if a := c.Abbrevs.Lookup(code); a != nil {
		return a, nil
	}
	return nil, c.DIEError(off, dwarf.FaultNoCode)
}

// DecodeAt reads the attributes of the DIE at an offset of the unit into Vals. It returns
// the DIE's class, and a bit for each value that it has.
func (c *Cursor) DecodeAt(off uint64) (class dwarf.Class, have uint32, ok bool) {
	e := c.Entries(0)
	if off < uint64(c.Hdr.First) || off >= uint64(len(e.Data)) || !e.At(int(off)) || e.Abbrev == nil || !e.Decode() {
		return 0, 0, false
	}
	return e.Abbrev.Class, e.Have, true
}
