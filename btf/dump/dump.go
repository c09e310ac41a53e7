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
)

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

// kindWord is the word for a kind; of a type that was skipped (see btf.Blob.Skipped), that
// is the one of bpftool.
func kindWord(k btf.Kind) string {
	if k == btf.KindVoid {
		return "UNKNOWN"
	}
	return k.String()
}
