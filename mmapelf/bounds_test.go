package mmapelf

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/elftest"
)

// TestSectionFields: each field of a section header is read from its place.
func TestSectionFields(t *testing.T) {
	for _, l := range elftest.Layouts {
		b := l.Image(elftest.Section{Name: ".a"})
		shdr := l.SectionSize()
		at := l.SectionTable(b) + shdr + 8 // behind sh_name and sh_type
		word := 4
		if l.Class64 {
			word = 8
		}
		for i, n := range []int{word, word, word, word, 4, 4, word, word} {
			l.Put(b, at, n, uint64(i)+0x10) // flags, address, offset, size, link, info, align, entry size
			at += n
		}
		f := mustParse(t, b)
		want := Section{Name: ".a", Index: 1, Type: 1, Flags: 0x10, Addr: 0x11, Offset: 0x12, Size: 0x13, Link: 0x14, Info: 0x15, Align: 0x16, EntSize: 0x17}
		if f.Sections[1] != want {
			t.Errorf("%v: %+v, want %+v", l, f.Sections[1], want)
		}
	}
}

// TestSectionTableBounds: the table may end with the file, and not behind it.
func TestSectionTableBounds(t *testing.T) {
	for _, l := range elftest.Layouts {
		good := l.Image(elftest.Section{Name: ".a"})
		ent, shdr := l.Counts()+4, l.SectionSize()
		shoff := l.SectionTable(good)
		at, word := 32, 4
		if l.Class64 {
			at, word = 40, 8
		}
		first := shoff + 8 + 3*word // sh_size of section 0
		for _, c := range []struct {
			name string
			edit func(b []byte) []byte
			want string
		}{
			{"as it is", func(b []byte) []byte { return b }, ""},
			{"one byte less", func(b []byte) []byte { return b[:len(b)-1] }, "file ends inside the table (3 entries"},
			{"one entry more", func(b []byte) []byte { l.Put(b, ent+2, 2, 4); return b }, "file ends inside the table (4 entries"},
			{"first entry cut", func(b []byte) []byte { return b[:shoff+shdr-1] }, "is outside the file"},
			{"only the first entry", func(b []byte) []byte { l.Put(b, ent+2, 2, 1); l.Put(b, ent+4, 2, 0); return b[:shoff+shdr] }, ""},
			{"table at the end", func(b []byte) []byte { l.Put(b, at, word, uint64(len(b))); return b }, "is outside the file"},
			{"table behind the end", func(b []byte) []byte { l.Put(b, at, word, uint64(len(b)+1)); return b }, "is outside the file"},
			{"entries too small", func(b []byte) []byte { l.Put(b, ent, 2, uint64(shdr-1)); return b }, fmt.Sprintf("%#x: section table entries of %d bytes", at+6, shdr-1)},
			{"larger entries, the last without padding", func(b []byte) []byte {
				wide := bytes.Clone(b[:shoff])
				for i := range 3 {
					if wide = append(wide, b[shoff+i*shdr:shoff+(i+1)*shdr]...); i < 2 {
						wide = append(wide, make([]byte, 8)...)
					}
				}
				l.Put(wide, ent, 2, uint64(shdr+8))
				return wide
			}, ""},
			{"name table is the last section", func(b []byte) []byte { l.Put(b, ent+4, 2, 2); return b }, ""},
			{"name table behind the last section", func(b []byte) []byte { l.Put(b, ent+4, 2, 3); return b }, "section name table is section 3 of 3"},
			{"name table without contents", func(b []byte) []byte { l.Put(b, shoff+2*shdr+4, 4, elfabi.SHTNobits); return b }, "section name table 2 has no contents"},
			{"name table that leaves the file", func(b []byte) []byte { l.Put(b, shoff+2*shdr+8+3*word, word, 1<<20); return b }, "leave the file"},
			{"last name", func(b []byte) []byte { l.Put(b, shoff+shdr, 4, 13); return b }, ""},
			{"name behind the table", func(b []byte) []byte { l.Put(b, shoff+shdr, 4, 14); return b }, fmt.Sprintf("section table+%#x: name of section 1", shoff+shdr)},
			{"no name table", func(b []byte) []byte { l.Put(b, ent+4, 2, 0); return b }, ""},
			{"no section", func(b []byte) []byte { l.Put(b, ent+2, 2, 0); return b }, ""},
			{"extended count", func(b []byte) []byte { l.Put(b, ent+2, 2, 0); l.Put(b, first, word, 3); return b }, ""},
			{"extended count one too large", func(b []byte) []byte { l.Put(b, ent+2, 2, 0); l.Put(b, first, word, 4); return b }, "file ends inside the table (4 entries"},
		} {
			_, err := parse("", c.edit(bytes.Clone(good)))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, %s: error %v, want %q", l, c.name, err, c.want)
			}
		}
	}
	for n := range ehdrSize64 {
		b := append([]byte(elfabi.Magic), 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
		if _, err := parse("", append(b, make([]byte, 64)...)[:n]); err == nil {
			t.Errorf("%d bytes of a header: no error", n)
		}
	}
}

