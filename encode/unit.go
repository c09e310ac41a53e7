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
	seq  int    // position in the file, from 0: the commit order
	size uint64 // bytes of .debug_info that the slot stands for
	fail error  // why the unit could not be encoded
	log  []byte // -V lines, written when the unit is committed

	cursor
	facts
	dieTables
	funcTables
	group
	elsewhere
}

// cursor is what a unit's DIEs are read from.
type cursor struct {
	hdr     dwarf.Unit
	abbrevs *dwarf.Abbrevs // own, or one that units share
	own     dwarf.Abbrevs
	vals    dwarf.Values
	reader  names.Reader // of its names; kept from unit to unit

	strBase      uint64 // DW_AT_str_offsets_base
	addrBase     uint64 // DW_AT_addr_base
	loclistsBase uint64 // DW_AT_loclists_base

	// Of a relocatable file: the unit's relocated bytes, which hdr.Data is
	// then, and the entries that were applied.
	copy                  arena.Vec[byte]
	typeCopy              arena.Vec[byte] // likewise of the type unit in work
	firstReloc, lastReloc int
	relocFail             error
	touched               byte // by touchNames; of no meaning
}

// facts is what is known of a unit as a whole.
type facts struct {
	name     dedup.Name
	language uint16
	foreign  uint16 // language that is neither C nor assembler, 0 for none
	clang    bool
	filtered bool
	hides    bool // no type has come of it, and DIEs say that one should have
	dies     uint64
}

// dieTables is what has been read of the DIEs, functions and parameters apart.
type dieTables struct {
	// types is what dedup sees: nodes of DIEs in DIE order, then extras.
	types dedup.Unit
	// extra holds nodes without a DIE: inner array dimensions, type tags, the
	// invented int, declaration tags. They go behind the DIE nodes.
	extra arena.Vec[dedup.Node]
	// starts says at which bytes of the unit a node's DIE starts.
	starts arena.Vec[startWord]
	// open holds the members of aggregates that turned out to have other DIEs
	// between their members, until they are closed.
	open    arena.Vec[dedup.Member]
	frames  arena.Vec[frame]
	annots  arena.Vec[annotRec]
	tags    arena.Vec[tagRec]
	vars    arena.Vec[varRec]
	oldBits arena.Vec[oldBitfield]

	left    []uint32       // nodes that BTF has no kind for
	leftOut map[string]int // see Stats.LeftOut

	firstInt dedup.Ref // first base type named "int", for the array index type
	arrays   bool

	raw      arena.Vec[uint32] // ids that -V gives the nodes; empty without -V
	unsigned map[uint32]bool   // nodes of ENUMs with negative values and no signed type; nil without -V
}

// funcTables is what has been read of functions, and what came of judging them.
type funcTables struct {
	funcs     arena.Vec[callconv.Func]
	params    arena.Vec[callconv.Param]
	funcOrder arena.Vec[uint32] // funcs in functions-table order
	states    arena.Vec[stateRec]
	stParams  arena.Vec[compactstate.Param]
	env       callconv.Functions
	entries   arena.Vec[nameEntry] // kept from unit to unit
	tokens    []dedup.Name         // scratch of entriesAhead
	texts     [][]byte             // likewise; parts of the mapping
}

// group is what only units of a merged file need (mergeread.go): the slot holds
// a group of them. Else it is empty.
type group struct {
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
}

