package btftest

import "fmt"

// Large is BTF with n structs, and what kernels have for each struct: pointers, typedefs, functions,
// and names. A kernel has some 15,000 of them.
func Large(n int) []byte {
	b := New()
	number := b.Int("int", 4)
	for i := range n {
		id := fmt.Sprint(i)
		s := b.N + 1 // of the struct, which points to itself
		b.Struct("a_struct_"+id, 32, b.Member("next_"+id, s+1, 0), b.Member("prev", s+1, 64), b.Member("count_of_"+id, number, 128),
			b.Member("flags", number, 160), b.Member("size", number, 192), b.Member("state", number, 224))
		b.Ptr(s)
		b.Typedef("a_type_"+id, s)
		b.Func("do_something_"+id, Static, b.Proto(number, b.Param("s", s+1), b.Param("n", number)))
		b.Func("undo_something_"+id, Static, b.Proto(s+1, b.Param("a_"+id, s+1)))
	}
	return b.Encode(false)
}
