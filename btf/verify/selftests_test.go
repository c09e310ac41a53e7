package verify

import (
	"testing"

	"github.com/btflite/btflite/btf"
)

// selftestCases are the raw types that the selftests of the kernel load
// (tools/testing/selftests/bpf/prog_tests/btf.c, as of 2025), rebuilt as data of
// our own, in that order: which case, what is in it, and whether a kernel takes
// it. Where a description there is numbered, so is the case here.
//
// Not here: four cases of keys and values of array maps and two of decl tags as
// keys and values of maps, which load and then fail to make a map; and what needs
// programs (func_info, line_info), prints values, or asks for loaded BTF.
var selftestCases = []struct {
	name  string
	taken verdict
	add   func(b *blob)
}{
	{"struct 1: members of all kinds, a hole", taken, func(b *blob) {
		i, u, c := b.int(32, 4), b.int(64, 8), b.int(8, 1)
		b.strct("S", 180, u, 0, i, 64, c, 96, 5, 128, 6, 384, 7, 1408)
		b.arr(i, i, 8)
		b.arr(5, i, 4)
		b.enum("E", 4, 2)
	}},
	{"struct 2: arrays of structs through const and typedef", taken, func(b *blob) {
		i := b.int(32, 4)
		b.arr(4, i, 4)
		b.strct("S", 68, i, 0, 2, 32, 8, 288)
		b.strct("T", 8, i, 0, i, 32)
		b.mod(btf.KindConst, i)
		b.typedef("T_t", 4)
		b.mod(btf.KindConst, 6)
		b.arr(7, i, 4)
	}},
	{"struct 3: members out of order", refused, func(b *blob) { b.strct("S", 16, b.int(32, 4), 64, b.int(64, 8), 0) }},
	{"global data 1: a struct", taken, func(b *blob) { b.record(48) }},
	{"global data 2: a variable of a struct", taken, func(b *blob) { b.section(48, b.variable(b.record(48)), 0, 48) }},
	{"global data 3: a variable of an int", taken, func(b *blob) { b.section(4, b.variable(b.int(32, 4)), 0, 4) }},
	{"global data 4: linkage 2", refused, func(b *blob) {
		b.section(4, b.add("v", btf.KindVar, 0, false, b.int(32, 4), 2), 0, 4)
	}},
	{"global data 5: variable of type void", refused, func(b *blob) { b.section(4, b.variable(0), 0, 4) }},
	{"global data 6: variable of a forward", refused, func(b *blob) { b.section(4, b.variable(b.fwd("U", true)), 0, 4) }},
	{"global data 7: section of a forward", refused, func(b *blob) { f := b.fwd("U", true); b.variable(f); b.section(4, f, 0, 4) }},
	{"global data 8: entry smaller than its variable", refused, func(b *blob) { b.section(48, b.variable(b.record(48)), 0, 47) }},
	{"global data 9: section smaller than its entry", refused, func(b *blob) { b.section(46, b.variable(b.record(48)), 0, 48) }},
	{"global data 10: section and entry smaller than the variable", refused, func(b *blob) { b.section(46, b.variable(b.record(48)), 0, 46) }},
	{"global data 11: two variables", taken, func(b *blob) { x, y := b.two(); b.section(62, x, 10, 48, y, 58, 4) }},
	{"global data 12: entry that ends behind its section", refused, func(b *blob) { x, y := b.two(); b.section(62, x, 10, 48, y, 60, 4) }},
	{"global data 13: entries that overlap", refused, func(b *blob) { x, y := b.two(); b.section(62, x, 10, 48, y, 12, 4) }},
	{"global data 14: entries out of order", refused, func(b *blob) { x, y := b.two(); b.section(62, y, 58, 4, x, 10, 48) }},
	{"global data 15: entry that is an int", refused, func(b *blob) { i := b.int(32, 4); b.variable(i); b.section(4, i, 0, 4) }},
	{"global data 16: variable of a section", refused, func(b *blob) {
		i := b.int(32, 4)
		b.variable(5)
		b.section(4, b.variable(2), 0, 4)
		b.section(4, 6, 0, 4)
		b.variable(i)
	}},
	{"global data 17: variable of a variable", refused, func(b *blob) { b.section(4, b.variable(b.variable(b.int(32, 4))), 0, 4) }},
	{"global data 18: variable of itself", refused, func(b *blob) { b.int(32, 4); b.section(4, b.variable(2), 0, 4) }},
	{"global data 19: variable of a later variable", refused, func(b *blob) { i := b.int(32, 4); b.variable(3); b.variable(i) }},
	{"global data 20: pointer to a variable", refused, func(b *blob) { i := b.int(32, 4); b.mod(btf.KindPtr, 3); b.variable(i) }},
	{"global data 21: member that is a variable", refused, func(b *blob) { i := b.int(32, 4); b.strct("S", 8, i, 0, 3, 32); b.variable(i) }},
	{"global data 22: array of variables", refused, func(b *blob) { i := b.int(32, 4); b.arr(3, i, 4); b.variable(i) }},
	{"a section before its variables, of a pointer and a const", taken, func(b *blob) {
		b.section(12, 4, 0, 8, 6, 8, 4)
		i := b.int(32, 4)
		b.variable(b.mod(btf.KindPtr, i))
		b.variable(b.mod(btf.KindConst, i))
	}},
	{"size check 1: int past its struct", refused, func(b *blob) { i := b.int(32, 4); b.strct("S", 7, i, 0, i, 32) }},
	{"size check 2: array past its struct", refused, func(b *blob) { i := b.int(32, 4); b.strct("S", 11, i, 0, b.arr(i, i, 2), 32) }},
	{"size check 3: pointer past its struct", refused, func(b *blob) { i := b.int(32, 4); b.strct("S", 11, i, 0, b.mod(btf.KindPtr, 0), 32) }},
	{"size check 4: enumeration past its struct", refused, func(b *blob) { i := b.int(32, 4); b.strct("S", 7, i, 0, b.enum("E", 4, 2), 32) }},
	{"size check 5: an enumeration of one byte", taken, func(b *blob) { b.int(32, 4); c := b.int(8, 1); b.strct("S", 2, c, 0, b.enum("E", 1, 2), 8) }},
	{"void 1: member of a pointer to const void", taken, func(b *blob) {
		b.int(32, 4)
		b.strct("S", 8, b.typedef("t", b.mod(btf.KindPtr, b.mod(btf.KindConst, 0))), 0)
	}},
	{"void 2: member of const void", refused, func(b *blob) { b.int(32, 4); b.strct("S", 8, b.mod(btf.KindConst, 0), 0) }},
	{"void 3: array of pointers to const void", taken, func(b *blob) {
		i := b.int(32, 4)
		b.arr(b.typedef("t", b.mod(btf.KindPtr, b.mod(btf.KindConst, 0))), i, 4)
	}},
	{"void 4: array of const void", refused, func(b *blob) { i := b.int(32, 4); b.arr(b.mod(btf.KindConst, 0), i, 4) }},
	{"loop 1 and 3: two arrays of each other", refused, func(b *blob) { i := b.int(32, 4); b.arr(3, i, 8); b.arr(2, i, 8) }},
	{"loop 2: the same through a typedef before them", refused, func(b *blob) { i := b.int(32, 4); b.typedef("t", 4); b.arr(2, i, 8); b.arr(3, i, 8) }},
	{"loop 4: the same through a typedef between them", refused, func(b *blob) { i := b.int(32, 4); b.arr(3, i, 8); b.typedef("t", 4); b.arr(2, i, 8) }},
	{"loop 5: two structs of each other through a typedef", refused, func(b *blob) {
		i := b.int(32, 4)
		b.strct("S", 8, i, 0, 3, 32)
		b.typedef("t", 4)
		b.strct("T", 8, i, 0, 2, 32)
	}},
	{"loop 6: struct and array of each other", refused, func(b *blob) { i := b.int(32, 4); b.arr(3, i, 4); b.strct("S", 8, i, 0, 2, 32) }},
	{"loop 7: const and pointer of each other, in a struct", refused, func(b *blob) {
		b.int(32, 4)
		b.strct("S", 8, 3, 0)
		b.mod(btf.KindConst, 4)
		b.mod(btf.KindPtr, 3)
	}},
	{"loop 8: a ring of two of them, in two structs", refused, func(b *blob) {
		b.int(32, 4)
		b.strct("S", 8, 4, 0)
		b.strct("T", 8, 6, 0)
		b.mod(btf.KindConst, 5)
		b.mod(btf.KindPtr, 6)
		b.mod(btf.KindConst, 7)
		b.mod(btf.KindPtr, 4)
	}},
	{"no types", refused, func(*blob) {}},
	{"array of int by int", taken, func(b *blob) { i := b.int(32, 4); b.arr(i, i, 16) }},
	{"array of const int by const int", taken, func(b *blob) { i := b.int(32, 4); b.arr(3, 3, 16); b.mod(btf.KindConst, i) }},
	{"array by a const int of 31 bits", refused, func(b *blob) { i, j := b.int(32, 4), b.int(31, 4); b.arr(i, 4, 16); b.mod(btf.KindConst, j) }},
	{"array of const ints of 31 bits", refused, func(b *blob) { i, j := b.int(32, 4), b.int(31, 4); b.arr(4, i, 16); b.mod(btf.KindConst, j) }},
	{"array by void", refused, func(b *blob) { b.arr(b.int(32, 4), 0, 16) }},
	{"array by const void", refused, func(b *blob) { b.arr(b.int(32, 4), 3, 16); b.mod(btf.KindConst, 0) }},
	{"array of a later const void", refused, func(b *blob) { i := b.int(32, 4); b.arr(3, i, 16); b.mod(btf.KindConst, 0) }},
	{"array of const pointers to void", taken, func(b *blob) { i := b.int(32, 4); b.arr(3, i, 16); b.mod(btf.KindConst, 4); b.mod(btf.KindPtr, 0) }},
	{"array by const pointers to void", refused, func(b *blob) { b.int(32, 4); b.arr(3, 3, 16); b.mod(btf.KindConst, 4); b.mod(btf.KindPtr, 0) }},
	{"array with a size", refused, func(b *blob) { i := b.int(32, 4); b.add("", btf.KindArray, 0, false, 1, i, i, 16) }},
	{"int with an unknown bit", refused, func(b *blob) { b.add("", btf.KindInt, 0, false, 4, 1<<28) }},
	{"info with an unknown bit", refused, func(b *blob) { b.int(32, 4); b.Words = append(b.Words, 0, 1<<29, 4) }},
	{"forward with a type", refused, func(b *blob) { i := b.int(32, 4); b.add("", btf.KindFwd, 0, false, i) }},
	{"typedef without a name", refused, func(b *blob) { b.typedef("", b.int(32, 4)) }},
	{"typedef with a bad name", refused, func(b *blob) { b.typedef("t!", b.int(32, 4)) }},
	{"pointer with a name", refused, func(b *blob) { i := b.int(32, 4); b.add("p", btf.KindPtr, 0, false, i) }},
	{"volatile with a name", refused, func(b *blob) { i := b.int(32, 4); b.add("v", btf.KindVolatile, 0, false, i) }},
	{"const with a name", refused, func(b *blob) { i := b.int(32, 4); b.add("c", btf.KindConst, 0, false, i) }},
	{"restrict with a name", refused, func(b *blob) { i := b.int(32, 4); b.add("r", btf.KindRestrict, 0, false, b.mod(btf.KindPtr, i)) }},
	{"forward without a name", refused, func(b *blob) { b.int(32, 4); b.fwd("", false) }},
	{"forward with a bad name", refused, func(b *blob) { b.int(32, 4); b.fwd("f!", false) }},
	{"array with a name", refused, func(b *blob) { i := b.int(32, 4); b.add("a", btf.KindArray, 0, false, 0, i, i, 4) }},
	{"struct without a name", taken, func(b *blob) { i := b.int(32, 4); b.add("", btf.KindStruct, 1, false, 4, b.Str("m"), i, 0) }},
	{"struct with a bad name", refused, func(b *blob) { i := b.int(32, 4); b.add("S!", btf.KindStruct, 1, false, 4, b.Str("m"), i, 0) }},
	{"member without a name", taken, func(b *blob) { i := b.int(32, 4); b.add("", btf.KindStruct, 1, false, 4, 0, i, 0) }},
	{"member with a bad name", refused, func(b *blob) { i := b.int(32, 4); b.add("S", btf.KindStruct, 1, false, 4, b.Str("m*"), i, 0) }},
	{"enumeration without a name", taken, func(b *blob) { b.int(32, 4); b.enum("", 4, 1) }},
	{"enumeration with a bad name", refused, func(b *blob) { b.int(32, 4); b.enum("E!", 4, 1) }},
	{"enumerator without a name", refused, func(b *blob) { b.int(32, 4); b.add("", btf.KindEnum, 1, false, 4, 0, 0) }},
	{"enumerator with a bad name", refused, func(b *blob) { b.int(32, 4); b.add("", btf.KindEnum, 1, false, 4, b.Str("e!"), 0) }},
	{"prototype", taken, func(b *blob) { i, u := b.int(32, 4), b.uint(); b.proto(i, "", i, "", u) }},
	{"prototype with any arguments", taken, func(b *blob) { i, u := b.int(32, 4), b.uint(); b.proto(0, "", i, "", u, "", uint32(0)) }},
	{"any arguments with a name", refused, func(b *blob) { i, u := b.int(32, 4), b.uint(); b.proto(0, "a", i, "b", u, "c", uint32(0)) }},
	{"argument behind any arguments", refused, func(b *blob) { i, u := b.int(32, 4), b.uint(); b.proto(0, "a", i, "", uint32(0), "b", u) }},
	{"const typedef of a pointer to a prototype", taken, func(b *blob) {
		i, u := b.int(32, 4), b.uint()
		b.typedef("f", 5)
		b.mod(btf.KindConst, 3)
		b.mod(btf.KindPtr, 6)
		b.proto(0, "", i, "", u)
	}},
	{"typedef of a prototype", taken, func(b *blob) { i, u := b.int(32, 4), b.uint(); b.typedef("f", 4); b.proto(0, "", i, "", u) }},
	{"argument of a later const pointer", taken, func(b *blob) {
		b.int(32, 4)
		b.proto(0, "", uint32(3))
		b.mod(btf.KindConst, 4)
		b.mod(btf.KindPtr, 0)
	}},
	{"one argument of two with a name", taken, func(b *blob) { i, u := b.int(32, 4), b.uint(); b.proto(0, "", i, "b", u) }},
	{"name of an argument beyond the strings", refused, func(b *blob) {
		i, u := b.int(32, 4), b.uint()
		b.add("", btf.KindFuncProto, 2, false, 0, b.Str("a"), i, 1<<28-1, u)
	}},
	{"argument with a bad name", refused, func(b *blob) { i, u := b.int(32, 4), b.uint(); b.proto(0, "a", i, "!", u) }},
	{"prototype that returns no type", refused, func(b *blob) { i, u := b.int(32, 4), b.uint(); b.proto(100, "", i, "", u) }},
	{"prototype with a name", refused, func(b *blob) { i := b.int(32, 4); b.add("f", btf.KindFuncProto, 1, false, 0, 0, i) }},
	{"argument of const void", refused, func(b *blob) { b.int(32, 4); b.proto(0, "", uint32(3)); b.mod(btf.KindConst, 0) }},
	{"function", taken, func(b *blob) { i, u := b.int(32, 4), b.uint(); b.fn("f", b.proto(0, "a", i, "b", u)) }},
	{"function without a name", refused, func(b *blob) { i, u := b.int(32, 4), b.uint(); b.fn("", b.proto(0, "a", i, "b", u)) }},
	{"function with a bad name", refused, func(b *blob) { i, u := b.int(32, 4), b.uint(); b.fn("!", b.proto(0, "a", i, "b", u)) }},
	{"function with an argument without a name", refused, func(b *blob) { i, u := b.int(32, 4), b.uint(); b.fn("f", b.proto(0, "a", i, "", u)) }},
	{"function of unknown linkage", refused, func(b *blob) { i := b.int(32, 4); b.add("f", btf.KindFunc, 2, false, b.proto(0, "a", i)) }},
	{"function of an int", refused, func(b *blob) { b.fn("f", b.int(32, 4)) }},
	{"int with kind_flag", refused, func(b *blob) { b.int(32, 4); b.add("", btf.KindInt, 0, true, 4, 32) }},
	{"pointer with kind_flag", refused, func(b *blob) { i := b.int(32, 4); b.add("", btf.KindPtr, 0, true, i) }},
	{"array with kind_flag", refused, func(b *blob) { i := b.int(32, 4); b.add("", btf.KindArray, 0, true, 0, i, i, 1) }},
	{"forward with kind_flag", taken, func(b *blob) { b.int(32, 4); b.fwd("U", true) }},
	{"typedef with kind_flag", refused, func(b *blob) { i := b.int(32, 4); b.add("t", btf.KindTypedef, 0, true, i) }},
	{"volatile with kind_flag", refused, func(b *blob) { i := b.int(32, 4); b.add("", btf.KindVolatile, 0, true, i) }},
	{"const with kind_flag", refused, func(b *blob) { i := b.int(32, 4); b.add("", btf.KindConst, 0, true, i) }},
	{"restrict with kind_flag", refused, func(b *blob) { i := b.int(32, 4); b.add("", btf.KindRestrict, 0, true, i) }},
	{"function with kind_flag", refused, func(b *blob) { b.int(32, 4); b.add("f", btf.KindFunc, 0, true, b.proto(0)) }},
	{"prototype with kind_flag", refused, func(b *blob) { b.int(32, 4); b.add("", btf.KindFuncProto, 0, true, 0) }},
	{"struct with kind_flag, no bit-fields", taken, func(b *blob) { i := b.int(32, 4); b.bits(btf.KindStruct, 8, i, 0, 0, i, 0, 32) }},
	{"struct with bit-fields of an int", taken, func(b *blob) { i := b.int(32, 4); b.bits(btf.KindStruct, 4, i, 4, 0, i, 4, 4) }},
	{"union with bit-fields of an int", taken, func(b *blob) { i := b.int(32, 4); b.bits(btf.KindUnion, 4, i, 4, 0, i, 4, 0) }},
	{"struct with bit-fields of an enumeration", taken, func(b *blob) { b.int(32, 4); e := b.enum("", 4, 1); b.bits(btf.KindStruct, 4, e, 4, 0, e, 4, 4) }},
	{"union with bit-fields of an enumeration", taken, func(b *blob) { b.int(32, 4); e := b.enum("", 4, 1); b.bits(btf.KindUnion, 4, e, 4, 0, e, 4, 0) }},
	{"struct with bit-fields of typedefs", taken, func(b *blob) {
		i, e := b.int(32, 4), b.enum("", 4, 1)
		b.bits(btf.KindStruct, 4, 4, 4, 0, 5, 4, 4)
		b.typedef("t", i)
		b.typedef("u", e)
	}},
	{"union with bit-fields of typedefs", taken, func(b *blob) {
		i, e := b.int(32, 4), b.enum("", 4, 1)
		b.bits(btf.KindUnion, 4, 4, 4, 0, 5, 4, 0)
		b.typedef("t", i)
		b.typedef("u", e)
	}},
	{"bit-field past its struct", refused, func(b *blob) { i := b.int(32, 4); b.bits(btf.KindStruct, 4, i, 20, 0, i, 20, 20) }},
	{"bit-field of an int of as many bits", refused, func(b *blob) { b.int(32, 4); j := b.int(20, 4); b.bits(btf.KindStruct, 4, j, 20, 0, j, 20, 20) }},
	{"bit-field of an int of odd bits", refused, func(b *blob) { b.int(32, 4); j := b.int(12, 4); b.bits(btf.KindStruct, 4, j, 8, 0, j, 8, 8) }},
	{"bit-field past its union", refused, func(b *blob) { i := b.int(32, 4); b.bits(btf.KindUnion, 2, i, 8, 0, i, 20, 0) }},
	{"int at half a byte, with kind_flag", refused, func(b *blob) { b.int(32, 4); j := b.int(32, 4); b.bits(btf.KindStruct, 12, j, 0, 0, j, 0, 36) }},
	{"the same, with an enumeration", refused, func(b *blob) {
		b.int(32, 4)
		j := b.int(32, 4)
		b.enum("", 4, 1)
		b.bits(btf.KindStruct, 12, j, 0, 0, j, 0, 36)
	}},
	{"int of 128 bits", taken, func(b *blob) { b.int(32, 4); b.int(128, 16) }},
	{"member of 128 bits", taken, func(b *blob) { b.int(32, 4); b.strct("", 16, b.int(128, 16), 0) }},
	{"member of an int of 120 bits", taken, func(b *blob) { b.int(32, 4); b.strct("", 16, b.int(120, 16), 0) }},
	{"member of 128 bits, with kind_flag", taken, func(b *blob) { b.int(32, 4); b.bits(btf.KindStruct, 16, b.int(128, 16), 0, 0) }},
	{"bit-field of 120 bits", taken, func(b *blob) { b.int(32, 4); b.bits(btf.KindStruct, 16, b.int(128, 16), 120, 0) }},
	{"pointer to a typedef of an array", taken, func(b *blob) {
		b.strct("S", 8, 2, 0)
		b.mod(btf.KindPtr, 3)
		b.typedef("t", 4)
		b.arr(5, 5, 16)
		b.int(32, 4)
	}},
	{"pointer to a typedef of an array of arrays of arrays", taken, func(b *blob) {
		b.strct("S", 8, 2, 0)
		b.mod(btf.KindPtr, 3)
		b.typedef("t", 4)
		b.arr(5, 7, 16)
		b.arr(6, 7, 8)
		b.arr(7, 7, 4)
		b.int(32, 4)
	}},
	{"the same with a typedef of each array", taken, func(b *blob) {
		b.strct("S", 8, 2, 0)
		b.mod(btf.KindPtr, 3)
		b.typedef("t", 4)
		b.arr(5, 10, 16)
		b.typedef("u", 6)
		b.arr(7, 10, 8)
		b.typedef("v", 8)
		b.arr(9, 10, 4)
		b.typedef("w", 10)
		b.int(32, 4)
	}},
	{"section without variables", taken, func(b *blob) { b.int(32, 4); b.add(".s", btf.KindDatasec, 0, false, 4) }},
	{"section with blanks and colons in its name", taken, func(b *blob) { b.named("?.s t:u") }},
	{"section with a control character in its name", refused, func(b *blob) { b.named("\x07s") }},
	{"section without a name", refused, func(b *blob) { b.named("") }},
	{"forward with a question mark in its name", refused, func(b *blob) { b.fwd("?f", true) }},
	{"float 1: all sizes", taken, func(b *blob) {
		b.int(32, 4)
		for _, size := range []uint32{2, 4, 8, 12, 16} {
			b.add("f", btf.KindFloat, 0, false, size)
		}
		b.strct("S", 48, 2, 0, 3, 32, 4, 64, 5, 128, 6, 256)
	}},
	{"float 2: with vlen", refused, func(b *blob) { b.int(32, 4); b.add("f", btf.KindFloat, 1, false, 4) }},
	{"float 3: with kind_flag", refused, func(b *blob) { b.int(32, 4); b.add("f", btf.KindFloat, 0, true, 4) }},
	{"float 4: past its struct", refused, func(b *blob) { b.int(32, 4); b.strct("S", 2, b.add("f", btf.KindFloat, 0, false, 4), 0) }},
	{"float 5: at an odd byte", refused, func(b *blob) { b.int(32, 4); b.strct("S", 8, b.add("f", btf.KindFloat, 0, false, 4), 8) }},
	{"float 6: of 6 bytes", refused, func(b *blob) { b.int(32, 4); b.add("f", btf.KindFloat, 0, false, 6) }},
	{"decl tag 1: of a struct and its members", taken, func(b *blob) { i := b.int(32, 4); b.tags(b.strct("", 8, i, 0, i, 32), -1, 0, 1) }},
	{"decl tag 2: of a union and its members", taken, func(b *blob) { i := b.int(32, 4); b.tags(b.bits(btf.KindUnion, 4, i, 0, 0, i, 0, 0), -1, 0, 1) }},
	{"decl tag 3: of variables", taken, func(b *blob) {
		i := b.int(32, 4)
		x, y := b.variable(i), b.add("w", btf.KindVar, 0, false, i, 1)
		b.tags(x, -1)
		b.tags(y, -1)
	}},
	{"decl tag 4: of a function and its arguments", taken, func(b *blob) { i := b.int(32, 4); b.tags(b.fn("f", b.proto(0, "a", i, "b", i)), -1, 0, 1) }},
	{"decl tag 5: without a name", refused, func(b *blob) { i := b.int(32, 4); b.add("", btf.KindDeclTag, 0, false, b.variable(i), minus(1)) }},
	{"decl tag 6: of an int", refused, func(b *blob) { b.tags(b.int(32, 4), -1) }},
	{"decl tag 7: with vlen", refused, func(b *blob) { i := b.int(32, 4); b.add("t", btf.KindDeclTag, 1, false, b.variable(i), 0) }},
	{"decl tag 8: with kind_flag", taken, func(b *blob) { i := b.int(32, 4); b.add("t", btf.KindDeclTag, 0, true, b.variable(i), minus(1)) }},
	{"decl tag 9: of a part of a variable", refused, func(b *blob) { b.tags(b.variable(b.int(32, 4)), 0) }},
	{"decl tag 10: of a third member of two", refused, func(b *blob) { i := b.int(32, 4); b.tags(b.strct("", 8, i, 0, i, 32), 2) }},
	{"decl tag 11: of a third argument of two", refused, func(b *blob) { i := b.int(32, 4); b.tags(b.fn("f", b.proto(0, "a", i, "b", i)), 2) }},
	{"decl tag 12: of the part before all", refused, func(b *blob) { i := b.int(32, 4); b.tags(b.fn("f", b.proto(0, "a", i, "b", i)), -2) }},
	{"decl tag 13: of a typedef", taken, func(b *blob) { b.tags(b.typedef("t", b.int(32, 4)), -1) }},
	{"decl tag 14: of a part of a typedef", refused, func(b *blob) { b.tags(b.typedef("t", b.int(32, 4)), 0) }},
	{"decl tag 15: of a function without a prototype", refused, func(b *blob) { b.int(32, 4); b.tags(3, 0); b.fn("f", 8) }},
	{"decl tag 16: a function returns one", refused, func(b *blob) { i := b.int(32, 4); b.tags(b.variable(i), -1); b.proto(3) }},
	{"decl tag 17: an argument is one", refused, func(b *blob) {
		b.tags(4, -1)
		p := b.mod(btf.KindPtr, 0)
		b.proto(0, "a", uint32(1))
		b.variable(p)
	}},
	{"type tag 1: of an int, behind a pointer", taken, func(b *blob) { b.mod(btf.KindPtr, b.tag(b.int(32, 4))) }},
	{"type tag 2: behind a const", since72, func(b *blob) { i := b.int(32, 4); b.mod(btf.KindConst, 3); b.tag(i) }},
	{"type tag 3: before and behind a const", since72, func(b *blob) { i := b.int(32, 4); b.tag(3); b.mod(btf.KindConst, 4); b.tag(i) }},
	{"type tag 4: behind a typedef of a const", since72, func(b *blob) { i := b.int(32, 4); b.typedef("t", 3); b.mod(btf.KindConst, 4); b.tag(i) }},
	{"type tag 5: two before a const", taken, func(b *blob) { i := b.int(32, 4); b.tag(3); b.mod(btf.KindConst, i); b.tag(2) }},
	{"type tag 6: between two consts", since72, func(b *blob) {
		b.mod(btf.KindPtr, 2)
		b.tag(3)
		b.mod(btf.KindConst, 4)
		b.int(32, 4)
		b.mod(btf.KindPtr, 6)
		b.mod(btf.KindConst, 2)
	}},
	{"type tag 7: with kind_flag", taken, func(b *blob) { i := b.int(32, 4); b.mod(btf.KindPtr, b.add("t", btf.KindTypeTag, 0, true, i)) }},
	{"64-bit enumeration 1: unsigned, of 8 bytes", taken, func(b *blob) {
		b.int(32, 4)
		b.add("E", btf.KindEnum64, 2, false, 8, b.Str("e"), 0, 0, b.Str("f"), 1, 1)
	}},
	{"64-bit enumeration 2: signed, of 4 bytes", taken, func(b *blob) {
		b.int(32, 4)
		b.add("E", btf.KindEnum64, 2, true, 4, b.Str("e"), minus(1), 0, b.Str("f"), 1, 0)
	}},
}

