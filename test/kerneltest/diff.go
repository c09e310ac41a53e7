// Package kerneltest compares btflite with pahole on whole files: the small
// program of testdata always, full-size kernels when they are there and
// BTFLITE_KERNELS=1 is set. It has no code that btflite uses; its reader of BTF
// is separate from package btf on purpose, so that a fault there cannot hide.
package kerneltest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
)

// BTF kinds by number (include/uapi/linux/btf.h).
var kindNames = [...]string{
	"VOID", "INT", "PTR", "ARRAY", "STRUCT", "UNION", "ENUM", "FWD", "TYPEDEF", "VOLATILE",
	"CONST", "RESTRICT", "FUNC", "FUNC_PROTO", "VAR", "DATASEC", "FLOAT", "DECL_TAG", "TYPE_TAG", "ENUM64",
}

// tail says what follows the 12 bytes of a type: fixed words, then words for
// each of its vlen entries, and which word of an entry is a name (-1: none).
type tail struct{ fixed, each, name int }

var tails = [...]tail{
	1:  {1, 0, -1}, // INT: encoding
	3:  {3, 0, -1}, // ARRAY: type, index type, elements
	4:  {0, 3, 0},  // STRUCT: name, type, offset
	5:  {0, 3, 0},
	6:  {0, 2, 0}, // ENUM: name, value
	13: {0, 2, 0}, // FUNC_PROTO: name, type
	14: {1, 0, -1},
	15: {0, 3, -1}, // DATASEC: type, offset, size
	17: {1, 0, -1},
	19: {0, 3, 0}, // ENUM64: name, low, high
}

// blob is a parsed BTF file: types[i] describes type id i+1 as one line of
// text, with names in place of string offsets.
type blob struct {
	types []string
	strs  []byte
}

// FirstDifference says in words where got leaves want, both whole detached BTF
// files: the first type that differs, with its id, else the strings. It returns
// "" for equal bytes.
func FirstDifference(want, got []byte) string {
	if bytes.Equal(want, got) {
		return ""
	}
	w, err := parse(want)
	if err != nil {
		return "expected BTF: " + err.Error()
	}
	g, err := parse(got)
	if err != nil {
		return "got BTF: " + err.Error()
	}
	counts := fmt.Sprintf("%d types and %d string bytes wanted, %d and %d got",
		len(w.types), len(w.strs), len(g.types), len(g.strs))
	for i := 0; i < min(len(w.types), len(g.types)); i++ {
		if w.types[i] != g.types[i] {
			return fmt.Sprintf("first different type:\n want [%d] %s\n got  [%d] %s\n %s",
				i+1, w.types[i], i+1, g.types[i], counts)
		}
	}
	if len(w.types) != len(g.types) {
		return fmt.Sprintf("equal up to type %d, then one file ends: %s", min(len(w.types), len(g.types)), counts)
	}
	n := 0
	for n < min(len(w.strs), len(g.strs)) && w.strs[n] == g.strs[n] {
		n++
	}
	if n < len(w.strs) || n < len(g.strs) {
		return fmt.Sprintf("types read alike, strings differ from offset %#x: want %q, got %q; %s",
			n, stringAround(w.strs, n), stringAround(g.strs, n), counts)
	}
	return "types and strings read alike; headers or string offsets differ"
}

// parse reads a BTF file of either byte order.
func parse(b []byte) (*blob, error) {
	if len(b) < 24 {
		return nil, fmt.Errorf("%d bytes are too few for a header", len(b))
	}
	var order binary.ByteOrder = binary.LittleEndian
	if order.Uint16(b) != 0xeb9f {
		order = binary.BigEndian
	}
	if order.Uint16(b) != 0xeb9f {
		return nil, fmt.Errorf("no BTF magic: % x", b[:2])
	}
	body := uint64(order.Uint32(b[4:]))
	part := func(at int) ([]byte, error) {
		from := body + uint64(order.Uint32(b[at:]))
		to := from + uint64(order.Uint32(b[at+4:]))
		if to > uint64(len(b)) {
			return nil, fmt.Errorf("section [%#x, %#x) leaves the file of %#x bytes", from, to, len(b))
		}
		return b[from:to], nil
	}
	types, err := part(8)
	if err != nil {
		return nil, err
	}
	strs, err := part(16)
	if err != nil {
		return nil, err
	}
	out := &blob{strs: strs}
	for at := 0; at < len(types); {
		text, size, err := describe(types[at:], strs, order)
		if err != nil {
			return nil, fmt.Errorf("type %d at offset %#x: %w", len(out.types)+1, at, err)
		}
		out.types = append(out.types, text)
		at += size
	}
	return out, nil
}

// describe turns the type at the start of b into text and says its length.
func describe(b, strs []byte, order binary.ByteOrder) (string, int, error) {
	if len(b) < 12 {
		return "", 0, fmt.Errorf("%d bytes left, a type has 12", len(b))
	}
	info := order.Uint32(b[4:])
	kind, vlen := int(info>>24&0x7f), int(info&0xffffff)
	if kind == 0 || kind >= len(kindNames) {
		return "", 0, fmt.Errorf("unknown kind %d", kind)
	}
	var t tail
	if kind < len(tails) {
		t = tails[kind]
	}
	size := 12 + 4*(t.fixed+t.each*vlen)
	if size > len(b) {
		return "", 0, fmt.Errorf("%s needs %d bytes, %d are left", kindNames[kind], size, len(b))
	}
	word := func(i int) uint32 { return order.Uint32(b[12+4*i:]) }
	var s strings.Builder
	fmt.Fprintf(&s, "%s %q kflag=%d vlen=%d size/type=%d", kindNames[kind], stringAt(strs, order.Uint32(b)),
		info>>31, vlen, order.Uint32(b[8:]))
	for i := 0; i < t.fixed; i++ {
		fmt.Fprintf(&s, " %#x", word(i))
	}
	for e := 0; e < vlen && t.each > 0; e++ {
		s.WriteString(" {")
		for i := 0; i < t.each; i++ {
			w := word(t.fixed + e*t.each + i)
			if i == t.name {
				fmt.Fprintf(&s, "%q", stringAt(strs, w))
			} else {
				fmt.Fprintf(&s, " %d", w)
			}
		}
		s.WriteString("}")
	}
	return s.String(), size, nil
}

// stringAt is the string at a string offset, or a remark if there is none.
func stringAt(strs []byte, off uint32) string {
	if uint64(off) >= uint64(len(strs)) {
		return fmt.Sprintf("bad string offset %#x", off)
	}
	s := strs[off:]
	if n := bytes.IndexByte(s, 0); n >= 0 {
		s = s[:n]
	}
	return string(s)
}

// stringAround is the whole string that holds byte i.
func stringAround(strs []byte, i int) string {
	if i >= len(strs) {
		return ""
	}
	from := bytes.LastIndexByte(strs[:i], 0) + 1
	return stringAt(strs, uint32(from))
}
