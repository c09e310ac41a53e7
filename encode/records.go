package encode

// Records of one compile unit while it is in work. They are flat and
// pointer-free, are owned by the unit's arena slot and are overwritten by the
// next unit that the slot takes; what must outlive the unit is copied out by
// the committer.

// funcFlags describe a DW_TAG_subprogram DIE.
type funcFlags uint16

const (
	fnDeclaration    funcFlags = 1 << iota // DW_AT_declaration exists
	fnInline                               // DW_AT_inline exists
	fnVariadic                             // a DW_TAG_unspecified_parameters child
	fnHasType                              // DW_AT_type exists
	fnNoCall                               // DW_AT_calling_convention is DW_CC_nocall (3)
	fnReordered                            // set by analyzeParams, encode-behaviour 4.5.2
	fnUnexpectedReg                        // set by analyzeParams, 4.5.3
	fnOptimizedParms                       // set by analyzeParams, 4.5.3
	fnChanged                              // signature_changed, set by analyzeParams, 4.5.3
	fnUncertain                            // set by analyzeParams, 4.4
)

// funcRec is one DW_TAG_subprogram DIE. Offsets are relative to the unit
// header; 0 means none.
type funcRec struct {
	Off     uint32 // DIE offset
	Name    uint32 // name token (see names.go); after linking also from origin or specification
	Type    uint32 // return type: local Ref (dedup.Ref), 0 void
	Origin  uint32 // DIE offset of DW_AT_abstract_origin
	Spec    uint32 // DIE offset of DW_AT_specification
	First   uint32 // first parameter in unit.params
	N       uint32 // number of parameters
	FirstAn uint32 // first annotation in unit.annots
	NAn     uint32
	Flags   funcFlags
	Entry   uint32 // ELF function table entry, 0 none
	LowPC   uint64 // DW_AT_low_pc, 0 if absent
}

// Kinds of DW_AT_location of a parameter.
const (
	locNone = iota // attribute absent
	locExpr        // LocOff, LocLen: a single expression in the unit
	locList        // LocOff: offset of the list in .debug_loclists (DWARF 5) or .debug_loc (2-4)
	locBad         // present, but of no form we can read: counts as present and empty
)

// paramFlags describe a DW_TAG_formal_parameter DIE of a subprogram.
type paramFlags uint16

const (
	pmHasLoc     paramFlags = 1 << iota // DW_AT_location exists
	pmHasConst                          // DW_AT_const_value exists
	pmConstant                          // located as a constant
	pmOnStack                           // located relative to the frame base
	pmInMemory                          // passed in memory
	pmOptimized                         // 4.5.3
	pmUnexpected                        // 4.5.3
)

// paramRec is one DW_TAG_formal_parameter child of a subprogram DIE.
type paramRec struct {
	Off     uint32 // DIE offset
	Name    uint32 // name token
	Type    uint32 // local Ref, 0 void or none
	Origin  uint32 // DIE offset of DW_AT_abstract_origin, 0 none
	LocOff  uint32
	LocLen  uint32
	LocKind uint8
	HasType bool // DW_AT_type exists on this DIE
	Reg     int8 // DWARF register, -1 unset
	Flags   paramFlags
	Size    uint16 // bytes, 4.5.1
	// Pieces of a value that takes two registers: bit i of First/Second is
	// set when byte i of that half was described (true_signature only).
	PieceFirst  uint16
	PieceSecond uint16
	// Member is the "true member" of 4.5.3: 1 + index in unit.Members of the
	// member that stands for the parameter, 0 none.
	Member uint32
}
