package dwarf

// Kinds of operands. The fixed sizes are in order, so that size = 1 << (k-first).
const (
	argUnknown uint8 = iota // the operation is not known
	argNone
	argU1
	argU2
	argU4
	argU8
	argS1
	argS2
	argS4
	argS8
	argULEB
	argSLEB
	argAddr   // address size of the unit
	argOffset // offset size of the unit
	argBlock  // ULEB128 length and that many bytes
	argBlock1 // 1-byte length and that many bytes
)

// opShapes holds the two operands of every operation (DWARF 5, section 7.7.1,
// and the GNU extensions 0xe0 and 0xf0-0xfd). DW_OP_GNU_encoded_addr (0xf1)
// has an operand of self-described shape, was never emitted by a compiler and
// counts as unknown.
var opShapes = func() (t [256][2]uint8) {
	one := func(from, to int, args ...uint8) {
		for c := from; c <= to; c++ {
			t[c] = [2]uint8{argNone, argNone}
			copy(t[c][:], args)
		}
	}
	one(0x03, 0x03, argAddr) // addr
	one(0x06, 0x06)          // deref
	one(0x08, 0x08, argU1)   // const1u
	one(0x09, 0x09, argS1)
	one(0x0a, 0x0a, argU2)
	one(0x0b, 0x0b, argS2)
	one(0x0c, 0x0c, argU4)
	one(0x0d, 0x0d, argS4)
	one(0x0e, 0x0e, argU8)
	one(0x0f, 0x0f, argS8)            // const8s
	one(0x10, 0x10, argULEB)          // constu
	one(0x11, 0x11, argSLEB)          // consts
	one(0x12, 0x14)                   // dup drop over
	one(0x15, 0x15, argU1)            // pick
	one(0x16, 0x22)                   // swap rot xderef abs and div minus mod mul neg not or plus
	one(0x23, 0x23, argULEB)          // plus_uconst
	one(0x24, 0x27)                   // shl shr shra xor
	one(0x28, 0x28, argS2)            // bra
	one(0x29, 0x2e)                   // eq ge gt le lt ne
	one(0x2f, 0x2f, argS2)            // skip
	one(OpLit0, OpLit31)              //
	one(OpReg0, OpReg31)              //
	one(OpBreg0, OpBreg31, argSLEB)   //
	one(0x90, 0x90, argULEB)          // regx
	one(0x91, 0x91, argSLEB)          // fbreg
	one(0x92, 0x92, argULEB, argSLEB) // bregx
	one(0x93, 0x93, argULEB)          // piece
	one(0x94, 0x95, argU1)            // deref_size xderef_size
	one(0x96, 0x97)                   // nop push_object_address
	one(0x98, 0x98, argU2)            // call2
	one(0x99, 0x99, argU4)            // call4
	one(0x9a, 0x9a, argOffset)        // call_ref
	one(0x9b, 0x9c)                   // form_tls_address call_frame_cfa
	one(0x9d, 0x9d, argULEB, argULEB) // bit_piece
	one(0x9e, 0x9e, argBlock)         // implicit_value
	one(0x9f, 0x9f)                   // stack_value
	one(0xa0, 0xa0, argOffset, argSLEB)
	one(0xa1, 0xa2, argULEB)            // addrx constx
	one(0xa3, 0xa3, argBlock)           // entry_value
	one(0xa4, 0xa4, argULEB, argBlock1) // const_type
	one(0xa5, 0xa5, argULEB, argULEB)   // regval_type
	one(0xa6, 0xa7, argU1, argULEB)     // deref_type xderef_type
	one(0xa8, 0xa9, argULEB)            // convert reinterpret
	one(0xe0, 0xe0)                     // GNU_push_tls_address
	one(0xf0, 0xf0)                     // GNU_uninit
	one(0xf2, 0xf2, argOffset, argSLEB) // GNU_implicit_pointer
	one(0xf3, 0xf3, argBlock)           // GNU_entry_value
	one(0xf4, 0xf4, argULEB, argBlock1) // GNU_const_type
	one(0xf5, 0xf5, argULEB, argULEB)   // GNU_regval_type
	one(0xf6, 0xf6, argU1, argULEB)     // GNU_deref_type
	one(0xf7, 0xf7, argULEB)            // GNU_convert
	one(0xf9, 0xf9, argULEB)            // GNU_reinterpret
	one(0xfa, 0xfa, argU4)              // GNU_parameter_ref
	one(0xfb, 0xfc, argULEB)            // GNU_addr_index GNU_const_index
	one(0xfd, 0xfd, argOffset)          // GNU_variable_value
	return t
}()
