package btf

import (
	"bytes"
	"errors"
)

// Names may begin in the middle of a string, and all types may share one string. So a
// small file can have names that take gigabytes when they are written out, which happens
// when types are printed, compared or merged. No compiler makes such BTF. Kernels accept
// names of up to 511 bytes, which is at most 64 times the size of the records that have
// them. Longer names are added up.

const (
	// longName is the length in bytes from which on no kernel accepts a name.
	longName = 512
	// All names together may be maxNames times as long as the BTF, and freeNames bytes
	// longer.
	maxNames, freeNames = 16, 1 << 20
)

// hasLongName reports whether one of the strings has longName bytes or more.
func hasLongName(s []byte) bool {
	for at := 0; len(s)-at > longName; {
		end := bytes.LastIndexByte(s[at:at+longName], 0)
		if end < 0 {
			return true
		}
		at += end + 1
	}
	return false
}

// checkNames returns an error if the names of all types, written out, take much more than
// the BTF.
func (b *Blob) checkNames() error {
	if b.shortNames = (b.Base == nil || b.Base.shortNames) && !hasLongName(b.Strings); b.shortNames {
		return nil
	}
	left := freeNames + maxNames*(4*len(b.Words)+len(b.Strings))
	for _, off := range b.Off {
		r := b.Words[off:]
		left -= len(b.NameBytes(r[0]))
		stride, n := NameWords(InfoKind(r[1]), InfoVlen(r[1]))
		for i := 0; i < n && left >= 0; i++ {
			left -= len(b.NameBytes(r[3+i*stride]))
		}
		if left < 0 {
			return errors.New("btf: names: they share so much text that they take more than 16 times as much as the BTF if they are written out; no compiler makes that")
		}
	}
	return nil
}
