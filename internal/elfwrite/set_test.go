package elfwrite

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/elftest"
	"github.com/btflite/btflite/test/testfile"
)

// file puts data into a file of a fresh folder.
func file(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "image")
	if err := os.WriteFile(path, data, 0o640); err != nil {
		t.Fatal(err)
	}
	return path
}

// setText is Set with contents at hand.
func setText(path, name, text string) error {
	return Set(path, nil, nil, textSection(name, text))
}

func textSection(name, text string) Section {
	return Section{Name: name, Size: int64(len(text)), Write: func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}}
}

// open reads data with debug/elf. That package takes the extended form of the
// section count only where it is needed, so a small count is put back.
func open(t *testing.T, data []byte) *elf.File {
	t.Helper()
	if m, err := readImage(bytes.NewReader(data), int64(len(data))); err == nil && m.count < elfabi.SHNLoReserve {
		data = bytes.Clone(data)
		m.order.PutUint16(m.counts()[6:], uint16(m.count))
		m.order.PutUint16(m.counts()[8:], uint16(m.strIndex))
		copy(data, m.ehdr)
		clear(data[m.shoff:][:m.shdrSize()])
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// sections renders the segments and sections, one per line, with the contents.
// The ELF header, which a segment may hold, is left out.
func sections(t *testing.T, data []byte, without ...string) (text string, names []string) {
	t.Helper()
	f := open(t, data)
	for _, p := range f.Progs {
		b, err := io.ReadAll(p.Open())
		if err != nil {
			t.Fatal(err)
		}
		if p.Off == 0 {
			clear(b[:min(64, len(b))])
		}
		text += fmt.Sprintf("%+v %q\n", p.ProgHeader, b)
	}
next:
	for _, s := range f.Sections {
		names = append(names, s.Name)
		for _, skip := range without {
			if s.Name == skip {
				continue next
			}
		}
		if s.Name == "" { // section 0 may hold the section count
			continue
		}
		var b []byte
		var err error
		if s.Type != elf.SHT_NOBITS {
			if b, err = s.Data(); err != nil {
				t.Fatal(err)
			}
		}
		text += fmt.Sprintf("%+v %q\n", s.SectionHeader, b)
	}
	return text, names
}

// contents returns section name as debug/elf sees it.
func contents(t *testing.T, data []byte, name string) (string, elf.SectionHeader) {
	t.Helper()
	s := open(t, data).Section(name)
	if s == nil {
		t.Fatalf("no section %s", name)
	}
	b, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	return string(b), s.SectionHeader
}

// build is a file in which sections lie closely, so that one which grows meets the
// next one.
func build(l elftest.Layout, m elftest.Image, sections ...elftest.Section) []byte {
	m.Layout, m.Sections, m.Align = l, sections, 4
	return m.Bytes()
}

var plain = []elftest.Section{
	{Name: ".text", Flags: 6, Addr: 0x1100, Data: []byte("\x90\x90\xc3")},
	{Name: ".data", Flags: 3, Addr: 0x1200, Data: []byte("initialised")},
	{Name: ".bss", Type: elftest.Nobits, Flags: 3, Addr: 0x1300, Size: 0x4000},
	{Name: ".comment", Data: []byte("made by hand")},
}

// withBTF is plain with a .BTF at a place where the tail cannot be.
func withBTF(p elftest.Section) []elftest.Section {
	p.Name = ".BTF"
	return append(append(append([]elftest.Section{}, plain[:1]...), p), plain[1:]...)
}

// imageOf reads the headers of a file.
func imageOf(t *testing.T, data []byte) *image {
	t.Helper()
	m, err := readImage(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// each runs fn for all layouts, relocatable and linked.
func each(t *testing.T, fn func(t *testing.T, l elftest.Layout, fm elftest.Image)) {
	for _, l := range elftest.Layouts {
		for _, fm := range []elftest.Image{{}, {Linked: true}, {Linked: true, Extended: true}, {Names: ".rel.BTF\x00"}, {Tail: "signature"}} {
			t.Run(fmt.Sprintf("%v %+v", l, fm), func(t *testing.T) { fn(t, l, fm) })
		}
	}
}

func TestSetAddsSection(t *testing.T) {
	each(t, func(t *testing.T, l elftest.Layout, fm elftest.Image) {
		before := build(l, fm, plain...)
		path := file(t, before)
		if err := setText(path, ".BTF", "first contents"); err != nil {
			t.Fatal(err)
		}
		after := testfile.Read(t, path)
		text, hdr := contents(t, after, ".BTF")
		if text != "first contents" || hdr.Type != elf.SHT_PROGBITS || hdr.Flags != 0 || hdr.Addr != 0 || hdr.Addralign != 1 || hdr.Offset%8 != 0 {
			t.Errorf(".BTF is %q %+v", text, hdr)
		}
		if fm.Extended && l.Order.Uint16(after[l.Pick(60, 48):]) != 0 {
			t.Error("the section count is in the header and in section 0")
		}
		want, names := sections(t, before, ".shstrtab")
		got, gotNames := sections(t, after, ".shstrtab", ".BTF")
		if got != want {
			t.Errorf("other sections changed: (-want +got)\n%s", cmp.Diff(want, got))
		}
		if w := fmt.Sprint(append(names, ".BTF")); fmt.Sprint(gotNames) != w {
			t.Errorf("sections %v, want %v", gotNames, w)
		}
		// Of the old bytes, only the header may differ.
		if n := len(before); !bytes.Equal(before[64:n], after[64:n]) {
			t.Error("bytes of the old file changed")
		}
		if grown := strings.Contains(fm.Names, ".BTF"); grown != (bytes.Count(after, []byte(".comment\x00")) == 1) {
			t.Errorf("name table written %d times", bytes.Count(after, []byte(".comment\x00")))
		}
	})
}

func TestSetTwiceGivesTheSameFile(t *testing.T) {
	starts := map[string][]elftest.Section{
		"absent":           plain,
		"same size":        withBTF(elftest.Section{Data: []byte("xxxxxxxxxxxxxx")}),
		"other size":       withBTF(elftest.Section{Data: []byte("old")}),
		"loaded, larger":   withBTF(elftest.Section{Flags: 2, Data: []byte("a good deal of old contents")}),
		"loaded, smaller":  withBTF(elftest.Section{Flags: 2, Data: []byte("old")}),
		"nobits":           withBTF(elftest.Section{Type: elftest.Nobits, Size: 1 << 20}),
		"nobits, loaded":   withBTF(elftest.Section{Type: elftest.Nobits, Flags: 2, Size: 1 << 20}),
		"compressed":       withBTF(elftest.Section{Flags: elftest.Compressed, Data: []byte("zzzzzzzzzzzzzz")}),
		"outside the file": withBTF(elftest.Section{Data: []byte("old"), Size: 1 << 30}),
		"empty":            withBTF(elftest.Section{}),
	}
	for name, parts := range starts {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, l elftest.Layout, fm elftest.Image) {
				path := file(t, build(l, fm, parts...))
				if err := setText(path, ".BTF", "first contents"); err != nil {
					var full *NoRoomError
					if errors.As(err, &full) && fm.Linked && name == "loaded, smaller" {
						return // TestSetInLoadedSection
					}
					t.Fatal(err)
				}
				once := testfile.Read(t, path)
				if text, hdr := contents(t, once, ".BTF"); text != "first contents" || hdr.Type != elf.SHT_PROGBITS || hdr.Flags&elf.SHF_COMPRESSED != 0 {
					t.Errorf(".BTF is %q %+v", text, hdr)
				}
				if err := setText(path, ".BTF", "first contents"); err != nil {
					t.Fatal(err)
				}
				if twice := testfile.Read(t, path); !bytes.Equal(once, twice) {
					t.Errorf("file of %d bytes became one of %d bytes", len(once), len(twice))
				}
			})
		})
	}
}

