package dwarf

// What an abbreviation is to the encoder: the class of its tag and the attributes
// that are read of it.

// Class is what the walk does with a DIE, decided once per abbreviation.
type Class uint8

// The classes, each with the attributes in its direct slots, in order; "-" is an
// unused slot. What else is read of a DIE of the class is in uses (init).
const (
	ClassSkip       Class = iota // whole subtree ignored: -, -, sibling
	ClassMember                  // name, type, data_member_location, bit_size, data_bit_offset
	ClassRef                     // modifiers, pointer, typedef: name, type
	ClassAggregate               // struct, class, union: name, -, byte_size, declaration
	ClassEnum                    // name, type, byte_size
	ClassEnumerator              // name, -, const_value
	ClassArray                   // -, type
	ClassSubrange                // -, -, upper_bound, count
	ClassBase                    // name, -, byte_size, encoding
	ClassProto                   // subroutine_type: name, type
	ClassParam                   // name, type, abstract_origin, location
	ClassVariadic                // unspecified_parameters
	ClassFunc                    // subprogram: never direct
	ClassVariable                // never direct
	ClassBlock                   // lexical_block: nothing
	ClassNamespace
	ClassAnnotation  // LLVM or GNU annotation: never direct
	ClassUnspecified // unspecified_type
	ClassUnencodable // a type that BTF has no kind for: -, type
	ClassInheritance // counts for component indexes; a member for readers only
	ClassUnit        // unit DIEs: never direct
	ClassImport      // imported_unit
	ClassForReaders  // a type that pahole takes for void, and only readers of DWARF print
	ClassVariant     // variant_part and variant of Rust, which only readers look into
)

// Value indexes of Values: the attributes that the encoder reads.
const (
	VName = iota
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
	VLanguage
	VProducer
	VAnnotation
	VStrBase
	VAddrBase
	VLoclistsBase
	VSibling
	VDwoName
	VSignature
	VImport
	VCompDir
	VDwoID
	NumValues

	// VRecord is AtUnitRecord of a unit DIE, which has no location.
	VRecord = VLocation
)

// attrValue maps DW_AT_ numbers below 0x90 to 1 + value index.
var attrValue = [0x90]uint8{
	atSibling: VSibling + 1, atLocation: VLocation + 1, atName: VName + 1, atByteSize: VByteSize + 1,
	atBitOffset: VBitOffset + 1, atBitSize: VBitSize + 1, atLowPC: VLowPC + 1, atLanguage: VLanguage + 1,
	atConstValue: VConst + 1, atImport: VImport + 1, atInline: VInline + 1, atProducer: VProducer + 1,
	atUpperBound: VUpperBound + 1, atAbstractOrigin: VOrigin + 1, atArtificial: VArtificial + 1,
	atCallingConvention: VCC + 1, atCount: VCount + 1, atDataMemberLoc: VMemberLoc + 1,
	atDeclaration: VDeclaration + 1, atEncoding: VEncoding + 1, atExternal: VExternal + 1,
	atSpecification: VSpec + 1, atType: VType + 1, atDataBitOffset: VDataBitOffset + 1,
	atStrOffsetsBase: VStrBase + 1, atAddrBase: VAddrBase + 1, atLoclistsBase: VLoclistsBase + 1, atSignature: VSignature + 1,
	atDwoName: VDwoName + 1, atCompDir: VCompDir + 1,
}

// bit returns the presence bits of value indexes.
func bit(vs ...int) (m uint32) {
	for _, v := range vs {
		m |= 1 << v
	}
	return m
}

// use says what an attribute is to a class: the index of the value that it is
// captured as, and the slot of it if it is direct; -1 if it is not.
type use struct{ value, slot int8 }

// uses has the use of each attribute below 0x90, by class and DW_AT_ number;
// annotations and dwoNames say it for two of the GNU attributes beyond.
var (
	uses        [ClassVariant + 1][len(attrValue)]use
	annotations [ClassVariant + 1]use
	dwoNames    [ClassVariant + 1]use
)

var unused = use{-1, -1}

// slotOf is the slot of each value that is direct to a class.
var slotOf = [NumValues]int8{
	VName: SlotName, VType: SlotType, VSibling: SlotSibling, VMemberLoc: SlotMemberLoc, VByteSize: SlotByteSize, VConst: SlotConst,
	VUpperBound: SlotUpperBound, VOrigin: SlotOrigin, VBitSize: SlotBitSize, VDeclaration: SlotDeclaration, VCount: SlotCount,
	VEncoding: SlotEncoding, VLocation: SlotLocation, VDataBitOffset: SlotDataBitOffset,
}

