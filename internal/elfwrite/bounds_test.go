package elfwrite

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/internal/elftest"
)

// TestSpans: what two ranges share and hold, where they touch and at the ends
// of 64 bits.
func TestSpans(t *testing.T) {
	const top = math.MaxUint64
	for _, c := range []struct {
		a, b               span
		overlaps, contains bool
	}{
		{span{10, 5}, span{10, 5}, true, true},
		{span{10, 5}, span{11, 4}, true, true},
		{span{10, 5}, span{11, 5}, true, false},
		{span{10, 5}, span{9, 2}, true, false},
		{span{10, 5}, span{9, 1}, false, false},
		{span{10, 5}, span{15, 1}, false, false},
		{span{10, 5}, span{14, 1}, true, true},
		{span{10, 5}, span{15, 0}, false, true}, // empty, at the end
		{span{10, 5}, span{16, 0}, false, false},
		{span{10, 5}, span{12, 0}, false, true},
		{span{10, 0}, span{10, 1}, false, false},
		{span{10, 5}, span{12, top}, true, false},
		{span{top - 1, top}, span{top, 1}, true, true},
		{span{0, top}, span{top, 1}, false, false},
	} {
		if got := c.a.overlaps(c.b); got != c.overlaps {
			t.Errorf("%v overlaps %v: %v", c.a, c.b, got)
		}
		if got := c.b.overlaps(c.a); got != c.overlaps {
			t.Errorf("%v overlaps %v: %v", c.b, c.a, got)
		}
		if got := c.a.contains(c.b); got != c.contains {
			t.Errorf("%v contains %v: %v", c.a, c.b, got)
		}
	}
}

// TestSectionHeaders: each field has its place, in both directions.
func TestSectionHeaders(t *testing.T) {
	for _, l := range elftest.Layouts {
		m := &image{class64: l.Class64, order: l.Order}
		m.shdrs = make([]byte, 2*m.shdrSize())
		want := shdr{name: 1, typ: 2, link: 7, info: 8, flags: 3, addr: 4, align: 9, entSize: 10, span: span{5, 6}}
		m.setSection(1, want)
		if got := m.section(1); got != want {
			t.Errorf("%v: %+v, want %+v", l, got, want)
		}
		b := l.Order.AppendUint32(l.Order.AppendUint32(make([]byte, m.shdrSize()), 1), 2)
		for _, v := range []uint64{3, 4, 5, 6} {
			b = l.Word(b, v)
		}
		b = l.Order.AppendUint32(l.Order.AppendUint32(b, 7), 8)
		b = l.Word(l.Word(b, 9), 10)
		if !bytes.Equal(m.shdrs, b) {
			t.Errorf("%v: %x, want %x", l, m.shdrs, b)
		}
	}
}

