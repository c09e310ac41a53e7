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

// Input has the facts about a file that readers of its units need. Readers share it. It
// changes only between units.
type Input struct {
	File     *debuginfo.File
	Options  Options
	Sections VarSections // where variables may be; none if none are wanted
	// ArrayIndex is the set's id of the int that indexes arrays; 0 until known. A Commit may set it
	// while units are read.
	ArrayIndex *atomic.Uint32
	// Merged has the facts about a file whose units refer to each other. It is nil for
	// other files.
	Merged *Merged
	Limit  *arena.Limit // for the memory of Readers that a Reader makes itself
}

// Options say which parts of the DIEs are read.
type Options struct {
	Float, DeclTag, TypeTag, Enum64 bool // features by these names
	// WholeBitfields turns bit-fields that are as wide and as aligned as their type into
	// ordinary members (pahole's --fixup_silly_bitfields).
	WholeBitfields bool
	// LongVlen allows more than MaxVlen members, values or parameters.
	LongVlen bool
	// ForKernel leaves out void where C does not allow it, because kernels refuse that.
	ForKernel bool
	// KeepSigns fills Unit.Unsigned with the ENUMs that have negative values and a type
	// without a sign.
	KeepSigns bool
	// Marks keeps types that BTF has no kind for as marks, for readers: see btf.MarkKind.
	Marks bool

	Lang, LangExclude []uint16 // wanted and unwanted languages; at most one list is set
	CUExclude         string   // prefix of unwanted units' names; "" for none
}

// Merged has what the units of a merged file share.
type Merged struct {
	Places []Place // all units; first the file's, then the alternate file's

	Language uint16 // these three are from the first unit
	Clang    bool
	AddrSize uint8
}

// Place is the place of a unit in a merged file.
type Place struct {
	Off  uint64 // offset of the header: in .debug_info, or Base + the offset in the alternate file
	Base uint64 // 0, or for the alternate file the size of .debug_info
	Skip bool   // it is in the alternate file, and nothing refers to it
}

// crossUnitError is the error for a DIE that refers to another unit in a file whose units are
// read one by one, because no abbreviation has announced such a reference.
func crossUnitError(c *debuginfo.Cursor, off int) error {
	if c.File.Split() {
		return c.DIEError(off, "split DWARF whose units refer to each other is not supported")
	}
	return c.DIEError(off, "it leads to other units, by an abbreviation that begins inside another one")
}

// At returns the unit that contains the section offset.
func (m *Merged) At(off uint64) (k int, ok bool) {
	k, found := slices.BinarySearchFunc(m.Places, off, func(p Place, off uint64) int { return cmp.Compare(p.Off, off) })
	if !found {
		k--
	}
	return k, k >= 0
}

// FileOf returns the file that contains unit k of a merged file.
func (in *Input) FileOf(k int) *debuginfo.File {
	if in.Merged.Places[k].Base != 0 {
		return in.File.Alt
	}
	return in.File
}

// WrongName reports whether units of this name are filtered out.
func (in *Input) WrongName(name dedup.Name) bool {
	p := in.Options.CUExclude
	return p != "" && bytes.HasPrefix(in.File.Names.Text(name), []byte(p))
}

// WrongLanguage reports whether units of a language are filtered out.
func (o *Options) WrongLanguage(lang uint16) bool {
	if len(o.Lang) > 0 {
		return !slices.Contains(o.Lang, lang)
	}
	return slices.Contains(o.LangExclude, lang)
}
