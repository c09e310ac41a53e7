package unit

import (
	"bytes"
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/debuginfo"
)

// Input is what reading needs to know of the input that units are from. Readers of
// units share it; it changes between units only.
type Input struct {
	File     *debuginfo.File
	Options  Options
	Sections []VarSection // where variables may lie; nil if none are wanted
	// Index is the id of the int that indexes arrays in the set; 0 until known.
	Index *atomic.Uint32
	// Merged is what the units of a file that refer to each other have in common;
	// nil for other files.
	Merged *Merged
	Limit  *arena.Limit // of the memory for units that are read beside
}

// Options say what of the DIEs is read.
type Options struct {
	Float, DeclTag, TypeTag, Enum64 bool // features by these names
	// WholeBitfields has bit-fields that are as wide and as aligned as their type
	// read as members like any other (pahole's --fixup_silly_bitfields).
	WholeBitfields bool
	// LongVlen allows more than MaxVlen members and the like.
	LongVlen bool
	// ForKernel leaves out what is void where C allows no void: no kernel takes that.
	ForKernel bool
	// KeepSigns fills Unit.Unsigned with the nodes of ENUMs with negative values
	// and a type that has no sign.
	KeepSigns bool
	// Marks has types that BTF cannot say written by marks, for readers: see btf.MarkKind.
	Marks bool

	Lang, LangExclude []uint16 // wanted and unwanted languages; at most one list is set
	CUExclude         string   // what unwanted units' names begin with; "" for none
}

// VarSection is a section in which variables are looked up.
type VarSection struct {
	Index      uint32
	Addr, Size uint64
	Name       string
	Wanted     bool
	Extra      bool // its variables do not go into the main BTF
}

// sectionOf is the first section that holds addr, if its variables are wanted;
// nil otherwise.
func (in *Input) sectionOf(addr uint64) *VarSection {
	for i := range in.Sections {
		s := &in.Sections[i]
		if addr-s.Addr < s.Size {
			if !s.Wanted {
				return nil
			}
			return s
		}
	}
	return nil
}

// Merged is what the units of a file have in common that refer to each other.
type Merged struct {
	Places []Place // all units, those of the alternate file behind those of the file

	Language uint16 // these three are the first unit's
	Clang    bool
	AddrSize uint8
}

// Place is where a unit of such a file is.
type Place struct {
	Off  uint64 // of the header: in .debug_info, or Base + that in the alternate file
	Base uint64 // 0, or of the alternate file the size of .debug_info
	Skip bool   // of the alternate file, and nothing refers to it
}

// alone is the error of a DIE that leads to other units, in a file whose units are read one by
// one because no abbreviation said so.
func alone(c *debuginfo.Cursor, off int) error {
	if c.File.Split() {
		return c.DIEError(off, "split DWARF whose units refer to each other is not supported")
	}
	return c.DIEError(off, "it leads to other units, by an abbreviation that begins inside another one")
}

// At is the unit in which the section offset lies.
func (m *Merged) At(off uint64) (k int, ok bool) {
	k, found := slices.BinarySearchFunc(m.Places, off, func(p Place, off uint64) int { return cmp.Compare(p.Off, off) })
	if !found {
		k--
	}
	return k, k >= 0
}

// FileOf is the file that unit k of a merged file is in.
func (in *Input) FileOf(k int) *debuginfo.File {
	if in.Merged.Places[k].Base != 0 {
		return in.File.Alt
	}
	return in.File
}

// OpenPlace reads the header of unit k of a merged file.
func (r *Reader) OpenPlace(k int) error {
	p, from := &r.In.Merged.Places[k], r.In.FileOf(k)
	r.Cursor.Base = p.Base
	return from.InFile(from.Header(p.Off-p.Base, &r.Cursor))
}

// filtered says whether a unit is not wanted. Of a merged file, units are filtered
// only if languages are excluded, then by their names as well, and all are if
// the first one would be by its language (pahole-behaviour 1.4.1).
func (r *Reader) filtered() bool {
	if r.In.Merged != nil && (len(r.In.Options.Lang) > 0 || len(r.In.Options.LangExclude) == 0) {
		return false
	}
	return r.In.WrongName(r.Cursor.Name) || r.In.Options.WrongLanguage(r.Unit.Facts.Language)
}

// WrongName says whether a unit is not wanted by its name.
func (in *Input) WrongName(name dedup.Name) bool {
	p := in.Options.CUExclude
	return p != "" && bytes.HasPrefix(in.File.Names.Text(name), []byte(p))
}

// WrongLanguage says whether units of a language are not wanted.
func (o *Options) WrongLanguage(lang uint16) bool {
	if len(o.Lang) > 0 {
		return !slices.Contains(o.Lang, lang)
	}
	return slices.Contains(o.LangExclude, lang)
}
