// Package dump prints BTF as bpftool 7.8 does ("bpftool btf dump"): one line per
// type, JSON, or C. The text is bpftool's, byte for byte, with the exceptions that
// docs/readers.md lists.
//
// The printers write to any io.Writer and keep little: memory follows the number of
// types, not the text. Names come from files: control characters and broken UTF-8
// in them are written as escapes, so that no terminal obeys them.
//
// The stable API is package btflite. What it does not use of this package may change.
package dump

import (
	"bytes"
	"fmt"
	"io"
	"iter"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/blocks"
	"github.com/btflite/btflite/internal/message"
)

// noName is printed in place of a missing name.
const noName = "(anon)"

// out collects text and writes it in large pieces.
type out struct {
	to  blocks.Writer
	buf []byte
}

func newOut(w io.Writer) *out { return &out{blocks.Writer{W: w}, blocks.Buffer()} }

func (o *out) text(s string) { o.buf = append(o.buf, s...) }

// keepUp writes the collected text if it is long.
func (o *out) keepUp() {
	if len(o.buf) >= blocks.Size {
		o.buf = o.to.Whole(o.buf)
	}
}

// end writes the rest and returns the first error of all.
func (o *out) end() error {
	o.buf = o.to.All(o.buf)
	return o.to.Err
}

// hasOddNames reports whether a string of b or its bases has other bytes than
// printable ASCII, so that it may have to be escaped.
func hasOddNames(b *btf.Blob) bool {
	for ; b != nil; b = b.Base {
		if !btf.IsPlain(b.Strings) {
			return true
		}
	}
	return false
}

// hasQuotes reports whether a string of b or its bases has a character that JSON
// escapes and that is printable.
func hasQuotes(b *btf.Blob) bool {
	for ; b != nil; b = b.Base {
		if bytes.IndexByte(b.Strings, '"') >= 0 || bytes.IndexByte(b.Strings, '\\') >= 0 {
			return true
		}
	}
	return false
}

// namer gives the names of types as they are printed.
type namer struct {
	b   *btf.Blob
	odd bool
}

func newNamer(b *btf.Blob) namer { return namer{b, hasOddNames(b)} }

// append appends the name at a string offset.
func (n *namer) append(dst []byte, off uint32) []byte {
	name := unmarked(n.b, off)
	switch {
	case len(name) == 0:
		return append(dst, noName...)
	case n.odd:
		return append(dst, message.OneLine(string(name))...)
	}
	return append(dst, name...)
}

// each yields the types with the ids, or all types of b without its base for none.
func each(b *btf.Blob, ids []uint32) iter.Seq2[uint32, btf.Record] {
	return func(yield func(uint32, btf.Record) bool) {
		for _, id := range ids {
			if !yield(id, b.Record(id)) {
				return
			}
		}
		if ids != nil {
			return
		}
		for i, from := range b.Off {
			to := uint32(len(b.Words))
			if i+1 < len(b.Off) {
				to = b.Off[i+1]
			}
			if !yield(b.FirstID+uint32(i), btf.Record(b.Words[from:to:to])) {
				return
			}
		}
	}
}

// checkIDs returns an error if b has no type of an id.
func checkIDs(b *btf.Blob, ids []uint32) error {
	for _, id := range ids {
		if b.Record(id) == nil {
			return fmt.Errorf("btf: there is no type [%d]: ids are from 1 to %d", id, b.TypeCount()-1)
		}
	}
	return nil
}

// Parts of a member's offset word if the struct has the kind_flag.
const (
	offsetBits = 24
	offsetMask = 1<<offsetBits - 1
)

// memberPlace is where a member of a struct with that kind_flag is, in bits: its
// offset and, for a bit-field, its size.
func memberPlace(kflag bool, word uint32) (off, bits uint32) {
	if !kflag {
		return word, 0
	}
	return word & offsetMask, word >> offsetBits
}

// intParts are the encoding, the offset and the number of bits of an INT.
func intParts(data uint32) (encoding, offset, bits uint32) {
	return data >> 24 & 0xf, data >> 16 & 0xff, data & 0xff
}

// value64 is the value of an enumerator of an ENUM64.
func value64(lo, hi uint32) uint64 { return uint64(hi)<<32 | uint64(lo) }

// signedness is the word for the kind_flag of an ENUM or ENUM64.
func signedness(signed bool) string {
	if signed {
		return "SIGNED"
	}
	return "UNSIGNED"
}

// kindWord is the word for a kind; of a type that was skipped (see btf.Blob.Skipped), that
// is the one of bpftool.
func kindWord(k btf.Kind) string {
	if k == btf.KindVoid {
		return "UNKNOWN"
	}
	return k.String()
}

// fwdKind is the word for the kind_flag of a FWD.
func fwdKind(union bool) string {
	if union {
		return "union"
	}
	return "struct"
}