func TestSetReplacesItsOwnTail(t *testing.T) {
	each(t, func(t *testing.T, l elftest.Layout, fm elftest.Image) {
		start := build(l, fm, plain...)
		direct := file(t, start)
		long := strings.Repeat("long contents ", 100)
		if err := setText(direct, ".BTF", long); err != nil {
			t.Fatal(err)
		}
		path := file(t, start)
		for _, text := range []string{"short", long + long, "", "x", long} {
			if err := setText(path, ".BTF", text); err != nil {
				t.Fatal(err)
			}
			if got, _ := contents(t, testfile.Read(t, path), ".BTF"); got != text {
				t.Errorf("contents %q, want %q", got, text)
			}
		}
		if !bytes.Equal(testfile.Read(t, path), testfile.Read(t, direct)) {
			t.Error("history shows in the file")
		}
	})
}

func TestSetDoesNotGrowWithEachRun(t *testing.T) {
	each(t, func(t *testing.T, l elftest.Layout, fm elftest.Image) {
		old := elftest.Section{Data: []byte("old")}
		if !fm.Linked {
			old.Flags = 2
		}
		start := build(l, fm, withBTF(old)...)
		path := file(t, start)
		for i := range 6 {
			if err := setText(path, ".BTF", strings.Repeat("x", 1000+i%3)); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(testfile.Read(t, path)); n > len(start)+1002+8 {
			t.Errorf("%d bytes became %d", len(start), n)
		}
	})
}

// TestSetInLoadedSection: the section keeps its place, flags and address, and
// what does not fit is refused.
func TestSetInLoadedSection(t *testing.T) {
	const old = "contents the linker made"
	filling := textSection(".BTF", "short")
	filling.Fill = func(w io.Writer, size int64) error {
		_, err := io.WriteString(w, strings.Repeat("s", int(size)))
		return err
	}
	for _, l := range elftest.Layouts {
		start := build(l, elftest.Image{Linked: true}, withBTF(elftest.Section{Flags: 2, Data: []byte(old)})...)
		_, was := contents(t, start, ".BTF")
		for _, tt := range []struct {
			set        Section
			want, rest string
		}{
			{textSection(".BTF", strings.Repeat("x", len(old))), strings.Repeat("x", len(old)), ""},
			{textSection(".BTF", "shorter"), "shorter", strings.Repeat("\x00", len(old)-len("shorter"))},
			{filling, strings.Repeat("s", len(old)), ""},
		} {
			path := file(t, start)
			for range 2 {
				if err := Set(path, nil, nil, tt.set); err != nil {
					t.Fatal(err)
				}
				b := testfile.Read(t, path)
				text, hdr := contents(t, b, ".BTF")
				if text != tt.want || hdr.Offset != was.Offset || hdr.Addr != was.Addr || hdr.Flags != was.Flags || len(b) != len(start) {
					t.Errorf("%v: %q %+v, file of %d bytes", l, text, hdr, len(b))
				}
				if rest := string(b[hdr.Offset+hdr.Size:][:len(tt.rest)]); rest != tt.rest {
					t.Errorf("%v: rest is %q", l, rest)
				}
				want, _ := sections(t, start, ".BTF")
				got, _ := sections(t, b, ".BTF")
				if got != strings.ReplaceAll(want, old, tt.want+strings.ReplaceAll(tt.rest, "\x00", `\x00`)) {
					t.Errorf("%v: other sections changed: (-want +got)\n%s", l, cmp.Diff(want, got))
				}
			}
		}

		path := file(t, start)
		var full *NoRoomError
		if err := setText(path, ".BTF", strings.Repeat("y", len(old)+1)); !errors.As(err, &full) || *full != (NoRoomError{".BTF", int64(len(old)), int64(len(old)) + 1}) {
			t.Errorf("%v: error %v", l, err)
		}
		if !bytes.Equal(testfile.Read(t, path), start) {
			t.Errorf("%v: the file changed", l)
		}
		onlyFile(t, path)
	}
}

// TestSetInMovedSection: a section that its segment loads from elsewhere, as
// after a program that lays linked files out anew, is left alone.
func TestSetInMovedSection(t *testing.T) {
	for _, l := range elftest.Layouts {
		start := build(l, elftest.Image{Linked: true}, withBTF(elftest.Section{Flags: 2, Data: []byte("old")})...)
		m := imageOf(t, start)
		i := m.find(".BTF")
		s := m.section(i)
		s.addr += 4
		m.setSection(i, s)
		copy(start[m.shoff:], m.shdrs)
		path := file(t, start)
		err := setText(path, ".BTF", "new")
		want := fmt.Sprintf("section .BTF: its bytes are at %#x of the file, but the segment loads those at %#x to its address %#x", s.off, s.off+4, s.addr)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want %s", l, err, want)
		}
		if !bytes.Equal(testfile.Read(t, path), start) {
			t.Errorf("%v: the file changed", l)
		}
	}
}