// selftestHeaders are the cases there about the header and the strings, as
// changes of a blob with one int called "int": all are refused.
var selftestHeaders = []struct {
	name   string
	change func(d []byte) []byte
}{
	{"strings without an end", func(d []byte) []byte { return put(20, 4)(d[:len(d)-1]) }},
	{"no strings", func(d []byte) []byte { copy(d[24:], []byte{0, 0, 0, 0}); return put(20, 0)(d[:len(d)-5]) }},
	{"longer header", put(4, 28)},
	{"gap between header and types", put(8, 4)},
	{"gap between types and strings", put(16, 20)},
	{"types and strings overlap", put(16, 12)},
	{"more data than sections", put(20, 1)},
	{"less data than sections", put(20, 9)},
}

// verdict is a kernel's answer to a case.
type verdict int

const (
	refused verdict = iota
	taken
	since72 // taken by Linux 7.2 and refused by older kernels
)

// by is whether a kernel with such rules takes it.
func (v verdict) by(rules Rules) bool {
	return v == taken || v == since72 && !rules.Kernel.before(Newest)
}

func minus(n uint32) uint32 { return -n }

func (b *blob) int(bits, size uint32) uint32 {
	return b.add("", btf.KindInt, 0, false, size, 1<<24|bits)
}
func (b *blob) uint() uint32                    { return b.add("", btf.KindInt, 0, false, 4, 32) }
func (b *blob) mod(k btf.Kind, t uint32) uint32 { return b.add("", k, 0, false, t) }
func (b *blob) tag(t uint32) uint32             { return b.add("tag", btf.KindTypeTag, 0, false, t) }
func (b *blob) typedef(name string, t uint32) uint32 {
	return b.add(name, btf.KindTypedef, 0, false, t)
}
func (b *blob) fn(name string, t uint32) uint32    { return b.add(name, btf.KindFunc, 0, false, t) }
func (b *blob) fwd(name string, union bool) uint32 { return b.add(name, btf.KindFwd, 0, union, 0) }
func (b *blob) variable(t uint32) uint32           { return b.add("v", btf.KindVar, 0, false, t, 0) }
func (b *blob) arr(element, index, n uint32) uint32 {
	return b.add("", btf.KindArray, 0, false, 0, element, index, n)
}

