package unit

import (
	"fmt"

	"github.com/btflite/btflite/btf"
)

// MaxVlen is how many members, values or parameters a type can have: as many as fit into
// the 16 bits of vlen that all kernels read. A type with more is an error, and is not
// cut, unless Options.LongVlen allows it.
const MaxVlen = 0xffff

// BeyondVlen says why n elements cannot be encoded; "" if they can. what names them in the
// plural, for example "members". The limit is MaxVlen, or btf.MaxVlen (24 bits) with long.
func BeyondVlen(n int, what string, long bool) string {
	switch {
	case n <= MaxVlen || long && n <= btf.MaxVlen:
		return ""
	case n > btf.MaxVlen:
		return fmt.Sprintf("%d %s are more than the %d that the vlen of BTF holds in any release", n, what, btf.MaxVlen)
	}
	return fmt.Sprintf("%d %s are more than the %d that the vlen of BTF holds; Linux 7.2 and libbpf 1.8 could read more, no release before them: "+
		"--btf_compat=libbpf-1.8 writes that", n, what, MaxVlen)
}

// maxOffset is the largest offset in bytes of a member: BTF counts offsets in bits.
const maxOffset = 1<<29 - 1

// maxDepth bounds the depth of a DIE tree. Compilers stay far below.
const maxDepth = 2048
