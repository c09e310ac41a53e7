package verify

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/btflite/btflite/btf"
)

// sections are the parts of a blob.
type sections struct {
	bigEndian bool
	types     []byte
	strings   []byte
	layout    []byte // layout section, nil for none
	// laterHeader says that the header has something that kernels without the layout section
	// refuse.
	laterHeader bool
}

// word reads the 32-bit word at byte off of the types.
func (s *sections) word(off int) uint32 {
	w := binary.LittleEndian.Uint32(s.types[off:])
	if s.bigEndian {
		w = bits.ReverseBytes32(w)
	}
	return w
}

// The header: magic, version, flags, hdr_len, then offset and length of the
// types, of the strings and, since Linux 7.1, of the layout. A shorter header
// has zeros for what it lacks.
const (
	minHeader    = 8
	oldHeader    = 24
	layoutHeader = 32
)

func headerFault(format string, args ...any) error {
	return &Fault{Rule: "header: " + fmt.Sprintf(format, args...), Level: Readable}
}

// span is a section: its place after the header, and its name.
type span struct {
	off, len uint32
	what     string
}

// parseSections applies the rules for the header and for the strings as such.
func parseSections(data []byte, base *btf.Blob) (sections, error) {
	var s sections
	split := base != nil
	if len(data) < minHeader {
		return s, headerFault("%d bytes are too few for one", len(data))
	}
	switch {
	case data[0] == 0x9f && data[1] == 0xeb:
	case data[0] == 0xeb && data[1] == 0x9f:
		s.bigEndian = true
	default:
		return s, headerFault("bad magic %#02x%02x", data[0], data[1])
	}
	if split && base.BigEndian != s.bigEndian {
		return s, headerFault("byte order differs from the base's")
	}
	order := btf.Order(s.bigEndian)
	hdrLen := order.Uint32(data[4:])
	if uint64(hdrLen) > uint64(len(data)) || hdrLen < minHeader {
		return s, headerFault("bad length %d", hdrLen)
	}
	if data[2] != 1 {
		return s, headerFault("unsupported version %d", data[2])
	}
	if data[3] != 0 {
		return s, headerFault("unsupported flags %#x", data[3])
	}
	for i := uint32(oldHeader); i < hdrLen; i++ {
		if data[i] == 0 {
			continue
		}
		if i >= layoutHeader {
			return s, headerFault("unknown non-zero byte at offset %d", i)
		}
		s.laterHeader = true
	}
	var h [layoutHeader]byte
	copy(h[:], data[:min(hdrLen, layoutHeader)])
	body := data[hdrLen:]
	if len(body) == 0 && !split {
		return s, headerFault("no data behind it")
	}
	spans := []span{
		{order.Uint32(h[8:]), order.Uint32(h[12:]), "type section"},
		{order.Uint32(h[16:]), order.Uint32(h[20:]), "string section"},
		{order.Uint32(h[24:]), order.Uint32(h[28:]), "layout section"},
	}
	types, strings, layout := spans[0], spans[1], spans[2]
	if err := checkSpans(spans, uint32(hdrLen), len(body)); err != nil {
		return s, err
	}
	if types.off%4 != 0 || types.len%4 != 0 {
		return s, headerFault("type section %d+%d is not aligned to 4 bytes", types.off, types.len)
	}
	if layout.len != 0 && (layout.off%4 != 0 || layout.len%4 != 0) {
		return s, headerFault("layout section %d+%d is not aligned to 4 bytes", layout.off, layout.len)
	}
	if layout.len != 0 {
		s.layout = body[layout.off : layout.off+layout.len]
	}
	s.types = body[types.off : types.off+types.len]
	s.strings = body[strings.off : strings.off+strings.len]
	if uint64(strings.off)+uint64(strings.len) != uint64(len(body)) {
		s.laterHeader = true
	}
	return s, checkStrings(s.strings, split)
}

// checkSpans demands that the sections fill the data after the header without gap or
// overlap. Without a layout in the header the strings come last.
func checkSpans(spans []span, hdrLen uint32, size int) error {
	if hdrLen <= oldHeader && uint64(spans[1].off)+uint64(spans[1].len) != uint64(size) {
		return headerFault("string section %d+%d does not end with the data, at %d", spans[1].off, spans[1].len, size)
	}
	if spans[2].len == 0 {
		spans = spans[:2]
	}
	spans = slices.Clone(spans)
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Compare(a.off, b.off) })
	end := uint64(0)
	for _, s := range spans {
		if uint64(s.off) != end {
			return headerFault("%s starts at %d, not at %d", s.what, s.off, end)
		}
		end += uint64(s.len)
		if end > uint64(size) {
			return headerFault("%s %d+%d goes beyond the data, %d bytes", s.what, s.off, s.len, size)
		}
	}
	if end != uint64(size) {
		return headerFault("%d bytes belong to no section", uint64(size)-end)
	}
	return nil
}

func checkStrings(s []byte, split bool) error {
	fault := func(rule string) error { return &Fault{Rule: "strings: " + rule, Level: Readable} }
	switch {
	case len(s) == 0 && split:
	case len(s) == 0:
		return fault("empty section")
	case len(s)-1 > maxNameOffset:
		return fault(fmt.Sprintf("%d bytes, at most %d are allowed", len(s), maxNameOffset+1))
	case s[len(s)-1] != 0:
		return fault("no NUL at the end")
	case !split && s[0] != 0:
		return fault("the first is not empty")
	}
	return nil
}
