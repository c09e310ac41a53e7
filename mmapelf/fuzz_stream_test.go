package mmapelf

import (
	"bytes"
	"testing"

	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/elftest"
)

// FuzzStream expands a compressed section at once and in steps: the same bytes,
// or an error by both.
func FuzzStream(f *testing.F) {
	text := bytes.Repeat([]byte("some text that repeats; "), 100)
	f.Add(uint32(elfCompressZlib), uint32(len(text)), deflate(text))
	f.Add(uint32(elfCompressZstd), uint32(len(text)), zstdOf(text))
	f.Add(uint32(elfCompressZlib), uint32(len(text)-1), deflate(text))
	f.Add(uint32(elfCompressZstd), uint32(len(text)+1), zstdOf(text))
	f.Fuzz(func(t *testing.T, kind, size uint32, stream []byte) {
		l := elftest.Little64
		image := l.Image(elftest.Section{Name: ".debug_info", Flags: elfabi.SHFCompressed, Data: l.CompressedAs(kind, uint64(size), stream)})
		file := mustParse(t, image)
		defer file.Close()
		whole, wholeErr := file.Data(&file.Sections[1])
		st, err := file.Stream(&file.Sections[1])
		if err != nil || st == nil {
			return // too small for a stream, or refused by its header
		}
		defer st.Close()
		var stepErr error
		for off := uint64(0); off < uint64(len(st.Bytes())) && stepErr == nil; off += 300 {
			_, stepErr = st.Need(1, off, min(300, uint64(len(st.Bytes()))-off))
		}
		if (wholeErr == nil) != (stepErr == nil) {
			t.Fatalf("at once: %v; in steps: %v", wholeErr, stepErr)
		}
		if wholeErr == nil && !bytes.Equal(whole, st.Bytes()) {
			t.Fatal("other bytes")
		}
	})
}
