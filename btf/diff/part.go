package diff

import "github.com/btflite/btflite/btf"

// part is the sort of a group, in the order of the report.
type part uint8

const (
	partStruct part = iota
	partUnion
	partEnum
	partTypedef
	partInt
	partFloat
	partFunction
	partVariable
	partSection
	noPart
)

var partNames = [noPart]string{"struct", "union", "enum", "typedef", "int", "float", "function", "variable", "section"}

// kindPart is the part that a kind belongs to, noPart for kinds that only say
// something where they are used. FWD may be a struct or a union.
var kindPart = [btf.NumKinds]part{
	btf.KindVoid: noPart, btf.KindPtr: noPart, btf.KindArray: noPart, btf.KindVolatile: noPart, btf.KindConst: noPart,
	btf.KindRestrict: noPart, btf.KindFuncProto: noPart, btf.KindDeclTag: noPart, btf.KindTypeTag: noPart,
	btf.KindLocParam: noPart, btf.KindLocProto: noPart, btf.KindLocsec: noPart,
	btf.KindStruct: partStruct, btf.KindUnion: partUnion, btf.KindEnum: partEnum, btf.KindEnum64: partEnum,
	btf.KindTypedef: partTypedef, btf.KindInt: partInt, btf.KindFloat: partFloat, btf.KindFwd: partStruct,
	btf.KindFunc: partFunction, btf.KindVar: partVariable, btf.KindDatasec: partSection,
}

// kindParts has the parts that types of a kind may belong to.
var kindParts = func() (list [btf.NumKinds]uint16) {
	for k, p := range kindPart {
		if p != noPart {
			list[k] = 1 << p
		}
	}
	list[btf.KindFwd] = 1<<partStruct | 1<<partUnion
	return list
}()
