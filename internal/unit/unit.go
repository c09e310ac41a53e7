package unit

import (
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

// Unit holds what was read of one compile unit, or of a group of units. A Reader reads it
// from DIEs, or it comes from a unit record. All tables are flat, have no pointers, and
// are used again for the next unit, so that in steady state a unit costs no allocation.
type Unit struct {
	Facts Facts

	// Types is the input of dedup: the nodes of DIEs in DIE order, then nodes without a
	// DIE.
	Types       dedup.Unit
	Classes     arena.Vec[dedup.Ref] // types that are classes and not structs, in any order, with repeats
	Annots      arena.Vec[Annot]
	Tags        arena.Vec[Tag]
	Vars        arena.Vec[Var]
	FirstInt    dedup.Ref // first base type named "int", for the array index type; 0 if there is none
	ArrayIndex  uint32    // the set's id of the int that indexes arrays, 0 if it was not known when reading began
	Arrays      bool      // a node is an ARRAY
	Unencodable Unencodable
	Unsigned    map[uint32]bool // see Options.KeepSigns
	InFunctions map[uint32]bool // with Options.Marks: the structs and unions that are declared in functions

	Funcs     arena.Vec[callconv.Func]
	Params    arena.Vec[callconv.Param]
	FuncOrder arena.Vec[uint32] // indexes in Funcs, in the order of pahole's table of functions
	OwnFuncs  int               // if not 0, later ones are copies (expand)
	Formats   arena.Vec[callconv.FormatRun]
	Entries   []byte         // expressions of parameters, for unit records
	Inline    *inline.Reader // reads inlined functions; nil if they are not wanted
}

// Facts are facts about a whole unit.
type Facts struct {
	Language uint16 // DW_AT_language
	Foreign  uint16 // a language other than C and assembler, 0 for none
	Clang    bool   // the producer is clang
	Filtered bool   // its language or name is filtered out
	// LacksTypes says that the unit has no types although its DIEs should have given some.
	LacksTypes bool
	DIEs       uint64              // how many DIEs were read, without skipped ones
	Skeleton   *debuginfo.Skeleton // if the DIEs are in a .dwo file, else nil

	Units, UnitsFiltered int // compile units of a group, else 0
}

// Reader reads one unit after another into its Unit. The other fields are scratch space.
//
// While DIEs are walked, references are DIE offsets (relative to the unit header, 0 =
// none, extraRef set for nodes without a DIE of their own). Linking turns them into
// dedup.Refs.
type Reader struct {
	Unit   Unit // first, because the walk uses it most
	In     *Input
	Cursor debuginfo.Cursor

	// extra holds nodes that the walk makes without a DIE of their own: inner array dimensions,
	// type tags, and what marks and variants need. linkRefs moves them behind the nodes of DIEs.
	extra arena.Vec[dedup.Node]
	// starts has one bit for each byte of the unit. It is set where the DIE of a type starts,
	// whether that is a node or was left out.
	starts arena.Vec[startWord]
	// open holds the members of open types that have other DIEs between their members. openParams holds
	// the parameters of open functions with nested functions between their parameters, openTags the tags
	// of all open functions.
	open       arena.Vec[dedup.Member]
	openParams arena.Vec[callconv.Param]
	openTags   arena.Vec[Annot]
	frames     arena.Vec[frame]
	oldBits    arena.Vec[oldBitfield]
	classes    arena.Vec[uint32] // DIE offsets of classes

	// References that leave the unit, and stubs for types elsewhere.
	cross     arena.Vec[uint64] // section offsets of types in other units, by the index in the marker
	NeedTypes []uint32          // type units that the unit refers to, in the order of the references
	stubs     stubs
	specs     stubs   // in a type unit: definitions, and DIE offsets of their declarations
	far       *Reader // reads the unit of a specification in another unit

	annotations int // of GCC: how many the walk has read, see gnuChain

	proofs prover // types that are proved while they are read

	from    tableSizes // where the tables of the current unit start
	partial bool       // the current unit is a partial unit
	group   group

	// Record reads the record at the Cursor into Unit, for groups. It may be nil.
	Record     func() error
	recordUnit *Unit // the record of the group that is being read
}

// group holds what only a group needs. For other units it is empty.
type group struct {
	parts     arena.Vec[part]
	imports   arena.Vec[importRec]
	allStarts arena.Vec[startWord] // starts of all parts
}

// Annot is a declaration tag of a function, parameter or variable.
type Annot struct {
	Value     dedup.Name // text of the tag
	Component int32      // index of the parameter, or -1
}

// Tag is a declaration tag of a struct, union or typedef, or of a member.
type Tag struct {
	Node      uint32     // node of the struct, union or typedef
	Value     dedup.Name // text of the tag
	Component int32      // index of the member, or -1
}

// Var is a variable that is a candidate for a VAR.
type Var struct {
	Off      uint32 // DIE offset
	Name     dedup.Name
	Type     uint32 // DIE offset, then Ref
	Section  uint32 // ELF section index
	SecOff   uint64 // offset in the section
	FirstAn  uint32 // index of its first tag in Unit.Annots
	NAn      uint32 // number of its tags
	External bool   // DW_AT_external
	Extra    bool   // not for the main BTF: VarSection.Extra
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

// stub is a node that stands for another type.
type stub struct {
	node uint32
	ref  uint32 // DIE offset, then Ref
}

type stubs []stub

// tableSizes says where the current unit starts in the tables. The sizes are not 0 if other units of
// the group come before it.
type tableSizes struct{ nodes, order, funcs, params, vars, stubs int }

// part is a linked unit of the group.
type part struct {
	off, end uint64 // in .debug_info; the alternate file's offsets come after the file's
	bits     uint32 // first word in group.allStarts

	order, orderEnd, funcs, funcsEnd uint32 // in Types.Order and FuncOrder
	imports                          uint32 // first in group.imports
	readings                         uint16 // how often pahole reads it
	alt                              bool   // in the alternate file
	partial                          bool   // a partial unit, which imports may lead to
}

// importRec is a DW_TAG_imported_unit in a unit of the group.
type importRec struct {
	order, funcs uint32 // how many types and functions came before it
	target       uint64 // section offset; the alternate file's come after the file's
}

// infoTypeTag is the first word of a TYPE_TAG.
const infoTypeTag = uint32(btf.KindTypeTag) << 24

// role says how the children of a DIE are read.
type role uint8

const (
	inUnit role = iota
	inNamespace
	inFunc
	inBlock
	inAggregate
	inDeclared // a struct or union that is only declared: the types declared inside it
	inEnum
	inProto
	inVariants // a variant part; for readers only
	inVariant  // a variant of it
	inArray    // this and the following: only dimensions and annotations
	inType     // pointer, typedef …: annotations only
	inPart     // member, parameter, variable: annotations only
)

// frame is an open DIE with children.
type frame struct {
	role  role
	tag   dwarf.Tag
	owner uint32 // node, function or variable index
	first uint32 // first member in Types.Members, or in Reader.open if open; of a function, first parameter in openParams if open
	n     uint32 // members, enumerators, parameters so far; dimensions of an array
	comp  int32  // component index for annotations of the owner's parts
	kflag bool   // for inAggregate: it has a bit-field; for inProto: it ends with an ellipsis
	open  bool   // members are in Reader.open; of a function: parameters are in Reader.openParams
	neg   bool   // an enumerator is negative
	big   bool   // an enumerator needs more than 32 bits
	an    uint32 // offset of GCC's first annotation, 0 for none; for inPart, ofParam or ofVariable
}

// Values of frame.an for role inPart: the annotations belong to a parameter or variable,
// and not to the DIE of the frame around it.
const (
	ofParam = 1 + iota
	ofVariable
)

// extraRef marks a reference to Reader.extra while DIEs are walked.
const extraRef = 1 << 31

// Init prepares a new Reader. Its memory counts for the limit l.
func (r *Reader) Init(l *arena.Limit) { arena.Bind(l, r) }

// Reset prepares for the next unit.
func (r *Reader) Reset() {
	r.Cursor.Reset(arena.KeepBytes)
	r.proofs.reset(&r.Unit.Types)
	r.Unit.reset()
	r.Unit.ArrayIndex = 0
	if r.In != nil {
		r.Unit.ArrayIndex = r.In.ArrayIndex.Load() // once, because a Commit may change it meanwhile
	}
	r.extra.Trim(arena.KeepBytes)
	r.starts.Trim(arena.KeepBytes)
	r.open.Trim(arena.KeepBytes)
	r.openParams.Trim(arena.KeepBytes)
	r.openTags.Trim(arena.KeepBytes)
	r.frames.Trim(arena.KeepBytes)
	r.oldBits.Trim(arena.KeepBytes)
	r.classes.Trim(arena.KeepBytes)
	r.cross.Trim(arena.KeepBytes)
	r.NeedTypes, r.stubs, r.specs = r.NeedTypes[:0], r.stubs[:0], r.specs[:0]
	r.from = tableSizes{}
	r.group.parts.Trim(arena.KeepBytes)
	r.group.imports.Trim(arena.KeepBytes)
	r.group.allStarts.Trim(arena.KeepBytes)
}

func (u *Unit) reset() {
	u.Facts = Facts{}
	u.Types.Reset(arena.KeepBytes)
	u.Classes.Trim(arena.KeepBytes)
	u.Annots.Trim(arena.KeepBytes)
	u.Tags.Trim(arena.KeepBytes)
	u.Vars.Trim(arena.KeepBytes)
	u.FirstInt, u.Arrays, u.Unsigned, u.InFunctions = 0, false, nil, nil
	u.Unencodable.reset()
	u.Funcs.Trim(arena.KeepBytes)
	u.Params.Trim(arena.KeepBytes)
	u.FuncOrder.Trim(arena.KeepBytes)
	u.Formats.Trim(arena.KeepBytes)
	u.OwnFuncs, u.Entries = 0, nil
}

// Free releases the memory.
func (r *Reader) Free() {
	r.Cursor.Free()
	r.Unit.free()
	r.extra.Free()
	r.starts.Free()
	r.open.Free()
	r.openParams.Free()
	r.openTags.Free()
	r.frames.Free()
	r.oldBits.Free()
	r.classes.Free()
	r.cross.Free()
	r.proofs.free()
	r.group.parts.Free()
	r.group.imports.Free()
	r.group.allStarts.Free()
	r.Forget()
}

func (u *Unit) free() {
	u.Types.Free()
	u.Classes.Free()
	u.Annots.Free()
	u.Tags.Free()
	u.Vars.Free()
	u.Funcs.Free()
	u.Params.Free()
	u.FuncOrder.Free()
	u.Formats.Free()
}

// Forget drops what the Reader remembers about a file.
func (r *Reader) Forget() {
	r.Cursor.Forget()
	if r.far != nil {
		r.far.Free()
		r.far = nil
	}
	if r.recordUnit != nil {
		r.recordUnit.free()
		r.recordUnit = nil
	}
}

// addNode adds a zero node for the DIE at off and returns it with its index. Callers set
// the fields in place, because a Node that is built elsewhere and copied makes the CPU
// wait. The pointer is valid until the next call.
func (r *Reader) addNode(off int) (*dedup.Node, uint32) {
	v := &r.Unit.Types.Nodes
	i := len(v.S)
	if i == cap(v.S) {
		r.Unit.moreNodes()
	}
	m := &r.starts.S[uint(off)>>6]
	if r.proofs.on {
		r.proofs.add(m, dedup.Ref(i+1))
	}
	m.bits |= 1 << (uint(off) & 63)
	v.S = v.S[:i+1]
	v.S[i] = dedup.Node{}
	return &v.S[i], uint32(i)
}

//go:noinline
func (u *Unit) moreNodes() { u.Types.Nodes.Grow(len(u.Types.Nodes.S) + 1) }

// nodes returns the number of nodes so far, which is the index of the next one.
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

// addExtra adds a node without a DIE, and returns a reference to it.
func (r *Reader) addExtra(n dedup.Node) uint32 {
	k := uint32(len(r.extra.S)) | extraRef
	r.extra.Append(n)
	r.Unit.Types.Order.Append(k)
	return k
}

// startWord is for 64 bytes of a unit: bits for those bytes at which a type's DIE starts,
// and the Ref of the first one. If types are left out, ref is 1 + an index in proofs.refs.
type startWord struct {
	bits uint64
	ref  dedup.Ref
}

// startRef turns a DIE offset into a Ref. It returns 0 if no node's DIE starts there;
// offset 0 is not a reference.
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

// index fills in the Refs of r.starts.
//
//go:noinline
func (r *Reader) index() {
	n := dedup.Ref(r.from.nodes) + 1
	for i := range r.starts.S {
		m := &r.starts.S[i]
		m.ref = n
		n += uint32(bits.OnesCount64(m.bits))
	}
}

// nodeError makes an error about a type that was read.
func (r *Reader) nodeError(node uint32, what string) error {
	n := &r.Unit.Types.Nodes.S[node]
	name := btf.InfoKind(n.Info).String() + " " + string(r.Cursor.File.Names.Text(n.Name))
	return r.Cursor.TypeError(strings.TrimSuffix(name, " "), what)
}
