package dwarf

// Tag is a DW_TAG_ value (DWARF 5, section 7.5.3).
type Tag = uint16

// The tags that the encoder tells apart.
const (
	TagArrayType           Tag = 0x01
	TagClassType           Tag = 0x02
	TagEnumerationType     Tag = 0x04
	TagFormalParameter     Tag = 0x05
	TagImportedDecl        Tag = 0x08
	TagLabel               Tag = 0x0a
	TagLexicalBlock        Tag = 0x0b
	TagMember              Tag = 0x0d
	TagPointerType         Tag = 0x0f
	TagReferenceType       Tag = 0x10
	TagCompileUnit         Tag = 0x11
	TagStringType          Tag = 0x12
	TagStructureType       Tag = 0x13
	TagSubroutineType      Tag = 0x15
	TagTypedef             Tag = 0x16
	TagUnionType           Tag = 0x17
	TagUnspecifiedParams   Tag = 0x18
	TagVariant             Tag = 0x19
	TagInheritance         Tag = 0x1c
	TagInlinedSubroutine   Tag = 0x1d
	TagPtrToMemberType     Tag = 0x1f
	TagSetType             Tag = 0x20
	TagSubrangeType        Tag = 0x21
	TagBaseType            Tag = 0x24
	TagConstType           Tag = 0x26
	TagEnumerator          Tag = 0x28
	TagFileType            Tag = 0x29
	TagPackedType          Tag = 0x2d
	TagSubprogram          Tag = 0x2e
	TagThrownType          Tag = 0x31
	TagVariantPart         Tag = 0x33
	TagVariable            Tag = 0x34
	TagVolatileType        Tag = 0x35
	TagRestrictType        Tag = 0x37
	TagInterfaceType       Tag = 0x38
	TagNamespace           Tag = 0x39
	TagImportedModule      Tag = 0x3a
	TagUnspecifiedType     Tag = 0x3b
	TagPartialUnit         Tag = 0x3c
	TagImportedUnit        Tag = 0x3d
	TagSharedType          Tag = 0x40
	TagTypeUnit            Tag = 0x41
	TagRvalueReferenceType Tag = 0x42
	TagTemplateAlias       Tag = 0x43
	TagCoarrayType         Tag = 0x44
	TagDynamicType         Tag = 0x46
	TagAtomicType          Tag = 0x47
	TagCallSite            Tag = 0x48
	TagSkeletonUnit        Tag = 0x4a
	TagImmutableType       Tag = 0x4b
	TagGNUCallSite         Tag = 0x4109
	TagLLVMAnnotation      Tag = 0x6000
	TagGNUAnnotation       Tag = 0x6001
)

// Attributes (DWARF 5, section 7.5.4) that plans read.
const (
	atSibling           = 0x01
	atLocation          = 0x02
	atName              = 0x03
	atByteSize          = 0x0b
	atBitOffset         = 0x0c
	atBitSize           = 0x0d
	atStmtList          = 0x10
	atLowPC             = 0x11
	atLanguage          = 0x13
	atImport            = 0x18
	atCompDir           = 0x1b
	atConstValue        = 0x1c
	atContainingType    = 0x1d
	atInline            = 0x20
	atProducer          = 0x25
	atUpperBound        = 0x2f
	atAbstractOrigin    = 0x31
	atArtificial        = 0x34
	atCallingConvention = 0x36
	atCount             = 0x37
	atDataMemberLoc     = 0x38
	atDeclFile          = 0x3a
	atDeclLine          = 0x3b
	atDeclaration       = 0x3c
	atEncoding          = 0x3e
	atExternal          = 0x3f
	atSpecification     = 0x47
	atType              = 0x49
	atEntryPC           = 0x52
	atRanges            = 0x55
	atSignature         = 0x69
	atDataBitOffset     = 0x6b
	atStrOffsetsBase    = 0x72
	atAddrBase          = 0x73
	atRnglistsBase      = 0x74
	atDwoName           = 0x76
	atLoclistsBase      = 0x8c
	atGNUDwoName        = 0x2130
	atGNUDwoID          = 0x2131
	atGNURangesBase     = 0x2132
	atGNUAddrBase       = 0x2133
	atGNULocviews       = 0x2137
	atGNUEntryView      = 0x2138
	atGNUAnnotation     = 0x2139

	// AtUnitRecord is the attribute of a unit DIE that has a unit record (docs/unit-records.md).
	// It is our own, in the range for vendors. It is a flag, and AtRecordBlock has the record.
	// Up to format 6 its value is the record.
	AtUnitRecord = 0x2b74

	// AtRecordBlock is DW_AT_const_value: dwz refuses a block in an attribute that it does not know.
	AtRecordBlock = atConstValue
)

