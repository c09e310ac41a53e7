package verify

import "github.com/btflite/btflite/btf"

// Sets of kinds, a bit for each.
const (
	modifiers = 1<<btf.KindTypedef | 1<<btf.KindConst | 1<<btf.KindVolatile | 1<<btf.KindRestrict | 1<<btf.KindTypeTag
	records   = 1<<btf.KindStruct | 1<<btf.KindUnion
	nests     = records | 1<<btf.KindArray
	// sources are never referred to by types of data.
	sources = 1<<btf.KindVar | 1<<btf.KindDatasec | 1<<btf.KindDeclTag | locations
	// locations are of inlined functions.
	locations = 1<<btf.KindLocParam | 1<<btf.KindLocProto | 1<<btf.KindLocsec
	// resolvable types refer to others.
	resolvable = modifiers | records | sources&^locations | 1<<btf.KindPtr | 1<<btf.KindArray | 1<<btf.KindFunc
	// ownSize types have their size in the record.
	ownSize = records | 1<<btf.KindInt | 1<<btf.KindEnum | 1<<btf.KindEnum64 | 1<<btf.KindFloat
	sized   = ownSize | 1<<btf.KindPtr | 1<<btf.KindArray
)

// in reports whether a set has a kind.
func in(set uint32, k btf.Kind) bool { return set>>(k&31)&1 != 0 }
