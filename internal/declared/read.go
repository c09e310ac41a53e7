package declared

import (
	"slices"
	"strings"

	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/names"
	"github.com/btflite/btflite/mmapelf"
)

// maxDepth bounds how deep DIEs are in each other.
const maxDepth = 2048

// In looks into a file. What a file without DWARF has is not found.
func (s *Search) In(src *mmapelf.Source) error {
	if s.left == 0 {
		return nil
	}
	return opened(src, s.DebugFiles, func(f *debuginfo.File) (err error) {
		if err := f.OpenAlt(); err != nil {
			return err
		}
		for _, part := range []*debuginfo.File{f, f.Alt} {
			if err == nil && part != nil {
				err = s.inFile(part)
			}
		}
		return err
	})
}

// inFile looks into a file or its alternate file, to which dwz has moved what several files have.
func (s *Search) inFile(f *debuginfo.File) (err error) {
	r := reader{s: s}
	if r.lines, err = debuginfo.OpenLines(f); err != nil {
		return err
	}
	defer r.c.Free()
	if err = r.units(f); err != nil {
		return err
	}
	return r.types(f)
}

// opened has the DWARF of a file read, if it has any.
func opened(src *mmapelf.Source, places debuginfo.DebugFiles, read func(*debuginfo.File) error) error {
	table := new(names.Table)
	table.Use(names.NewPool(nil, nil))
	defer table.FreePool()
	f, err := debuginfo.Open(src, debuginfo.Settings{Names: table, Workers: 1, DebugFiles: places, Scarce: func(uint64) bool { return false }})
	if err != nil {
		return err
	}
	defer f.Close()
	if err = f.Load(false); err != nil || len(f.Info) == 0 {
		return err
	}
	return read(f)
}

// reader reads the units of a file.
type reader struct {
	s     *Search
	c     debuginfo.Cursor
	lines *debuginfo.Lines
	decls dwarf.Abbrevs // of the plan Places
	open  []open        // DIEs around the one in work

	packed map[uint64]bool // signatures of type units of the .dwp that have been read

	// Of the unit:
	unit, dir string
	linesAt   uint64 // where offsets in .debug_line start
	ready     bool   // decls is
	known     bool   // table is
	table     dwarf.Decl
	files     map[uint64]string
}

// open is a DIE whose children are being read. Its name is empty if the type is not
// looked for.
type open struct {
	*name
	Type
	off int
}

func (r *reader) units(f *debuginfo.File) error {
	var p debuginfo.Passage
	c := &r.c
	for ; r.s.left > 0; c.Seq++ {
		c.Reset(0)
		if ok, err := f.Next(c); !ok {
			return err
		}
		if c.Hdr.IsType() {
			f.SawType()
		} else {
			p.Ahead(c, c.Hdr.End())
			if err := r.start(); err != nil {
				return err
			}
		}
		p.Behind(c, 0, false)
	}
	return nil
}

// types reads the type units of the file: those that are its own or, of a .dwp, all that have
// not been read.
func (r *reader) types(f *debuginfo.File) error {
	if !f.HasTypes() && !f.Split() {
		return nil
	}
	t, err := f.Types()
	if err != nil {
		return err
	}
	for i := 0; i < t.All() && r.s.left > 0; i++ {
		if err := r.typeUnit(t, uint32(i)); err != nil {
			return err
		}
	}
	packed, err := t.Packed()
	for _, signature := range packed {
		if r.s.left == 0 || r.packed[signature] {
			continue
		}
		i, _, ok, err := t.Find(signature)
		if err == nil && ok {
			err = r.typeUnit(t, uint32(i))
		}
		if err != nil {
			return err
		}
		if r.packed == nil {
			r.packed = map[uint64]bool{}
		}
		r.packed[signature] = true
	}
	return err
}

func (r *reader) typeUnit(t *debuginfo.TypeIndex, i uint32) error {
	if _, err := t.Open(&r.c, i); err != nil {
		return err
	}
	a, next, have, err := r.c.UnitDIE()
	if err != nil || a == nil {
		return err
	}
	r.begin(have)
	r.linesAt = t.LinesAt(i)
	return r.readUnit(a, next, have)
}

// start reads the unit at the cursor, or the one that it stands for.
func (r *reader) start() error {
	c := &r.c
	if err := c.Start(); err != nil {
		return err
	}
	a, next, have, err := c.UnitDIE()
	if err != nil || a == nil {
		return err
	}
	skeleton := c.ReadSkeleton(have)
	r.begin(have)
	if skeleton != nil {
		return r.split(skeleton)
	}
	return r.readUnit(a, next, have)
}

