package dwarf

// Class says how the walk handles a DIE. Compile decides it once for each abbreviation.
type Class uint8

// The classes, each with the attributes in its direct slots by the plan Types, in order;
// "-" is an unused slot.
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
	ClassInlined     // inlined_subroutine, in the plan Inlined
	numClasses
)

// classOf returns the class of a tag in the plan Types.
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