// strct adds a struct; m are types and offsets in bits.
func (b *blob) strct(name string, size uint32, m ...uint32) uint32 {
	var rest []uint32
	for ; len(m) > 0; m = m[2:] {
		rest = append(rest, b.Str("m"), m[0], m[1])
	}
	return b.add(name, btf.KindStruct, uint32(len(rest)/3), false, size, rest...)
}

// bits adds a struct or union with kind_flag; m are types, bits, offsets in bits.
func (b *blob) bits(k btf.Kind, size uint32, m ...uint32) uint32 {
	var rest []uint32
	for ; len(m) > 0; m = m[3:] {
		rest = append(rest, b.Str("m"), m[0], m[1]<<24|m[2])
	}
	return b.add("", k, uint32(len(rest)/3), true, size, rest...)
}

// enum adds an enumeration with n values.
func (b *blob) enum(name string, size, n uint32) uint32 {
	var rest []uint32
	for i := range n {
		rest = append(rest, b.Str(string(rune('e'+i))), i)
	}
	return b.add(name, btf.KindEnum, n, false, size, rest...)
}

// section adds a DATASEC; entries are variables, offsets, sizes.
func (b *blob) section(size uint32, entries ...uint32) {
	b.add(".s", btf.KindDatasec, uint32(len(entries)/3), false, size, entries...)
}