// TestImageBounds: the tables may end with the file, and not behind it.
func TestImageBounds(t *testing.T) {
	for _, l := range elftest.Layouts {
		good := build(l, elftest.Image{Linked: true}, plain...)
		m := imageOf(t, good)
		shoff, shdr, phdr, count := int(m.shoff), m.shdrSize(), m.phdrSize(), m.count
		fields, word := l.Pick(54, 42), l.Pick(8, 4)
		if len(good) != shoff+count*shdr {
			t.Fatalf("%v: the section table is not at the end", l)
		}
		strs := shoff + m.strIndex*shdr
		for _, c := range []struct {
			name string
			edit func(b []byte) []byte
			want string
		}{
			{"as it is", func(b []byte) []byte { return b }, ""},
			{"byte missing", func(b []byte) []byte { return b[:len(b)-1] }, "section table"},
			{"section too many", func(b []byte) []byte { l.Put(b, fields+6, 2, uint64(count+1)); return b }, "section table"},
			{"section entry size", func(b []byte) []byte { l.Put(b, fields+4, 2, uint64(shdr+1)); return b }, "section table entries"},
			{"no sections", func(b []byte) []byte { l.Put(b, fields+6, 2, 0); return b }, "no section header table"},
			{"count in section 0", func(b []byte) []byte {
				l.Put(b, fields+6, 2, 0)
				l.Put(b, shoff+8+3*word, word, uint64(count))
				return b
			}, ""},
			{"count in section 0, too large", func(b []byte) []byte {
				l.Put(b, fields+6, 2, 0)
				l.Put(b, shoff+8+3*word, word, uint64(count+1))
				return b
			}, "section table"},
			{"huge count in section 0", func(b []byte) []byte {
				l.Put(b, fields+6, 2, 0)
				l.Put(b, shoff+8+3*word, word, math.MaxUint64)
				return b
			}, "entries at"},
			{"name table in section 0", func(b []byte) []byte {
				l.Put(b, fields+8, 2, elfabi.SHNXindex)
				l.Put(b, shoff+8+4*word, 4, uint64(m.strIndex))
				return b
			}, ""},
			{"name table behind the last section", func(b []byte) []byte { l.Put(b, fields+8, 2, uint64(count)); return b }, "section name table is section"},
			{"name table without bytes", func(b []byte) []byte { l.Put(b, strs+4, 4, elfabi.SHTNobits); return b }, "no contents"},
			{"name table without a type", func(b []byte) []byte { l.Put(b, strs+4, 4, elfabi.SHTNull); return b }, "without a type"},
			{"last name", func(b []byte) []byte { l.Put(b, shoff+shdr, 4, uint64(len(m.names)-1)); return b }, ""},
			{"name behind the table", func(b []byte) []byte { l.Put(b, shoff+shdr, 4, uint64(len(m.names))); return b }, "name of section 1"},
			{"program header size", func(b []byte) []byte { l.Put(b, fields, 2, uint64(phdr-1)); return b }, "program headers of"},
			{"no program headers", func(b []byte) []byte { l.Put(b, fields+2, 2, 0); l.Put(b, fields, 2, 1); return b }, ""},
			{"program headers at 0", func(b []byte) []byte { l.Put(b, l.Pick(32, 28), word, 0); l.Put(b, fields, 2, 1); return b }, ""},
			{"program headers in section 0", func(b []byte) []byte {
				l.Put(b, fields+2, 2, pnXnum)
				l.Put(b, shoff+12+4*word, 4, 2)
				return b
			}, ""},
			{"program headers at the end", func(b []byte) []byte {
				l.Put(b, l.Pick(32, 28), word, uint64(len(b)-2*phdr))
				return b
			}, ""},
			{"program headers behind the end", func(b []byte) []byte {
				l.Put(b, l.Pick(32, 28), word, uint64(len(b)-2*phdr+1))
				return b
			}, "program header table"},
		} {
			b := c.edit(bytes.Clone(good))
			got, err := readImage(bytes.NewReader(b), int64(len(b)))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, %s: error %v, want %q", l, c.name, err, c.want)
			}
			if c.want == "" && err == nil && (got.count != count || got.strIndex != m.strIndex) {
				t.Errorf("%v, %s: %d sections, names in %d", l, c.name, got.count, got.strIndex)
			}
			if c.name == "program headers in section 0" && err == nil && len(got.segments) != 2 {
				t.Errorf("%v: %d segments", l, len(got.segments))
			}
		}
	}
}

// TestNames: a name is found as a whole or as the end of another one, and a new
// one is put behind the last NUL.
func TestNames(t *testing.T) {
	for _, c := range []struct {
		names, add, after string
		off               uint32
		grown             bool
	}{
		{"", ".BTF", "\x00.BTF\x00", 1, true},
		{"\x00", ".BTF", "\x00.BTF\x00", 1, true},
		{"\x00.x", ".BTF", "\x00.x\x00.BTF\x00", 4, true},
		{"\x00.BTF.base\x00", ".BTF", "\x00.BTF.base\x00.BTF\x00", 11, true},
		{"\x00.rela.BTF\x00", ".BTF", "\x00.rela.BTF\x00", 6, false},
		{".BTF\x00", ".BTF", ".BTF\x00", 0, false},
	} {
		m := &image{names: []byte(c.names)}
		off, grown := m.addName(c.add)
		if off != c.off || grown != c.grown || string(m.names) != c.after {
			t.Errorf("%q and %q: at %d, grown %v, %q", c.names, c.add, off, grown, m.names)
		}
	}
	// An empty table has the empty name only.
	for name, ok := range map[uint32]bool{0: true, 1: false} {
		m := &image{order: binary.LittleEndian, class64: true, shdrs: make([]byte, 64), count: 1}
		m.setSection(0, shdr{name: name})
		if err := m.checkNames(); (err == nil) != ok {
			t.Errorf("name %d of an empty table: %v", name, err)
		}
	}
	m := &image{order: binary.LittleEndian, class64: true, shdrs: make([]byte, 64), count: 1, names: []byte("abc")}
	if m.checkNames() == nil {
		t.Error("a table without NUL has the name at 0")
	}
}