// split reads the unit of the skeleton at the cursor, and the type units in the same file.
// The unit's files are in the table of the skeleton. Type units have another table.
func (r *reader) split(skeleton *debuginfo.Skeleton) error {
	c, lines := &r.c, r.lines
	r.know()
	r.decls.Forget()
	defer func() {
		r.decls.Forget()
		r.lines = lines
	}()
	return c.File.Enter(c, skeleton, func(dwo *debuginfo.File, _ *debuginfo.Saved) (bool, error) {
		if err := c.Start(); err != nil {
			return false, err
		}
		a, next, have, err := c.UnitDIE()
		if err != nil || !c.IsSplit(skeleton) {
			return false, err
		}
		r.unit = debuginfo.Text(&r.c, have, dwarf.VName)
		if err := r.readUnit(a, next, have); err != nil {
			return false, err
		}
		if r.lines, err = debuginfo.OpenLines(dwo); err == nil {
			err = r.types(dwo)
		}
		return true, err
	})
}

// begin reads the unit DIE that was decoded last.
func (r *reader) begin(have uint32) {
	r.unit, r.dir, r.linesAt, r.ready, r.known = debuginfo.Text(&r.c, have, dwarf.VName), debuginfo.Text(&r.c, have, dwarf.VCompDir), 0, false, false
}

// readUnit reads the DIEs of the unit at the cursor, if it is wanted. Its unit DIE, which
// was decoded last, ends at next.
func (r *reader) readUnit(a *dwarf.Abbrev, next int, have uint32) error {
	lang, s := uint16(r.c.Number(have, dwarf.VLanguage)), r.s
	if a == nil || !a.Children || len(s.Lang) > 0 && !slices.Contains(s.Lang, lang) || slices.Contains(s.LangExclude, lang) ||
		s.CUExclude != "" && strings.HasPrefix(r.unit, s.CUExclude) {
		return nil
	}
	r.ready = false
	return r.read(next)
}

// read reads the DIEs from p on, which are the children of the unit DIE.
func (r *reader) read(p int) error {
	c, e := &r.c, r.c.Entries(p)
	r.open = append(r.open[:0], open{})
	for len(r.open) > 0 && e.Next() {
		if e.Abbrev == nil {
			r.close()
			continue
		}
		if !e.Decode() {
			break
		}
		d := r.look(e.Abbrev, e.Have, e.Off)
		switch {
		case len(r.open) >= maxDepth:
			return c.DIEError(e.Off, "DIEs are nested too deep")
		case e.Abbrev.Children:
			r.open = append(r.open, d)
		case d.name != nil:
			r.settle(&d)
		}
	}
	if err := debuginfo.EntryError(&c.Position, &e); err != nil {
		return err
	}
	for len(r.open) > 0 { // the unit may end without zeros
		r.close()
	}
	return nil
}

// look recognizes the DIE at off: a type that is looked for, or a part of one.
func (r *reader) look(a *dwarf.Abbrev, have uint32, off int) (d open) {
	c, parent := &r.c, &r.open[len(r.open)-1]
	switch a.Class {
	case dwarf.ClassMember, dwarf.ClassEnumerator:
		if parent.name != nil {
			parent.Shape = parent.Shape.With(r.name(have))
		}
	case dwarf.ClassAggregate, dwarf.ClassEnum, dwarf.ClassRef:
		d.Tag = a.Tag
		if d.Tag == dwarf.TagClassType {
			d.Tag = dwarf.TagStructureType
		}
		if a.Class == dwarf.ClassRef && d.Tag != dwarf.TagTypedef || a.Class == dwarf.ClassAggregate && c.Number(have, dwarf.VDeclaration) != 0 {
			return d
		}
		if a.Class != dwarf.ClassRef {
			d.Size = c.Number(have, dwarf.VByteSize)
		}
		d.off, d.name = off, r.s.wants(r.name(have))
	}
	return d
}

// name is the name of the DIE that was decoded last.
func (r *reader) name(have uint32) []byte { return r.c.File.Names.Text(r.c.NameOf(have)) }

// close ends the innermost open DIE.
func (r *reader) close() {
	last := r.open[len(r.open)-1]
	r.open = r.open[:len(r.open)-1]
	if last.name != nil {
		r.settle(&last)
	}
}

// settle takes a type whose members have been read.
func (r *reader) settle(d *open) {
	r.s.found(d.name, d.Type, func() Place { return r.place(d.off) })
}

// place is where the DIE at off of the unit is, and where it says that it is declared.
func (r *reader) place(off int) Place {
	c := &r.c
	at := Place{Unit: r.unit, Offset: c.Hdr.Off + uint64(off)}
	r.know()
	if !r.ready {
		r.ready = c.Table(dwarf.Places, &r.decls) == nil
	}
	d, ok := r.decls.Decl(c.Hdr.Data, off)
	if !ok {
		return at
	}
	at.Line = d.Line
	if d.HasFile && r.table.HasLines {
		file, known := r.files[d.File]
		if !known {
			file = r.lines.Path(r.linesAt+r.table.LineTable, d.File, r.dir)
			r.files[d.File] = file
		}
		at.File = file
	}
	return at
}

// know finds the table of files of the unit at the cursor, once.
func (r *reader) know() {
	if r.known {
		return
	}
	c := &r.c
	r.known, r.table, r.files = true, dwarf.Decl{}, map[uint64]string{}
	if r.ready = c.Table(dwarf.Places, &r.decls) == nil; r.ready {
		r.table, _ = r.decls.Decl(c.Hdr.Data, c.Hdr.First)
	}
}