// named adds an int, a variable, and a DATASEC with the name for it.
func (b *blob) named(name string) {
	b.add(name, btf.KindDatasec, 1, false, 4, b.variable(b.int(32, 4)), 0, 4)
}

// proto adds a prototype; args are names and types.
func (b *blob) proto(ret uint32, args ...any) uint32 {
	var rest []uint32
	for ; len(args) > 0; args = args[2:] {
		rest = append(rest, b.Str(args[0].(string)), args[1].(uint32))
	}
	return b.add("", btf.KindFuncProto, uint32(len(rest)/2), false, ret, rest...)
}

// tags adds a DECL_TAG of t for each component.
func (b *blob) tags(t uint32, components ...int32) {
	for _, c := range components {
		b.add("tag", btf.KindDeclTag, 0, false, t, uint32(c))
	}
}

// record adds a struct of four members and what it needs.
func (b *blob) record(size uint32) uint32 {
	i, u, c := b.int(32, 4), b.int(64, 8), b.int(8, 1)
	return b.strct("S", size, u, 0, i, 64, c, 96, b.arr(i, i, 8), 128)
}

// two adds variables of 48 and of 4 bytes.
func (b *blob) two() (x, y uint32) { return b.variable(b.record(48)), b.variable(1) }

func selftestBlob(add func(b *blob), bigEndian bool) []byte {
	b := newBlob()
	add(b)
	return b.Encode(bigEndian)
}

