// Package btf reads and writes BTF, the kernel's compact type format: a
// header, type records of 32-bit words and a string table. It knows nothing of
// DWARF or ELF; sections of ELF files are found by other packages.
//
// The stable API is package btflite. What it does not use of this package may change.
package btf

import "strconv"

// Kind is the kind of a BTF type record. Kind 0 is void, which is never
// stored. The values and names are the kernel's (include/uapi/linux/btf.h).
type Kind uint8

// The kinds of BTF, in the kernel's order.
const (
	KindVoid Kind = iota
	KindInt
	KindPtr
	KindArray
	KindStruct
	KindUnion
	KindEnum
	KindFwd
	KindTypedef
	KindVolatile
	KindConst
	KindRestrict
	KindFunc
	KindFuncProto
	KindVar
	KindDatasec
	KindFloat
	KindDeclTag
	KindTypeTag
	KindEnum64
	// Where inlined functions are, and their parameters there. Linux has them from
	// 2026-09 on (bpf-next), no release yet.
	KindLocParam
	KindLocProto
	KindLocsec
)

// lastKind is the last kind that this package knows.
const lastKind = KindLocsec

// NumKinds is above the numbers of all kinds.
const NumKinds = int(lastKind) + 1

// Limits of the format as libbpf reads it. Kernels are stricter.
const (
	MaxID     = 0x7fffffff // highest type id
	MaxStrOff = 0x7fffffff // highest string offset
	MaxVlen   = 0xffffff   // most elements of one record
)

var kindNames = [...]string{
	"VOID", "INT", "PTR", "ARRAY", "STRUCT", "UNION", "ENUM", "FWD", "TYPEDEF",
	"VOLATILE", "CONST", "RESTRICT", "FUNC", "FUNC_PROTO", "VAR", "DATASEC",
	"FLOAT", "DECL_TAG", "TYPE_TAG", "ENUM64", "LOC_PARAM", "LOC_PROTO", "LOCSEC",
}

// String returns the kind's name as bpftool prints it, for example "FUNC_PROTO".
func (k Kind) String() string {
	if k.known() || k == KindVoid {
		return kindNames[k]
	}
	return "KIND_" + strconv.Itoa(int(k))
}

// known reports whether k is a kind that a record may have.
func (k Kind) known() bool { return k >= KindInt && k <= lastKind }

// shape says which words of a record mean what.
type shape struct {
	fixed     uint8 // words after the 3-word record, whatever the vlen
	stride    uint8 // words per element
	thirdRef  bool  // the third word is a type id
	refs      uint8 // type ids in the fixed words (ARRAY), from word 3 on
	elemRef   int8  // index of the type id in an element, or -1
	pairs     bool  // an element has another type id after that one (LOCSEC)
	elemNamed bool  // the first word of an element is a string offset
}

var shapes = [NumKinds]shape{
	KindVoid:      {elemRef: -1},
	KindInt:       {fixed: 1, elemRef: -1},
	KindPtr:       {thirdRef: true, elemRef: -1},
	KindArray:     {fixed: 3, refs: 2, elemRef: -1},
	KindStruct:    {stride: 3, elemRef: 1, elemNamed: true},
	KindUnion:     {stride: 3, elemRef: 1, elemNamed: true},
	KindEnum:      {stride: 2, elemRef: -1, elemNamed: true},
	KindFwd:       {elemRef: -1},
	KindTypedef:   {thirdRef: true, elemRef: -1},
	KindVolatile:  {thirdRef: true, elemRef: -1},
	KindConst:     {thirdRef: true, elemRef: -1},
	KindRestrict:  {thirdRef: true, elemRef: -1},
	KindFunc:      {thirdRef: true, elemRef: -1},
	KindFuncProto: {stride: 2, thirdRef: true, elemRef: 1, elemNamed: true},
	KindVar:       {fixed: 1, thirdRef: true, elemRef: -1},
	KindDatasec:   {stride: 3, elemRef: 0},
	KindFloat:     {elemRef: -1},
	KindDeclTag:   {fixed: 1, thirdRef: true, elemRef: -1},
	KindTypeTag:   {thirdRef: true, elemRef: -1},
	KindEnum64:    {stride: 3, elemRef: -1, elemNamed: true},
	KindLocParam:  {fixed: 1, stride: 1, elemRef: -1},
	KindLocProto:  {stride: 1, elemRef: 0},
	KindLocsec:    {stride: 3, elemRef: 0, pairs: true},
}

