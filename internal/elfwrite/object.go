package elfwrite

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/message"
)

// Target describes the machine of an ELF file: class, byte order, machine and the flags
// of its ABI.
type Target struct {
	class64 bool
	order   binary.ByteOrder
	ident   [16]byte // e_ident
	machine uint16   // e_machine
	flags   uint32   // e_flags
}

// TargetOf reads what the ELF file at path is for.
func TargetOf(path string) (t Target, err error) {
	f, err := os.Open(path)
	if err != nil {
		return t, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return t, err
	}
	img, err := readImage(f, info.Size())
	if err != nil {
		return t, fmt.Errorf("%s: %w", message.OneLine(path), err)
	}
	t = Target{class64: img.class64, order: img.order, machine: img.order.Uint16(img.ehdr[18:]),
		flags: img.order.Uint32(img.ehdr[pick(img.class64, 48, 36):])}
	copy(t.ident[:], img.ehdr)
	return t, nil
}

// Object is a relocatable ELF file (ET_REL) of nothing but sections, for a
// linker to put into another one. Names that begin with ".note." are notes
// (SHT_NOTE), others hold data (SHT_PROGBITS); no section is loaded. There is
// no code, and a section .note.GNU-stack says so.
type Object struct {
	head     []byte // ELF header
	sections []Section
	tables   []byte // behind the contents: names and section table
	pad      []int  // bytes before each section, and before the tables
}

// Alignment in the file and in sh_addralign. Words of BTF and of notes need it.
const (
	objectAlign  = 8
	contentAlign = 4
)

// NewObject lays out an object.
func (t *Target) NewObject(sections ...Section) *Object {
	sections = append(slices.Clone(sections), Section{Name: ".note.GNU-stack", Write: func(io.Writer) error { return nil }})
	m := &image{class64: t.class64, order: t.order}
	m.shdrs = make([]byte, m.shdrSize()*(len(sections)+2)) // the null section, these, and the names
	o := &Object{sections: sections, head: make([]byte, m.ehdrSize())}
	names := []byte{0}
	at := int64(len(o.head))
	header := func(name string, typ uint32, size int64) {
		m.count++
		m.setSection(m.count, shdr{name: uint32(len(names)), typ: typ, align: contentAlign, span: span{uint64(at), uint64(size)}})
		names = append(append(names, name...), 0)
		at += size
	}
	align := func() int {
		n := int(-at & (objectAlign - 1))
		at += int64(n)
		return n
	}
	for _, s := range sections {
		o.pad = append(o.pad, align())
		typ := uint32(elfabi.SHTProgbits)
		if strings.HasPrefix(s.Name, ".note.") && s.Size > 0 {
			typ = elfabi.SHTNote
		}
		header(s.Name, typ, s.Size)
	}
	o.pad = append(o.pad, align())
	const own = ".shstrtab"
	header(own, elfabi.SHTStrtab, int64(len(names)+len(own)+1))
	o.tables = append(names, make([]byte, align())...)
	o.tables = append(o.tables, m.shdrs...)

	copy(o.head, t.ident[:])
	put16 := func(off int, v uint16) { m.order.PutUint16(o.head[off:], v) }
	put16(16, elfabi.ETRel)
	put16(18, t.machine)
	m.order.PutUint32(o.head[20:], 1) // EV_CURRENT
	m.putWord(o.head[pick(m.class64, 40, 32):], uint64(at))
	rest := pick(m.class64, 48, 36) // e_flags and what follows
	m.order.PutUint32(o.head[rest:], t.flags)
	put16(rest+4, uint16(m.ehdrSize()))
	put16(rest+10, uint16(m.shdrSize()))
	put16(rest+12, uint16(len(sections)+2))
	put16(rest+14, uint16(len(sections)+1))
	return o
}

// Write writes the object; it may be called more than once.
func (o *Object) Write(w io.Writer) error {
	if _, err := w.Write(o.head); err != nil {
		return err
	}
	for i, pad := range o.pad {
		if _, err := w.Write(make([]byte, pad)); err != nil {
			return err
		}
		if i == len(o.sections) {
			break
		}
		if err := writeContent(w, o.sections[i].Size, o.sections[i].Write); err != nil {
			return err
		}
	}
	_, err := w.Write(o.tables)
	return err
}
