package unit

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/debuginfo"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/inline"
)

// Unit is the memory in which one compile unit is read: every table is flat,
// pointer-free and used again by the next unit, so that in steady state a unit
// costs no allocation.
//
// While the DIEs are walked, references are DIE offsets (relative to the unit
// header, 0 = none, extraRef set for nodes without a DIE of their own); link
// turns them into dedup.Refs.
type Unit struct {
	debuginfo.Cursor
	Facts
	Tables
	Functions
	links
	group
	// Inline reads what is inlined in the functions; nil if nobody wants that.
	Inline *inline.Reader
}

// Facts is what is known of a unit as a whole.
type Facts struct {
	Language uint16 // DW_AT_language
	Foreign  uint16 // language that is neither C nor assembler, 0 for none
	Clang    bool   // the producer is clang
	Filtered bool   // the unit is not wanted by its language or name
	Hides    bool   // no type has come of it, and DIEs say that one should have
	DIEs     uint64
	Skeleton *debuginfo.Skeleton // of a unit that is in a .dwo, else nil
}

// Tables is what has been read of the DIEs, functions and parameters apart.
type Tables struct {
	// Types is what dedup sees: nodes of DIEs in DIE order, then extras.
	Types  dedup.Unit
	Annots arena.Vec[Annot]
	Tags   arena.Vec[Tag]
	Vars   arena.Vec[Var]

	FirstInt dedup.Ref // first base type named "int", for the array index type

	Unencodable Unencodable
	Unsigned    map[uint32]bool // see Options.KeepSigns

	// extra holds nodes without a DIE: inner array dimensions, type tags, the
	// invented int, declaration tags. They go behind the DIE nodes.
	extra arena.Vec[dedup.Node]
	// starts says at which bytes of the unit a node's DIE starts.
	starts arena.Vec[startWord]
	// open holds the members of aggregates that turned out to have other DIEs
	// between their members, until they are closed.
	open    arena.Vec[dedup.Member]
	frames  arena.Vec[frame]
	oldBits arena.Vec[oldBitfield]
	// Arrays says whether a node is an ARRAY.
	Arrays bool
}

// Functions is what has been read of functions.
type Functions struct {
	Funcs     arena.Vec[callconv.Func]
	Params    arena.Vec[callconv.Param]
	FuncOrder arena.Vec[uint32] // Funcs in functions-table order
	OwnFuncs  int               // those behind them are copies (Expand), if not 0
	Formats   arena.Vec[callconv.FormatRun]
	// Exprs is what the expressions of parameters are offsets in, of a unit record. nil
	// for others, where it is Hdr.Data.
	Exprs []byte
}

// links are references that leave the unit, and what stands for types elsewhere.
type links struct {
	cross arena.Vec[uint64] // targets of references to other units, by marker

	// Of a unit that leads to type units (typeunits.go), which are parts then.
	NeedTypes []uint32 // their indexes, as met
	stubs     []stub
	specs     []stub // of the type unit in work: definitions and DIE offsets of their declarations

	far *Unit // the unit of a specification elsewhere
}

// group is what only a unit that is read with others needs: the tables hold all of
// them. Else it is empty.
type group struct {
	Units, UnitsFiltered int // compile units of the group

	from      mark
	parts     arena.Vec[part]
	imports   arena.Vec[importRec]
	allStarts arena.Vec[startWord] // starts of all parts
}

// Annot is a declaration tag of a function, parameter or variable.
type Annot struct {
	Value     dedup.Name
	Component int32
}

// Tag is a declaration tag of a struct, union or typedef.
type Tag struct {
	Node      uint32 // DIE node
	Value     dedup.Name
	Component int32
}

// Var is a variable that is a candidate for a VAR.
type Var struct {
	Off      uint32 // DIE offset
	Name     dedup.Name
	Type     uint32 // DIE offset, then Ref
	Section  uint32 // ELF section index
	SecOff   uint64 // offset in the section
	FirstAn  uint32
	NAn      uint32
	External bool
	Extra    bool // not for the main BTF: VarSection.Extra
}

