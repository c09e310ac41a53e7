package verify

import (
	"bytes"
	"testing"

	"github.com/btflite/btflite/btf"
)

// invalidCases are invalid blobs as in the kernel's selftests (selftests_test.go), and
// others: the fault, and the smallest blob with it. Type 1 is an int.
var invalidCases = []struct {
	what string
	add  func(b *blob)
}{
	// Sections and variables.
	{"entry smaller than its variable", func(b *blob) { section(b, 4, variable(b, 1), 0, 2) }},
	{"section smaller than its entries", func(b *blob) { section(b, 2, variable(b, 1), 0, 4) }},
	{"section of size 0", func(b *blob) { section(b, 0, variable(b, 1), 0, 4) }},
	{"section without entries", func(b *blob) { b.add(".s", btf.KindDatasec, 0, false, 0) }},
	{"entry beyond its section", func(b *blob) { v := variable(b, 1); section(b, 62, v, 10, 4, v, 60, 4) }},
	{"entries that overlap", func(b *blob) { v := variable(b, 1); section(b, 62, v, 10, 4, v, 12, 4) }},
	{"entries out of order", func(b *blob) { v := variable(b, 1); section(b, 62, v, 58, 4, v, 10, 4) }},
	{"entry that is not a variable", func(b *blob) { section(b, 4, 1, 0, 4) }},
	{"variable of a section", func(b *blob) { section(b, 4, variable(b, 3), 0, 4); variable(b, 2) }},
	{"variable of a variable", func(b *blob) { variable(b, variable(b, 1)) }},
	{"variable of a later variable", func(b *blob) { variable(b, 3); variable(b, 1) }},
	{"variable of itself", func(b *blob) { variable(b, 2) }},
	{"pointer to a variable", func(b *blob) { b.add("", btf.KindPtr, 0, false, 3); variable(b, 1) }},
	{"struct with a variable in it", func(b *blob) { members(b, 8, 0, 1, 0, 0, 3, 32); variable(b, 1) }},
	{"array of variables", func(b *blob) { array(b, 3, 1, 4); variable(b, 1) }},
	{"variable without a name", func(b *blob) { b.add("", btf.KindVar, 0, false, 1, 0) }},
	{"variable with a bad name", func(b *blob) { b.add("a b", btf.KindVar, 0, false, 1, 0) }},
	{"variable of type void", func(b *blob) { variable(b, 0) }},
	{"variable of a function", func(b *blob) { variable(b, b.add("", btf.KindFuncProto, 0, false, 0)) }},
	{"variable with unknown linkage", func(b *blob) { b.add("v", btf.KindVar, 0, false, 1, 3) }},
	{"variable with kind_flag", func(b *blob) { b.add("v", btf.KindVar, 0, true, 1, 0) }},
	{"variable with vlen", func(b *blob) { b.add("v", btf.KindVar, 1, false, 1, 0) }},
	{"section without a name", func(b *blob) { b.add("", btf.KindDatasec, 1, false, 4, variable(b, 1), 0, 4) }},
	{"section with a bad name", func(b *blob) { b.add(".b\x01", btf.KindDatasec, 1, false, 4, variable(b, 1), 0, 4) }},
	{"section with kind_flag", func(b *blob) { b.add(".s", btf.KindDatasec, 1, true, 4, variable(b, 1), 0, 4) }},

	// Sizes.
	{"int past its struct", func(b *blob) { members(b, 7, 0, 1, 0, 0, 1, 32) }},
	{"array past its struct", func(b *blob) { array(b, 1, 1, 2); members(b, 11, 0, 1, 0, 0, 2, 32) }},
	{"pointer past its struct", func(b *blob) { b.add("", btf.KindPtr, 0, false, 0); members(b, 11, 0, 1, 0, 0, 2, 32) }},
	{"enumeration past its struct", func(b *blob) {
		b.add("e", btf.KindEnum, 1, false, 4, b.Str("E"), 0)
		members(b, 7, 0, 1, 0, 0, 2, 32)
	}},
	{"float past its struct", func(b *blob) { b.add("f", btf.KindFloat, 0, false, 8); members(b, 4, 0, 2, 0) }},
	{"member at an offset past its struct", func(b *blob) { members(b, 4, 0, 1, 64) }},
	{"members out of order", func(b *blob) { members(b, 8, 0, 1, 32, 0, 1, 0) }},
	{"union member not at 0", func(b *blob) { b.add("u", btf.KindUnion, 1, false, 8, 0, 1, 32) }},

	// void.
	{"struct with const void", func(b *blob) { b.add("", btf.KindConst, 0, false, 0); members(b, 8, 0, 2, 0) }},
	{"struct with void", func(b *blob) { members(b, 8, 0, 0, 0) }},
	{"array of const void", func(b *blob) { b.add("", btf.KindConst, 0, false, 0); array(b, 2, 1, 4) }},
	{"array of void", func(b *blob) { array(b, 0, 1, 4) }},
	{"array indexed by void", func(b *blob) { array(b, 1, 0, 4) }},
	{"array indexed by const void", func(b *blob) { b.add("", btf.KindConst, 0, false, 0); array(b, 1, 2, 4) }},
	{"array indexed by a pointer", func(b *blob) { b.add("", btf.KindPtr, 0, false, 0); array(b, 1, 2, 4) }},
	{"array indexed by a struct", func(b *blob) { members(b, 4, 0, 1, 0); array(b, 1, 2, 4) }},
	{"array indexed by an int of odd bits", func(b *blob) { b.add("i", btf.KindInt, 0, false, 4, 27); array(b, 1, 2, 4) }},
	{"array too large", func(b *blob) { array(b, 1, 1, 0xffffffff) }},
	{"array with a size of its own", func(b *blob) { b.add("", btf.KindArray, 0, false, 4, 1, 1, 4) }},
	{"array with a name", func(b *blob) { b.add("a", btf.KindArray, 0, false, 0, 1, 1, 4) }},
	{"array with vlen", func(b *blob) { b.add("", btf.KindArray, 1, false, 0, 1, 1, 4) }},
	{"array with kind_flag", func(b *blob) { b.add("", btf.KindArray, 0, true, 0, 1, 1, 4) }},

	// Loops.
	{"array of itself", func(b *blob) { array(b, 2, 1, 4) }},
	{"array indexed by itself", func(b *blob) { array(b, 1, 2, 4) }},
	{"two arrays of each other", func(b *blob) { array(b, 3, 1, 4); array(b, 2, 1, 4) }},
	{"struct and array of each other", func(b *blob) { array(b, 3, 1, 8); members(b, 8, 0, 1, 0, 0, 2, 32) }},
	{"struct of itself", func(b *blob) { members(b, 8, 0, 1, 0, 0, 2, 32) }},
	{"struct, const and typedef in a ring", func(b *blob) {
		b.add("", btf.KindConst, 0, false, 4)
		b.add("t", btf.KindTypedef, 0, false, 2)
		members(b, 8, 0, 1, 0, 0, 3, 32)
	}},
	{"const of itself", func(b *blob) { b.add("", btf.KindConst, 0, false, 2) }},
	{"const and volatile of each other", func(b *blob) {
		b.add("", btf.KindConst, 0, false, 3)
		b.add("", btf.KindVolatile, 0, false, 2)
	}},
	{"typedef of itself", func(b *blob) { b.add("t", btf.KindTypedef, 0, false, 2) }},
	{"two typedefs of each other", func(b *blob) { b.add("t", btf.KindTypedef, 0, false, 3); b.add("u", btf.KindTypedef, 0, false, 2) }},
	{"pointer and const of each other", func(b *blob) { b.add("", btf.KindConst, 0, false, 3); b.add("", btf.KindPtr, 0, false, 2) }},
	{"pointer to itself", func(b *blob) { b.add("", btf.KindPtr, 0, false, 2) }},
	{"restrict of itself", func(b *blob) { b.add("", btf.KindRestrict, 0, false, 2) }},

	// Integers, enumerations, floats, forwards.
	{"int with more bits than bytes", func(b *blob) { b.add("i", btf.KindInt, 0, false, 4, 33) }},
	{"int with an offset beyond its bytes", func(b *blob) { b.add("i", btf.KindInt, 0, false, 4, 8<<16|32) }},
	{"int of more than 128 bits", func(b *blob) { b.add("i", btf.KindInt, 0, false, 20, 160) }},
	{"int of two encodings", func(b *blob) { b.add("i", btf.KindInt, 0, false, 1, 5<<24|8) }},
	{"int with unknown bits", func(b *blob) { b.add("i", btf.KindInt, 0, false, 4, 1<<31|32) }},
	{"int with vlen", func(b *blob) { b.add("i", btf.KindInt, 1, false, 4, 32) }},
	{"int with kind_flag", func(b *blob) { b.add("i", btf.KindInt, 0, true, 4, 32) }},
	{"enumeration of 0 bytes", func(b *blob) { b.add("e", btf.KindEnum, 1, false, 0, b.Str("E"), 0) }},
	{"enumeration of 32 bytes", func(b *blob) { b.add("e", btf.KindEnum, 1, false, 32, b.Str("E"), 0) }},
	{"enumeration with a bad name", func(b *blob) { b.add("e!", btf.KindEnum, 1, false, 4, b.Str("E"), 0) }},
	{"enumerator without a name", func(b *blob) { b.add("e", btf.KindEnum, 1, false, 4, 0, 0) }},
	{"enumerator with a bad name", func(b *blob) { b.add("e", btf.KindEnum, 1, false, 4, b.Str("~"), 0) }},
	{"64-bit enumeration of 3 bytes", func(b *blob) { b.add("e", btf.KindEnum64, 1, false, 3, b.Str("E"), 0, 0) }},
	{"64-bit enumerator without a name", func(b *blob) { b.add("e", btf.KindEnum64, 1, false, 8, 0, 0, 0) }},
	{"float of 6 bytes", func(b *blob) { b.add("f", btf.KindFloat, 0, false, 6) }},
	{"float with vlen", func(b *blob) { b.add("f", btf.KindFloat, 1, false, 4) }},
	{"float with kind_flag", func(b *blob) { b.add("f", btf.KindFloat, 0, true, 4) }},
	{"forward with a size", func(b *blob) { b.add("f", btf.KindFwd, 0, false, 56) }},
	{"forward without a name", func(b *blob) { b.add("", btf.KindFwd, 0, false, 0) }},
	{"forward with a bad name", func(b *blob) { b.add("f!", btf.KindFwd, 0, false, 0) }},
	{"forward with vlen", func(b *blob) { b.add("f", btf.KindFwd, 1, false, 0) }},

	// Names.
	{"typedef without a name", func(b *blob) { b.add("", btf.KindTypedef, 0, false, 1) }},
	{"typedef with a bad name", func(b *blob) { b.add("__!int", btf.KindTypedef, 0, false, 1) }},
	{"pointer with a name", func(b *blob) { b.add("p", btf.KindPtr, 0, false, 1) }},
	{"volatile with a name", func(b *blob) { b.add("v", btf.KindVolatile, 0, false, 1) }},
	{"const with a name", func(b *blob) { b.add("c", btf.KindConst, 0, false, 1) }},
	{"restrict with a name", func(b *blob) { b.add("r", btf.KindRestrict, 0, false, 1) }},
	{"struct with a bad name", func(b *blob) { b.add("s*", btf.KindStruct, 1, false, 4, b.Str("m"), 1, 0) }},
	{"union with a bad name", func(b *blob) { b.add("9u", btf.KindUnion, 0, false, 0) }},
	{"member with a bad name", func(b *blob) { members(b, 4, b.Str("m*"), 1, 0) }},
	{"int with a bad name", func(b *blob) { b.Words = append(b.Words, 1<<24, btf.Info(btf.KindInt, 0, false), 4, 32) }},
	{"name beyond the strings", func(b *blob) { b.Words = append(b.Words, 1000, btf.Info(btf.KindFwd, 0, false), 0) }},

	// Functions.
	{"prototype with a name", func(b *blob) { b.add("p", btf.KindFuncProto, 0, false, 0) }},
	{"prototype that returns const void", func(b *blob) { b.add("", btf.KindConst, 0, false, 0); b.add("", btf.KindFuncProto, 0, false, 2) }},
	{"prototype that returns a prototype", func(b *blob) { b.add("", btf.KindFuncProto, 0, false, 0); b.add("", btf.KindFuncProto, 0, false, 2) }},
	{"prototype that returns itself", func(b *blob) { b.add("", btf.KindFuncProto, 0, false, 2) }},
	{"parameter of type void in the middle", func(b *blob) { b.add("", btf.KindFuncProto, 2, false, 0, 0, 0, 0, 1) }},
	{"parameter of type const void", func(b *blob) {
		b.add("", btf.KindConst, 0, false, 0)
		b.add("", btf.KindFuncProto, 2, false, 0, b.Str("a"), 1, b.Str("b"), 2)
	}},
	{"parameter that is a prototype", func(b *blob) {
		b.add("", btf.KindFuncProto, 0, false, 0)
		b.add("", btf.KindFuncProto, 1, false, 0, b.Str("a"), 2)
	}},
	{"parameter that is a function", func(b *blob) { b.add("", btf.KindFuncProto, 1, false, 0, b.Str("a"), function(b)) }},
	{"vararg with a name", func(b *blob) { b.add("", btf.KindFuncProto, 2, false, 0, b.Str("a"), 1, b.Str("b"), 0) }},
	{"parameter with a bad name", func(b *blob) { b.add("", btf.KindFuncProto, 1, false, 0, b.Str("!a"), 1) }},
	{"prototype with kind_flag", func(b *blob) { b.add("", btf.KindFuncProto, 0, true, 0) }},
	{"function without a name", func(b *blob) { b.add("", btf.KindFunc, 0, false, b.add("", btf.KindFuncProto, 0, false, 0)) }},
	{"function with a bad name", func(b *blob) { b.add("!f", btf.KindFunc, 0, false, b.add("", btf.KindFuncProto, 0, false, 0)) }},
	{"function of an int", func(b *blob) { b.add("f", btf.KindFunc, 0, false, 1) }},
	{"function of void", func(b *blob) { b.add("f", btf.KindFunc, 0, false, 0) }},
	{"function of a function", func(b *blob) { b.add("g", btf.KindFunc, 0, false, function(b)) }},
	{"function with unknown linkage", func(b *blob) { b.add("f", btf.KindFunc, 3, false, b.add("", btf.KindFuncProto, 0, false, 0)) }},
	{"function with kind_flag", func(b *blob) { b.add("f", btf.KindFunc, 0, true, b.add("", btf.KindFuncProto, 0, false, 0)) }},
	{"function with a parameter without a name", func(b *blob) {
		b.add("f", btf.KindFunc, 0, false, b.add("", btf.KindFuncProto, 2, false, 0, b.Str("a"), 1, 0, 1))
	}},
	{"member that is a function", func(b *blob) { f := function(b); members(b, 8, b.Str("f"), f, 0) }},

	// Bit-fields.
	{"bit-field wider than its int", func(b *blob) { b.add("s", btf.KindStruct, 1, true, 8, 0, 1, 33<<24) }},
	{"bit-field past its struct", func(b *blob) { b.add("s", btf.KindStruct, 1, true, 4, 0, 1, 8<<24|28) }},
	{"bit-field of a struct", func(b *blob) { members(b, 4, 0, 1, 0); b.add("s", btf.KindStruct, 1, true, 8, 0, 2, 3<<24) }},
	{"bit-field of a pointer", func(b *blob) {
		b.add("", btf.KindPtr, 0, false, 0)
		b.add("s", btf.KindStruct, 1, true, 8, 0, 2, 3<<24)
	}},
	{"bit-field of an int with an offset", func(b *blob) {
		b.add("i", btf.KindInt, 0, false, 4, 4<<16|20)
		b.add("s", btf.KindStruct, 1, true, 8, 0, 2, 20<<24)
	}},
	{"plain member not at a byte", func(b *blob) { b.add("s", btf.KindStruct, 1, true, 8, 0, 1, 3) }},
	{"pointer not at a byte", func(b *blob) { b.add("", btf.KindPtr, 0, false, 0); members(b, 16, 0, 2, 4) }},
	{"enumeration bit-field past its struct", func(b *blob) {
		b.add("e", btf.KindEnum, 1, false, 4, b.Str("E"), 0)
		b.add("s", btf.KindStruct, 1, true, 4, 0, 2, 4<<24|30)
	}},
	{"float not at a byte", func(b *blob) { b.add("f", btf.KindFloat, 0, false, 4); members(b, 8, 0, 2, 1) }},

	// Tags.
	{"tag without a name", func(b *blob) { b.add("", btf.KindDeclTag, 0, false, variable(b, 1), ^uint32(0)) }},
	{"tag of a type that does not exist", func(b *blob) { b.add("t", btf.KindDeclTag, 0, false, 9, ^uint32(0)) }},
	{"tag of void", func(b *blob) { b.add("t", btf.KindDeclTag, 0, false, 0, ^uint32(0)) }},
	{"tag of an int", func(b *blob) { b.add("t", btf.KindDeclTag, 0, false, 1, ^uint32(0)) }},
	{"tag of a pointer", func(b *blob) { b.add("t", btf.KindDeclTag, 0, false, b.add("", btf.KindPtr, 0, false, 1), ^uint32(0)) }},
	{"tag of a component of a variable", func(b *blob) { b.add("t", btf.KindDeclTag, 0, false, variable(b, 1), 0) }},
	{"tag of a component of a typedef", func(b *blob) { b.add("t", btf.KindDeclTag, 0, false, b.add("t", btf.KindTypedef, 0, false, 1), 0) }},
	{"tag of a member that is not there", func(b *blob) { members(b, 4, b.Str("m"), 1, 0); b.add("t", btf.KindDeclTag, 0, false, 2, 1) }},
	{"tag of a parameter that is not there", func(b *blob) { b.add("t", btf.KindDeclTag, 0, false, function(b), 1) }},
	{"tag of a parameter of a later function of void", func(b *blob) {
		b.add("t", btf.KindDeclTag, 0, false, 3, 0)
		b.add("f", btf.KindFunc, 0, false, 0)
	}},
	{"pointer to a later function", func(b *blob) { b.add("", btf.KindPtr, 0, false, function(b)+3); function(b) }},
	{"tag of component -2", func(b *blob) { members(b, 4, b.Str("m"), 1, 0); b.add("t", btf.KindDeclTag, 0, false, 2, ^uint32(1)) }},
	{"tag with vlen", func(b *blob) { b.add("t", btf.KindDeclTag, 1, false, variable(b, 1), ^uint32(0)) }},
	{"type tag without a name", func(b *blob) { b.add("", btf.KindTypeTag, 0, false, 1) }},
	{"type tag of itself", func(b *blob) { b.add("t", btf.KindTypeTag, 0, false, 2) }},
	{"type tag behind a const", func(b *blob) { b.add("", btf.KindConst, 0, false, b.add("t", btf.KindTypeTag, 0, false, 1)) }},
	{"type tag behind a typedef of a const", func(b *blob) {
		b.add("", btf.KindVolatile, 0, false, b.add("t", btf.KindTypeTag, 0, false, b.add("", btf.KindConst, 0, false, 1)))
	}},

	// Records.
	{"type that does not exist", func(b *blob) { b.add("", btf.KindPtr, 0, false, 17) }},
	{"member of a type that does not exist", func(b *blob) { members(b, 4, b.Str("m"), 17, 0) }},
	{"kind 0", func(b *blob) { b.Words = append(b.Words, 0, 0, 0) }},
	{"kind 30", func(b *blob) { b.Words = append(b.Words, 0, 30<<24, 0) }},
	{"reserved bits of info", func(b *blob) { b.Words = append(b.Words, 0, btf.Info(btf.KindPtr, 0, false)|1<<29, 1) }},
	{"record cut off", func(b *blob) { b.Words = append(b.Words, 0, btf.Info(btf.KindInt, 0, false), 4) }},
	{"members cut off", func(b *blob) { b.Words = append(b.Words, 0, btf.Info(btf.KindStruct, 2, false), 8, 0, 1, 0) }},
}

