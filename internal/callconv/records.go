package callconv

// The records are flat and without pointers: the caller keeps them in tables that
// it uses again for the next unit. Offsets are relative to the unit header; 0
// means none.

// FuncFlags describe a DW_TAG_subprogram DIE. The reader sets the first ones, Analyze
// the others.
type FuncFlags uint16

const (
	FuncDeclaration FuncFlags = 1 << iota // DW_AT_declaration exists
	FuncInline                            // DW_AT_inline exists
	FuncVariadic                          // a DW_TAG_unspecified_parameters child
	FuncHasType                           // DW_AT_type exists
	FuncNoCall                            // DW_AT_calling_convention is DW_CC_nocall (3)

	FuncReordered       // a parameter has another place than its origin has in its function
	FuncUnexpectedReg   // a parameter is in the wrong register, and none is a struct
	FuncOptimizedParams // a parameter is not passed, or nothing says where
	FuncChanged         // clang changed the signature
)

// Func is one DW_TAG_subprogram DIE.
type Func struct {
	Off    uint32 // DIE offset
	Name   uint32 // name token; after Link also the name of origin or specification
	Type   uint32 // return type: local Ref (dedup.Ref), 0 void
	Origin uint32 // DIE offset of DW_AT_abstract_origin
	Spec   uint32 // DIE offset of DW_AT_specification
	First  uint32 // index in Functions.Params of the first parameter
	N      uint32 // number of parameters
	Flags  FuncFlags

	// Only the caller uses the other fields.
	FirstAn uint32 // index of the first annotation (unit.Unit.Annots)
	NAn     uint32 // number of annotations
	Entry   uint32 // ELF function table entry, 0 none
	LowPC   uint64 // DW_AT_low_pc, 0 if absent
}

// Kinds of DW_AT_location of a parameter.
const (
	LocNone    = iota // attribute absent
	LocExpr           // LocOff, LocLen: a single expression in the unit
	LocList           // LocOff: offset of the list in .debug_loclists (DWARF 5) or .debug_loc (2-4)
	LocBad            // present, but unreadable: counts as present and empty
	LocEntries        // LocOff, LocLen: the expressions of a unit record, each after its length in a byte
)

// ParamFlags describe a DW_TAG_formal_parameter DIE of a subprogram. The reader sets
// the first three, Analyze the others.
type ParamFlags uint16

const (
	ParamHasLoc   ParamFlags = 1 << iota // DW_AT_location exists
	ParamHasConst                        // DW_AT_const_value exists
	ParamClass                           // its type is a class; only in unit records, see Types.Classes

	ParamConstant   // located as a constant
	ParamOnStack    // located relative to the frame base
	ParamInMemory   // passed in memory
	ParamOptimized  // not passed
	ParamUnexpected // in another register than the calling convention says
)

// Param is one DW_TAG_formal_parameter child of a subprogram DIE.
type Param struct {
	Off     uint32 // DIE offset
	Name    uint32 // name token
	Type    uint32 // local Ref, 0 void or none
	Origin  uint32 // DIE offset of DW_AT_abstract_origin, 0 none
	LocOff  uint32 // see LocKind
	LocLen  uint32 // see LocKind, in bytes
	LocKind uint8  // one of LocNone to LocEntries
	HasType bool   // DW_AT_type exists on this DIE
	Reg     int8   // DWARF register, -1 unset
	Flags   ParamFlags
	Size    uint16 // bytes that decide how it is passed, see typeSize
	// Pieces of a value that takes two registers: bit i of First/Second is
	// set when byte i of that half was described (TrueSignature only).
	PieceFirst  uint16
	PieceSecond uint16
	// Member is 1 + the index in Types.Members of the member that stands for the
	// parameter: the only one that is passed of a struct. 0 for none.
	Member uint32
}