// stub is a node that stands for another type.
type stub struct {
	node uint32
	ref  uint32 // DIE offset, then Ref
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

// mark is where the tables of the unit in work start; they are not empty if
// units of the same group come before it.
type mark struct{ nodes, order, funcs, params, vars, stubs int }

// part is a unit of the group, once linked.
type part struct {
	off, end uint64 // in .debug_info, that of the alternate file behind that of the file
	bits     uint32 // first word in unit.allStarts

	order, orderEnd, funcs, funcsEnd uint32 // in types.Order and funcOrder
	imports                          uint32 // first in unit.imports
	readings                         uint16 // how often pahole reads it
	alt                              bool   // it is in the alternate file
}

// importRec is a DW_TAG_imported_unit below a unit of the group.
type importRec struct {
	order, funcs uint32 // how many types and functions came before it
	target       uint64 // section offset, those of the alternate file behind those of the file
}

// infoTypeTag is the first word of a TYPE_TAG.
const infoTypeTag = uint32(btf.KindTypeTag) << 24

// role is what the children of a DIE are read as.
type role uint8

const (
	inUnit role = iota
	inNamespace
	inFunc
	inBlock
	inAggregate
	inEnum
	inProto
	inVariants // a variant part; for readers only
	inVariant  // a variant of it
	inArray    // dimensions and annotations only, like all that follow
	inType     // pointer, typedef …: annotations only
	inPart     // member, parameter, variable: annotations only
)

// frame is an open DIE with children.
type frame struct {
	role  role
	tag   dwarf.Tag
	owner uint32 // node, function or variable index
	first uint32 // first member in Types.Members, or in Tables.open if open
	n     uint32 // members, enumerators, parameters so far; dimensions of an array
	comp  int32  // component index for annotations of the owner's parts
	kflag bool
	open  bool   // members are in Tables.open
	neg   bool   // an enumerator is negative
	big   bool   // an enumerator needs more than 32 bits
	an    uint32 // offset of the first of GCC's annotations, 0 for none; of a frame inPart, ofParam or ofVariable
}

// Whose annotations a frame inPart has, if they count and the owner is not the
// frame around it.
const (
	ofParam = 1 + iota
	ofVariable
)

// extraRef marks a reference to Tables.extra while DIEs are walked.
const extraRef = 1 << 31

// Init prepares a new Unit, whose memory has the limit l.
func (u *Unit) Init(l *arena.Limit) { arena.Bind(l, u) }

// Reset prepares for the next unit.
func (u *Unit) Reset() {
	u.Cursor.Reset(arena.KeepBytes)
	u.Facts = Facts{}
	u.Tables.reset()
	u.Functions.reset()
	u.links.reset()
	u.group.reset()
}

func (t *Tables) reset() {
	t.Types.Reset(arena.KeepBytes)
	t.extra.Trim(arena.KeepBytes)
	t.starts.Trim(arena.KeepBytes)
	t.open.Trim(arena.KeepBytes)
	t.frames.Trim(arena.KeepBytes)
	t.Annots.Trim(arena.KeepBytes)
	t.Tags.Trim(arena.KeepBytes)
	t.Vars.Trim(arena.KeepBytes)
	t.oldBits.Trim(arena.KeepBytes)
	t.Unsigned = nil
	t.Unencodable.reset()
	t.FirstInt, t.Arrays = 0, false
}

func (t *Functions) reset() {
	t.Funcs.Trim(arena.KeepBytes)
	t.Params.Trim(arena.KeepBytes)
	t.FuncOrder.Trim(arena.KeepBytes)
	t.Formats.Trim(arena.KeepBytes)
	t.OwnFuncs, t.Exprs = 0, nil
}

func (l *links) reset() {
	l.cross.Trim(arena.KeepBytes)
	l.NeedTypes, l.stubs, l.specs = l.NeedTypes[:0], l.stubs[:0], l.specs[:0]
}

func (g *group) reset() {
	g.parts.Trim(arena.KeepBytes)
	g.imports.Trim(arena.KeepBytes)
	g.allStarts.Trim(arena.KeepBytes)
	g.from, g.Units, g.UnitsFiltered = mark{}, 0, 0
}

// Free gives the memory back.
func (u *Unit) Free() {
	u.Cursor.Free()
	u.Tables.free()
	u.Functions.free()
	u.cross.Free()
	u.parts.Free()
	u.imports.Free()
	u.allStarts.Free()
	u.freeFar()
}

func (t *Tables) free() {
	t.Types.Free()
	t.extra.Free()
	t.starts.Free()
	t.open.Free()
	t.frames.Free()
	t.Annots.Free()
	t.Tags.Free()
	t.Vars.Free()
	t.oldBits.Free()
}

func (t *Functions) free() {
	t.Funcs.Free()
	t.Params.Free()
	t.FuncOrder.Free()
	t.Formats.Free()
}

// Forget ends what is remembered of a file between its units.
func (u *Unit) Forget() {
	u.Cursor.Forget()
	u.freeFar()
}

// freeFar gives the unit for specifications back.
func (l *links) freeFar() {
	if l.far != nil {
		l.far.Free()
		l.far = nil
	}
}

// addNode adds a node of the DIE at off, all zero, and returns it with its
// index. The fields are to be set in place: a Node that is built elsewhere and
// then copied waits for its parts. It is valid until the next call.
func (t *Tables) addNode(off int) (*dedup.Node, uint32) {
	v := &t.Types.Nodes
	i := len(v.S)
	if i == cap(v.S) {
		t.moreNodes()
	}
	t.starts.S[uint(off)>>6].bits |= 1 << (uint(off) & 63)
	v.S = v.S[:i+1]
	v.S[i] = dedup.Node{}
	return &v.S[i], uint32(i)
}

//go:noinline
func (t *Tables) moreNodes() { t.Types.Nodes.Grow(len(t.Types.Nodes.S) + 1) }

// nodes is the number of nodes so far, the index of the next one.
func (t *Tables) nodes() uint32 { return uint32(len(t.Types.Nodes.S)) }

// addOrder gives a node its place in the raw order.
func (t *Tables) addOrder(i uint32) {
	v := &t.Types.Order
	if len(v.S) == cap(v.S) {
		t.moreOrder()
	}
	v.S = append(v.S, i)
}

//go:noinline
func (t *Tables) moreOrder() { t.Types.Order.Grow(len(t.Types.Order.S) + 1) }

// addExtra adds a node without a DIE, and returns the reference to it.
func (t *Tables) addExtra(n dedup.Node) uint32 {
	k := uint32(len(t.extra.S)) | extraRef
	t.extra.Append(n)
	t.Types.Order.Append(k)
	return k
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
	w := uint(off >> 6)
	if w >= uint(len(starts)) {
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
func (u *Unit) index() {
	n := dedup.Ref(u.from.nodes) + 1
	for i := range u.starts.S {
		m := &u.starts.S[i]
		m.ref = n
		n += uint32(bits.OnesCount64(m.bits))
	}
}

// nodeError is an error about a type that has been read.
func (u *Unit) nodeError(node uint32, what string) error {
	n := &u.Types.Nodes.S[node]
	name := btf.InfoKind(n.Info).String() + " " + string(u.File.Names.Text(n.Name))
	return u.TypeError(strings.TrimSuffix(name, " "), what)
}

// BeyondVlen says why n of what, members or the like, cannot be encoded, or "": with
// long they may be as many as 24 bits hold.
func BeyondVlen(n int, what string, long bool) string {
	switch {
	case n <= MaxVlen || long && n <= btf.MaxVlen:
		return ""
	case n > btf.MaxVlen:
		return fmt.Sprintf("%d %s are more than the %d that the vlen of BTF holds in any release", n, what, btf.MaxVlen)
	}
	return fmt.Sprintf("%d %s are more than the %d that the vlen of BTF holds; Linux 7.2 and libbpf 1.8 could read more, no release before them: "+
		"--btf_compat=libbpf-1.8 writes that", n, what, MaxVlen)
}
