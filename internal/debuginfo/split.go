package debuginfo

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/mmapelf"
)

// Split DWARF (-gsplit-dwarf; DWARF 5 sections 3.1.2 and 7.3.2, for DWARF 4 the
// GNU extension that it was made from). A skeleton unit in the file names a
// .dwo file, which has the unit itself in sections of its own; addresses are
// in the file's .debug_addr. Several .dwo files may be put together in a .dwp
// beside the file, with an index (section 7.3.5).
//
// The unit is read from there in place of its skeleton, at the skeleton's place
// in the order, so the BTF is that of a build without -gsplit-dwarf. A .dwo is
// open only while its unit is read. One that cannot be found is an error: the
// types would be missing without a sign. (pahole leaves them out.)

// Skeleton is what a unit says of the unit that it stands for.
type Skeleton struct {
	name, dir string // of the .dwo, dir may be ""
	id        uint64
}

// ReadSkeleton is what the unit DIE in Vals says of the unit that it stands for; nil
// if it is the unit itself.
func (c *Cursor) ReadSkeleton(have uint32) *Skeleton {
	if c.File.Split() || have&(1<<dwarf.VDwoName) == 0 {
		return nil
	}
	text := func(v int) string { return string(c.File.Names.Text(c.NameValue(&c.Vals[v]))) }
	s := &Skeleton{id: c.Hdr.DwoID, name: text(dwarf.VDwoName)}
	if have&(1<<dwarf.VCompDir) != 0 {
		s.dir = text(dwarf.VCompDir)
	}
	if have&(1<<dwarf.VDwoID) != 0 {
		s.id = c.SplitID
	}
	return s
}

// openSplit opens the unit of a skeleton at c: in the .dwp beside the file, or in its
// .dwo where the compiler put it or beside the file.
func (f *File) openSplit(c *Cursor, s *Skeleton) (*File, error) {
	var tried, places []string
	switch {
	case filepath.IsAbs(s.name):
		places = []string{s.name}
	case s.dir != "":
		places = []string{filepath.Join(s.dir, s.name)}
	}
	if !f.inMemory {
		if dwo, err := f.openPacked(packageOf(f.Path), s.id); dwo != nil || err != nil {
			return dwo, err
		}
		own := filepath.Dir(f.Path)
		if !filepath.IsAbs(s.name) {
			places = append(places, filepath.Join(own, s.name))
		}
		places = append(places, filepath.Join(own, filepath.Base(s.name)))
	}
	for _, path := range slices.Compact(places) {
		e, err := mmapelf.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			tried = append(tried, path)
			continue
		}
		if err != nil {
			return nil, err
		}
		dwo := f.part(path, e)
		if err := dwo.loadSplit(nil); err != nil {
			dwo.Close()
			return nil, err
		}
		return dwo, nil
	}
	return nil, c.UnitError(fmt.Sprintf("its .dwo file %s is not there (looked for %s, and %s)",
		Quote([]byte(s.name)), strings.Join(tried, ", "), packageOf(f.Path)))
}

// packageOf is the name of the package of .dwo files that belongs to a file.
func packageOf(path string) string { return path + ".dwp" }

// part is a file that has units of this one.
func (f *File) part(path string, e *mmapelf.File) *File {
	p := newFile(path, e, f.settings)
	p.BigEndian, p.AddrSize, p.Machine = f.BigEndian, f.AddrSize, f.Machine
	p.Names.ByText = true
	p.other.addr, p.suffix, p.dwo = f.other.addr, ".dwo", new(pack)
	if f.rel != nil {
		p.rel = new(relocs)
		p.rel.random[relAddr] = f.rel.random[relAddr]
	}
	return p
}

// Enter opens the unit that the skeleton at c stands for, and calls read for each unit of the
// .dwo that may be it, at which c then is, until read says that it was the one. at is the place of
// the skeleton, to which c goes back. What c remembers of sections is forgotten on both ways.
// Error: none was the one.
func (f *File) Enter(c *Cursor, s *Skeleton, read func(dwo *File, at *Saved) (done bool, err error)) error {
	at := c.Save()
	dwo, err := f.openSplit(c, s)
	if err != nil {
		return err
	}
	defer dwo.Close()
	c.Forget()
	defer func() {
		c.File, c.Hdr, c.Reader.Low = at.file, at.hdr, ^uint32(0) // the name stays that of the unit
		c.Forget()
	}()
	c.Hdr = dwarf.Unit{}
	for {
		switch ok, err := dwo.Next(c); {
		case err != nil:
			return err
		case !ok:
			return fmt.Errorf("%s: no unit has the id %#016x of its skeleton in %s", dwo.Path, s.id, f.Path)
		case c.Hdr.IsType():
			continue
		}
		c.Hdr.AbbrevOff += dwo.dwo.abbrevAt
		c.SplitID = 0
		if done, err := read(dwo, &at); done || err != nil {
			return err
		}
	}
}

// IsSplit reports whether the unit at c, whose unit DIE has been read, is that of
// the skeleton.
func (c *Cursor) IsSplit(s *Skeleton) bool {
	if c.SplitID != 0 {
		c.Hdr.DwoID = c.SplitID
	}
	return c.Hdr.DwoID == s.id
}

// loadSplit finds the sections, or the unit's parts of them in a .dwp.
func (f *File) loadSplit(parts map[string]span64) error {
	f.dwo.whole, f.dwo.parts = make(map[string][]byte), parts
	for _, s := range []struct {
		name string
		data *[]byte
	}{
		{".debug_info", &f.Info}, {".debug_abbrev", &f.other.abbrev}, {".debug_str", &f.Names.Data}, {".debug_str_offsets", &f.other.strOffsets},
		{".debug_loc", &f.Loc}, {".debug_loclists", &f.Loclists}, {".debug_types", nil},
	} {
		sec := f.section(s.name)
		if sec == nil || s.data == nil && !f.packed() {
			continue
		}
		var err error
		if f.dwo.whole[s.name], err = f.ELF.Data(sec); err != nil {
			return err
		}
		if s.data == nil {
			continue
		}
		if *s.data, err = f.dwo.partOf(f.Path, s.name, parts); err != nil {
			return err
		}
	}
	if len(f.Info) == 0 {
		return fmt.Errorf("%s: no .debug_info.dwo", f.Path)
	}
	// Type units have other tables in the same section.
	f.other.abbrev, f.dwo.abbrevAt = f.dwo.whole[".debug_abbrev"], parts[".debug_abbrev"].off
	f.Names.Place()
	return nil
}

// span64 is a part of a section, in bytes.
type span64 struct{ off, size uint64 }

// partOf is the part of a section that a row of an index names, or all of it.
func (p *pack) partOf(path, name string, parts map[string]span64) ([]byte, error) {
	b := p.whole[name]
	at, ok := parts[name]
	if !ok {
		return b, nil
	}
	if at.off > uint64(len(b)) || at.size > uint64(len(b))-at.off {
		return nil, fmt.Errorf("%s: %s: the index leads out of the section", path, name)
	}
	return b[at.off:][:at.size], nil
}
