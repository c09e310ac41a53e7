// Package elfobject takes sections out of relocatable ELF files (ET_REL) and changes
// the contents of others. It lays the file out anew: what is dropped leaves no gap.
//
// It serves the compiler wrapper, which replaces the debug sections of an object that
// a compiler has just written. Everything else of the object stays as it is, byte for
// byte: contents, order, alignment, symbols, and the numbers of the symbols.
package elfobject

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/mmapelf"
)

// Object is a relocatable file. It is read-only; the file must stay open.
type Object struct {
	f      *mmapelf.File
	raw    []byte
	order  binary.ByteOrder
	symtab *mmapelf.Section
	syms   []byte
}

// ErrShape says that the object has something that this package does not rewrite.
var ErrShape = errors.New("the object has an unusual form")

func shape(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrShape, fmt.Sprintf(format, args...))
}

// New is the object in f. It fails with ErrShape, or because the file is damaged.
func New(f *mmapelf.File) (*Object, error) {
	o := &Object{f: f, raw: f.Bytes(), order: f.Order()}
	switch {
	case f.Type != elfabi.ETRel:
		return nil, shape("it is not relocatable")
	case len(f.Sections) >= elfabi.SHNLoReserve:
		return nil, shape("it has %d sections", len(f.Sections))
	case f.Machine == elfabi.EMMIPS && f.Class64 && !f.BigEndian:
		return nil, shape("relocations of little-endian MIPS64")
	}
	for i := range f.Sections {
		switch s := &f.Sections[i]; s.Type {
		case elfabi.SHTSymtab:
			if o.symtab != nil {
				return nil, shape("two symbol tables")
			}
			o.symtab = s
		case elfabi.SHTSymtabShndx:
			return nil, shape("more than 65,000 sections")
		}
	}
	switch {
	case o.symtab == nil:
		return nil, shape("no symbol table")
	case !o.counted():
		return nil, shape("the numbers of the section table are not in the header")
	}
	var err error
	o.syms, err = f.Data(o.symtab)
	return o, err
}

// counted reports whether the file header itself has the size of a section header, the number of
// the sections and the section of their names. A file may have larger headers, and may leave the
// numbers to its first section header, which Rewrite does not change.
func (o *Object) counted() bool {
	at := 46
	if o.f.Class64 {
		at = 58
	}
	number := func(at int) int { return int(o.order.Uint16(o.raw[at:])) }
	return number(at) == o.headerSize() && number(at+2) == len(o.f.Sections) && number(at+4) < len(o.f.Sections)
}

// headerSize is the size of a section header in bytes.
func (o *Object) headerSize() int {
	if o.f.Class64 {
		return 64
	}
	return 40
}

func (o *Object) symbolSize() int {
	if o.f.Class64 {
		return 24
	}
	return 16
}

// sectionAt is where in a symbol the index of its section is.
func (o *Object) sectionAt() int {
	if o.f.Class64 {
		return 6
	}
	return 14
}

// symbol is the entry of symbol i in the table; nil if there is no such symbol.
func (o *Object) symbol(i uint32) []byte {
	size := o.symbolSize()
	at := uint64(i) * uint64(size) // an int of 32 bits is too small for it
	if at+uint64(size) > uint64(len(o.syms)) {
		return nil
	}
	return o.syms[at:][:size]
}

// Merged reports whether symbol i is in a section whose contents the linker merges, so
// that an offset from it means nothing, or whether there is no such symbol.
func (o *Object) Merged(i uint32) bool {
	s := o.symbol(i)
	if s == nil {
		return true
	}
	k := int(o.order.Uint16(s[o.sectionAt():]))
	return k < len(o.f.Sections) && o.f.Sections[k].Flags&elfabi.SHFMerge != 0
}

// Value is the value of symbol i, in an object its offset in its section, and 0 for a
// symbol that does not exist.
func (o *Object) Value(i uint32) uint64 {
	s := o.symbol(i)
	switch {
	case s == nil:
		return 0
	case o.f.Class64:
		return o.order.Uint64(s[8:])
	}
	return uint64(o.order.Uint32(s[4:]))
}

// Reloc is a relocation.
type Reloc struct {
	Off    uint64
	Type   uint32
	Symbol uint32
	Addend int64 // of SHT_RELA; for SHT_REL the value in the relocated field
}

// Relocs are the relocations of one section.
type Relocs struct {
	Section *mmapelf.Section // that has them
	o       *Object
	data    []byte
	size    int // of one
	n       int
	target  []byte // of SHT_REL: what holds the addends
	order   []int  // by offset; nil if they lie in that order
}

