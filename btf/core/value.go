package core

import (
	"errors"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// value is the number that a relocation computes.
type value struct {
	number uint64
	bits   uint64 // of a field, its offset
}

// errNoNumber is the error for fields that a relocation cannot be computed of.
var errNoNumber = errors.New("it cannot be computed of such a field")

// value computes the relocation for a match.
func (t *Target) value(x *Reloc, m *match) (v value, err error) {
	switch x.Kind {
	case FieldExists, TypeExists, TypeMatches, EnumvalExists:
		v.number = 1
	case TypeIDTarget:
		v.number = uint64(m.root.ID)
	case TypeSize:
		v.number = m.root.Size()
	case EnumvalValue:
		v.number = uint64(m.last.in.Value(int(m.last.index)).Value)
	default:
		v.number, err = t.field(x.Kind, m)
	}
	v.bits = m.bits
	return v, err
}

// field computes a relocation of a field.
func (t *Target) field(k Kind, m *match) (uint64, error) {
	if !m.last.named { // an element of an array
		switch k {
		case FieldByteOffset:
			return m.bits / 8, nil
		case FieldByteSize:
			return m.last.in.Size(), nil
		}
		return 0, errNoNumber
	}
	member := m.last.in.Member(int(m.last.index))
	typ := member.Type().Resolved()
	at, size, bits, err := place(m.bits, uint64(member.Bits), typ)
	if err != nil {
		return 0, err
	}
	switch k {
	case FieldByteOffset:
		return at, nil
	case FieldByteSize:
		return size, nil
	case FieldSigned:
		if (typ.IsEnum() || typ.Kind() == btf.KindInt) && isSigned(typ) {
			return 1, nil
		}
		return 0, nil
	case FieldLshift:
		if t.types.Blob().BigEndian {
			return (8-size)*8 + m.bits - 8*at, nil
		}
		return 64 - (m.bits + bits - 8*at), nil
	}
	return 64 - bits, nil
}

// place says where a field is loaded from: offset and size in bytes, and how many bits it has.
// A bit-field is loaded with its whole type, or with a larger one if it is not inside.
func place(offset, bits uint64, typ view.Type) (at, size, fieldBits uint64, err error) {
	size = typ.Size()
	if bits == 0 {
		return offset / 8, size, 8 * size, nil
	}
	for size > 0 {
		at = offset / 8 / size * size
		if offset+bits <= 8*(at+size) {
			return at, size, bits, nil
		}
		if size *= 2; size > 8 {
			break
		}
	}
	return 0, 0, 0, errNoNumber
}