// invalidHeaders are the cases about the header and the strings, as changes of a
// legal blob of one int: 24 bytes of header, 16 of types, then the strings.
var invalidHeaders = []struct {
	what   string
	change func(d []byte) []byte
}{
	{"bad magic", put(0, 1)},
	{"version 2", put(2, 2)},
	{"unknown flags", put(3, 0x80)},
	{"header longer than the data", put(4, 0xff)},
	{"header cut off", func(d []byte) []byte { return d[:23] }},
	{"nothing behind the header", func(d []byte) []byte { return d[:24] }},
	{"longer header with unknown content", func(d []byte) []byte {
		d[4] = 28
		return append(d[:24:24], append([]byte{1, 2, 3, 4}, d[24:]...)...)
	}},
	{"types not aligned", put(8, 1)},
	{"types beyond the data", put(12, 0, 0, 1)},
	{"types of an odd length", put(12, 15)},
	{"types and strings overlap", put(16, 12)},
	{"gap between types and strings", put(16, 20)},
	{"strings beyond the data", put(20, 200)},
	{"strings of length 0", put(20, 0, 0, 0, 0)},
	{"bytes behind the strings", func(d []byte) []byte { return append(d, 0, 0, 0, 0) }},
	{"first string not empty", put(24+16, 'x')},
	{"last string without an end", func(d []byte) []byte { d[len(d)-1] = 'x'; return d }},
}