// RecordMark is in every unit record, so that one is noticed whose attribute is not found.
const RecordMark = "\xb7btfunit"

// Form is a DW_FORM_ value (DWARF 5, section 7.5.6).
type Form uint16

// The forms of DWARF 5, and those that GCC and clang have added.
const (
	FormAddr          Form = 0x01
	FormBlock2        Form = 0x03
	FormBlock4        Form = 0x04
	FormData2         Form = 0x05
	FormData4         Form = 0x06
	FormData8         Form = 0x07
	FormString        Form = 0x08
	FormBlock         Form = 0x09
	FormBlock1        Form = 0x0a
	FormData1         Form = 0x0b
	FormFlag          Form = 0x0c
	FormSdata         Form = 0x0d
	FormStrp          Form = 0x0e
	FormUdata         Form = 0x0f
	FormRefAddr       Form = 0x10
	FormRef1          Form = 0x11
	FormRef2          Form = 0x12
	FormRef4          Form = 0x13
	FormRef8          Form = 0x14
	FormRefUdata      Form = 0x15
	FormIndirect      Form = 0x16
	FormSecOffset     Form = 0x17
	FormExprloc       Form = 0x18
	FormFlagPresent   Form = 0x19
	FormStrx          Form = 0x1a
	FormAddrx         Form = 0x1b
	FormRefSup4       Form = 0x1c
	FormStrpSup       Form = 0x1d
	FormData16        Form = 0x1e
	FormLineStrp      Form = 0x1f
	FormRefSig8       Form = 0x20
	FormImplicitConst Form = 0x21
	FormLoclistx      Form = 0x22
	FormRnglistx      Form = 0x23
	FormRefSup8       Form = 0x24
	FormStrx1         Form = 0x25
	FormStrx2         Form = 0x26
	FormStrx3         Form = 0x27
	FormStrx4         Form = 0x28
	FormAddrx1        Form = 0x29
	FormAddrx2        Form = 0x2a
	FormAddrx3        Form = 0x2b
	FormAddrx4        Form = 0x2c
	FormGNUAddrIndex  Form = 0x1f01
	FormGNUStrIndex   Form = 0x1f02
	FormGNURefAlt     Form = 0x1f20
	FormGNUStrpAlt    Form = 0x1f21
	FormLLVMAddrxOff  Form = 0x2001 // DW_FORM_LLVM_addrx_offset: an index of an address, and what to add
)

// The operations (DW_OP_) that callers tell apart. The others are only stepped over.
const (
	OpAddr           = 0x03
	OpDeref          = 0x06
	OpConst1u        = 0x08
	OpConst8s        = 0x0f
	OpConstu         = 0x10
	OpConsts         = 0x11
	OpAnd            = 0x1a
	OpMinus          = 0x1c
	OpPlus           = 0x22
	OpPlusUconst     = 0x23
	OpLit0           = 0x30
	OpLit31          = 0x4f
	OpReg0           = 0x50
	OpReg31          = 0x6f
	OpBreg0          = 0x70
	OpBreg31         = 0x8f
	OpRegx           = 0x90
	OpFbreg          = 0x91
	OpBregx          = 0x92
	OpPiece          = 0x93
	OpDerefSize      = 0x94
	OpNop            = 0x96
	OpBitPiece       = 0x9d
	OpImplicitValue  = 0x9e
	OpStackValue     = 0x9f
	OpImplicitPtr    = 0xa0
	OpAddrx          = 0xa1
	OpEntryValue     = 0xa3
	OpConstType      = 0xa4
	OpReinterpret    = 0xa9
	OpGNUImplicitPtr = 0xf2
	OpGNUEntryValue  = 0xf3
	OpGNUConstType   = 0xf4
	OpGNUReinterpret = 0xf9
	OpGNUAddrIndex   = 0xfb
)