func TestNameAt(t *testing.T) {
	full := strings.Repeat("n", maxSectionName)
	for _, c := range []struct {
		table string
		off   uint32
		want  string
		ok    bool
	}{
		{"", 0, "", true}, {"", 1, "", false}, {"\x00", 0, "", true}, {"\x00", 1, "", false},
		{"\x00a\x00", 1, "a", true}, {"\x00a\x00", 2, "", true}, {"\x00a\x00", 3, "", false}, {"\x00a", 1, "a", false},
		{full + "\x00", 0, full, true}, {full, 0, full, false}, {full + "n", 0, full, true}, {full + "n\x00", 0, full, true},
	} {
		if got, ok := nameAt([]byte(c.table), c.off); ok != c.ok || ok && got != c.want {
			t.Errorf("nameAt(%d bytes, %d) = %q, %v; want %q, %v", len(c.table), c.off, got, ok, c.want, c.ok)
		}
	}
}

// TestStoredBounds: a section may end with the file, and an empty one may
// begin there.
func TestStoredBounds(t *testing.T) {
	f := &File{data: make([]byte, 100)}
	for _, c := range []struct {
		off, size uint64
		ok        bool
	}{{0, 100, true}, {100, 0, true}, {99, 1, true}, {99, 2, false}, {0, 101, false}, {101, 0, false}, {1<<64 - 1, 2, false}, {50, 1<<64 - 1, false}} {
		b, err := f.stored(&Section{Offset: c.off, Size: c.size})
		if (err == nil) != c.ok || c.ok && (uint64(len(b)) != c.size || cap(b) != len(b)) {
			t.Errorf("%d+%d: %d bytes of %d, error %v", c.off, c.size, len(b), cap(b), err)
		}
	}
}

// TestClaimedSize: what a compressed section may claim to expand to.
func TestClaimedSize(t *testing.T) {
	for _, l := range elftest.Layouts {
		for _, c := range []struct {
			stored int
			size   uint64
			ok     bool
		}{
			{0, 0, true}, {0, 1, false},
			{7, 7 * maxExpansion, true}, {7, 7*maxExpansion + 1, false},
			{largeSection / maxExpansion, largeSection, false}, {largeSection/maxExpansion + 1, largeSection, true},
			{largeSection/maxExpansion + 1, largeSection + 1, false},
			{largeSection/maxLargeExpansion + 1, largeSection + 1, true},
			{700000, 70000000, true}, {700000, 70000001, false},
		} {
			f := mustParse(t, l.Image(elftest.Section{Name: ".debug_str", Flags: elfabi.SHFCompressed, Data: l.CompressedAs(elfCompressZlib, c.size, make([]byte, c.stored))}))
			s := &f.Sections[1]
			k, err := f.codec(s)
			if (err == nil) != c.ok {
				t.Errorf("%v: %d bytes that claim %d: error %v", l, c.stored, c.size, err)
			} else if c.ok && (uint64(k.size) != c.size || k.end != s.Offset+s.Size || k.end-k.off != uint64(c.stored)) {
				t.Errorf("%v: %+v of section %+v", l, k, s)
			}
		}
		whole := l.CompressedAs(elfCompressZlib, 0, nil)
		for n := range len(whole) + 1 {
			f := mustParse(t, l.Image(elftest.Section{Name: ".debug_str", Flags: elfabi.SHFCompressed, Data: whole[:n]}))
			if _, err := f.codec(&f.Sections[1]); (err == nil) != (n == len(whole)) {
				t.Errorf("%v: header of %d bytes, %d there: %v", l, len(whole), n, err)
			}
		}
		for n := range gnuHeaderSize + 1 {
			f := mustParse(t, l.Image(elftest.Section{Name: ".zdebug_str", Data: append([]byte(gnuCompressMagic), make([]byte, 8)...)[:n]}))
			if _, err := f.codec(&f.Sections[1]); (err == nil) != (n == gnuHeaderSize) {
				t.Errorf("GNU header, %d bytes there: %v", n, err)
			}
		}
	}
}