// put returns a change that writes bytes at an offset.
func put(off int, v ...byte) func([]byte) []byte {
	return func(d []byte) []byte { copy(d[off:], v); return d }
}

func variable(b *blob, t uint32) uint32 { return b.add("v", btf.KindVar, 0, false, t, 0) }
func section(b *blob, size uint32, entries ...uint32) {
	b.add(".s", btf.KindDatasec, uint32(len(entries)/3), false, size, entries...)
}
func members(b *blob, size uint32, m ...uint32) {
	b.add("s", btf.KindStruct, uint32(len(m)/3), false, size, m...)
}
func array(b *blob, element, index, n uint32) {
	b.add("", btf.KindArray, 0, false, 0, element, index, n)
}
func function(b *blob) uint32 {
	return b.add("f", btf.KindFunc, 0, false, b.add("", btf.KindFuncProto, 0, false, 0))
}

func invalidBlob(add func(b *blob), bigEndian bool) []byte {
	b := newBlob()
	b.add("int", btf.KindInt, 0, false, 4, 1<<24|32)
	if add != nil {
		add(b)
	}
	return b.Encode(bigEndian)
}

func TestInvalidCases(t *testing.T) {
	for _, c := range invalidCases {
		for _, bigEndian := range []bool{false, true} {
			if _, err := Check(invalidBlob(c.add, bigEndian), nil, Rules{Kernel: Release{7, 0, 0}, PointerSize: 8}); err == nil {
				t.Errorf("%s, big endian %v: not refused", c.what, bigEndian)
			}
		}
	}
	legal := invalidBlob(nil, false)
	if _, err := Check(legal, nil, Rules{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range invalidHeaders {
		if _, err := Check(c.change(bytes.Clone(legal)), nil, Rules{Kernel: Release{7, 0, 0}}); err == nil {
			t.Errorf("%s: not refused", c.what)
		}
	}
}
