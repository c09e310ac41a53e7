/* SPDX-License-Identifier: MIT */
/* A set of kfuncs as the kernel's BTF_KFUNCS_START writes it, and a function
   in assembler. */
	.section .BTF_ids, "a", %progbits
	.balign 4
	.type __BTF_ID__set8__kfuncs, %object
	.size __BTF_ID__set8__kfuncs, 24
__BTF_ID__set8__kfuncs:
	.long 2, 1
	.type __BTF_ID__func__arena_function__7, %object
	.size __BTF_ID__func__arena_function__7, 4
__BTF_ID__func__arena_function__7:
	.long 0, 0x4000
	.type __BTF_ID__func__fast_function__8, %object
	.size __BTF_ID__func__fast_function__8, 4
__BTF_ID__func__fast_function__8:
	.long 0, 0x1000

	.text
	.globl in_assembler
	.type in_assembler, %function
in_assembler:
	.long 0
	.size in_assembler, 4
	.section .note.GNU-stack, "", %progbits