// TestLoadOf: a section is loaded if it has SHF_ALLOC, bytes, and a segment around it.
func TestLoadOf(t *testing.T) {
	m := &image{loads: []load{{span{0, 10}, 0}, {span{100, 10}, 0x1000}}}
	for _, c := range []struct {
		s    shdr
		want bool
	}{
		{shdr{flags: elfabi.SHFAlloc, typ: elfabi.SHTProgbits, span: span{100, 10}}, true},
		{shdr{flags: elfabi.SHFAlloc | 1, typ: elfabi.SHTProgbits, span: span{0, 1}}, true},
		{shdr{flags: elfabi.SHFAlloc, typ: elfabi.SHTProgbits, span: span{100, 11}}, false},
		{shdr{flags: elfabi.SHFAlloc, typ: elfabi.SHTProgbits, span: span{99, 2}}, false},
		{shdr{flags: 1, typ: elfabi.SHTProgbits, span: span{100, 10}}, false},
		{shdr{flags: elfabi.SHFAlloc, typ: elfabi.SHTNobits, span: span{100, 10}}, false},
		{shdr{flags: elfabi.SHFAlloc, typ: elfabi.SHTProgbits, span: span{100, 0}}, false},
	} {
		if got := m.loadOf(&c.s) != nil; got != c.want {
			t.Errorf("%+v: %v", c.s, got)
		}
	}
}

// TestCheckContents: every section lies in the file, but for those without
// bytes and those that are replaced.
func TestCheckContents(t *testing.T) {
	for _, c := range []struct {
		s    shdr
		skip []int
		ok   bool
	}{
		{shdr{typ: elfabi.SHTProgbits, span: span{90, 10}}, nil, true},
		{shdr{typ: elfabi.SHTProgbits, span: span{90, 11}}, nil, false},
		{shdr{typ: elfabi.SHTProgbits, span: span{100, 1}}, nil, false},
		{shdr{typ: elfabi.SHTProgbits, span: span{500, 0}}, nil, true},
		{shdr{typ: elfabi.SHTNobits, span: span{90, 11}}, nil, true},
		{shdr{typ: elfabi.SHTNull, span: span{90, 11}}, nil, true},
		{shdr{typ: elfabi.SHTProgbits, span: span{90, 11}}, []int{0}, true},
		{shdr{typ: elfabi.SHTProgbits, span: span{90, 11}}, []int{-1, 1}, false},
	} {
		m := &image{order: binary.BigEndian, shdrs: make([]byte, 40), count: 1, size: 100}
		m.setSection(0, c.s)
		if err := m.checkContents(c.skip); (err == nil) != c.ok {
			t.Errorf("%+v without %v: %v", c.s, c.skip, err)
		}
	}
}

func TestAlign8(t *testing.T) {
	for n, want := range map[int64]int64{0: 0, 1: 8, 7: 8, 8: 8, 9: 16} {
		if got := align8(n); got != want {
			t.Errorf("%d: %d, want %d", n, got, want)
		}
	}
}