func TestSetMovesUnalignedContents(t *testing.T) {
	for _, l := range elftest.Layouts {
		// The last section in front of .shstrtab, at a multiple of 4 only.
		for _, pad := range []string{"", "1234"} {
			path := file(t, build(l, elftest.Image{}, elftest.Section{Name: ".pad", Data: []byte("1234" + pad)}, elftest.Section{Name: ".BTF", Data: []byte("old.")}))
			if err := setText(path, ".BTF", "new contents"); err != nil {
				t.Fatal(err)
			}
			if text, hdr := contents(t, testfile.Read(t, path), ".BTF"); text != "new contents" || hdr.Offset%8 != 0 {
				t.Errorf("%v: %q %+v", l, text, hdr)
			}
		}
	}
}

func TestSetKeepsFlagsOfRelocatableSections(t *testing.T) {
	for _, l := range elftest.Layouts {
		path := file(t, build(l, elftest.Image{}, withBTF(elftest.Section{Flags: 2, Data: []byte("old")})...))
		if err := setText(path, ".BTF", "new contents"); err != nil {
			t.Fatal(err)
		}
		if _, hdr := contents(t, testfile.Read(t, path), ".BTF"); hdr.Flags != elf.SHF_ALLOC {
			t.Errorf("%v: %+v", l, hdr)
		}
	}
}

