package encode

import (
	"math/bits"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/compactstate"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/names"
)

// unit is the arena slot in which one compile unit is worked on: every table
// is flat, pointer-free and reused by the next unit that takes the slot, so
// that in steady state a unit costs no allocation.
//
// While the DIEs are walked, references are DIE offsets (relative to the unit
// header, 0 = none, extraRef set for nodes without a DIE of their own); link
// turns them into dedup.Refs.
type unit struct {
	seq     int // position in the file, from 0: the commit order
	hdr     dwarf.Unit
	size    uint64         // bytes of .debug_info that the slot stands for
	abbrevs *dwarf.Abbrevs // own, or one that units share
	own     dwarf.Abbrevs
	vals    dwarf.Values

	// Of a relocatable file: the unit's relocated bytes, which hdr.Data is
	// then, and the entries that were applied.
	copy                  arena.Vec[byte]
	typeCopy              arena.Vec[byte] // likewise of the type unit in work
	firstReloc, lastReloc int
	relocFail             error
	touched               byte         // by touchNames; of no meaning
	reader                names.Reader // of its names; kept from unit to unit

	name         dedup.Name
	language     uint16
	foreign      uint16 // language that is neither C nor assembler, 0 for none
	clang        bool
	filtered     bool
	hides        bool   // no type has come of it, and DIEs say that one should have
	log          []byte // -V lines, written when the unit is committed
	strBase      uint64 // DW_AT_str_offsets_base
	addrBase     uint64 // DW_AT_addr_base
	loclistsBase uint64 // DW_AT_loclists_base
	dies         uint64

	// types is what dedup sees: nodes of DIEs in DIE order, then extras.
	types dedup.Unit
	// extra holds nodes without a DIE: inner array dimensions, type tags, the
	// invented int, declaration tags. They go behind the DIE nodes.
	extra arena.Vec[dedup.Node]
	// starts says at which bytes of the unit a node's DIE starts.
	starts arena.Vec[startWord]
	// open holds the members of aggregates that turned out to have other DIEs
	// between their members, until they are closed.
	open   arena.Vec[dedup.Member]
	frames arena.Vec[frame]

	funcs     arena.Vec[callconv.Func]
	params    arena.Vec[callconv.Param]
	funcOrder arena.Vec[uint32] // funcs in functions-table order
	annots    arena.Vec[annotRec]
	tags      arena.Vec[tagRec]
	vars      arena.Vec[varRec]
	oldBits   arena.Vec[oldBitfield]
	states    arena.Vec[stateRec]
	stParams  arena.Vec[compactstate.Param]
	env       callconv.Functions
	entries   arena.Vec[nameEntry] // kept from unit to unit
	tokens    []dedup.Name         // scratch of entriesAhead
	texts     [][]byte             // likewise; parts of the mapping

	left    []uint32       // nodes that BTF has no kind for
	leftOut map[string]int // see Stats.LeftOut

	firstInt dedup.Ref // first base type named "int", for the array index type
	arrays   bool
	fail     error // why the unit could not be encoded

	raw      arena.Vec[uint32] // ids that -V gives the nodes; empty without -V
	unsigned map[uint32]bool   // nodes of ENUMs with negative values and no signed type; nil without -V

	// Of a merged file (mergeread.go), else empty: the slot holds a group.
	from                 mark
	cross                arena.Vec[uint64] // targets of references to other units, by marker
	parts                arena.Vec[part]
	imports              arena.Vec[importRec]
	ownFuncs             int                  // those behind them are copies (expand), if not 0
	far                  *unit                // the unit of a specification elsewhere
	base                 uint64               // of .debug_info among those of the file and its alternate
	allStarts            arena.Vec[startWord] // starts of all parts
	formats              arena.Vec[callconv.FormatRun]
	units, unitsFiltered int

	skeleton *skeleton // of a unit that is in a .dwo, else nil
	splitID  uint64    // DW_AT_GNU_dwo_id

	// Of a unit that leads to type units (typeunits.go), which are parts then.
	needTypes []uint32 // their indexes, as met
	stubs     []stub
	specs     []stub   // of the type unit in work: definitions and DIE offsets of their declarations
	seeds     []uint32 // type units that no unit leads to: these alone are read
}

// annotRec is a declaration tag of a function, parameter or variable.
type annotRec struct {
	Value     dedup.Name
	Component int32
}

// tagRec is a declaration tag of a struct, union or typedef.
type tagRec struct {
	Node      uint32 // DIE node
	Value     dedup.Name
	Component int32
}

// varRec is a variable that is a candidate for a VAR.
type varRec struct {
	Off      uint32 // DIE offset
	Name     dedup.Name
	Type     uint32 // DIE offset, then Ref
	Section  uint32 // ELF section index
	SecOff   uint64 // offset in the section
	FirstAn  uint32
	NAn      uint32
	External bool
	Extra    bool // for Output.Extra
}

// oldBitfield is a DWARF 2/3 bit-field whose offset depends on the size of its
// type, which is known only after linking.
type oldBitfield struct {
	Node   uint32
	Member uint32 // index in the node
	Loc    uint32 // bytes
	Size   uint32 // DW_AT_byte_size of the member, 0 absent
	BitOff int8   // DW_AT_bit_offset
	Bits   uint8
}

// extraRef marks a reference to unit.extra while DIEs are walked.
const extraRef = 1 << 31

// maxSlotBytes is what one table may keep between units; a larger one, left
// by an outlier, is given back.
const maxSlotBytes = 1 << 20

// init prepares a new slot, whose memory has the limit l.
func (u *unit) init(l *arena.Limit) {
	arena.Bind(l, u)
	u.env.Only = func(i uint32) bool { return u.funcs.S[i].Entry != 0 }
}