// Relocs finds the relocations of a section; nil if it has none.
func (o *Object) Relocs(target *mmapelf.Section) (*Relocs, error) {
	for i := range o.f.Sections {
		s := &o.f.Sections[i]
		if s.Type != elfabi.SHTRela && s.Type != elfabi.SHTRel || int(s.Info) != target.Index {
			continue
		}
		data, err := o.f.Data(s)
		if err != nil {
			return nil, err
		}
		r := &Relocs{Section: s, o: o, data: data, size: o.relocSize(s)}
		if len(data)%r.size != 0 {
			return nil, shape("%s: %d bytes are not a whole number of relocations", s.Name, len(data))
		}
		r.n = len(data) / r.size
		if r.InPlace() {
			if o.f.Class64 {
				return nil, shape("SHT_REL on a machine of 64 bits")
			}
			if r.target, err = o.f.Data(target); err != nil {
				return nil, err
			}
		}
		r.sort()
		return r, nil
	}
	return nil, nil
}

// InPlace reports whether what a relocation adds to the symbol stands in the section that is
// relocated: without room for it in the relocation, or on SuperH, whose linkers do not
// read that (GNU binutils, include/elf/sh.h).
func (t *Relocs) InPlace() bool {
	return t.Section.Type == elfabi.SHTRel || t.o.f.Machine == elfabi.EMSH
}

// sort makes order, if that is necessary.
func (r *Relocs) sort() {
	last := uint64(0)
	for i := range r.n {
		off := r.offset(i)
		if off < last {
			r.order = make([]int, r.n)
			for i := range r.order {
				r.order[i] = i
			}
			slices.SortStableFunc(r.order, func(a, b int) int { return cmp.Compare(r.offset(a), r.offset(b)) })
			return
		}
		last = off
	}
}

// offset is the offset of relocation i in the order of the file.
func (r *Relocs) offset(i int) uint64 {
	if r.o.f.Class64 {
		return r.o.order.Uint64(r.data[i*r.size:])
	}
	return uint64(r.o.order.Uint32(r.data[i*r.size:]))
}

// place is where relocation i by offset is in the file.
func (r *Relocs) place(i int) int {
	if r.order != nil {
		return r.order[i]
	}
	return i
}

// At is the relocation of the field at an offset; ok is false if it does not have
// exactly one.
func (r *Relocs) At(off uint64) (rel Reloc, ok bool) {
	i := sort.Search(r.n, func(i int) bool { return r.offset(r.place(i)) >= off })
	if i >= r.n || r.offset(r.place(i)) != off || i+1 < r.n && r.offset(r.place(i+1)) == off {
		return Reloc{}, false
	}
	k := r.place(i)
	rel = r.o.reloc(r.data[k*r.size:][:r.size])
	if r.target != nil {
		if off > uint64(len(r.target)) || uint64(len(r.target))-off < 4 {
			return Reloc{}, false
		}
		rel.Addend = int64(int32(r.o.order.Uint32(r.target[off:])))
	}
	return rel, true
}

func (o *Object) relocSize(s *mmapelf.Section) int {
	size := 8
	if o.f.Class64 {
		size = 16
	}
	if s.Type == elfabi.SHTRela {
		size += size / 2
	}
	return size
}

// reloc decodes a relocation; without an addend it is 0.
func (o *Object) reloc(b []byte) (r Reloc) {
	if o.f.Class64 {
		info := o.order.Uint64(b[8:])
		r = Reloc{Off: o.order.Uint64(b), Type: uint32(info), Symbol: uint32(info >> 32)}
		if len(b) > 16 {
			r.Addend = int64(o.order.Uint64(b[16:]))
		}
		return r
	}
	info := o.order.Uint32(b[4:])
	r = Reloc{Off: uint64(o.order.Uint32(b)), Type: info & 0xff, Symbol: info >> 8}
	if len(b) > 8 {
		r.Addend = int64(int32(o.order.Uint32(b[8:])))
	}
	return r
}

// Append appends a relocation as the section has them.
func (t *Relocs) Append(b []byte, r Reloc) []byte {
	o, s := t.o, t.Section
	if o.f.Class64 {
		b = appendUint64(o.order, b, r.Off)
		b = appendUint64(o.order, b, uint64(r.Symbol)<<32|uint64(r.Type))
		if s.Type == elfabi.SHTRela {
			b = appendUint64(o.order, b, uint64(r.Addend))
		}
		return b
	}
	b = appendUint32(o.order, b, uint32(r.Off))
	b = appendUint32(o.order, b, r.Symbol<<8|r.Type&0xff)
	switch {
	case s.Type != elfabi.SHTRela:
	case t.InPlace():
		b = appendUint32(o.order, b, 0)
	default:
		b = appendUint32(o.order, b, uint32(r.Addend))
	}
	return b
}

func appendUint32(o binary.ByteOrder, b []byte, v uint32) []byte {
	var w [4]byte
	o.PutUint32(w[:], v)
	return append(b, w[:]...)
}

func appendUint64(o binary.ByteOrder, b []byte, v uint64) []byte {
	var w [8]byte
	o.PutUint64(w[:], v)
	return append(b, w[:]...)
}
