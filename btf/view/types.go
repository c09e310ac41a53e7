package view

import (
	"iter"

	"github.com/btflite/btflite/btf"
)

// Kind is the kind of t, btf.KindVoid for void.
func (t Type) Kind() btf.Kind {
	if t.rec == nil {
		return btf.KindVoid
	}
	return t.rec.Kind()
}

// Record is the record of t, nil for void.
func (t Type) Record() btf.Record {
	if t.rec == nil {
		return nil
	}
	return t.rec[:t.rec.Len()]
}

// View is the view that t is of.
func (t Type) View() *View { return t.v }

// Name is the name of t, empty for none. It may have any bytes but NUL.
func (t Type) Name() []byte {
	if t.rec == nil {
		return nil
	}
	if t.v.renamed != nil {
		if name, ok := t.v.renamed[t.ID]; ok {
			return name
		}
	}
	return t.v.Name(t.rec.Name())
}

// HasName reports whether t has a name that is not empty.
func (t Type) HasName() bool {
	if t.rec == nil {
		return false
	}
	if t.v.renamed != nil {
		return len(t.Name()) > 0
	}
	return t.rec.Name() != 0 && t.v.blob.HasName(t.rec.Name())
}

// Vlen is the number of elements: of members, values, parameters, variables.
func (t Type) Vlen() int {
	if t.rec == nil || t.rec.Kind() == btf.KindFunc {
		return 0
	}
	return int(t.rec.Vlen())
}

// Keyword is the word of C before the name of t, with a blank; see btf.Record.Keyword.
func (t Type) Keyword() string {
	if t.rec == nil {
		return ""
	}
	return t.rec.Keyword()
}

// Flag is the kind_flag: of a FWD that it is of a union, of an ENUM or ENUM64
// that its values are signed.
func (t Type) Flag() bool { return t.rec != nil && btf.InfoKflag(t.rec.Info()) }

// IsComposite reports whether t is a struct or a union.
func (t Type) IsComposite() bool {
	k := t.Kind()
	return k == btf.KindStruct || k == btf.KindUnion
}

// IsEnum reports whether t is an enum, of 64 bits or less.
func (t Type) IsEnum() bool { return btf.Enums.Has(t.Kind()) }

// IsModifier reports whether t is const, volatile, restrict or a type tag.
func (t Type) IsModifier() bool { return btf.Modifiers.Has(t.Kind()) }

// Target is the type that t refers to: of a pointer, typedef, modifier, variable
// or declaration tag, the prototype of a function, the result of a prototype.
// Void for others.
func (t Type) Target() Type { return t.v.Type(t.TargetID()) }

// TargetID is the id of Target.
func (t Type) TargetID() uint32 {
	if t.rec == nil || !btf.ThirdIsRef(t.rec.Kind()) {
		return 0
	}
	return t.rec.Third()
}

// Elem is the type of the elements of an array and their number; void and 0 for
// others.
func (t Type) Elem() (elem Type, n uint32) {
	if t.Kind() != btf.KindArray {
		return Type{v: t.v}, 0
	}
	id, _, n := t.rec.Array()
	return t.v.Type(id), n
}

// IntEncoding decodes the data word of an INT: its encoding (1 signed, 2 char,
// 4 bool), and the offset and number of its bits.
func (t Type) IntEncoding() (encoding, offset, bits uint32) {
	if t.Kind() != btf.KindInt {
		return 0, 0, 0
	}
	return t.rec.Int()
}

// Linkage is the linkage of a function or variable: 0 static, 1 global, 2 extern.
func (t Type) Linkage() uint32 {
	switch t.Kind() {
	case btf.KindFunc:
		return t.rec.Vlen()
	case btf.KindVar:
		return t.rec.Data()
	}
	return 0
}

// Component is the member or parameter that a declaration tag is on, -1 for its
// target as a whole.
func (t Type) Component() int {
	if t.Kind() != btf.KindDeclTag {
		return -1
	}
	return int(int32(t.rec.Data()))
}

// Member is one member of a struct or union.
type Member struct {
	NameOff uint32 // 0: none
	TypeID  uint32
	Offset  uint32 // in bits from the beginning of the struct
	Bits    uint32 // size of a bit-field; 0: it is none
	v       *View
}

