package btf

import (
	"encoding/binary"
	"fmt"
)

// HeaderLen is the length in bytes of the shortest header. It is the one of the zero
// Form.
const HeaderLen = 24

const (
	magic           = 0xeb9f
	version         = 1
	layoutHeaderLen = 32 // header with layout_off and layout_len
)

// AppendHeader appends the header of a blob that has the zero Form.
func AppendHeader(dst []byte, bigEndian bool, typeLen, strLen uint32) []byte {
	return Form{}.AppendHeader(dst, bigEndian, typeLen, strLen)
}

// ByteOrder reads, writes and appends integers of one byte order.
type ByteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// Order returns the big-endian or the little-endian byte order.
func Order(bigEndian bool) ByteOrder {
	if bigEndian {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// sections are the parts of a blob, as sub-slices of it.
type sections struct {
	bigEndian bool
	types     []byte
	strings   []byte
	form      Form
}

// Sections returns the types and the strings of a blob. It checks only the header.
func Sections(data []byte) (types, strings []byte, err error) {
	s, err := parseHeader(data)
	return s.types, s.strings, err
}

// HasMagic reports whether data begins with the magic number of BTF, in either byte order.
func HasMagic(data []byte) bool {
	return len(data) >= 2 && (data[0] == magic&0xff && data[1] == magic>>8 || data[0] == magic>>8 && data[1] == magic&0xff)
}

// parseHeader checks the header of data and finds the sections. Bytes after
// the strings are ignored. Header bytes that are not known must be zero, because
// a program that writes the blob again would lose them.
func parseHeader(data []byte) (sections, error) {
	var s sections
	if len(data) < HeaderLen {
		return s, fmt.Errorf("btf: header: %d bytes, need %d", len(data), HeaderLen)
	}
	if !HasMagic(data) {
		return s, fmt.Errorf("btf: header: bad magic %#02x%02x at offset 0", data[0], data[1])
	}
	s.bigEndian = data[0] == magic>>8
	if data[2] != version {
		return s, fmt.Errorf("btf: header: unsupported version %d at offset 2", data[2])
	}
	if data[3] != 0 {
		return s, fmt.Errorf("btf: header: unsupported flags %#x at offset 3", data[3])
	}
	o := Order(s.bigEndian)
	word := func(off int) uint64 { return uint64(o.Uint32(data[off:])) }
	hdrLen := word(4)
	if hdrLen < HeaderLen || hdrLen > uint64(len(data)) {
		return s, fmt.Errorf("btf: header: bad header length %d at offset 4", hdrLen)
	}
	known := uint64(HeaderLen)
	var layoutOff, layoutLen uint64
	if hdrLen >= layoutHeaderLen {
		known = layoutHeaderLen
		layoutOff, layoutLen = word(24), word(28)
	}
	for i := known; i < hdrLen; i++ {
		if data[i] != 0 {
			return s, fmt.Errorf("btf: header: unknown non-zero byte at offset %d", i)
		}
	}
	body := data[hdrLen:]
	typeOff, typeLen, strOff, strLen := word(8), word(12), word(16), word(20)
	typeEnd, strEnd := typeOff+typeLen, strOff+strLen
	switch {
	case typeOff%4 != 0:
		return s, fmt.Errorf("btf: header: type section offset %d is not a multiple of 4", typeOff)
	case typeLen%4 != 0:
		return s, fmt.Errorf("btf: header: type section length %d is not a multiple of 4", typeLen)
	case typeEnd > strOff:
		return s, fmt.Errorf("btf: header: types end at %d, behind the strings at %d", typeEnd, strOff)
	case strEnd > uint64(len(body)):
		return s, fmt.Errorf("btf: header: strings end at %d, data at %d", strEnd, len(body))
	case strLen > MaxStrOff:
		return s, fmt.Errorf("btf: header: string section length %d too large", strLen)
	}
	s.form.HeaderLen = uint32(hdrLen)
	if layoutLen != 0 {
		if layoutOff%4 != 0 || layoutLen%4 != 0 {
			return s, fmt.Errorf("btf: header: layout section %d+%d is not aligned to 4", layoutOff, layoutLen)
		}
		if layoutOff < typeEnd || layoutOff+layoutLen > strOff {
			return s, fmt.Errorf("btf: header: layout section %d+%d is not between types and strings", layoutOff, layoutLen)
		}
		s.form.Layout = body[layoutOff:][:layoutLen]
	}
	s.types, s.strings = body[typeOff:typeEnd], body[strOff:strEnd]
	return s, nil
}
