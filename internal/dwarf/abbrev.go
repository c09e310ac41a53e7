package dwarf

// Abbreviations are compiled, not interpreted. GCC writes one table of 100 to
// 300 abbreviations for each unit, and almost every DIE of a kernel has only
// fixed-size attributes. So Compile turns a table, once per unit, into records that
// answer the three questions of the walk without looking at forms again:
//
//   - How many bytes do the DIE's attributes have (Abbrev.Size, if Fixed)?
//   - Where in them are the few wanted values (Abbrev.Slots, if Direct)?
//   - For all other DIEs: which bytes are skipped, and which are read (a program
//     of ops in which neighbouring skips are merged)?

// The slots of direct values, by the attribute that each class of DIEs has there.
const (
	SlotName = 0
	SlotType = 1

	SlotSibling    = 2 // ClassSkip
	SlotMemberLoc  = 2 // ClassMember
	SlotByteSize   = 2 // ClassAggregate, ClassEnum, ClassBase
	SlotConst      = 2 // ClassEnumerator
	SlotUpperBound = 2 // ClassSubrange
	SlotOrigin     = 2 // ClassParam

	SlotBitSize     = 3 // ClassMember
	SlotDeclaration = 3 // ClassAggregate
	SlotCount       = 3 // ClassSubrange
	SlotEncoding    = 3 // ClassBase
	SlotLocation    = 3 // ClassParam

	SlotDataBitOffset = 4 // ClassMember

	NumSlots = 5
)

// Slot locates a direct value. The value is Const plus a number in the unit's byte
// order, which has as many bytes as Mask covers. For an absent value, Mask and Const
// are 0.
type Slot struct {
	Mask  uint32 // 0, 0xff, 0xffff or 0xffffffff
	Const uint16 // the value of DW_FORM_implicit_const or DW_FORM_flag_present; else 0
	Off   uint16 // offset of the number from the first attribute
}

// PlainOff is the highest Off of the slots of a Plain member. Its name comes first, and its type
// has four bytes.
const PlainOff = 24

// Abbrev is a compiled abbreviation. Its 64 bytes are a cache line of the table, because
// the walk reads one for each DIE, and all that a unit uses should stay in the
// first-level cache.
type Abbrev struct {
	Size     uint32 // bytes of all attributes, if Fixed
	Present  uint32 // wanted values that the abbreviation has, as bits
	NameBase uint32 // to be added to SlotName; 0 if there is none
	prog     uint32 // first op in Abbrevs.ops; crossProg
	Tag      Tag
	Class    Class
	Children bool
	Fixed    bool // Size is right for every DIE
	Inline   bool // Direct except for an inline name at the start; slots and Size count from its end
	Direct   bool // Fixed, and Slots hold all wanted values (a name is DW_FORM_strp with 32-bit offset or absent)
	Plain    bool // a member that is Direct or Inline, at an offset below 65536, no bit-field and has no children; see PlainOff
	Slots    [NumSlots]Slot
}

// abbrevBytes is the size of an Abbrev.
const abbrevBytes = 64

// crossProg is the bit of Abbrev.prog for Cross.
const crossProg = 1 << 31

// Cross says that a wanted value is a reference that may leave the unit.
func (a *Abbrev) Cross() bool { return a.prog&crossProg != 0 }

// Abbrevs is the compiled table of one unit. Compile uses its memory again. The zero
// value is ready for Compile. One goroutine may use it at a time.
type Abbrevs struct {
	// Cache, unless it is nil, has abbreviations of other tables of the file.
	Cache *AbbrevCache

	tab    []Abbrev          // by code; Tag 0 = no such code
	sparse map[uint64]Abbrev // by code, for codes that would make tab too large
	ops    []op              // the programs of all abbreviations, one after another
	consts []int64           // for opConst
	cross  bool              // see Cross
	work   uint64            // see Work

	// What the table was compiled for; sec is nil before the first and after an error.
	sec      []byte
	plan     *Plan
	off      uint64
	nameBase uint32
	unitFormat
	forms [numForms]formSize // by standard form, for unitFormat
}

// Bytes is about how much memory the table takes.
func (t *Abbrevs) Bytes() int {
	return abbrevBytes*cap(t.tab) + 8*cap(t.ops) + 8*cap(t.consts) + 128*len(t.sparse)
}

// Cross reports whether an abbreviation, used or not, has a reference by
// section offset (DW_FORM_ref_addr), a reference or name in a supplementary
// file, or imports a unit: its units cannot be understood one by one.
func (t *Abbrevs) Cross() bool { return t.cross }

// op is one step of a capture program.
type op struct {
	code opCode
	slot uint8  // value index
	arg  uint16 // bytes to skip or to read
	form Form
}

type opCode uint8

const (
	opSkip       opCode = iota // arg bytes
	opFixed                    // read arg (1, 2, 4, 8) bytes
	opFixed3                   // read 3 bytes
	opSmall                    // arg is the value (implicit_const, flag_present)
	opConst                    // arg indexes consts, for an implicit_const that arg cannot hold
	opULEB                     // read
	opSLEB                     // read
	opString                   // offset of an inline string
	opBlock                    // arg = width of the length, 0 = ULEB; value = offset<<32 | length
	opSkipLEB                  // skip a LEB128 number
	opSkipString               // skip an inline string
	opSkipBlock                // as opBlock
	opIndirect                 // form in the data; slot 0xff = not wanted
	opEnd
)

// notWanted is the slot of an opIndirect whose value is skipped.
const notWanted = 0xff

// Lookup returns the abbreviation with the code, or nil if the table does not have it. The result is valid until the
// next Compile.
func (t *Abbrevs) Lookup(code uint64) *Abbrev {
	if code < uint64(len(t.tab)) {
		if a := &t.tab[code]; a.Tag != 0 {
			return a
		}
		return nil
	}
	if a, ok := t.sparse[code]; ok {
		return &a
	}
	return nil
}

// Dense returns the table by code for codes below its length. An entry with Tag 0 is
// unused. It is valid until the next Compile.
func (t *Abbrevs) Dense() []Abbrev { return t.tab }

// Work is how many bytes of .debug_abbrev the calls of Compile have read since
// Work was called last.
func (t *Abbrevs) Work() uint64 {
	n := t.work
	t.work = 0
	return n
}

// isIn reports whether the table was compiled from sec itself, at the same place in memory. To compare the sizes would not
// be enough: the section of an alternate file can have the same size.
func (t *Abbrevs) isIn(sec []byte) bool {
	return len(t.sec) > 0 && len(t.sec) == len(sec) && &t.sec[0] == &sec[0]
}

// Forget makes the next Compile read its table, when the bytes of its section are gone: other bytes
// may come to their place.
func (t *Abbrevs) Forget() { t.sec = nil }
