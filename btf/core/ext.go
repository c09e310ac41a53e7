package core

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/btflite/btflite/btf"
)

// The header of .BTF.ext: magic, version, flags, its length, then offset and length of
// three parts. The offsets count from the end of the header.
const (
	extMagic      = 0xeb9f
	extVersion    = 1
	extLenAt      = 4  // length of the header
	extCoreAt     = 24 // offset and length of the relocations
	extShortest   = 24 // headers before there were relocations
	extWithCore   = 32
	coreRecordLen = 16 // instruction, type, access string, kind
)

// words reads 32-bit words.
type words struct {
	data  []byte
	order binary.ByteOrder
}

// at returns the word at the offset. It is not ok beyond the end.
func (w words) at(off int) (v uint32, ok bool) {
	if off < 0 || off > len(w.data)-4 {
		return 0, false
	}
	return w.order.Uint32(w.data[off:]), true
}

// relocPart returns the part of .BTF.ext that has the relocations, with the size of a record before
// them. It is empty in a file without relocations.
func relocPart(ext []byte, bigEndian bool) (w words, err error) {
	w = words{ext, btf.Order(bigEndian)}
	if len(ext) < extShortest {
		return w, fmt.Errorf("%d bytes are less than a header", len(ext))
	}
	switch magic := w.order.Uint16(ext); {
	case magic == extMagic>>8|extMagic&0xff<<8:
		return w, errors.New("the byte order is not the one of .BTF")
	case magic != extMagic:
		return w, fmt.Errorf("bad magic 0x%04x", magic)
	case ext[2] != extVersion:
		return w, fmt.Errorf("version %d is not known", ext[2])
	}
	n, _ := w.at(extLenAt)
	if n < extShortest || uint64(n) > uint64(len(ext)) {
		return w, fmt.Errorf("the header claims %d bytes, there are %d", n, len(ext))
	}
	if n < extWithCore {
		return words{}, nil
	}
	off, _ := w.at(extCoreAt)
	size, _ := w.at(extCoreAt + 4)
	begin, end := uint64(n)+uint64(off), uint64(n)+uint64(off)+uint64(size)
	if end > uint64(len(ext)) {
		return w, fmt.Errorf("relocations at offset %d of %d bytes go beyond the end at %d", begin, size, len(ext))
	}
	w.data = ext[begin:end]
	return w, nil
}

// record is a relocation as it is in .BTF.ext.
type record struct {
	section string // of the program
	insn    uint32 // offset of the instruction in it, in bytes
	typ     uint32
	access  string
	kind    Kind
}

// eachRecord calls use with each relocation of .BTF.ext, whose types and names are in b. It
// ends with the first error.
func eachRecord(ext []byte, b *btf.Blob, use func(record) error) error {
	w, err := relocPart(ext, b.BigEndian)
	if err != nil || len(w.data) == 0 {
		return err
	}
	size, ok := w.at(0)
	if !ok || size < coreRecordLen || size%4 != 0 || uint64(size) > uint64(len(w.data)) {
		return fmt.Errorf("relocations of %d bytes, not of %d", size, coreRecordLen)
	}
	for at := 4; at < len(w.data); {
		name, ok1 := w.at(at)
		count, ok2 := w.at(at + 4)
		at += 8
		if !ok1 || !ok2 || uint64(count)*uint64(size) > uint64(max(len(w.data)-at, 0)) {
			return fmt.Errorf("%d relocations of a section do not fit into the rest, %d bytes", count, max(len(w.data)-at, 0))
		}
		if name >= b.StrEnd() {
			return fmt.Errorf("name offset %d of a section is out of range", name)
		}
		for range count {
			r, err := recordAt(w, at, b)
			if err != nil {
				return fmt.Errorf("relocation at offset %d: %w", at, err)
			}
			r.section = b.Name(name)
			if err := use(r); err != nil {
				return fmt.Errorf("%s+0x%x: %w", r.section, r.insn, err)
			}
			at += int(size)
		}
	}
	return nil
}

// recordAt reads the relocation at an offset.
func recordAt(w words, at int, b *btf.Blob) (r record, err error) {
	var v [coreRecordLen / 4]uint32
	for i := range v {
		v[i], _ = w.at(at + 4*i) // the caller has checked that they are there
	}
	r = record{insn: v[0], typ: v[1], kind: Kind(v[3])}
	switch {
	case r.kind >= kinds:
		return r, fmt.Errorf("%s is not known", r.kind)
	case r.typ == 0 || r.typ >= b.TypeCount():
		return r, fmt.Errorf("type id %d is out of range", r.typ)
	case v[2] >= b.StrEnd():
		return r, fmt.Errorf("string offset %d is out of range", v[2])
	}
	r.access = b.Name(v[2])
	return r, nil
}