func init() {
	for c := range uses {
		for at := range uses[c] {
			uses[c][at] = unused
		}
		annotations[c], dwoNames[c] = unused, unused
	}
	for _, x := range []struct {
		class        Class
		direct, also uint32 // the values with a slot, and the others, as bits
	}{
		{ClassSkip, bit(VSibling), 0},
		{ClassMember, bit(VName, VType, VMemberLoc, VBitSize, VDataBitOffset), bit(VByteSize, VBitOffset, VExternal, VAnnotation)},
		{ClassRef, bit(VName, VType), bit(VSpec, VAnnotation)},
		{ClassAggregate, bit(VName, VByteSize, VDeclaration), bit(VAnnotation, VSignature, VSpec)},
		{ClassEnum, bit(VName, VType, VByteSize), bit(VSignature, VSpec)},
		{ClassEnumerator, bit(VName, VConst), 0},
		{ClassArray, bit(VType), 0},
		{ClassSubrange, bit(VUpperBound, VCount), 0},
		{ClassBase, bit(VName, VByteSize, VEncoding), 0},
		{ClassProto, bit(VName, VType), 0},
		{ClassParam, bit(VName, VType, VOrigin, VLocation), bit(VConst, VAnnotation)},
		{ClassFunc, 0, bit(VName, VType, VLowPC, VDeclaration, VOrigin, VSpec, VInline, VCC, VAnnotation)},
		{ClassVariable, 0, bit(VName, VType, VLocation, VExternal, VDeclaration, VSpec, VArtificial)},
		{ClassAnnotation, 0, bit(VName, VConst, VAnnotation)},
		{ClassUnit, 0, bit(VName, VLanguage, VProducer, VStrBase, VAddrBase, VLoclistsBase, VDwoName, VCompDir)},
		{ClassUnencodable, bit(VName, VType, VByteSize), 0},
		{ClassForReaders, 0, bit(VName, VType, VByteSize)},
		{ClassUnspecified, 0, bit(VName)},
		{ClassInheritance, 0, bit(VType, VMemberLoc)},
		{ClassImport, 0, bit(VImport)},
	} {
		useOf := func(v int) use {
			switch {
			case x.direct>>v&1 != 0:
				return use{int8(v), slotOf[v]}
			case x.also>>v&1 != 0:
				return use{int8(v), -1}
			}
			return unused
		}
		for at, v := range attrValue {
			if v != 0 {
				uses[x.class][at] = useOf(int(v) - 1)
			}
		}
		annotations[x.class], dwoNames[x.class] = useOf(VAnnotation), useOf(VDwoName)
	}
	// Of a pointer to a member, the class has the place of a specification.
	uses[ClassUnencodable][atContainingType] = use{VSpec, -1}
}

// useBeyond is what an attribute from 0x90 on is to a class.
func useBeyond(c Class, attr uint64) use {
	switch {
	case attr == atGNUAnnotation:
		return annotations[c]
	case attr == atGNUDwoName:
		return dwoNames[c]
	case attr == atGNUDwoID && c == ClassUnit:
		return use{VDwoID, -1}
	case attr == AtUnitRecord && c == ClassUnit:
		return use{VRecord, -1}
	case attr == atGNUAddrBase && c == ClassUnit:
		return use{VAddrBase, -1}
	}
	return unused
}

// classOf gives the class of a tag.
func classOf(t Tag) Class {
	switch t {
	case TagMember:
		return ClassMember
	case TagPointerType, TagConstType, TagVolatileType, TagRestrictType, TagTypedef:
		return ClassRef
	case TagStructureType, TagClassType, TagUnionType:
		return ClassAggregate
	case TagEnumerationType:
		return ClassEnum
	case TagEnumerator:
		return ClassEnumerator
	case TagArrayType:
		return ClassArray
	case TagSubrangeType:
		return ClassSubrange
	case TagBaseType:
		return ClassBase
	case TagSubroutineType:
		return ClassProto
	case TagFormalParameter:
		return ClassParam
	case TagUnspecifiedParams:
		return ClassVariadic
	case TagSubprogram:
		return ClassFunc
	case TagVariable:
		return ClassVariable
	case TagLexicalBlock:
		return ClassBlock
	case TagNamespace:
		return ClassNamespace
	case TagLLVMAnnotation, TagGNUAnnotation:
		return ClassAnnotation
	case TagUnspecifiedType:
		return ClassUnspecified
	case TagAtomicType, TagReferenceType, TagRvalueReferenceType, TagPtrToMemberType, TagStringType, TagInterfaceType:
		return ClassUnencodable
	case TagSetType, TagFileType, TagPackedType, TagThrownType, TagSharedType, TagTemplateAlias, TagCoarrayType, TagDynamicType, TagImmutableType:
		return ClassForReaders
	case TagVariantPart, TagVariant:
		return ClassVariant
	case TagInheritance:
		return ClassInheritance
	case TagCompileUnit, TagPartialUnit, TagTypeUnit, TagSkeletonUnit:
		return ClassUnit
	case TagImportedUnit:
		return ClassImport
	}
	return ClassSkip
}
