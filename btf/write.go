package btf

import (
	"fmt"

	"github.com/btflite/btflite/arena"
)

// Encode returns b as bytes, in its byte order: header, types, layout section if there is
// one, strings. Its base is not part of that. b must not have Skipped types.
func (b *Blob) Encode() []byte {
	typeLen := 4 * len(b.Words)
	dst := arena.Make[byte](b.Form.Len() + typeLen + len(b.Strings))[:0]
	dst = b.Form.AppendHeader(dst, b.BigEndian, uint32(typeLen), uint32(len(b.Strings)))
	dst = AppendWords(dst, b.BigEndian, b.Words)
	dst = append(dst, b.Form.Layout...)
	return append(dst, b.Strings...)
}

// AppendWords appends words in the given byte order.
func AppendWords(dst []byte, bigEndian bool, words []uint32) []byte {
	n := len(dst)
	dst = append(dst, make([]byte, 4*len(words))...)
	o := Order(bigEndian)
	for i, w := range words {
		o.PutUint32(dst[n+4*i:], w)
	}
	return dst
}

// Builder makes a Blob type by type. It does not merge equal types, but equal strings
// share one offset.
type Builder struct {
	blob *Blob
	strs *StringTable
	err  error
}

// NewBuilder returns a Builder for BTF of the given byte order, split from base
// unless base is nil.
func NewBuilder(bigEndian bool, base *Blob) *Builder {
	b, err := newBlob(bigEndian, base)
	if err != nil {
		b = &Blob{FirstID: 1}
	}
	return &Builder{blob: b, strs: NewStringTable(b.Base), err: err}
}

// Str returns the string offset of s, adding s to the strings if it is new.
func (b *Builder) Str(s string) uint32 { return b.strs.Intern([]byte(s)) }

// Add appends a record and returns its id. extra has the words after the
// first three. If their number is wrong, Blob will return an error.
func (b *Builder) Add(name string, info, third uint32, extra ...uint32) uint32 {
	id := b.blob.TypeCount()
	if want := ExtraWords(InfoKind(info), InfoVlen(info)); b.err == nil && (want != len(extra) || !InfoKind(info).known()) {
		b.err = fmt.Errorf("btf: %s [%d]: %d words after the record, want %d", InfoKind(info), id, len(extra), want)
	}
	b.blob.Off = append(arena.Room(b.blob.Off, 1), uint32(len(b.blob.Words)))
	b.blob.Words = append(arena.Room(b.blob.Words, 3+len(extra)), b.Str(name), info, third)
	b.blob.Words = append(b.blob.Words, extra...)
	return id
}

// Blob returns the types added so far. It checks ids and string offsets as Parse does, but
// not how long all names are together. The Builder must not be used afterwards.
func (b *Builder) Blob() (*Blob, error) {
	if b.err != nil {
		return nil, b.err
	}
	b.blob.Strings = b.strs.Bytes()
	if uint64(b.blob.StrBase)+uint64(len(b.blob.Strings)) > MaxStrOff {
		return nil, fmt.Errorf("btf: strings: %d bytes exceed the limit", len(b.blob.Strings))
	}
	if err := b.blob.check(); err != nil {
		return nil, err
	}
	return b.blob, nil
}
