package elfobject

import (
	"errors"
	"strings"
	"testing"

	"github.com/btflite/btflite/internal/elftest"
	"github.com/btflite/btflite/mmapelf"
)

// Numbers of the ELF specification that only these tests need.
const (
	typeRela  = 4
	typeRel   = 9
	typeGroup = 17

	flagMerge    = 0x10
	flagInfoLink = 0x40
)

// The sections of sample, by index. The section table ends with names.
const (
	text = 1 + iota
	dropped
	dropRela
	debug
	debugRela
	bss
	group
	dropGroup
	symtab
	strtab
	merged
	about
	zipped
	inactive
	empty
	names
	count
)

// A field is a field of a section header: where it is in both classes, and its bytes.
type field struct{ of64, of32, size64, size32 int }

var (
	typeField   = field{4, 4, 4, 4}
	offsetField = field{24, 16, 8, 4}
	sizeField   = field{32, 20, 8, 4}
	linkField   = field{40, 24, 4, 4}
	infoField   = field{44, 28, 4, 4}
	alignField  = field{48, 32, 8, 4}
)

// hugeIndexes are indexes of a damaged file that do not fit into an int of 32 bits, by themselves or
// times the size of a symbol. They matter with GOARCH=386.
var hugeIndexes = []uint32{1<<32 - 1, 1 << 31, 1<<31 - 1, 1<<32/24 + 1, 1<<31/24 + 1}

// set writes a field of the header of section i.
func set(l elftest.Layout, b []byte, i int, f field, v uint64) {
	at := l.SectionTable(b) + i*l.SectionSize() + l.Pick(f.of64, f.of32)
	l.Put(b, at, l.Pick(f.size64, f.size32), v)
}

// words are numbers of 32 bits behind each other.
func words(l elftest.Layout, values ...uint32) (b []byte) {
	for _, v := range values {
		b = l.Order.AppendUint32(b, v)
	}
	return b
}

// sampleSymbols are the symbols of sample, and a byte that is left over.
func sampleSymbols(l elftest.Layout) (b []byte) {
	for _, s := range []elftest.Symbol{
		{},
		{Name: 1, Info: 3, Section: text, Value: 0x10, Size: 5},
		{Name: 1, Info: 0x12, Other: 2, Section: dropped, Value: 0x11223344, Size: 0x22},
		{Name: 1, Section: 0, Value: 7},
		{Name: 1, Section: 0xfff1, Value: 9},
		{Name: 1, Section: 0xff00, Value: 10},
		{Name: 1, Section: count, Value: 11},
		{Name: 1, Section: merged, Value: 12},
		{Name: 1, Section: names, Value: 13},
	} {
		b = l.Symbol(b, s)
	}
	return append(b, 0xee)
}

// sample is an object that has one of everything that a change treats in its own way. Zeros
// behind the names give tests of damage a place to write to.
func sample(l elftest.Layout) []byte {
	b := elftest.Image{Layout: l, Names: strings.Repeat("\x00", 24), Sections: []elftest.Section{
		{Name: ".text", Flags: elftest.Alloc | elftest.Exec, Data: []byte("text!")},
		{Name: ".drop", Data: []byte("dropped")},
		{Name: ".rela.drop", Type: typeRela, Link: symtab, Info: dropped},
		{Name: ".debug_info", Flags: elftest.Compressed, Data: l.CompressedAs(1, 3, []byte("z"))},
		{Name: ".rela.debug_info", Type: typeRela, Flags: flagInfoLink, Link: symtab, Info: debug, Data: []byte("old")},
		{Name: ".bss", Type: elftest.Nobits, Size: 0x12345678},
		{Name: ".group", Type: typeGroup, Link: symtab, Info: 7, Data: words(l, 1, text, dropped, merged)},
		{Name: ".group", Type: typeGroup, Link: symtab, Info: 8, Data: words(l, 1, dropped, dropRela)},
		{Name: ".symtab", Type: elftest.Symtab, Link: strtab, Info: 5, Data: sampleSymbols(l)},
		{Name: ".strtab", Type: elftest.Strtab, Data: []byte("\x00sym\x00")},
		{Name: ".str", Flags: flagMerge, Link: count, Data: []byte("merged")},
		{Name: ".about", Flags: flagInfoLink, Info: merged, Data: []byte("about")},
		{Name: ".zipped", Flags: elftest.Compressed, Data: l.CompressedAs(1, 9, []byte("stream"))},
		{Name: ".inactive", Info: 99},
		{Name: ".empty", Type: typeGroup, Link: symtab, Data: words(l, 1)},
	}}.Bytes()
	set(l, b, text, alignField, 16)
	set(l, b, debug, alignField, 8)
	set(l, b, debugRela, alignField, 4)
	set(l, b, bss, alignField, 32)
	set(l, b, bss, offsetField, 0x7fffffff)
	set(l, b, strtab, alignField, 0)
	set(l, b, inactive, typeField, 0)
	set(l, b, inactive, offsetField, 0x7fffffff)
	set(l, b, inactive, sizeField, 0x99)
	return b
}

// object is the object of a file that New accepts.
func object(t *testing.T, b []byte) *Object {
	t.Helper()
	f, err := mmapelf.New("a.o", b)
	if err != nil {
		t.Fatal(err)
	}
	o, err := New(f)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// refused wants ErrShape with a text.
func refused(t *testing.T, what string, err error, text string) {
	t.Helper()
	if !errors.Is(err, ErrShape) || !strings.Contains(err.Error(), text) {
		t.Errorf("%s: error %v, want one of form with %q", what, err, text)
	}
}
