package deduptest

import (
	"bytes"
	"fmt"

	"github.com/btflite/btflite/btf"
)

// Certificate checks that out loses nothing of raw: for every type x of raw, the
// content of x with its references mapped through m equals the content of type
// m[x] of out. Only a forward, or an enum without values, may stand for more: a
// definition of its name. m has an entry for each id of raw, void and base
// included. The check is linear, compares names by content and knows nothing of
// the algorithm that made m. It returns an error that names the first violation.
func Certificate(raw *btf.Blob, m []uint32, out *btf.Blob) error {
	if uint64(len(m)) != uint64(raw.TypeCount()) {
		return fmt.Errorf("dedup: certificate: %d map entries for %d types", len(m), raw.TypeCount())
	}
	if raw.Base != out.Base {
		return fmt.Errorf("dedup: certificate: different bases")
	}
	if m[0] != 0 {
		return fmt.Errorf("dedup: certificate: void became type %d", m[0])
	}
	for x := uint32(1); x < raw.TypeCount(); x++ {
		if x < raw.FirstID && m[x] == x {
			continue
		}
		a, b := raw.Record(x), out.Record(m[x])
		if b == nil {
			return fmt.Errorf("dedup: certificate: type [%d] became [%d], which does not exist", x, m[x])
		}
		if isForwardFor(raw, a, out, b) {
			continue
		}
		if at := differ(raw, a, m, out, b); at >= 0 {
			return fmt.Errorf("dedup: certificate: %s [%d] differs from its survivor [%d] in word %d",
				a.Kind(), x, m[x], at)
		}
	}
	return nil
}

// isForwardFor reports whether record a is a forward of definition b.
func isForwardFor(raw *btf.Blob, a btf.Record, out *btf.Blob, b btf.Record) bool {
	of := b.Kind()
	switch a.Kind() {
	case btf.KindFwd:
		if union := btf.InfoKflag(a.Info()); union && of != btf.KindUnion || !union && of != btf.KindStruct {
			return false
		}
	case btf.KindEnum, btf.KindEnum64:
		if a.Vlen() != 0 || of != btf.KindEnum && of != btf.KindEnum64 {
			return false
		}
	default:
		return false
	}
	return bytes.Equal(raw.NameBytes(a.Name()), out.NameBytes(b.Name()))
}

// differ compares a, mapped through m, with b. It returns the index of the
// first word that differs, or -1.
func differ(raw *btf.Blob, a btf.Record, m []uint32, out *btf.Blob, b btf.Record) int {
	if a.Info() != b.Info() {
		return 1
	}
	k, vlen := a.Kind(), a.Vlen()
	nameStride, names := btf.NameWords(k, vlen)
	refStart, refStride, refs := btf.RefWords(k, vlen)
	refEnd := refStart + refs*refStride
	for i := range a {
		same := a[i] == b[i]
		switch {
		case i == 0, i >= 3 && names > 0 && (i-3)%nameStride == 0:
			same = bytes.Equal(raw.NameBytes(a[i]), out.NameBytes(b[i]))
		case i == 2 && btf.ThirdIsRef(k), i >= refStart && i < refEnd && ((i-refStart)%refStride == 0 || btf.RefPairs(k) && (i-refStart)%refStride == 1):
			same = m[a[i]] == b[i]
		}
		if !same {
			return i
		}
	}
	return -1
}
