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

// Split DWARF (-gsplit-dwarf; DWARF 5 sections 3.1.2 and 7.3.2; for DWARF 4 the GNU
// extension that came before). A skeleton unit in the file names a .dwo file, which has
// the unit in its own sections. Addresses are in the file's .debug_addr. Several .dwo
// files may be packed into a .dwp next to the file, with an index (section 7.3.5).
//
// The unit of the .dwo is read in place of its skeleton, at the skeleton's place in the
// order. So the BTF is the same as without -gsplit-dwarf. A .dwo is open only while its
// unit is read. A missing .dwo is an error, because its types would be missing without a
// sign. (pahole leaves them out.)

// Skeleton has the facts in a skeleton unit about the full unit.
type Skeleton struct {
	name, dir string // of the .dwo; dir may be ""
	id        uint64
}

// ReadSkeleton returns what the unit DIE in Vals says about the full unit; nil if it is
// not a skeleton.
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

// openSplit opens the unit for the skeleton at c: in the .dwp next to the file, or in its
// .dwo, in the folder of the compilation or next to the file.
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

// packageOf returns the name of a file's .dwp.
func packageOf(path string) string { return path + ".dwp" }

// part returns a file that has units of f.
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

// Enter opens the .dwo for the skeleton at c. It moves c to each unit there that may be
// the full unit, and calls read, until read reports that it was the right one. at is the
// place of the skeleton, to which c returns. c forgets what it remembers about sections
// on both moves. It is an error if no unit was the right one.
func (f *File) Enter(c *Cursor, s *Skeleton, read func(dwo *File, at *Saved) (done bool, err error)) error {
	at := c.Save()
	dwo, err := f.openSplit(c, s)
	if err != nil {
		return err
	}
	defer dwo.Close()
	c.Forget()
	defer func() {
		c.File, c.Hdr, c.Reader.Low = at.file, at.hdr, ^uint32(0) // the name of the unit stays
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

// IsSplit reports whether the unit at c, whose unit DIE has been read, is the skeleton's
// unit.
func (c *Cursor) IsSplit(s *Skeleton) bool {
	if c.SplitID != 0 {
		c.Hdr.DwoID = c.SplitID
	}
	return c.Hdr.DwoID == s.id
}

// loadSplit finds the sections or, in a .dwp, the unit's parts of them.
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
	// In the same section, type units have other tables.
	f.other.abbrev, f.dwo.abbrevAt = f.dwo.whole[".debug_abbrev"], parts[".debug_abbrev"].off
	f.Names.Place()
	return nil
}

// span64 is a part of a section, in bytes.
type span64 struct{ off, size uint64 }

// partOf returns the part of a section that a row of an index names, or all of it.
func (pk *pack) partOf(path, name string, parts map[string]span64) ([]byte, error) {
	b := pk.whole[name]
	at, ok := parts[name]
	if !ok {
		return b, nil
	}
	if at.off > uint64(len(b)) || at.size > uint64(len(b))-at.off {
		return nil, fmt.Errorf("%s: %s: the index leads out of the section", path, name)
	}
	return b[at.off:][:at.size], nil
}
