package dwarf

import "testing"

// TestAttributes: each attribute has the value that is named for it, in every
// class that reads it, and no two of a class share a value or a slot.
func TestAttributes(t *testing.T) {
	for attr, want := range map[int]int{
		atSibling: VSibling, atLocation: VLocation, atName: VName, atByteSize: VByteSize, atBitOffset: VBitOffset, atBitSize: VBitSize,
		atLowPC: VLowPC, atLanguage: VLanguage, atConstValue: VConst, atImport: VImport, atInline: VInline, atProducer: VProducer,
		atUpperBound: VUpperBound, atAbstractOrigin: VOrigin, atArtificial: VArtificial, atCallingConvention: VCC, atCount: VCount,
		atDataMemberLoc: VMemberLoc, atDeclaration: VDeclaration, atEncoding: VEncoding, atExternal: VExternal, atSpecification: VSpec,
		atType: VType, atDataBitOffset: VDataBitOffset, atStrOffsetsBase: VStrBase, atAddrBase: VAddrBase, atLoclistsBase: VLoclistsBase,
		atSignature: VSignature, atDwoName: VDwoName, atCompDir: VCompDir,
	} {
		read := false
		for c := range uses {
			u := uses[c][attr]
			read = read || u.value >= 0
			if u != unused && (int(u.value) != want || u.slot >= NumSlots) {
				t.Errorf("class %d, attribute %#x: %+v, want value %d", c, attr, u, want)
			}
		}
		if !read && want != VBitOffset {
			t.Errorf("no class reads attribute %#x", attr)
		}
	}
	for c := range uses {
		var values, slots uint32
		for attr, u := range uses[c] {
			if u.value >= 0 && values>>u.value&1 != 0 || u.slot >= 0 && slots>>u.slot&1 != 0 {
				t.Errorf("class %d, attribute %#x: %+v is taken", c, attr, u)
			}
			if u.value >= 0 {
				values |= 1 << u.value
			}
			if u.slot >= 0 {
				slots |= 1 << u.slot
			}
		}
	}
	for _, c := range []struct {
		class Class
		attr  uint64
		want  int
	}{
		{ClassMember, atGNUAnnotation, VAnnotation}, {ClassFunc, atGNUAnnotation, VAnnotation}, {ClassBase, atGNUAnnotation, -1},
		{ClassUnit, atGNUDwoName, VDwoName}, {ClassUnit, atGNUDwoID, VDwoID}, {ClassUnit, atGNUAddrBase, VAddrBase},
		{ClassMember, atGNUDwoName, -1}, {ClassMember, atGNUDwoID, -1}, {ClassMember, atGNUAddrBase, -1},
	} {
		tag := map[Class]Tag{ClassMember: TagMember, ClassFunc: TagSubprogram, ClassBase: TagBaseType, ClassUnit: TagCompileUnit}[c.class]
		var table Abbrevs
		if err := table.Compile(append(declare(1, tag, false, at{attr: c.attr, form: FormData4}), 0), &Unit{Version: 4, AddrSize: 8}, 0); err != nil {
			t.Fatal(err)
		}
		want := uint32(0)
		if c.want >= 0 {
			want = bit(c.want)
		}
		if got := table.Lookup(1).Present; got != want {
			t.Errorf("class %d, attribute %#x: present %#x, want %#x", c.class, c.attr, got, want)
		}
	}
}
