package encode

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
)

// plainBitfields makes plain members of the bit-fields that are as wide as
// their type (typedefs and qualifiers stripped) and lie at a multiple of that
// width, as "int foo:32" does in a struct that is not packed. An aggregate
// that is left without bit-fields loses its kind_flag. Types must be linked.
func (u *unit) plainBitfields() {
	for i := range u.types.Nodes.S {
		n := &u.types.Nodes.S[i]
		if k := btf.InfoKind(n.Info); k != btf.KindStruct && k != btf.KindUnion || !btf.InfoKflag(n.Info) {
			continue
		}
		m := u.types.Members.S[n.First:][:btf.InfoVlen(n.Info)]
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

// strippedSize is the size in bytes of a type behind typedefs and qualifiers.
func (u *unit) strippedSize(r dedup.Ref) uint32 {
	for range 64 {
		if r == 0 || r&dedup.Extern != 0 {
			return 0
		}
		n := &u.types.Nodes.S[r-1]
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
