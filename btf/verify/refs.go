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
		var bad uint32
		eachRef(&x.sections, int(at), func(ref uint32) {
			if ref >= count && bad == 0 {
				bad = ref
			}
		})
		if bad != 0 {
			return x.fault(x.first+uint32(i), Readable, fmt.Sprintf("refers to type [%d], which does not exist", bad))
		}
	}
	return nil
}

// eachRef calls use with each reference of the record at an offset.
func eachRef(s *sections, at int, use func(ref uint32)) {
	info := s.word(at + 4)
	k := btf.InfoKind(info)
	if btf.ThirdIsRef(k) {
		use(s.word(at + 8))
	}
	start, stride, n := btf.RefWords(k, btf.InfoVlen(info))
	for j := range n {
		use(s.word(at + 4*(start+j*stride)))
		if btf.RefPairs(k) {
			use(s.word(at + 4*(start+j*stride) + 4))
		}
	}
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