// elsewhere is what only units need of which a part is in other places.
type elsewhere struct {
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

// reset prepares the slot for the next unit.
func (u *unit) reset() {
	u.log, u.fail = u.log[:0], nil
	u.cursor.reset()
	u.facts = facts{}
	u.dieTables.reset()
	u.funcTables.reset()
	u.group.reset()
	u.elsewhere.reset()
}

func (c *cursor) reset() {
	c.copy.Trim(maxSlotBytes)
	c.typeCopy.Trim(maxSlotBytes)
	c.firstReloc, c.lastReloc, c.relocFail = 0, 0, nil
	c.reader.Low, c.reader.Bad = ^uint32(0), false
	c.strBase, c.addrBase, c.loclistsBase = 0, 0, 0
}

func (t *dieTables) reset() {
	t.types.Reset(maxSlotBytes)
	t.extra.Trim(maxSlotBytes)
	t.starts.Trim(maxSlotBytes)
	t.open.Trim(maxSlotBytes)
	t.frames.Trim(maxSlotBytes)
	t.annots.Trim(maxSlotBytes)
	t.tags.Trim(maxSlotBytes)
	t.vars.Trim(maxSlotBytes)
	t.oldBits.Trim(maxSlotBytes)
	t.raw.Trim(maxSlotBytes)
	t.unsigned = nil
	t.left, t.leftOut = t.left[:0], nil
	t.firstInt, t.arrays = 0, false
}

func (t *funcTables) reset() {
	t.funcs.Trim(maxSlotBytes)
	t.params.Trim(maxSlotBytes)
	t.funcOrder.Trim(maxSlotBytes)
	t.states.Trim(maxSlotBytes)
	t.stParams.Trim(maxSlotBytes)
}

func (g *group) reset() {
	g.cross.Trim(maxSlotBytes)
	g.parts.Trim(maxSlotBytes)
	g.imports.Trim(maxSlotBytes)
	g.allStarts.Trim(maxSlotBytes)
	g.formats.Trim(maxSlotBytes)
	g.from, g.units, g.unitsFiltered = mark{}, 0, 0
	g.ownFuncs, g.base = 0, 0
}

func (e *elsewhere) reset() {
	e.needTypes, e.stubs, e.specs = e.needTypes[:0], e.stubs[:0], e.specs[:0]
	e.skeleton, e.splitID = nil, 0
}

// free gives the slot's memory back.
func (u *unit) free() {
	u.cursor.free()
	u.dieTables.free()
	u.funcTables.free()
	u.group.free()
}

func (c *cursor) free() {
	c.copy.Free()
	c.typeCopy.Free()
	c.reader.Free()
}

func (t *dieTables) free() {
	t.types.Free()
	t.extra.Free()
	t.starts.Free()
	t.open.Free()
	t.frames.Free()
	t.annots.Free()
	t.tags.Free()
	t.vars.Free()
	t.oldBits.Free()
	t.raw.Free()
}

func (t *funcTables) free() {
	t.funcs.Free()
	t.params.Free()
	t.funcOrder.Free()
	t.states.Free()
	t.stParams.Free()
	t.entries.Free()
}

func (g *group) free() {
	g.cross.Free()
	g.parts.Free()
	g.imports.Free()
	g.allStarts.Free()
	g.formats.Free()
	g.freeFar()
}

// freeFar gives the slot for specifications back.
func (g *group) freeFar() {
	if g.far != nil {
		g.far.free()
		g.far = nil
	}
}

// addNode adds a node of the DIE at off, all zero, and returns it with its
// index. The fields are to be set in place: a Node that is built elsewhere and
// then copied waits for its parts. It is valid until the next call.
func (t *dieTables) addNode(off int) (*dedup.Node, uint32) {
	v := t.types.Nodes.S
	i := len(v)
	if i == cap(v) {
		v = t.moreNodes()
	}
	t.starts.S[uint(off)>>6].bits |= 1 << (uint(off) & 63)
	v = v[:i+1]
	v[i] = dedup.Node{}
	t.types.Nodes.S = v
	return &v[i], uint32(i)
}

//go:noinline
func (t *dieTables) moreNodes() []dedup.Node {
	t.types.Nodes.Grow(len(t.types.Nodes.S) + 1)
	return t.types.Nodes.S
}

// push opens a frame for a DIE's children and returns it for the rest of its
// fields to be set; it is valid until the next call.
func (t *dieTables) push(ctx role, tag dwarf.Tag) *frame {
	v := t.frames.S
	i := len(v)
	if i == cap(v) {
		v = t.moreFrames()
	}
	v = v[:i+1]
	v[i] = frame{ctx: ctx, tag: tag}
	t.frames.S = v
	return &v[i]
}

//go:noinline
func (t *dieTables) moreFrames() []frame {
	t.frames.Grow(len(t.frames.S) + 1)
	return t.frames.S
}

// addOrder gives a node its place in the raw order.
func (t *dieTables) addOrder(i uint32) {
	v := t.types.Order.S
	if len(v) == cap(v) {
		v = t.moreOrder()
	}
	t.types.Order.S = append(v, i)
}

//go:noinline
func (t *dieTables) moreOrder() []uint32 {
	t.types.Order.Grow(len(t.types.Order.S) + 1)
	return t.types.Order.S
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
