package mmapelf

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/elftest"
)

func TestSymbolsOfAllLayouts(t *testing.T) {
	for _, l := range elftest.Layouts {
		f := mustParse(t, sample(l))
		symtab := f.Section(".symtab")
		var got []Symbol
		err := f.Symbols(symtab, func(i int, s *Symbol) bool {
			if i != len(got) {
				t.Errorf("%v: index %d, want %d", l, i, len(got))
			}
			got = append(got, *s)
			return true
		})
		want := []Symbol{
			{},
			{Name: 1, Info: 0x12, Other: 2, Shndx: 5, Value: 0x1122334455667788 & mask(l), Size: 0x99},
			{Name: 4, Info: 0x11, Shndx: 0x12345, Value: 8, Size: 4},
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%v: symbols %+v, %v; want %+v", l, got, err, want)
		}
		strtab, err := f.SymbolStrings(symtab)
		if err != nil {
			t.Fatal(err)
		}
		if name, ok := f.StringAt(strtab, got[2].Name); string(name) != "var" || !ok {
			t.Errorf("%v: name %q", l, name)
		}
	}
}

// TestReservedSections: a number like SHN_ABS is not the section with that number, which a large file may have.
func TestReservedSections(t *testing.T) {
	for _, l := range elftest.Layouts {
		var table []byte
		sections := []uint16{0, 1, elfabi.SHNLoReserve - 1, elfabi.SHNLoReserve, elfabi.SHNAbs, 0xfff2, elfabi.SHNXindex}
		for _, n := range sections {
			table = l.Symbol(table, elftest.Symbol{Section: n})
		}
		extended := make([]byte, 4*len(sections))
		l.Order.PutUint32(extended[4*(len(sections)-1):], elfabi.SHNAbs)
		f := mustParse(t, l.Image(elftest.Section{Name: ".symtab", Type: elftest.Symtab, Data: table},
			elftest.Section{Name: ".symtab_shndx", Type: elftest.SymtabShndx, Link: 1, Data: extended}))
		var got []uint32
		err := f.Symbols(f.Section(".symtab"), func(_ int, s *Symbol) bool { got = append(got, s.Shndx); return true })
		if want := []uint32{0, 1, 0xfeff, 0xffffff00, 0xfffffff1, 0xfffffff2, 0xfff1}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%v: %#x, %v; want %#x", l, got, err, want)
		}
	}
}

func TestSymbolsStopsWhenAsked(t *testing.T) {
	f := mustParse(t, sample(elftest.Little64))
	calls := 0
	if err := f.Symbols(f.Section(".symtab"), func(i int, s *Symbol) bool { calls++; return i < 1 }); err != nil || calls != 2 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

func TestSymbolsRefuses(t *testing.T) {
	for _, l := range elftest.Layouts {
		f := mustParse(t, sample(l))
		tests := []struct {
			name, want string
			change     func(s *Section)
		}{
			{"odd size", "whole number", func(s *Section) { s.Size-- }},
			{"entry size", "symbols of 7 bytes", func(s *Section) { s.EntSize = 7 }},
			{"past the end", "leave the file", func(s *Section) { s.Offset = 1 << 40 }},
			{"no extended indexes", "extended section index", func(s *Section) { s.Index = 77 }},
			{"entry size 0 is legal", "", func(s *Section) { s.EntSize = 0 }},
		}
		for _, tt := range tests {
			s := *f.Section(".symtab")
			tt.change(&s)
			err := f.Symbols(&s, func(int, *Symbol) bool { return true })
			var fe *FormatError
			if found := errors.As(err, &fe); found != (tt.want != "") || found && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v %s: error %v, want %q", l, tt.name, err, tt.want)
			} else if tt.name == "no extended indexes" && fe.Offset != s.Offset+uint64(2*l.SymbolSize()) {
				t.Errorf("%v: error at %#x, the symbol table begins at %#x", l, fe.Offset, s.Offset)
			}
		}
		for _, link := range []uint32{0, 1, 1000} {
			s := *f.Section(".symtab")
			s.Link = link
			if b, err := f.SymbolStrings(&s); err == nil {
				t.Errorf("%v: link %d gives %d bytes", l, link, len(b))
			}
		}
	}
}

func TestSymbolsDoesNotAllocatePerSymbol(t *testing.T) {
	l := elftest.Little64
	var syms []byte
	for i := range 10000 {
		syms = l.Symbol(syms, elftest.Symbol{Name: uint32(i), Section: 1, Value: 1})
	}
	f := mustParse(t, l.Image(elftest.Section{Name: ".symtab", Type: 2, Data: syms, EntSize: symSize64}))
	var sum uint64
	allocs := testing.AllocsPerRun(5, func() {
		f.Symbols(&f.Sections[1], func(_ int, s *Symbol) bool { sum += s.Value; return true })
	})
	if allocs > 2 {
		t.Errorf("%v allocations for 10,000 symbols", allocs)
	}
}
