// Package ccobject replaces the debug sections of an object by unit records.
//
// The object stays an object. Its .debug_info has a unit for each unit of the compiler, with
// the same name, language and producer, and with the unit record as one more attribute. For
// a linker, a debugger or another encoder it is a unit without DIEs. So the linker puts units
// and records of all objects into link order, and a program that drops debug sections drops
// records.
package ccobject

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/elfobject"
	"github.com/btflite/btflite/internal/names"
	"github.com/btflite/btflite/internal/unit"
	"github.com/btflite/btflite/internal/unitrecord"
	"github.com/btflite/btflite/mmapelf"
)

// Languages that stay DWARF: DW_LANG_Mips_Assembler and DW_LANG_Assembly.
const (
	langMipsAssembler = 0x8001
	langAssembly      = 0x0031
)

// Convert returns the object with unit records in place of its debug sections. maker is the
// version of btflite. keepExports is called only for an object that exports symbols; if it
// returns true, the object stays as it is. It may be nil. The error is the reason why an
// object stays as it is, or it says what is damaged.
func Convert(src mmapelf.Source, maker string, keepExports func() bool) ([]byte, error) {
	limit := new(arena.Limit)
	table := new(names.Table)
	table.Use(names.NewPool(nil, limit))
	defer table.FreePool()
	f, err := open(&src, keepExports, table, limit)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c := &converter{file: f, writer: unitrecord.NewWriter(len(abbrevs)), maker: maker}
	c.reader.In = &unit.Input{
		File: f, ArrayIndex: new(atomic.Uint32), Limit: limit,
		Options:  unit.Options{Float: true, DeclTag: true, TypeTag: true, Enum64: true, KeepSigns: true},
		Sections: unit.NewVarSections([]unit.VarSection{{Size: ^uint64(0), Wanted: true}}), // all of them
	}
	c.reader.Init(limit)
	defer c.reader.Free()
	if c.object, err = elfobject.New(f.ELF); err != nil {
		return nil, err
	}
	if err := c.find(); err != nil {
		return nil, err
	}
	if err := c.units(); err != nil {
		return nil, err
	}
	return c.rewrite()
}

// open opens an object if it has DWARF and suits.
func open(src *mmapelf.Source, keepExports func() bool, table *names.Table, limit *arena.Limit) (*debuginfo.File, error) {
	e, err := src.Open()
	if err != nil {
		return nil, err
	}
	err = suits(e, keepExports)
	e.Close()
	if err != nil {
		return nil, err
	}
	f, err := debuginfo.Open(src, debuginfo.Settings{
		Names: table, ByText: true, Limit: limit, Workers: 1, Scarce: func(uint64) bool { return false },
	})
	if err != nil {
		return nil, err
	}
	if err := f.Load(true); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// suits returns the reason why an object must stay as it is, as far as its sections show it.
func suits(e *mmapelf.File, keepExports func() bool) error {
	has := false
	for i := range e.Sections {
		switch name := e.Sections[i].Name; {
		case name == ".export_symbol" && keepExports != nil && keepExports():
			return ErrExports
		case strings.HasPrefix(name, ".gnu.debuglto_"), strings.HasPrefix(name, ".gnu.lto_"), name == ".llvm.lto":
			return ErrLTO
		case strings.HasSuffix(name, ".dwo"):
			return ErrSplit
		case name == ".debug_types", name == ".debug_info" && e.Sections[i].Flags&elfabi.SHFGroup != 0:
			return ErrTypeUnits
		case name == ".debug_info" || name == ".zdebug_info":
			has = true
		}
	}
	if !has {
		return ErrNoDwarf
	}
	return nil
}

// units makes the record of each unit.
func (c *converter) units() error {
	f, r := c.file, &c.reader
	for r.Cursor.Seq = -1; ; {
		r.Reset()
		if ok, err := f.Next(&r.Cursor); !ok {
			return err
		}
		if r.Cursor.Hdr.IsType() {
			return ErrTypeUnits
		}
		if err := c.unit(); err != nil {
			return err
		}
	}
}

// unit makes the record of the unit that c.reader stands at.
func (c *converter) unit() error {
	r := &c.reader
	p, skip, err := r.Start()
	switch {
	case err != nil:
		return err
	case r.Cursor.Record.Bytes != nil:
		return ErrRecords
	case r.Unit.Facts.Skeleton != nil:
		return ErrSplit
	case r.Unit.Facts.Language == langMipsAssembler || r.Unit.Facts.Language == langAssembly:
		return ErrAssembler
	case skip:
		return fmt.Errorf("%w: a unit without DIEs", unitrecord.ErrNot)
	case r.Cursor.Abbrevs.Cross():
		return fmt.Errorf("%w: its units refer to each other", unitrecord.ErrNot)
	}
	if err := r.ReadLinked(p); err != nil {
		return err
	}
	lists := c.file.Loclists
	if r.Cursor.Hdr.Version < 5 {
		if lists, err = c.oldLists(); err != nil {
			return err
		}
	}
	c.begin()
	rec, err := c.writer.Write(r, c, lists, c.maker)
	if err != nil {
		return err
	}
	return c.add(rec)
}

// oldLists returns .debug_loc after relocation.
func (c *converter) oldLists() ([]byte, error) {
	t := c.file.ListRelocs()
	if c.lists != nil || t == nil {
		if c.lists == nil {
			c.lists = c.file.Loc
		}
		return c.lists, nil
	}
	c.lists = append([]byte(nil), c.file.Loc...)
	return c.lists, t.Apply(c.lists, 0, 0, t.Len())
}