// Name is the name of m, empty for none.
func (m Member) Name() []byte {
	name := m.v.Name(m.NameOff)
	if m.v.blob.Marked {
		_, name = btf.Mark(name)
	}
	return name
}

// Type is the type of m; of a bit-field the one that it was declared with.
func (m Member) Type() Type { return m.v.Type(m.TypeID) }

// Member is member i of a struct or union, which must have it. Old compilers
// wrote a bit-field as an INT with fewer bits than its size: such ones have Bits
// too.
func (t Type) Member(i int) Member {
	m := Member{v: t.v}
	m.NameOff, m.TypeID, m.Offset, m.Bits = t.rec.Field(i)
	if t.Flag() {
		return m
	}
	if of := m.Type(); of.Kind() == btf.KindInt {
		if _, at, bits := of.IntEncoding(); at != 0 || uint64(bits) != 8*uint64(of.rec.Third()) {
			m.Offset, m.Bits = m.Offset+at, bits
		}
	}
	return m
}

// Members gives the members of a struct or union in their order, nothing for
// others.
func (t Type) Members() iter.Seq2[int, Member] {
	return func(yield func(int, Member) bool) {
		if !t.IsComposite() {
			return
		}
		for i := range t.Vlen() {
			if !yield(i, t.Member(i)) {
				return
			}
		}
	}
}

// Value is one enumerator.
type Value struct {
	NameOff uint32
	Value   int64 // the 64 bits; of an unsigned enum uint64(Value) is the number
	v       *View
}

// Name is the name of e.
func (e Value) Name() []byte { return e.v.Name(e.NameOff) }

// Value is enumerator i of an enum, which must have it. Numbers of 32 bits are
// extended by their sign if the enum is signed.
func (t Type) Value(i int) Value {
	name, value := t.rec.Enumerator(i)
	return Value{name, int64(value), t.v}
}

// Values gives the enumerators of an enum in their order, nothing for others.
func (t Type) Values() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		if !t.IsEnum() {
			return
		}
		for i := range t.Vlen() {
			if !yield(i, t.Value(i)) {
				return
			}
		}
	}
}

// Param is one parameter of a function prototype.
type Param struct {
	NameOff uint32
	TypeID  uint32
	v       *View
}

// Name is the name of p, empty for none.
func (p Param) Name() []byte { return p.v.Name(p.NameOff) }

// Type is the type of p.
func (p Param) Type() Type { return p.v.Type(p.TypeID) }

// Variadic reports whether p stands for "...", as the last parameter may.
func (p Param) Variadic() bool { return p.TypeID == 0 && p.NameOff == 0 }

// Param is parameter i of a prototype, which must have it.
func (t Type) Param(i int) Param {
	name, id := t.rec.Param(i)
	return Param{name, id, t.v}
}

// Params gives the parameters of a prototype, or of a function the ones of its
// prototype, in their order; nothing for others.
func (t Type) Params() iter.Seq2[int, Param] {
	return func(yield func(int, Param) bool) {
		if t.Kind() == btf.KindFunc {
			t = t.Target()
		}
		if t.Kind() != btf.KindFuncProto {
			return
		}
		for i := range t.Vlen() {
			if !yield(i, t.Param(i)) {
				return
			}
		}
	}
}

// Mark tells which kind of DWARF t stands for if BTF has no such kind, NoMark for other
// types. The type below the mark has the same bytes in memory; see btf.MarkKind.
func (t Type) Mark() (k btf.MarkKind, text []byte) { return t.v.blob.MarkOf(t.rec) }

// Marked is the type that a reference or a pointer to a member leads to; of other types
// it is Target.
func (t Type) Marked() Type {
	of := t.Target()
	switch k, _ := t.Mark(); k {
	case btf.MarkReference, btf.MarkMember:
		if elem, n := of.Elem(); n > 0 {
			of = elem
		}
		if of.Kind() == btf.KindPtr {
			return of.Target()
		}
	}
	return of
}

// IsQualified reports whether t is another type with a qualifier that BTF does not have.
func (t Type) IsQualified() bool {
	k, _ := t.Mark()
	return k == btf.MarkQualifier
}

// IsBase reports whether m is a base class of C++, whose name it has.
func (m Member) IsBase() bool {
	if !m.v.blob.Marked {
		return false
	}
	k, _ := btf.Mark(m.v.Name(m.NameOff))
	return k == btf.MarkBase
}