// selftestHeader is the blob that selftestHeaders change.
func selftestHeader() []byte {
	return selftestBlob(func(b *blob) { b.add("int", btf.KindInt, 0, false, 4, 1<<24|32) }, false)
}

// TestSelftests: the verdicts of package verify are those that the selftests
// expect of a kernel.
func TestSelftests(t *testing.T) {
	for _, rules := range []Rules{{Kernel: Release{7, 0, 0}, PointerSize: 8}, {PointerSize: 8}} {
		n := 0
		for _, c := range selftestCases {
			for _, bigEndian := range []bool{false, true} {
				if _, err := Check(selftestBlob(c.add, bigEndian), nil, rules); (err == nil) != c.taken.by(rules) {
					t.Errorf("%s, %+v, big endian %v: %v", c.name, rules, bigEndian, err)
				}
			}
			if !c.taken.by(rules) {
				n++
			}
		}
		if _, err := Check(selftestHeader(), nil, rules); err != nil {
			t.Error(err)
		}
		for _, c := range selftestHeaders {
			if _, err := Check(c.change(selftestHeader()), nil, rules); err == nil {
				t.Errorf("%s, %+v: not refused", c.name, rules)
			}
		}
		t.Logf("%+v: %d cases, %d of them refused", rules, len(selftestCases)+len(selftestHeaders), n+len(selftestHeaders))
	}
}
