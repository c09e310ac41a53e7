package unit

import (
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
)

// dropWholeBitfields turns bit-fields into ordinary members if they are as wide as their
// type (without typedefs and qualifiers) and lie at a multiple of that width. "int
// foo:32" is one in a struct that is not packed. If no bit-field is left, the aggregate
// loses its kind_flag. Types must be linked.
func (u *Unit) dropWholeBitfields() {
	for i := range u.Types.Nodes.S {
		n := &u.Types.Nodes.S[i]
		if k := btf.InfoKind(n.Info); k != btf.KindStruct && k != btf.KindUnion || !btf.InfoKflag(n.Info) {
			continue
		}
		m := u.Types.Members.S[n.First:][:btf.InfoVlen(n.Info)]
		kflag := false
		for j := range m {
			size, at := m[j].Val>>24, m[j].Val&0xffffff
			if size != 0 && size == 8*u.strippedSize(m[j].Type) && at%size == 0 {
				m[j].Val, size = at, 0
			}
			kflag = kflag || size != 0
		}
		n.Info = btf.Info(btf.InfoKind(n.Info), uint32(len(m)), kflag)
	}
}

// strippedSize returns the size in bytes of a type behind typedefs and qualifiers.
func (u *Unit) strippedSize(r dedup.Ref) uint32 {
	for range 64 {
		if r == 0 || r&dedup.Extern != 0 {
			return 0
		}
		n := &u.Types.Nodes.S[r-1]
		switch btf.InfoKind(n.Info) {
		case btf.KindTypedef, btf.KindConst, btf.KindVolatile, btf.KindRestrict, btf.KindTypeTag:
			r = n.Third
		case btf.KindInt, btf.KindEnum, btf.KindEnum64, btf.KindFloat, btf.KindStruct, btf.KindUnion:
			return callconv.DwarfSize(n)
		default:
			return 0
		}
	}
	return 0
}

// needSizes reports whether linkOldBits needs the size of a type.
func needSizes(bits []oldBitfield) bool {
	return slices.ContainsFunc(bits, func(o oldBitfield) bool { return o.Size == 0 })
}

// linkOldBits computes the offsets of DWARF 2/3 bit-fields, once types are linked.
func (r *Reader) linkOldBits() error {
	for i := range r.oldBits.S {
		o := &r.oldBits.S[i]
		n := &r.Unit.Types.Nodes.S[o.Node]
		m := &r.Unit.Types.Members.S[n.First+o.Member]
		size := o.Size
		if size == 0 {
			size = r.Unit.strippedSize(m.Type)
		}
		bit := int64(o.Loc) * 8
		if size != 0 {
			at := int64(o.BitOff)
			if !r.Cursor.File.BigEndian {
				at = int64(size)*8 - at - int64(o.Bits)
			}
			bit += at
		}
		if bit < 0 || bit > 0xffffff {
			return r.nodeError(o.Node, "bit-field offset over 16777215 bits")
		}
		if btf.InfoKind(n.Info) == btf.KindUnion && bit != 0 {
			return r.nodeError(o.Node, "union member at an offset that is not 0")
		}
		m.Val = uint32(bit) | uint32(o.Bits)<<24
	}
	return nil
}