func (k Kind) shape() *shape {
	if k > lastKind {
		k = KindVoid
	}
	return &shapes[k]
}

// Info builds the second word of a record: bits 0-23 vlen, bits 24-30 kind,
// bit 31 kind_flag. A vlen above MaxVlen is cut.
func Info(k Kind, vlen uint32, kflag bool) uint32 {
	w := vlen&MaxVlen | uint32(k&0x7f)<<24
	if kflag {
		w |= 1 << 31
	}
	return w
}

// InfoKind returns the kind of an info word, which may be an unknown one.
func InfoKind(info uint32) Kind { return Kind(info >> 24 & 0x7f) }

// InfoVlen returns the element count (for FUNC: the linkage) of an info word.
func InfoVlen(info uint32) uint32 { return info & MaxVlen }

// InfoKflag returns the kind_flag of an info word.
func InfoKflag(info uint32) bool { return info>>31 != 0 }

// ExtraWords returns how many words follow the 3-word record of kind k. For a
// kind without elements vlen has no influence; for an unknown kind it is 0.
func ExtraWords(k Kind, vlen uint32) int {
	s := k.shape()
	return int(s.fixed) + int(s.stride)*int(vlen)
}

// ThirdIsRef reports whether the third word of kind k is a type id.
func ThirdIsRef(k Kind) bool { return k.shape().thirdRef }

// RefWords says where a record of kind k keeps type ids besides the third word: at
// rec[start+i*stride] for 0 <= i < n, in the order of the record. If RefPairs reports it,
// each of them is followed by another one.
func RefWords(k Kind, vlen uint32) (start, stride, n int) {
	s := k.shape()
	if s.refs != 0 {
		return 3, 1, int(s.refs)
	}
	if s.elemRef < 0 {
		return 3, 1, 0
	}
	return 3 + int(s.elemRef), int(s.stride), int(vlen)
}

// RefPairs reports whether the elements of kind k have two type ids each: the words of
// RefWords, and the words after them.
func RefPairs(k Kind) bool { return k.shape().pairs }

// NameWords says where a record of kind k keeps string offsets besides the
// first word: at rec[3+i*stride] for 0 <= i < n.
func NameWords(k Kind, vlen uint32) (stride, n int) {
	s := k.shape()
	if !s.elemNamed {
		return 1, 0
	}
	return int(s.stride), int(vlen)
}

// EachRef calls fn with the place of each type id in the record r, void
// included, in the order of the record.
func EachRef(r []uint32, fn func(id *uint32)) {
	k := InfoKind(r[1])
	if ThirdIsRef(k) {
		fn(&r[2])
	}
	start, stride, n := RefWords(k, InfoVlen(r[1]))
	pairs := RefPairs(k)
	for i := range n {
		fn(&r[start+i*stride])
		if pairs {
			fn(&r[start+i*stride+1])
		}
	}
}

// EachName calls fn with the place of each string offset in the record r, also where
// the offset is 0, which means no name.
func EachName(r []uint32, fn func(off *uint32)) {
	fn(&r[0])
	stride, n := NameWords(InfoKind(r[1]), InfoVlen(r[1]))
	for i := range n {
		fn(&r[3+i*stride])
	}
}

// EncodingName returns the name of the encoding of an INT, bits 24-27 of its
// data word, as bpftool prints it.
func EncodingName(e uint32) string {
	switch e {
	case 0:
		return "(none)"
	case 1:
		return "SIGNED"
	case 2:
		return "CHAR"
	case 4:
		return "BOOL"
	}
	return "UNKN"
}

// LinkageName returns the name of the linkage of a FUNC or VAR.
func LinkageName(l uint32) string {
	switch l {
	case 0:
		return "static"
	case 1:
		return "global"
	case 2:
		return "extern"
	}
	return "(unknown)"
}