// TestAdvise: hints cover whole pages inside of a range, or all pages that it
// touches, and nothing beyond the file.
func TestAdvise(t *testing.T) {
	page := uint64(os.Getpagesize())
	l := elftest.Little64
	f, err := Open(write(t, l.Image(elftest.Section{Name: ".a", Data: make([]byte, 4*page)})))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size := uint64(len(f.data))
	for _, c := range []struct {
		off, size      uint64
		inside, beyond string // start-end in pages, "" for no hint
	}{
		{0, 2 * page, "0-2", "0-2"},
		{0, 2*page - 1, "0-1", "0-2-1"},
		{1, 2*page - 1, "1-2", "0-2"},
		{1, page, "", "0-2"},
		{page, page, "1-2", "1-2"},
		{page - 1, page + 1, "1-2", "0-2"},
		{page - 1, page + 2, "1-2", "0-3"},
		{page, 0, "", ""},
		{page, size - page, "1-end", "1-end"},
		{page, size - page - 1, "1-4", "1-end-1"},
		{0, size, "0-end", "0-end"},
		{0, size + 1, "", ""},
		{size + 1, 0, "", ""},
		{page, size - page + 1, "", ""},
		{page, 1<<64 - 1, "", ""},
	} {
		for _, inside := range []bool{true, false} {
			var got []byte
			calls := 0
			f.advise(c.off, c.size, inside, func(b []byte) { got = b; calls++ })
			want := c.inside
			if !inside {
				want = c.beyond
			}
			if want == "" {
				if calls != 0 {
					t.Errorf("%d+%d, inside %v: a hint for %d bytes", c.off, c.size, inside, len(got))
				}
				continue
			}
			var from, to uint64
			if strings.Contains(want, "end") {
				fmt.Sscanf(want, "%d-", &from)
				to = size
			} else {
				fmt.Sscanf(want, "%d-%d", &from, &to)
				to *= page
			}
			if !inside {
				to = c.off + c.size // it may end within a page
			}
			if calls != 1 || &got[0] != &f.data[from*page] || uint64(len(got)) != to-from*page {
				t.Errorf("%d+%d, inside %v: %d hints, the last for %d bytes, want %s", c.off, c.size, inside, calls, len(got), want)
			}
		}
	}
}

// TestReleaseBounds: a slice is found by where its capacity ends.
func TestReleaseBounds(t *testing.T) {
	f := &File{data: make([]byte, 100)}
	for _, c := range []struct {
		end  uint64
		b    []byte
		want bool
	}{
		{100, f.data, true}, {100, f.data[99:], true}, {100, f.data[1:2], true}, {50, f.data[:50:50], true},
		{101, f.data, false}, {99, f.data, false}, {50, f.data[:50], false}, {0, f.data[:1:1], false},
	} {
		if got := f.releaseEndingAt(c.end, c.b); got != c.want {
			t.Errorf("%d bytes of %d that end at %d: %v", len(c.b), cap(c.b), c.end, got)
		}
	}
}

// TestStreamBounds: Need beyond the section gives the bytes that the section has.
func TestStreamBounds(t *testing.T) {
	text, streams := streamText()
	n := uint64(len(text))
	st := openStream(t, elfCompressZlib, len(text), streams[elfCompressZlib])
	for i, c := range []struct{ off, n uint64 }{{n, 0}, {n, 5}, {n + 7, 1}, {n - 1, 1}, {n - 1, 1 << 63}, {1 << 63, 1 << 63}, {0, 1 << 63}} {
		if ready, err := st.Need(i, c.off, c.n); err != nil || ready != n && c.off+c.n >= n {
			t.Errorf("%d+%d: ready %d of %d, %v", c.off, c.n, ready, n, err)
		}
		st.Unpin(i)
	}
	st.Drop(1 << 63)
	if st.dropped != len(text)/dropUnit*dropUnit {
		t.Errorf("dropped %d of %d", st.dropped, n)
	}
	st.Close()
	if _, err := st.Need(1, 0, 1); err == nil {
		t.Error("read after Close")
	}
}

// TestStreamRunsAhead: no further ahead than it is told to.
func TestStreamRunsAhead(t *testing.T) {
	text, streams := streamText()
	st := openStream(t, elfCompressZlib, len(text), streams[elfCompressZlib])
	ready, err := st.Need(1, 0, 1000)
	if err != nil || ready < 1000 || ready > 1000+streamAhead+streamStep {
		t.Errorf("ready %d, %v", ready, err)
	}
	st.Drop(1 << 20)
	if st.dropped != 0 {
		t.Errorf("dropped %d bytes that reader 1 has asked for", st.dropped)
	}
}

// TestSymbolStringBounds: the linked section is in the table and holds strings.
func TestSymbolStringBounds(t *testing.T) {
	f := &File{data: []byte("\x00a\x00"), Sections: []Section{{}, {Type: 1, Size: 3}, {Type: elfabi.SHTStrtab, Size: 3}}}
	for link, want := range map[uint32]bool{0: false, 1: false, 2: true, 3: false, 1 << 31: false} {
		if b, err := f.SymbolStrings(&Section{Link: link}); (err == nil) != want || want && string(b) != "\x00a\x00" {
			t.Errorf("link %d: %q, %v", link, b, err)
		}
	}
}