func (u *unit) reset() {
	u.types.Reset(maxSlotBytes)
	u.copy.Trim(maxSlotBytes)
	u.typeCopy.Trim(maxSlotBytes)
	u.firstReloc, u.lastReloc, u.reader.Low, u.relocFail = 0, 0, ^uint32(0), nil
	u.extra.Trim(maxSlotBytes)
	u.starts.Trim(maxSlotBytes)
	u.open.Trim(maxSlotBytes)
	u.frames.Trim(maxSlotBytes)
	u.funcs.Trim(maxSlotBytes)
	u.params.Trim(maxSlotBytes)
	u.funcOrder.Trim(maxSlotBytes)
	u.annots.Trim(maxSlotBytes)
	u.tags.Trim(maxSlotBytes)
	u.vars.Trim(maxSlotBytes)
	u.oldBits.Trim(maxSlotBytes)
	u.states.Trim(maxSlotBytes)
	u.stParams.Trim(maxSlotBytes)
	u.cross.Trim(maxSlotBytes)
	u.parts.Trim(maxSlotBytes)
	u.imports.Trim(maxSlotBytes)
	u.ownFuncs, u.base = 0, 0
	u.allStarts.Trim(maxSlotBytes)
	u.formats.Trim(maxSlotBytes)
	u.raw.Trim(maxSlotBytes)
	u.unsigned = nil
	u.from, u.units, u.unitsFiltered = mark{}, 0, 0
	u.name, u.language, u.foreign, u.clang, u.filtered = 0, 0, 0, false, false
	u.strBase, u.addrBase, u.loclistsBase = 0, 0, 0
	u.dies, u.reader.Bad, u.hides, u.log = 0, false, false, u.log[:0]
	u.needTypes, u.stubs, u.specs = u.needTypes[:0], u.stubs[:0], u.specs[:0]
	u.skeleton, u.splitID = nil, 0
	u.left, u.leftOut = u.left[:0], nil
	u.firstInt, u.arrays, u.fail = 0, false, nil
}

// free gives the slot's memory back.
func (u *unit) free() {
	u.types.Free()
	u.copy.Free()
	u.typeCopy.Free()
	u.reader.Free()
	u.extra.Free()
	u.starts.Free()
	u.open.Free()
	u.frames.Free()
	u.funcs.Free()
	u.params.Free()
	u.funcOrder.Free()
	u.annots.Free()
	u.tags.Free()
	u.vars.Free()
	u.oldBits.Free()
	u.states.Free()
	u.stParams.Free()
	u.cross.Free()
	u.parts.Free()
	u.imports.Free()
	u.freeFar()
	u.allStarts.Free()
	u.formats.Free()
	u.raw.Free()
	u.entries.Free()
}

// freeFar gives the slot for specifications back.
func (u *unit) freeFar() {
	if u.far != nil {
		u.far.free()
		u.far = nil
	}
}

// addNode adds a node of the DIE at off, all zero, and returns it with its
// index. The fields are to be set in place: a Node that is built elsewhere and
// then copied waits for its parts. It is valid until the next call.
func (u *unit) addNode(off int) (*dedup.Node, uint32) {
	v := u.types.Nodes.S
	i := len(v)
	if i == cap(v) {
		v = u.moreNodes()
	}
	u.starts.S[uint(off)>>6].bits |= 1 << (uint(off) & 63)
	v = v[:i+1]
	v[i] = dedup.Node{}
	u.types.Nodes.S = v
	return &v[i], uint32(i)
}

//go:noinline
func (u *unit) moreNodes() []dedup.Node {
	u.types.Nodes.Grow(len(u.types.Nodes.S) + 1)
	return u.types.Nodes.S
}

// push opens a frame for a DIE's children and returns it for the rest of its
// fields to be set; it is valid until the next call.
func (u *unit) push(ctx role, tag dwarf.Tag) *frame {
	v := u.frames.S
	i := len(v)
	if i == cap(v) {
		v = u.moreFrames()
	}
	v = v[:i+1]
	v[i] = frame{ctx: ctx, tag: tag}
	u.frames.S = v
	return &v[i]
}

//go:noinline
func (u *unit) moreFrames() []frame {
	u.frames.Grow(len(u.frames.S) + 1)
	return u.frames.S
}

// addOrder gives a node its place in the raw order.
func (u *unit) addOrder(i uint32) {
	v := u.types.Order.S
	if len(v) == cap(v) {
		v = u.moreOrder()
	}
	u.types.Order.S = append(v, i)
}

//go:noinline
func (u *unit) moreOrder() []uint32 {
	u.types.Order.Grow(len(u.types.Order.S) + 1)
	return u.types.Order.S
}

// startWord is about 64 bytes of a unit: the bits of those at which a node's
// DIE starts, and the Ref that the first of them has.
type startWord struct {
	bits uint64
	ref  dedup.Ref
}

// startRef turns a DIE offset into a Ref; 0 when no node's DIE starts there, as
// for offset 0, which is no reference.
func startRef(starts []startWord, off uint32) dedup.Ref {
	w := off >> 6
	if w >= uint32(len(starts)) {
		return 0
	}
	m := &starts[w]
	below := uint64(1)<<(off&63) - 1
	if m.bits&(below+1) == 0 {
		return 0
	}
	return m.ref + uint32(bits.OnesCount64(m.bits&below))
}

// index settles the Refs of u.starts.
func (u *unit) index() {
	n := dedup.Ref(u.from.nodes) + 1
	for i := range u.starts.S {
		m := &u.starts.S[i]
		m.ref = n
		n += uint32(bits.OnesCount64(m.bits))
	}
}
