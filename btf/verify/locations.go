package verify

import (
	"fmt"

	"github.com/btflite/btflite/btf"
)

// Sites of inlined functions, by the rules of bpf-next of September 2026. Of a record,
// any kernel that knows the kind judges flags and sizes; what the records refer to, it
// judges for BPF_BTF_LOAD.

// Flags of a LOC_PARAM.
const (
	locSigned = 1 << iota
	locConst
	locAddr
	locReg
	locDeref
	locOffset
	locFlags = 1<<iota - 1
)

// locParam judges a LOC_PARAM of size bytes with vlen values.
func locParam(size, flags, vlen uint32) string {
	if size == 0 || size > 16 {
		return fmt.Sprintf("size %d of a parameter, must be 1 to 16", size)
	}
	least, most := uint32(1), uint32(1)
	switch flags &^ locSigned {
	case locConst, locConst | locAddr:
		if size > 8 {
			return fmt.Sprintf("size %d of a constant, must be 1 to 8", size)
		}
		if most = 2; size > 4 {
			least = 2
		}
	case locReg:
		most = 2
	case locReg | locDeref:
	case locReg | locOffset, locReg | locDeref | locOffset:
		least, most = 2, 3
	default:
		return fmt.Sprintf("flags %#x", flags)
	}
	if flags&locSigned != 0 && flags&(locConst|locOffset) == 0 {
		return fmt.Sprintf("flags %#x", flags)
	}
	if vlen < least || vlen > most {
		return fmt.Sprintf("vlen %d with flags %#x and size %d", vlen, flags, size)
	}
	return ""
}

// locations judges a LOC_PROTO, or a LOCSEC, whose ids are from at to end.
func (c *recordCheck) locations(k btf.Kind, at, end int) string {
	if k == btf.KindLocProto {
		for ; at < end; at += 4 {
			c.maxRef = max(c.maxRef, c.word(at))
		}
		return ""
	}
	for i := 0; at < end; i, at = i+1, at+12 {
		fn, proto := c.word(at), c.word(at+4)
		if fn == 0 || proto == 0 {
			return fmt.Sprintf("entry %d: function or places are void", i)
		}
		c.maxRef = max(c.maxRef, fn, proto)
	}
	return ""
}

// sites checks the references of LOC_PROTOs and LOCSECs. They do not depend on what else
// has been resolved.
func (x *input) sites() *Fault {
	for i, k := range x.kinds {
		if k != btf.KindLocProto && k != btf.KindLocsec {
			continue
		}
		id, at := x.first+uint32(i), int(x.off[i])
		vlen := int(btf.InfoVlen(x.word(at + 4)))
		for j := range vlen {
			rule := ""
			if k == btf.KindLocProto {
				if p := x.word(at + 12 + 4*j); p != 0 && x.kind(p) != btf.KindLocParam {
					rule = fmt.Sprintf("parameter %d: type [%d] is a %s, no LOC_PARAM", j, p, x.kind(p))
				}
			} else {
				rule = x.siteRule(j, x.word(at+12+12*j), x.word(at+16+12*j))
			}
			if rule != "" {
				return x.fault(id, Load, rule)
			}
		}
	}
	return nil
}

// siteRule judges entry j of a LOCSEC.
func (x *input) siteRule(j int, fn, proto uint32) string {
	switch {
	case x.kind(fn) != btf.KindFunc:
		return fmt.Sprintf("entry %d: type [%d] is a %s, no FUNC", j, fn, x.kind(fn))
	case x.kind(proto) != btf.KindLocProto:
		return fmt.Sprintf("entry %d: type [%d] is a %s, no LOC_PROTO", j, proto, x.kind(proto))
	}
	want := btf.InfoVlen(x.get(x.get(fn, 2), 1))
	if n := btf.InfoVlen(x.get(proto, 1)); n != want {
		return fmt.Sprintf("entry %d: places of %d parameters for a function with %d", j, n, want)
	}
	return ""
}
