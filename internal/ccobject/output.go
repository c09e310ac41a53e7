package ccobject

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/btflite/btflite/internal/ccline"
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/elfobject"
	"github.com/btflite/btflite/internal/unit"
	"github.com/btflite/btflite/internal/unitrecord"
	"github.com/btflite/btflite/mmapelf"
)

// converter converts one object.
type converter struct {
	file   *debuginfo.File
	object *elfobject.Object
	writer *unitrecord.Writer
	maker  string
	reader unit.Reader
	lists  []byte // location lists of units before DWARF 5, relocated
	sections
	relocations
	out output
}

// sections are the sections of the object that the conversion uses.
type sections struct {
	info, abbrev *mmapelf.Section
}

// relocations are the relocations of the object, and the bases of the current unit.
type relocations struct {
	infoRelocs, addrRelocs *elfobject.Relocs // of .debug_info; of .debug_addr, or nil
	bases                  []elfobject.Reloc // by number of the base, at offset 0
}

// output holds the new sections.
type output struct {
	info   []byte
	abbrev []byte
	relocs []byte // of info
}

// find finds the sections and relocations of the object.
func (c *converter) find() (err error) {
	for i := range c.file.ELF.Sections {
		s := &c.file.ELF.Sections[i]
		switch plain(s.Name) {
		case ".debug_info":
			if c.info != nil {
				return fmt.Errorf("%w: two sections .debug_info", unitrecord.ErrNot)
			}
			c.info = s
		case ".debug_abbrev":
			c.abbrev = s
		case ".debug_addr":
			if c.addrRelocs, err = c.object.Relocs(s); err != nil {
				return err
			}
		}
	}
	if c.info == nil || c.abbrev == nil {
		return ErrNoDwarf
	}
	if c.info.Name != ".debug_info" || c.abbrev.Name != ".debug_abbrev" {
		return fmt.Errorf("%w: its debug sections are compressed in the old way", unitrecord.ErrNot)
	}
	if c.infoRelocs, err = c.object.Relocs(c.info); err == nil && c.infoRelocs == nil {
		err = fmt.Errorf("%w: its .debug_info has no relocations", unitrecord.ErrNot)
	}
	c.writer.Replaces(c.sizes())
	return err
}

// sizes returns the sizes of the debug sections.
func (c *converter) sizes() (sizes []unitrecord.Size) {
	for i := range c.file.ELF.Sections {
		if s := &c.file.ELF.Sections[i]; isDebug(s) {
			if n, err := c.file.ELF.ExpandedSize(s); err == nil {
				sizes = append(sizes, unitrecord.Size{Section: plain(s.Name), Bytes: n})
			}
		}
	}
	return sizes
}

// plain returns the name that a debug section has if it is not compressed.
func plain(name string) string {
	if rest, ok := strings.CutPrefix(name, ".z"); ok {
		return "." + rest
	}
	return name
}

// begin drops the bases of the previous unit.
func (c *converter) begin() { c.bases = c.bases[:0] }

// Base implements unitrecord.Addresses. A base is the address of a symbol plus 1, and the
// offset is the addend of the relocation. In a section whose contents the linker merges,
// only a whole address has a meaning: there each address is a base, and the offset is 1.
func (c *converter) Base(f unitrecord.Field) (base int, offset uint64, ok bool) {
	table := c.infoRelocs
	if f.Indexed {
		table = c.addrRelocs
	}
	if table == nil {
		return 0, 0, false
	}
	r, ok := table.At(f.Off)
	if !ok {
		return 0, 0, false
	}
	r.Off = 0
	if offset = 1; !c.object.Merged(r.Symbol) {
		offset, r.Addend = uint64(r.Addend), 1
	}
	if base = slices.Index(c.bases, r); base < 0 {
		base = len(c.bases)
		c.bases = append(c.bases, r)
	}
	return base, offset, true
}

// abbrevs is the abbreviation table of a unit with a record. The nodes of the unit follow it.
var abbrevs = func() []byte {
	const tagCompileUnit, atName, atLanguage, atProducer = 0x11, 0x03, 0x13, 0x25
	b := []byte{1, tagCompileUnit, 1}
	for _, x := range []struct {
		at   uint64
		form dwarf.Form
	}{
		{dwarf.AtUnitRecord, dwarf.FormFlagPresent}, {atProducer, dwarf.FormString}, {atLanguage, dwarf.FormData2}, {atName, dwarf.FormString},
		{dwarf.AtRecordBlock, dwarf.FormBlock4}, {0, 0},
	} {
		b = binary.AppendUvarint(binary.AppendUvarint(b, x.at), uint64(x.form))
	}
	return append(b, 0)
}()

