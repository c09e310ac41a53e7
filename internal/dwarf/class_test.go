package dwarf

import "testing"

// tagOf is a tag of each class that a plan may read attributes of.
var tagOf = map[Class]Tag{
	ClassSkip: TagLabel, ClassMember: TagMember, ClassRef: TagTypedef, ClassAggregate: TagStructureType, ClassEnum: TagEnumerationType,
	ClassEnumerator: TagEnumerator, ClassArray: TagArrayType, ClassSubrange: TagSubrangeType, ClassBase: TagBaseType, ClassProto: TagSubroutineType,
	ClassParam: TagFormalParameter, ClassVariadic: TagUnspecifiedParams, ClassFunc: TagSubprogram, ClassVariable: TagVariable,
	ClassBlock: TagLexicalBlock, ClassNamespace: TagNamespace, ClassAnnotation: TagLLVMAnnotation, ClassUnspecified: TagUnspecifiedType,
	ClassUnencodable: TagPtrToMemberType, ClassInheritance: TagInheritance, ClassUnit: TagCompileUnit, ClassImport: TagImportedUnit,
	ClassForReaders: TagSetType, ClassVariant: TagVariant,
}

// TestTypes: each attribute has the value that is named for it, in every class that
// reads it, and no other.
func TestTypes(t *testing.T) {
	values := map[uint64]int{
		atSibling: VSibling, atLocation: VLocation, atName: VName, atByteSize: VByteSize, atBitOffset: VBitOffset, atBitSize: VBitSize,
		atLowPC: VLowPC, atConstValue: VConst, atImport: VImport, atInline: VInline, atContainingType: VContaining,
		atUpperBound: VUpperBound, atAbstractOrigin: VOrigin, atArtificial: VArtificial, atCallingConvention: VCC, atCount: VCount,
		atDataMemberLoc: VMemberLoc, atDeclaration: VDeclaration, atEncoding: VEncoding, atExternal: VExternal, atSpecification: VSpec,
		atType: VType, atDataBitOffset: VDataBitOffset, atSignature: VSignature, atGNUAnnotation: VAnnotation,
	}
	ofUnit := map[uint64]int{
		atName: VName, atLanguage: VLanguage, atProducer: VProducer, atCompDir: VCompDir, atStrOffsetsBase: VStrBase, atAddrBase: VAddrBase,
		atGNUAddrBase: VAddrBase, atLoclistsBase: VLoclistsBase, atDwoName: VDwoName, atGNUDwoName: VDwoName, atGNUDwoID: VDwoID,
		AtUnitRecord: VRecord, AtRecordBlock: VRecordBlock,
	}
	attrs := []uint64{atGNUAnnotation, atGNUAddrBase, atGNUDwoName, atGNUDwoID, AtUnitRecord}
	for attr := range uint64(2 * denseAttrs) {
		attrs = append(attrs, attr)
	}
	read := map[[2]uint64]bool{}
	for c := range ClassInlined {
		names := values
		if c == ClassUnit {
			names = ofUnit
		}
		for _, attr := range attrs {
			var table Abbrevs
			if err := table.Compile(append(declare(1, tagOf[c], false, at{attr: attr, form: FormData4}), 0), &Unit{Version: 4, AddrSize: 8}, Types, 0); attr != 0 && err != nil {
				t.Fatal(err)
			}
			got := table.Lookup(1).Present
			want, named := names[attr]
			if got != 0 && (!named || got != bit(want)) || table.Lookup(1).Class != c {
				t.Errorf("class %d, attribute %#x: values %#x of class %d, want %d", c, attr, got, table.Lookup(1).Class, want)
			}
			read[[2]uint64{attr, uint64(min(got, 1))}] = true
		}
	}
	for _, names := range []map[uint64]int{values, ofUnit} {
		for attr := range names {
			if !read[[2]uint64{attr, 1}] {
				t.Errorf("no class reads attribute %#x", attr)
			}
		}
	}
}

// TestSlots: no two values of a class share a slot, and only values that are direct have
// one.
func TestSlots(t *testing.T) {
	for _, plan := range []*Plan{Types, Places, Inlined} {
		for c := range plan.uses {
			slots := map[int8]int8{}
			for attr, u := range plan.uses[c] {
				if old, ok := slots[u.slot]; u.slot >= 0 && ok && old != u.value || u.slot >= NumSlots || u.value >= MaxValues {
					t.Errorf("class %d, attribute %#x: %+v is taken", c, attr, u)
				}
				slots[u.slot] = u.value
			}
		}
	}
}