// Files of separate debug information keep program headers that point past the
// end of the file.
func TestSetInFileWithStaleSegments(t *testing.T) {
	for _, l := range elftest.Layouts {
		start := build(l, elftest.Image{Linked: true}, plain...)
		m := imageOf(t, start)
		copy(start[m.phdrs.off:], l.Loads(64, 2*uint64(len(start))))
		path := file(t, start)
		var once []byte
		for range 3 {
			if err := setText(path, ".BTF", strings.Repeat("contents ", 30)); err != nil {
				t.Fatal(err)
			}
			if b := testfile.Read(t, path); once == nil {
				once = b
			} else if !bytes.Equal(once, b) {
				t.Fatalf("%v: file of %d bytes became one of %d bytes", l, len(once), len(b))
			}
		}
	}
}

// An old section that lies over other parts of the file must not be written to.
func TestSetKeepsBytesThatOthersClaim(t *testing.T) {
	for _, l := range elftest.Layouts {
		for _, target := range []string{"header", "table", "table to the end", ".comment", "program headers"} {
			start := build(l, elftest.Image{Linked: true}, withBTF(elftest.Section{Data: []byte("old")})...)
			m := imageOf(t, start)
			i := m.find(".BTF")
			s := m.section(i)
			switch target {
			case "header":
				s.span = span{0, 3}
			case "table":
				s.span = span{m.shoff + 3, 3}
			case "table to the end":
				s.span = span{m.shoff, uint64(len(m.shdrs))}
			case "program headers":
				s.span = span{m.phdrs.off + 8, 3}
			default:
				s.off = m.section(m.find(target)).off
			}
			m.setSection(i, s)
			copy(start[m.shoff:], m.shdrs)
			path := file(t, start)
			if err := setText(path, ".BTF", "new"); err != nil {
				t.Fatal(err)
			}
			want, _ := sections(t, start, ".BTF")
			b := testfile.Read(t, path)
			if got, _ := sections(t, b, ".BTF"); got != want {
				t.Errorf("%v %s: other sections changed: (-want +got)\n%s", l, target, cmp.Diff(want, got))
			}
			if text, _ := contents(t, b, ".BTF"); text != "new" {
				t.Errorf("%v %s: contents %q", l, target, text)
			}
		}
	}
}

func TestSetAcrossTheLimitOfSectionNumbers(t *testing.T) {
	for _, l := range elftest.Layouts {
		// With the null section and .shstrtab, one less than SHN_LORESERVE.
		parts := make([]elftest.Section, elfabi.SHNLoReserve-3)
		for i := range parts {
			parts[i] = elftest.Section{Name: ".t"}
		}
		path := file(t, build(l, elftest.Image{}, parts...))
		for _, name := range []string{".BTF", ".BTF.ext", ".BTF"} {
			if err := setText(path, name, "contents of "+name); err != nil {
				t.Fatal(err)
			}
		}
		b := testfile.Read(t, path)
		f := open(t, b)
		if len(f.Sections) != elfabi.SHNLoReserve+1 || l.Order.Uint16(b[l.Pick(60, 48):]) != 0 {
			t.Errorf("%v: %d sections, e_shnum %#x", l, len(f.Sections), l.Order.Uint16(b[l.Pick(60, 48):]))
		}
		for _, s := range f.Sections[elfabi.SHNLoReserve-1:] {
			if text, err := s.Data(); err != nil || string(text) != "contents of "+s.Name {
				t.Errorf("%v: %s is %q, %v", l, s.Name, text, err)
			}
		}
	}
}

// TestSetDropsRelocations: what a linker would write into the old contents is not for the new ones,
// wherever these go. Relocations of other sections stay.
func TestSetDropsRelocations(t *testing.T) {
	const rel, rela, crel = 9, 4, 0x40000014
	for _, text := range []string{"contents that are longer than the old ones", "old contents", "short"} {
		for _, typ := range []uint32{rel, rela, crel} {
			for _, l := range elftest.Layouts {
				data := l.Image(
					elftest.Section{Name: ".BTF", Data: []byte("old contents")}, elftest.Section{Name: ".data", Data: []byte("data")},
					elftest.Section{Name: ".relocs.BTF", Type: typ, Info: 1, Data: make([]byte, 24)}, elftest.Section{Name: ".relocs.data", Type: typ, Info: 2, Data: make([]byte, 24)},
					elftest.Section{Name: ".loaded", Type: typ, Flags: elftest.Alloc, Info: 1, Data: make([]byte, 24)})
				path := file(t, data)
				for range 2 {
					if err := setText(path, ".BTF", text); err != nil {
						t.Fatal(err)
					}
					f := open(t, testfile.Read(t, path))
					for name, want := range map[string]uint64{".relocs.BTF": 0, ".relocs.data": 24, ".loaded": 24} {
						if s := f.Section(name); s.Size != want || uint32(s.Type) != typ {
							t.Errorf("%v, type %#x, %q: %s has %d bytes, want %d", l, typ, text, name, s.Size, want)
						}
					}
				}
			}
		}
	}
}