// add appends the current unit to the new sections.
func (c *converter) add(rec unitrecord.Record) error {
	r, order := &c.reader, c.file.Order()
	field := r.Cursor.Hdr.Off + 6 // of debug_abbrev_offset
	if r.Cursor.Hdr.Version >= 5 {
		field += 2
	}
	abbrev, ok := c.infoRelocs.At(field)
	if !ok {
		return fmt.Errorf("%w: a unit header without a relocation", unitrecord.ErrNot)
	}
	start := len(c.out.info)
	b := append(c.out.info, 0, 0, 0, 0, 5, 0, 1, r.Cursor.Hdr.AddrSize, 0, 0, 0, 0, 1)
	order.PutUint16(b[start+4:], 5)
	abbrev.Off, abbrev.Addend = uint64(start)+8, int64(uint64(len(c.out.abbrev))-c.object.Value(abbrev.Symbol))
	c.relocate(b, abbrev, 4)
	c.out.abbrev = append(append(c.out.abbrev, abbrevs...), rec.Nodes...)
	b = append(append(b, c.producer()...), 0)
	b = append(b, 0, 0)
	order.PutUint16(b[len(b)-2:], r.Unit.Facts.Language)
	b = append(append(b, c.file.Names.Text(r.Cursor.Name)...), 0)
	b = append(b, 0, 0, 0, 0)
	order.PutUint32(b[len(b)-4:], uint32(len(rec.Bytes)))
	at := len(b)
	b = append(b, rec.Bytes...)
	size := int(r.Cursor.Hdr.AddrSize)
	for i, base := range c.bases[:rec.N] {
		base.Off = uint64(at + rec.Bases + i*size)
		c.relocate(b, base, size)
	}
	const end = 1 // ends the children, though there are none: dwz refuses attributes up to the end of a unit
	order.PutUint32(b[start:], uint32(len(b)+end-start-4))
	if err := unitrecord.Seal(b[start:], at-start, abbrevs, size); err != nil {
		return err
	}
	c.out.info = append(b, make([]byte, end)...)
	return nil
}

// relocate adds a relocation for a field of size bytes in the new .debug_info, which is b.
func (c *converter) relocate(b []byte, r elfobject.Reloc, size int) {
	c.out.relocs = c.infoRelocs.Append(c.out.relocs, r)
	switch order := c.file.Order(); {
	case !c.infoRelocs.InPlace(): // the field stays 0: Alpha adds what stands there, too
	case size == 8:
		order.PutUint64(b[r.Off:], uint64(r.Addend))
	default:
		order.PutUint32(b[r.Off:], uint32(r.Addend))
	}
}

// producer returns the producer of the unit with only those options that are about the
// machine and the language: btflite fullcircle compiles with them.
func (c *converter) producer() string {
	r := &c.reader
	_, _, have, err := r.Cursor.UnitDIE()
	if err != nil {
		return ""
	}
	text := debuginfo.Text(&r.Cursor, have, dwarf.VProducer)
	name, _, _ := strings.Cut(text, " -")
	for _, w := range strings.Fields(text[len(name):]) {
		if ccline.ForMachine(w) || ccline.ForLanguage(w) {
			name += " " + w
		}
	}
	return name
}

// rewrite returns the object with the new sections.
func (c *converter) rewrite() ([]byte, error) {
	change := elfobject.Change{
		Drop: make(map[int]bool),
		Set: map[int]elfobject.Contents{
			// A unit begins where the one before it ends, also in what is linked of several objects.
			c.info.Index:               {Data: c.out.info, Align: 1},
			c.abbrev.Index:             {Data: c.out.abbrev, Align: 1},
			c.infoRelocs.Section.Index: {Data: c.out.relocs},
		},
	}
	all := c.file.ELF.Sections
	for i := range all {
		s := &all[i]
		about := s
		if (s.Type == elfabi.SHTRela || s.Type == elfabi.SHTRel) && uint64(s.Info) < uint64(len(all)) {
			about = &all[s.Info]
		}
		if _, set := change.Set[i]; !set && isDebug(about) {
			change.Drop[i] = true
		}
	}
	return c.object.Rewrite(change)
}

// isDebug reports whether s is a debug section, or was one before it was compressed in the old way.
func isDebug(s *mmapelf.Section) bool {
	return s.Flags&elfabi.SHFAlloc == 0 && (strings.HasPrefix(s.Name, ".debug_") || strings.HasPrefix(s.Name, ".zdebug_"))
}

// Pack compresses the contents of an object, for a file that keeps it.
func Pack(data []byte) ([]byte, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return z.EncodeAll(data, nil), z.Close()
}
