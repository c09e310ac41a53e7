package unitrecord

import (
	"encoding/binary"
	"slices"

	"github.com/btflite/btflite/internal/debuginfo"
)

// Sizes of the debug sections that records have replaced. pahole takes a variable for one of
// a debug section that is large enough and comes first (docs/pahole-behaviour.md, 5.1). To
// repeat that, an encoder has to know how large the section was.

// Size is the size of a section in bytes, after expanding it.
type Size struct {
	Section string
	Bytes   uint64
}

// sizedSections are the sections whose sizes are kept. Records have their numbers, so the
// list may only grow at its end.
var sizedSections = []string{
	".debug_info", ".debug_abbrev", ".debug_line", ".debug_str", ".debug_line_str", ".debug_str_offsets", ".debug_addr",
	".debug_loclists", ".debug_rnglists", ".debug_loc", ".debug_ranges", ".debug_macro", ".debug_aranges", ".debug_names",
	".debug_pubnames", ".debug_pubtypes", ".debug_gnu_pubnames", ".debug_gnu_pubtypes", ".debug_frame",
}

// smallShare says which sizes are left out: of sections smaller than this part of
// .debug_info. They decide nearly nothing, because .debug_info is larger and decides first.
const smallShare = 8

// Replaces takes the debug sections of the object, in the order of its section table. The
// next record keeps their sizes.
func (w *Writer) Replaces(sections []Size) { w.sizes = appendSizes(w.sizes[:0], sections) }

// appendSizes appends the sizes of sections: how many, then the number of each and its size.
func appendSizes(b []byte, sections []Size) []byte {
	info := uint64(0)
	for _, s := range sections {
		if s.Section == sizedSections[0] {
			info = s.Bytes
		}
	}
	n, list := uint64(0), []byte(nil)
	for _, s := range sections {
		if k := slices.Index(sizedSections, s.Section); k >= 0 && s.Bytes >= info/smallShare && s.Bytes > 0 {
			n++
			list = binary.AppendUvarint(append(list, byte(k)), s.Bytes)
		}
	}
	return append(binary.AppendUvarint(b, n), list...)
}

// Replaced returns the sections that the record of the unit at c has replaced (old), and the
// bytes that the record takes in .debug_info and .debug_abbrev (now). The first record of an
// object has the sizes for all units of the object.
func Replaced(c *debuginfo.Cursor) (old, now []Size, err error) {
	f, err := parseFrame(c.Record.Bytes, int(c.Hdr.AddrSize))
	if err != nil {
		return nil, nil, c.UnitError(err.Error())
	}
	_, k := binary.Uvarint(f.sizes)
	for b := f.sizes[max(k, 0):]; len(b) > 0; {
		number := int(b[0])
		bytes, k := binary.Uvarint(b[1:])
		if number < len(sizedSections) {
			old = append(old, Size{sizedSections[number], bytes})
		}
		b = b[1+k:]
	}
	return old, []Size{{sizedSections[0], c.Hdr.End() - c.Hdr.Off}, {sizedSections[1], f.nodes.off + f.nodes.size}}, nil
}
