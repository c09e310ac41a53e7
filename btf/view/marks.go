package view

import "github.com/btflite/btflite/btf"

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
