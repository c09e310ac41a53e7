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

// Unit is what was read of one compile unit, or of a group of units that are read as one:
// from DIEs by a Reader, or from a unit record. Each table is flat, has no pointers and is
// used again for the next unit, so that in steady state a unit costs no allocation.
type Unit struct {
	Facts Facts

	// Types is what dedup sees: nodes of DIEs in DIE order, then those without a DIE.
	Types       dedup.Unit
	Annots      arena.Vec[Annot]
	Tags        arena.Vec[Tag]
	Vars        arena.Vec[Var]
	FirstInt    dedup.Ref // first base type named "int", for the array index type
	Arrays      bool      // a node is an ARRAY
	Unencodable Unencodable
	Unsigned    map[uint32]bool // see Options.KeepSigns

	Funcs     arena.Vec[callconv.Func]
	Params    arena.Vec[callconv.Param]
	FuncOrder arena.Vec[uint32] // Funcs in functions-table order
	OwnFuncs  int               // those behind them are copies (expand), if not 0
	Formats   arena.Vec[callconv.FormatRun]
	Entries   []byte         // where expressions of parameters are, of unit records
	Inline    *inline.Reader // what is inlined in the functions; nil if nobody wants that
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

	Units, UnitsFiltered int // compile units of a group, else 0
}

// Reader reads one unit after the other into its Unit. The rest is its scratch space.
//
// While the DIEs are walked, references are DIE offsets (relative to the unit
// header, 0 = none, extraRef set for nodes without a DIE of their own); linking
// turns them into dedup.Refs.
type Reader struct {
	Unit   Unit // first, because the walk uses it most
	In     *Input
	Cursor debuginfo.Cursor

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

	// References that leave the unit, and what stands for types elsewhere.
	cross     arena.Vec[uint64] // targets of references to other units, by marker
	NeedTypes []uint32          // indexes of type units that the unit leads to, as met
	stubs     stubs
	specs     stubs   // of the type unit in work: definitions and DIE offsets of their declarations
	far       *Reader // of the unit of a specification elsewhere

	from  mark // where the tables of the unit in work start
	group group

	// Record reads the record that the Cursor stands at into Unit, for groups; nil where there is none.
	Record func() error
	beside *Unit // of the record in work, before it becomes a part of the group
}

// group is what only a unit that is read with others needs. Else it is empty.
type group struct {
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
	bits     uint32 // first word in group.allStarts

	order, orderEnd, funcs, funcsEnd uint32 // in Types.Order and FuncOrder
	imports                          uint32 // first in group.imports
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
	first uint32 // first member in Types.Members, or in Reader.open if open
	n     uint32 // members, enumerators, parameters so far; dimensions of an array
	comp  int32  // component index for annotations of the owner's parts
	kflag bool
	open  bool   // members are in Reader.open
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

// extraRef marks a reference to Reader.extra while DIEs are walked.
const extraRef = 1 << 31

// Init prepares a new Reader, whose memory has the limit l.
func (r *Reader) Init(l *arena.Limit) { arena.Bind(l, r) }

// Reset prepares for the next unit.
func (r *Reader) Reset() {
	r.Cursor.Reset(arena.KeepBytes)
	r.Unit.reset()
	r.extra.Trim(arena.KeepBytes)
	r.starts.Trim(arena.KeepBytes)
	r.open.Trim(arena.KeepBytes)
	r.frames.Trim(arena.KeepBytes)
	r.oldBits.Trim(arena.KeepBytes)
	r.cross.Trim(arena.KeepBytes)
	r.NeedTypes, r.stubs, r.specs = r.NeedTypes[:0], r.stubs[:0], r.specs[:0]
	r.from = mark{}
	r.group.parts.Trim(arena.KeepBytes)
	r.group.imports.Trim(arena.KeepBytes)
	r.group.allStarts.Trim(arena.KeepBytes)
}

func (u *Unit) reset() {
	u.Facts = Facts{}
	u.Types.Reset(arena.KeepBytes)
	u.Annots.Trim(arena.KeepBytes)
	u.Tags.Trim(arena.KeepBytes)
	u.Vars.Trim(arena.KeepBytes)
	u.FirstInt, u.Arrays, u.Unsigned = 0, false, nil
	u.Unencodable.reset()
	u.Funcs.Trim(arena.KeepBytes)
	u.Params.Trim(arena.KeepBytes)
	u.FuncOrder.Trim(arena.KeepBytes)
	u.Formats.Trim(arena.KeepBytes)
	u.OwnFuncs, u.Entries = 0, nil
}

// Free gives the memory back.
func (r *Reader) Free() {
	r.Cursor.Free()
	r.Unit.free()
	r.extra.Free()
	r.starts.Free()
	r.open.Free()
	r.frames.Free()
	r.oldBits.Free()
	r.cross.Free()
	r.group.parts.Free()
	r.group.imports.Free()
	r.group.allStarts.Free()
	r.Forget()
}

func (u *Unit) free() {
	u.Types.Free()
	u.Annots.Free()
	u.Tags.Free()
	u.Vars.Free()
	u.Funcs.Free()
	u.Params.Free()
	u.FuncOrder.Free()
	u.Formats.Free()
}

// Forget ends what is remembered of a file between its units.
func (r *Reader) Forget() {
	r.Cursor.Forget()
	if r.far != nil {
		r.far.Free()
		r.far = nil
	}
	if r.beside != nil {
		r.beside.free()
		r.beside = nil
	}
}

// addNode adds a node of the DIE at off, all zero, and returns it with its
// index. The fields are to be set in place: a Node that is built elsewhere and
// then copied waits for its parts. It is valid until the next call.
func (r *Reader) addNode(off int) (*dedup.Node, uint32) {
	v := &r.Unit.Types.Nodes
	i := len(v.S)
	if i == cap(v.S) {
		r.Unit.moreNodes()
	}
	r.starts.S[uint(off)>>6].bits |= 1 << (uint(off) & 63)
	v.S = v.S[:i+1]
	v.S[i] = dedup.Node{}
	return &v.S[i], uint32(i)
}

//go:noinline
func (u *Unit) moreNodes() { u.Types.Nodes.Grow(len(u.Types.Nodes.S) + 1) }

// nodes is the number of nodes so far, the index of the next one.
func (u *Unit) nodes() uint32 { return uint32(len(u.Types.Nodes.S)) }

// addOrder gives a node its place in the raw order.
func (u *Unit) addOrder(i uint32) {
	v := &u.Types.Order
	if len(v.S) == cap(v.S) {
		u.moreOrder()
	}
	v.S = append(v.S, i)
}

//go:noinline
func (u *Unit) moreOrder() { u.Types.Order.Grow(len(u.Types.Order.S) + 1) }

// addExtra adds a node without a DIE, and returns the reference to it.
func (r *Reader) addExtra(n dedup.Node) uint32 {
	k := uint32(len(r.extra.S)) | extraRef
	r.extra.Append(n)
	r.Unit.Types.Order.Append(k)
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

// index settles the Refs of r.starts.
func (r *Reader) index() {
	n := dedup.Ref(r.from.nodes) + 1
	for i := range r.starts.S {
		m := &r.starts.S[i]
		m.ref = n
		n += uint32(bits.OnesCount64(m.bits))
	}
}

// nodeError is an error about a type that has been read.
func (r *Reader) nodeError(node uint32, what string) error {
	n := &r.Unit.Types.Nodes.S[node]
	name := btf.InfoKind(n.Info).String() + " " + string(r.Cursor.File.Names.Text(n.Name))
	return r.Cursor.TypeError(strings.TrimSuffix(name, " "), what)
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
