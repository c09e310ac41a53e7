/* Functions in assembler, with a symbol each. */
	.text
	.globl in_assembler
	.type in_assembler, %function
in_assembler:
	.long 0
	.size in_assembler, 4
	.globl recurse
	.type recurse, %function
recurse:
	.long 0
	.size recurse, 4
label_only:
	.long 0
	.section .note.GNU-stack, "", %progbits
