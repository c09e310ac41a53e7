package verify

import (
	"fmt"

	"github.com/btflite/btflite/btf"
)

// dangling finds the first type with a reference to a type that does not exist;
// maxRef is the highest id that one refers to.
func (x *input) dangling(maxRef uint32) *Fault {
	count := x.count()
	if maxRef < count {
		return nil
	}
	for i, at := range x.off[:len(x.kinds)] {
		if x.endedAt(i, askTypes) {
			return nil
		}
		info := x.word(int(at) + 4)
		k, vlen := btf.InfoKind(info), btf.InfoVlen(info)
		bad := func(ref uint32) *Fault {
			return x.fault(x.first+uint32(i), Readable, fmt.Sprintf("refers to type [%d], which does not exist", ref))
		}
		if ref := x.word(int(at) + 8); btf.ThirdIsRef(k) && ref >= count {
			return bad(ref)
		}
		start, stride, n := btf.RefWords(k, vlen)
		for j := range n {
			if ref := x.word(int(at) + 4*(start+j*stride)); ref >= count {
				return bad(ref)
			}
			if ref := x.word(int(at) + 4*(start+j*stride) + 4); btf.RefPairs(k) && ref >= count {
				return bad(ref)
			}
		}
	}
	return nil
}

// chains refuses a chain of more than maxDepth modifiers, as kernels do at boot. The count stops
// where the chain enters types that were looked at before.
func (x *input) chains() *Fault {
	passed := x.first - 1
	for i, k := range x.kinds {
		if x.endedAt(i, askTypes) {
			return nil
		}
		if !in(modifiers, k) {
			continue
		}
		id := x.first + uint32(i)
		t := x.word(int(x.off[i]) + 8)
		for n := 1; t > passed && in(modifiers, x.kind(t)); n++ {
			if n == maxDepth {
				return x.fault(id, Boot, fmt.Sprintf("more than %d modifiers and typedefs in a row", maxDepth))
			}
			t = x.get(t, 2)
		}
		passed = id
	}
	return nil
}
