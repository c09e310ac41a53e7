package mmapelf

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/elftest"
	"github.com/btflite/btflite/test/testfile"
)

// write puts data into a file of a fresh folder.
func write(t *testing.T, data []byte) string {
	t.Helper()
	return testfile.New(t, "image", data)
}

func TestOpenReadsHeadersOfAllLayouts(t *testing.T) {
	for _, l := range elftest.Layouts {
		t.Run(l.String(), func(t *testing.T) {
			f, err := Open(write(t, sample(l)))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if f.Class64 != l.Class64 || f.BigEndian != (l.Order.String() == "BigEndian") || f.Type != 1 || f.Machine != 62 {
				t.Errorf("header is %+v", f)
			}
			if want := map[bool]int{false: 4, true: 8}[l.Class64]; f.AddrSize != want {
				t.Errorf("address size %d, want %d", f.AddrSize, want)
			}
			var names []string
			for i, s := range f.Sections {
				if s.Index != i {
					t.Errorf("section %d has index %d", i, s.Index)
				}
				names = append(names, s.Name)
			}
			want := " .text .bss .symtab .strtab .symtab_shndx .debug_str .debug_line_str .zdebug_info .shstrtab"
			if got := strings.Join(names, " "); got != want {
				t.Errorf("sections are\n%q, want\n%q", got, want)
			}
			b, err := f.Data(f.Section(".text"))
			if err != nil || string(b) != "\x90\x90\xc3" {
				t.Errorf(".text is %q, %v", b, err)
			}
			if b, err := f.Data(f.Section(".bss")); b != nil || err != nil {
				t.Errorf("SHT_NOBITS gives %d bytes, %v", len(b), err)
			}
			if f.Section(".tex") != nil || f.Section(".text2") != nil {
				t.Error("section found by part of a name")
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	le64 := elftest.Little64
	good := sample(le64)
	patch := func(off int, b ...byte) []byte {
		c := bytes.Clone(good)
		copy(c[off:], b)
		return c
	}
	shoff := int(le64.Order.Uint64(good[40:]))
	tests := []struct {
		name, want string
		data       []byte
	}{
		{"empty file", "not an ELF file", nil},
		{"text", "not an ELF file", []byte("#!/bin/sh\necho hello\n")},
		{"ident only", "ends inside the header", good[:16]},
		{"class 3", "ELF class 3", patch(4, 3)},
		{"byte order 3", "byte order 3", patch(5, 3)},
		{"table past the end", "outside the file", patch(40, 0, 0, 0, 0, 1)},
		{"table offset wraps", "outside the file", patch(40, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)},
		{"entry size 1", "entries of 1 bytes", patch(58, 1, 0)},
		{"count past the end", "ends inside the table", patch(60, 0xff, 0xfe)},
		{"extended count 2^56", "ends inside the table", patch(shoff+32+7, 1)},
		{"name table index", "name table is section 255", patch(62, 255, 0)},
		{"name past the table", "name of section 1", patch(shoff+64, 0xff, 0xff)},
		{"half", "", good[:len(good)/2]},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Open(write(t, tt.data))
			if err == nil {
				f.Close()
				t.Fatal("opened")
			}
			var fe *FormatError
			if !errors.As(err, &fe) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %T %q, want %q", err, err, tt.want)
			}
			if f != nil {
				t.Error("a file and an error")
			}
		})
	}
}

func TestOpenRefusesOtherThanRegularFiles(t *testing.T) {
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("directory: %v", err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent file: %v", err)
	}
	if _, err := Open(os.DevNull); err == nil {
		t.Error("device opened")
	}
}

func TestParseRefusesEveryTruncation(t *testing.T) {
	for _, l := range elftest.Layouts {
		good := sample(l)
		for n := range good {
			f, err := parse("", good[:n:n])
			if err == nil {
				t.Fatalf("%v: %d of %d bytes parsed: %d sections", l, n, len(good), len(f.Sections))
			}
		}
	}
}

func TestDataRefusesSectionsOutsideTheFile(t *testing.T) {
	f := mustParse(t, sample(elftest.Little64))
	for _, s := range []Section{
		{Offset: uint64(len(f.data)), Size: 1},
		{Offset: 1, Size: uint64(len(f.data))},
		{Offset: 8, Size: 1<<64 - 4},
		{Offset: 1<<64 - 4, Size: 8},
	} {
		var fe *FormatError
		if b, err := f.Data(&s); !errors.As(err, &fe) {
			t.Errorf("%#x+%#x: %d bytes, %v", s.Offset, s.Size, len(b), err)
		}
	}
}

func TestSectionCountAboveFF00(t *testing.T) {
	parts := make([]elftest.Section, 70000)
	for i := range parts {
		parts[i] = elftest.Section{Name: ".t"}
	}
	parts[69998] = elftest.Section{Name: ".last", Data: []byte("x")}
	for _, l := range elftest.Layouts {
		f := mustParse(t, elftest.Image{Layout: l, Extended: true, Sections: parts}.Bytes())
		if s := f.Section(".last"); len(f.Sections) != 70002 || s == nil || s.Index != 69999 {
			t.Errorf("%v: %d sections, .last is %v", l, len(f.Sections), s)
		}
	}
}

func TestFileWithoutSectionTableHasNoSections(t *testing.T) {
	for name, b := range map[string][]byte{"header": sample(elftest.Little64)[:ehdrSize64], "sections": elftest.Little64.Image()} {
		clear(b[40:48])
		f, err := parse("", b)
		if err != nil || len(f.Sections) != 0 || f.Section("") != nil {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
}

func TestLongSectionNamesAreCut(t *testing.T) {
	l := elftest.Little64
	f, err := parse("", l.Image(elftest.Section{Name: strings.Repeat("n", 5000)}))
	if err != nil || len(f.Sections[1].Name) != maxSectionName {
		t.Errorf("%v, %v", f, err)
	}
}

func TestReleaseKeepsContents(t *testing.T) {
	l := elftest.Little64
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<18) // not a small file
	f, err := Open(write(t, l.Image(elftest.Section{Name: ".debug_info", Data: big}, elftest.Section{Name: ".x", Type: 1, Data: []byte("y")})))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := f.Data(f.Section(".debug_info"))
	if err != nil {
		t.Fatal(err)
	}
	f.Release(b)
	f.Release(b[5000:300000])
	f.Release(f.Bytes()[1:])
	f.Release(f.Bytes())
	f.Release(bytes.Clone(b)) // not of the mapping
	f.Release(nil)
	f.ReleaseRange(1<<63, 1<<63)
	if !bytes.Equal(b, big) {
		t.Error("contents changed")
	}
}

func TestReleaseFindsTheRange(t *testing.T) {
	l := elftest.Little64
	f := mustParse(t, l.Image(elftest.Section{Name: ".a", Data: make([]byte, 100)}, elftest.Section{Name: ".b", Type: 1, Data: make([]byte, 50)}))
	a := f.Section(".a")
	b, _ := f.Data(a)
	if !f.releaseEndingAt(a.Offset+a.Size, b[10:20]) {
		t.Error("slice of a section not found")
	}
	if f.releaseEndingAt(uint64(len(f.data)), b) || f.releaseEndingAt(a.Offset+a.Size, make([]byte, 20)) {
		t.Error("other memory taken for a part of the mapping")
	}
}

func TestCloseTwice(t *testing.T) {
	f, err := Open(write(t, sample(elftest.Little32)))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if b, err := f.Data(f.Section(".text")); err == nil {
		t.Errorf("data after Close: %d bytes", len(b))
	}
}

// TestCloseUnmaps: what was mapped is there no longer, and what the caller gave is.
func TestCloseUnmaps(t *testing.T) {
	image := sample(elftest.Little32)
	readable := func(b []byte) (ok bool) {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() { ok = recover() == nil }()
		return b[0] == elfabi.Magic[0]
	}
	for _, mapped := range []bool{true, false} {
		f, err := New("", image)
		if mapped {
			f, err = Open(write(t, image))
		}
		if err != nil {
			t.Fatal(err)
		}
		b := f.Bytes()
		if !readable(b) {
			t.Fatalf("mapped %v: not readable", mapped)
		}
		if err := f.Close(); err != nil || readable(b) == mapped {
			t.Errorf("mapped %v: readable %v after Close, %v", mapped, readable(b), err)
		}
	}
}

func TestErrorsEscapeOddNames(t *testing.T) {
	err := (&FormatError{Path: "a\x1b[2Jb", Section: ".x\n", Offset: 16, What: "bad"}).Error()
	if want := `a\x1b[2Jb: .x\n+0x10: bad`; err != want {
		t.Errorf("%s, want %s", err, want)
	}
}

func FuzzOpen(f *testing.F) {
	for _, l := range elftest.Layouts {
		f.Add(sample(l))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := parse("", data)
		if err == nil {
			defer file.Close()
		}
		if (file == nil) == (err == nil) {
			t.Fatalf("file %v with error %v", file != nil, err)
		}
		if err != nil {
			return
		}
		for i := range file.Sections {
			s := &file.Sections[i]
			b, err := file.Data(s)
			if b != nil && err != nil {
				t.Fatalf("section %d: data and an error", i)
			}
			if len(b) > largeSection+maxExpansion*len(data) {
				t.Fatalf("section %d: %d bytes from a file of %d", i, len(b), len(data))
			}
			strtab, _ := file.SymbolStrings(s)
			file.Symbols(s, func(i int, sym *Symbol) bool {
				file.StringAt(strtab, sym.Name)
				return i < 1000
			})
			if i == 50 {
				break
			}
		}
	})
}
