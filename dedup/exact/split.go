package exact

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/btflite/btflite/btf"
)

// Split returns the types of in, which has no base, as split BTF over base: ids continue
// after the base's, and strings that the base has are taken from there. The other strings
// keep their order. Only strings are deduplicated. The length of the header stays; only
// the base has a layout section.
func Split(in, base *btf.Blob) (*btf.Blob, error) {
	if in.Base != nil || in.BigEndian != base.BigEndian {
		return nil, errors.New("dedup: input does not fit the base")
	}
	if uint64(base.TypeCount())+uint64(len(in.Off)) > btf.MaxID || uint64(base.StrEnd())+uint64(len(in.Strings)) > btf.MaxStrOff {
		return nil, fmt.Errorf("dedup: %d types are too many over a base of %d", len(in.Off), base.TypeCount())
	}
	table := btf.NewStringTable(base)
	names := make(map[uint32]uint32)
	for s, off := in.Strings, uint32(0); len(s) > 0; {
		n := bytes.IndexByte(s, 0)
		names[off] = table.Intern(s[:n])
		s, off = s[n+1:], off+uint32(n)+1
	}
	out := &btf.Blob{
		BigEndian: in.BigEndian,
		Words:     append([]uint32(nil), in.Words...),
		Off:       append([]uint32(nil), in.Off...),
		Strings:   table.Bytes(),
		StrBase:   base.StrEnd(),
		FirstID:   base.TypeCount(),
		Base:      base,
		Form:      btf.Form{HeaderLen: in.Form.HeaderLen},
	}
	for id := out.FirstID; id < out.TypeCount(); id++ {
		r := out.Record(id)
		shift := func(w *uint32) {
			if *w != 0 {
				*w += out.FirstID - 1
			}
		}
		rename := func(w *uint32) {
			if off, ok := names[*w]; ok {
				*w = off
				return
			}
			*w = table.Intern(in.NameBytes(*w))
			out.Strings = table.Bytes()
		}
		btf.EachRef(r, shift)
		btf.EachName(r, rename)
	}
	return out, nil
}
