package btftest

import "github.com/btflite/btflite/btf"

// A record for each kind; ids are those that the calls return.

// info is the second word of a record.
func info(k btf.Kind, vlen uint32, kflag bool) uint32 {
	word := uint32(k)<<24 | vlen
	if kflag {
		word |= 1 << 31
	}
	return word
}

// plain is the second word of a record without parts.
func plain(k btf.Kind) uint32 { return info(k, 0, false) }

// Int is a signed integer of so many bytes.
func (b *Builder) Int(name string, size uint32) uint32 {
	return b.Add(name, plain(btf.KindInt), size, 1<<24|8*size)
}

// Ptr is a pointer.
func (b *Builder) Ptr(to uint32) uint32 { return b.Add("", plain(btf.KindPtr), to) }

// Array is an array of n elements.
func (b *Builder) Array(elem, index, n uint32) uint32 {
	return b.Add("", plain(btf.KindArray), 0, elem, index, n)
}

// Part is a member, a parameter or a value of an enumeration: the words of its
// record.
type Part []uint32

// Member is a member at an offset in bits, with the size of a bit-field in the
// upper 8 bits.
func (b *Builder) Member(name string, typ, off uint32) Part { return Part{b.Str(name), typ, off} }

// Param is a parameter.
func (b *Builder) Param(name string, typ uint32) Part { return Part{b.Str(name), typ} }

// Value is a value of an ENUM.
func (b *Builder) Value(name string, v int32) Part { return Part{b.Str(name), uint32(v)} }

// Value64 is a value of an ENUM64.
func (b *Builder) Value64(name string, v uint64) Part {
	return Part{b.Str(name), uint32(v), uint32(v >> 32)}
}

// Of is a record of a kind with parts.
func (b *Builder) Of(k btf.Kind, name string, kflag bool, third uint32, parts ...Part) uint32 {
	var rest []uint32
	for _, p := range parts {
		rest = append(rest, p...)
	}
	return b.Add(name, info(k, uint32(len(parts)), kflag), third, rest...)
}

// Struct is a struct without bit-fields.
func (b *Builder) Struct(name string, size uint32, members ...Part) uint32 {
	return b.Of(btf.KindStruct, name, false, size, members...)
}

// Union is a union without bit-fields.
func (b *Builder) Union(name string, size uint32, members ...Part) uint32 {
	return b.Of(btf.KindUnion, name, false, size, members...)
}

// Enum is an unsigned enumeration of 4 bytes.
func (b *Builder) Enum(name string, values ...Part) uint32 {
	return b.Of(btf.KindEnum, name, false, 4, values...)
}

// Enum64 is an unsigned enumeration of 8 bytes.
func (b *Builder) Enum64(name string, values ...Part) uint32 {
	return b.Of(btf.KindEnum64, name, false, 8, values...)
}

// Fwd is the declaration of a struct.
func (b *Builder) Fwd(name string) uint32 { return b.Add(name, plain(btf.KindFwd), 0) }

// FwdUnion is the declaration of a union.
func (b *Builder) FwdUnion(name string) uint32 { return b.Add(name, info(btf.KindFwd, 0, true), 0) }

// Typedef is a typedef.
func (b *Builder) Typedef(name string, to uint32) uint32 {
	return b.Add(name, plain(btf.KindTypedef), to)
}

// Volatile is a modifier.
func (b *Builder) Volatile(to uint32) uint32 { return b.Add("", plain(btf.KindVolatile), to) }

// Const is a modifier.
func (b *Builder) Const(to uint32) uint32 { return b.Add("", plain(btf.KindConst), to) }

// Restrict is a modifier.
func (b *Builder) Restrict(to uint32) uint32 { return b.Add("", plain(btf.KindRestrict), to) }

// TypeTag is a modifier with a name.
func (b *Builder) TypeTag(name string, to uint32) uint32 {
	return b.Add(name, plain(btf.KindTypeTag), to)
}

// Proto is the prototype of a function.
func (b *Builder) Proto(result uint32, params ...Part) uint32 {
	return b.Of(btf.KindFuncProto, "", false, result, params...)
}

// Linkage of functions and variables.
const (
	Static = 0
	Global = 1
)

// Func is a function.
func (b *Builder) Func(name string, linkage, proto uint32) uint32 {
	return b.Add(name, info(btf.KindFunc, linkage, false), proto)
}

// Var is a variable.
func (b *Builder) Var(name string, typ, linkage uint32) uint32 {
	return b.Add(name, plain(btf.KindVar), typ, linkage)
}

// Place is a variable in a section: where it is and its size, in bytes.
func Place(variable, off, size uint32) Part { return Part{variable, off, size} }

// Datasec is a section with variables.
func (b *Builder) Datasec(name string, size uint32, places ...Part) uint32 {
	return b.Of(btf.KindDatasec, name, false, size, places...)
}

// Float is a floating-point type of so many bytes.
func (b *Builder) Float(name string, size uint32) uint32 {
	return b.Add(name, plain(btf.KindFloat), size)
}

// Whole is the component of a tag that is for all of a type.
const Whole = ^uint32(0)

// DeclTag is a tag of a declaration, or of one of its components.
func (b *Builder) DeclTag(name string, to, component uint32) uint32 {
	return b.Add(name, plain(btf.KindDeclTag), to, component)
}
