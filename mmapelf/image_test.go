package mmapelf

import (
	"bytes"
	"testing"

	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/elftest"
)

// mustParse reads the headers of an image that is not damaged.
func mustParse(t testing.TB, data []byte) *File {
	t.Helper()
	f, err := parse("", data)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// sample is an image that uses all that the package reads.
func sample(l elftest.Layout) []byte {
	syms := l.Symbol(nil, elftest.Symbol{})
	syms = l.Symbol(syms, elftest.Symbol{Name: 1, Info: 0x12, Other: 2, Section: 5, Value: 0x1122334455667788 & mask(l), Size: 0x99})
	syms = l.Symbol(syms, elftest.Symbol{Name: 4, Info: 0x11, Section: elfabi.SHNXindex, Value: 8, Size: 4})
	indexes := make([]byte, 12)
	l.Put(indexes, 8, 4, 0x12345)
	text := bytes.Repeat([]byte("debug text "), 300)
	return elftest.Image{Layout: l, Extended: true, Sections: []elftest.Section{
		{Name: ".text", Data: []byte("\x90\x90\xc3")},
		{Name: ".bss", Type: elftest.Nobits, Size: 1 << 30},
		{Name: ".symtab", Type: elftest.Symtab, Data: syms, Link: 4, EntSize: uint64(l.SymbolSize())},
		{Name: ".strtab", Type: elftest.Strtab, Data: []byte("\x00fn\x00var\x00")},
		{Name: ".symtab_shndx", Type: elftest.SymtabShndx, Link: 3, Data: indexes, EntSize: 4},
		{Name: ".debug_str", Flags: elftest.Compressed, Data: l.CompressedAs(elfCompressZlib, uint64(len(text)), deflate(text))},
		{Name: ".debug_line_str", Flags: elftest.Compressed, Data: l.CompressedAs(elfCompressZstd, uint64(len(text)), zstdOf(text))},
		{Name: ".zdebug_info", Data: gnuOf(text)},
	}}.Bytes()
}

// mask is the largest address.
func mask(l elftest.Layout) uint64 {
	if l.Class64 {
		return 1<<64 - 1
	}
	return 1<<32 - 1
}
