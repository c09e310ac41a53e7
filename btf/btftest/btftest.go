// Package btftest builds BTF for tests, record by record and without a check, so
// that it may be as wrong as a test needs it. It lays out headers, records and
// strings by itself: a field that package btf has in the wrong place is in another
// place here.
package btftest

import (
	"bytes"
	"encoding/binary"
	"os"
	"testing"

	"github.com/btflite/btflite/btf"
)

// Builder collects records and names.
type Builder struct {
	Words   []uint32
	Strings []byte
	N       uint32 // types so far, without the base
	// BigEndian is the byte order of Blob. With a base, it is the base's.
	BigEndian bool
	base      *btf.Blob
	names     map[string]uint32
}

// New is BTF without a type, with the empty name.
func New() *Builder { return &Builder{Strings: []byte{0}, names: map[string]uint32{}} }

// Over is BTF split from base, or New if that is nil.
func Over(base *btf.Blob) *Builder {
	if base == nil {
		return New()
	}
	return &Builder{BigEndian: base.BigEndian, base: base, names: map[string]uint32{}}
}

// Str is the offset of a name, in the base if that has it.
func (b *Builder) Str(name string) uint32 {
	off, ok := b.names[name]
	if ok || name == "" {
		return off
	}
	if off, ok = inBase(b.base, name); !ok {
		off = uint32(len(b.Strings))
		if b.base != nil {
			off += b.base.StrEnd()
		}
		b.Strings = append(append(b.Strings, name...), 0)
	}
	b.names[name] = off
	return off
}

// inBase looks for a name in a chain of bases.
func inBase(base *btf.Blob, name string) (off uint32, ok bool) {
	for ; base != nil; base = base.Base {
		off = base.StrEnd() - uint32(len(base.Strings))
		for s := range bytes.SplitSeq(base.Strings, []byte{0}) {
			if string(s) == name {
				return off, true
			}
			off += uint32(len(s)) + 1
		}
	}
	return 0, false
}

// Add appends a record and returns its id. The third word and the rest depend on
// the kind.
func (b *Builder) Add(name string, info, third uint32, rest ...uint32) uint32 {
	b.Words = append(append(b.Words, b.Str(name), info, third), rest...)
	b.N++
	if b.base != nil {
		return b.base.TypeCount() - 1 + b.N
	}
	return b.N
}

// Encode is the BTF with a header of 24 bytes.
func (b *Builder) Encode(bigEndian bool) []byte {
	d := Header{TypeLen: uint32(4 * len(b.Words)), StrOff: uint32(4 * len(b.Words)), StrLen: uint32(len(b.Strings))}.Encode(bigEndian)
	o := orderOf(bigEndian)
	for _, w := range b.Words {
		d = o.AppendUint32(d, w)
	}
	return append(d, b.Strings...)
}

// Blob is the BTF as package btf reads it.
func (b *Builder) Blob(t testing.TB) *btf.Blob {
	t.Helper()
	return Parse(t, b.Encode(b.BigEndian), b.base)
}

// Header is a header of BTF. Offsets count from its end.
type Header struct {
	Len                              uint32 // of the header; 0 is 24
	TypeOff, TypeLen, StrOff, StrLen uint32
	LayoutOff, LayoutLen             uint32 // only in a header of 32 bytes or more
}

// Encode encodes the header: as many bytes as Len says, with zeros after the known
// fields.
func (h Header) Encode(bigEndian bool) []byte {
	if h.Len == 0 {
		h.Len = 24
	}
	o := orderOf(bigEndian)
	const magic, version = 0xeb9f, 1
	d := append(o.AppendUint16(nil, magic), version, 0)
	for _, v := range []uint32{h.Len, h.TypeOff, h.TypeLen, h.StrOff, h.StrLen, h.LayoutOff, h.LayoutLen} {
		d = o.AppendUint32(d, v)
	}
	for uint32(len(d)) < h.Len {
		d = append(d, 0)
	}
	return d[:h.Len]
}

func orderOf(bigEndian bool) binary.AppendByteOrder {
	if bigEndian {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// Parse is btf.Parse of BTF that must be good.
func Parse(t testing.TB, data []byte, base *btf.Blob) *btf.Blob {
	t.Helper()
	b, err := btf.Parse(data, base)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Read is Parse of a file.
func Read(t testing.TB, path string, base *btf.Blob) *btf.Blob {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := btf.Parse(data, base)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return b
}

// Build is the BTF of what add adds, over base, which may be nil.
func Build(t testing.TB, base *btf.Blob, add func(b *Builder)) *btf.Blob {
	t.Helper()
	b := Over(base)
	add(b)
	return b.Blob(t)
}
