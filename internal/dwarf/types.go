package dwarf

// Types is the plan for types, functions and variables.
var Types = newPlan(classOf).add([]attr{
	{at: atSibling, value: VSibling, slot: SlotSibling, kind: aReference},
	{at: atLocation, value: VLocation, slot: SlotLocation, kind: aLocation},
	{at: atName, value: VName, slot: SlotName, kind: aName},
	{at: atByteSize, value: VByteSize, slot: SlotByteSize},
	{at: atBitOffset, value: VBitOffset},
	{at: atBitSize, value: VBitSize, slot: SlotBitSize},
	{at: atLowPC, value: VLowPC},
	{at: atImport, value: VImport},
	{at: atConstValue, value: VConst, slot: SlotConst},
	{at: atContainingType, value: VContaining},
	{at: atInline, value: VInline},
	{at: atUpperBound, value: VUpperBound, slot: SlotUpperBound},
	{at: atAbstractOrigin, value: VOrigin, slot: SlotOrigin, kind: aReference},
	{at: atArtificial, value: VArtificial},
	{at: atCallingConvention, value: VCC},
	{at: atCount, value: VCount, slot: SlotCount},
	{at: atDataMemberLoc, value: VMemberLoc, slot: SlotMemberLoc},
	{at: atDeclaration, value: VDeclaration, slot: SlotDeclaration},
	{at: atEncoding, value: VEncoding, slot: SlotEncoding},
	{at: atExternal, value: VExternal},
	{at: atSpecification, value: VSpec},
	{at: atType, value: VType, slot: SlotType, kind: aReference},
	{at: atSignature, value: VSignature},
	{at: atDataBitOffset, value: VDataBitOffset, slot: SlotDataBitOffset},
	{at: atGNUAnnotation, value: VAnnotation},
},
	row{ClassSkip, bit(VSibling), 0},
	row{ClassMember, bit(VName, VType, VMemberLoc, VBitSize, VDataBitOffset), bit(VByteSize, VBitOffset, VExternal, VDeclaration, VAnnotation)},
	row{ClassRef, bit(VName, VType), bit(VSpec, VAnnotation)},
	row{ClassAggregate, bit(VName, VByteSize, VDeclaration), bit(VAnnotation, VSignature, VSpec)},
	row{ClassEnum, bit(VName, VType, VByteSize), bit(VSignature, VSpec)},
	row{ClassEnumerator, bit(VName, VConst), 0},
	row{ClassArray, bit(VType), 0},
	row{ClassSubrange, bit(VUpperBound, VCount), 0},
	row{ClassBase, bit(VName, VByteSize, VEncoding), 0},
	row{ClassProto, bit(VName, VType), 0},
	row{ClassParam, bit(VName, VType, VOrigin, VLocation), bit(VConst, VAnnotation)},
	row{ClassFunc, 0, bit(VName, VType, VLowPC, VDeclaration, VOrigin, VSpec, VInline, VCC, VAnnotation)},
	row{ClassVariable, 0, bit(VName, VType, VLocation, VExternal, VDeclaration, VSpec, VArtificial)},
	row{ClassAnnotation, 0, bit(VName, VConst, VAnnotation)},
	row{ClassUnencodable, bit(VName, VType, VByteSize), bit(VContaining)},
	row{ClassForReaders, 0, bit(VName, VType, VByteSize)},
	row{ClassUnspecified, 0, bit(VName)},
	row{ClassInheritance, 0, bit(VType, VMemberLoc)},
	row{ClassImport, 0, bit(VImport)},
).add([]attr{
	{at: atName, value: VName},
	{at: atLanguage, value: VLanguage},
	{at: atProducer, value: VProducer},
	{at: atCompDir, value: VCompDir},
	{at: atStrOffsetsBase, value: VStrBase},
	{at: atAddrBase, value: VAddrBase},
	{at: atGNUAddrBase, value: VAddrBase},
	{at: atLoclistsBase, value: VLoclistsBase},
	{at: atDwoName, value: VDwoName},
	{at: atGNUDwoName, value: VDwoName},
	{at: atGNUDwoID, value: VDwoID},
	{at: AtUnitRecord, value: VRecord},
	{at: AtRecordBlock, value: VRecordBlock},
}, row{ClassUnit, 0, bit(VName, VLanguage, VProducer, VCompDir, VStrBase, VAddrBase, VLoclistsBase, VDwoName, VDwoID, VRecord, VRecordBlock)})

// The values of Types.
const (
	VName = iota // of unit DIEs, too
	VType
	VByteSize
	VMemberLoc
	VBitSize
	VDataBitOffset
	VBitOffset
	VDeclaration
	VEncoding
	VConst
	VUpperBound
	VCount
	VLowPC
	VOrigin
	VSpec
	VInline
	VCC
	VLocation
	VExternal
	VArtificial
	VAnnotation
	VSignature
	VImport
	VContaining
)

// The values of unit DIEs, which have no others but VName.
const (
	VLanguage = VName + 1 + iota
	VProducer
	VCompDir
	VStrBase
	VAddrBase
	VLoclistsBase
	VDwoName
	VDwoID
	VRecord
	VRecordBlock // DW_AT_const_value, beside VRecord
)