// TestSizeLimits: sizes that cannot be are refused before anything is written.
func TestSizeLimits(t *testing.T) {
	read := func(l elftest.Layout) *image {
		b := build(l, elftest.Image{}, plain...)
		m := imageOf(t, b)
		return m
	}
	for _, c := range []struct {
		size int64
		want string
	}{{0, ""}, {-1, "bad size"}, {1 << 61, ""}, {1<<61 + 1, "bad size"}} {
		if _, err := read(elftest.Little64).plan([]Section{{Name: ".BTF", Size: c.size}}); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%d bytes: %v", c.size, err)
		}
	}
	// What a file of a 32-bit class has room for, behind which the tables go.
	p, err := read(elftest.Little32).plan([]Section{{Name: ".BTF"}})
	if err != nil {
		t.Fatal(err)
	}
	room := (1<<32 - 1 - p.end) &^ 7
	if _, err := read(elftest.Little32).plan([]Section{{Name: ".BTF", Size: room}}); err != nil {
		t.Errorf("%d bytes: %v", room, err)
	}
	if _, err := read(elftest.Little32).plan([]Section{{Name: ".BTF", Size: room + 16}}); err == nil {
		t.Errorf("%d bytes: no error", room+16)
	}
	// The last byte that such a file can have.
	b := build(elftest.Little32, elftest.Image{}, withBTF(elftest.Section{Data: []byte("old")})...)
	for more, ok := range map[int64]bool{0: true, 1: false} {
		m := imageOf(t, b)
		size := 1<<32 - 1 - align8(int64(len(b))) + more
		if p, err := m.plan([]Section{{Name: ".BTF", Size: size}}); (err == nil) != ok || ok && p.end != 1<<32-1 {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	if _, err := read(elftest.Little64).plan([]Section{{Name: ".a"}, {Name: ".a"}}); err == nil || !strings.Contains(err.Error(), "given twice") {
		t.Errorf("a name twice: %v", err)
	}
}

// TestWriteContent: exactly as many bytes as announced, in any number of writes.
func TestWriteContent(t *testing.T) {
	for _, c := range []struct {
		size  int64
		parts []string
		want  string
	}{
		{0, nil, ""}, {3, []string{"abc"}, ""}, {3, []string{"a", "", "bc"}, ""},
		{3, []string{"ab"}, "have 2 bytes, 3 were announced"}, {3, []string{"ab", "cd"}, "longer than announced"}, {0, []string{"a"}, "longer than announced"},
	} {
		var out bytes.Buffer
		err := writeContent(&out, c.size, func(w io.Writer) error {
			for _, p := range c.parts {
				if _, err := io.WriteString(w, p); err != nil {
					return err
				}
			}
			return nil
		})
		if c.want == "" && (err != nil || out.String() != strings.Join(c.parts, "")) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%d bytes, %q: %q, %v", c.size, c.parts, out.String(), err)
		}
	}
}

// TestObjectAlignment: sections and the section table of an object begin at
// multiples of 8, whatever lies before them, and follow each other closely.
func TestObjectAlignment(t *testing.T) {
	for _, l := range elftest.Layouts {
		for size := range int64(18) {
			to := Target{class64: l.Class64, order: l.Order}
			copy(to.ident[:], append([]byte(elfabi.Magic), byte(l.Pick(2, 1)), byte(pick((to.order == binary.BigEndian), 2, 1)), 1))
			fill := func(w io.Writer) error { _, err := w.Write(make([]byte, size)); return err }
			var out bytes.Buffer
			if err := to.NewObject(Section{Name: ".a", Size: size, Write: fill}, Section{Name: ".b", Size: size, Write: fill}).Write(&out); err != nil {
				t.Fatal(err)
			}
			m := imageOf(t, out.Bytes())
			end := uint64(m.ehdrSize())
			for i := 1; i < m.count; i++ {
				s := m.section(i)
				if s.off != uint64(align8(int64(end))) {
					t.Errorf("%v, %d bytes: section %d at %d behind %d", l, size, i, s.off, end)
				}
				end = s.off + s.size
			}
			if m.shoff != uint64(align8(int64(end))) || m.shoff+uint64(len(m.shdrs)) != uint64(out.Len()) {
				t.Errorf("%v, %d bytes: section table at %d behind %d, of %d", l, size, m.shoff, end, out.Len())
			}
		}
	}
}
