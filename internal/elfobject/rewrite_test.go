package elfobject

import (
	"bytes"
	"debug/elf"
	"testing"

	"github.com/btflite/btflite/internal/elftest"
)

// sampleChange drops a section with its relocations and sets two others.
func sampleChange() Change {
	return Change{
		Drop: map[int]bool{dropped: true, dropRela: true},
		Set: map[int]Contents{
			debug:     {Data: []byte("new debug"), Align: 1},
			debugRela: {Data: []byte("new relocations")},
		},
	}
}

// A row describes a section of the result.
type row struct {
	name       string
	typ        elf.SectionType
	flags      elf.SectionFlag
	align      uint64
	link, info uint32
	data       []byte
	size       uint64 // 0 is the size of data
}

// sampleRows are the sections of sample after sampleChange.
func sampleRows(l elftest.Layout) []row {
	return []row{
		{name: ".text", typ: 1, flags: 6, align: 16, data: []byte("text!")},
		{name: ".debug_info", typ: 1, align: 1, data: []byte("new debug")},
		{name: ".rela.debug_info", typ: 4, flags: flagInfoLink, align: 4, link: 6, info: 2, data: []byte("new relocations")},
		{name: ".bss", typ: 8, align: 32, size: 0x12345678},
		{name: ".group", typ: 17, align: 1, link: 6, info: 7, data: words(l, 1, 1, 8)},
		{name: ".symtab", typ: 2, align: 1, link: 7, info: 5},
		{name: ".strtab", typ: 3, data: []byte("\x00sym\x00")},
		{name: ".str", typ: 1, flags: flagMerge, align: 1, link: count, data: []byte("merged")},
		{name: ".about", typ: 1, flags: flagInfoLink, align: 1, info: 8, data: []byte("about")},
		{name: ".zipped", typ: 1, flags: elftest.Compressed, align: 1, data: l.CompressedAs(1, 9, []byte("stream"))},
		{name: ".inactive", align: 1, info: 99, size: 0x99},
		{name: ".empty", typ: 17, align: 1, link: 6, data: words(l, 1)},
		{name: ".shstrtab", typ: 3, align: 1},
	}
}

// TestRewrite: every section has its place without gaps, and the numbers of others in it are
// the new ones.
func TestRewrite(t *testing.T) {
	for _, l := range elftest.Layouts {
		t.Run(l.String(), func(t *testing.T) {
			change := sampleChange()
			out, err := object(t, sample(l)).Rewrite(change)
			if err != nil {
				t.Fatal(err)
			}
			f, err := elf.NewFile(bytes.NewReader(out))
			if err != nil {
				t.Fatal(err)
			}
			rows := sampleRows(l)
			if len(f.Sections) != len(rows)+1 {
				t.Fatalf("%d sections, want %d", len(f.Sections), len(rows)+1)
			}
			at := uint64(l.HeaderSize())
			for i, want := range rows {
				at = checkRow(t, out, f.Sections[i+1], want, at)
			}
			for at%8 != 0 {
				at++
			}
			if table := l.SectionTable(out); uint64(table) != at || len(out) != table+len(f.Sections)*l.SectionSize() {
				t.Errorf("the section table is at %d of %d, want %d", table, len(out), at)
			}
			if len(change.Drop) != 2 {
				t.Errorf("the change of the caller has become %v", change.Drop)
			}
		})
	}
}

// checkRow compares a section of the new file with a row. The contents before it end at at. It
// returns where the contents of the section end.
func checkRow(t *testing.T, out []byte, s *elf.Section, want row, at uint64) uint64 {
	t.Helper()
	switch want.name {
	case ".symtab", ".shstrtab":
		want.size = s.FileSize
	}
	if want.size == 0 {
		want.size = uint64(len(want.data))
	}
	if s.Name != want.name || s.Type != want.typ || s.Flags != want.flags || s.Addralign != want.align ||
		s.Link != want.link || s.Info != want.info || s.FileSize != want.size {
		t.Errorf("section %+v\nwant %+v", s.SectionHeader, want)
	}
	if s.Type == elf.SHT_NULL {
		if s.Offset != 0x7fffffff {
			t.Errorf("%s is at %#x", s.Name, s.Offset)
		}
		return at
	}
	for want.align > 1 && at%want.align != 0 {
		if out[at] != 0 {
			t.Errorf("before %s: byte %#x fills up", s.Name, out[at])
		}
		at++
	}
	if s.Offset != at {
		t.Errorf("%s is at %d, want %d", s.Name, s.Offset, at)
	}
	if s.Type == elf.SHT_NOBITS {
		return at
	}
	if got := out[s.Offset:][:s.FileSize]; want.data != nil && !bytes.Equal(got, want.data) {
		t.Errorf("%s has %q, want %q", s.Name, got, want.data)
	}
	return at + s.FileSize
}

// TestRewriteSymbols: symbols keep their places, and one of a dropped section is moved to the
// first section that is set, at its start.
func TestRewriteSymbols(t *testing.T) {
	for _, l := range elftest.Layouts {
		out, err := object(t, sample(l)).Rewrite(sampleChange())
		if err != nil {
			t.Fatal(err)
		}
		f, err := elf.NewFile(bytes.NewReader(out))
		if err != nil {
			t.Fatal(err)
		}
		s := f.Section(".symtab")
		got := out[s.Offset:][:s.FileSize]
		var want []byte
		for _, s := range []elftest.Symbol{
			{},
			{Name: 1, Info: 3, Section: 1, Value: 0x10, Size: 5},
			{Name: 1, Info: 0x12, Other: 2, Section: 2},
			{Name: 1, Section: 0, Value: 7},
			{Name: 1, Section: 0xfff1, Value: 9},
			{Name: 1, Section: 0xff00, Value: 10},
			{Name: 1, Section: count, Value: 11},
			{Name: 1, Section: 8, Value: 12},
			{Name: 1, Section: 13, Value: 13},
		} {
			want = l.Symbol(want, s)
		}
		if want = append(want, 0xee); !bytes.Equal(got, want) {
			t.Errorf("%v: symbols % x\nwant % x", l, got, want)
		}
	}
}

// TestRewriteNothing: setting a section to what it has keeps the rest as well.
func TestRewriteNothing(t *testing.T) {
	for _, l := range elftest.Layouts {
		o := object(t, sample(l))
		out, err := o.Rewrite(Change{Set: map[int]Contents{text: {Data: []byte("text!")}}})
		if err != nil {
			t.Fatal(err)
		}
		again := object(t, out)
		for i := range o.f.Sections {
			was, is := o.f.Sections[i], again.f.Sections[i]
			was.Offset, is.Offset = 0, 0
			if was != is {
				t.Errorf("%v: section %+v, was %+v", l, is, was)
			}
		}
		if !bytes.Equal(o.syms, again.syms) {
			t.Errorf("%v: the symbols differ", l)
		}
	}
}

// TestRewriteRefuses: what stays may not need what is dropped, nor what is not there.
func TestRewriteRefuses(t *testing.T) {
	drop := func(i ...int) func(*Change) {
		return func(c *Change) {
			for _, i := range i {
				c.Drop[i] = true
			}
		}
	}
	for _, c := range []struct {
		name   string
		damage func(l elftest.Layout, b []byte)
		change func(c *Change)
		want   string
	}{
		{name: "nothing set", change: func(c *Change) { c.Set = nil }, want: "nothing is set"},
		{name: "link", change: drop(strtab), want: ".symtab needs a section that is dropped"},
		{name: "link to the first", damage: func(l elftest.Layout, b []byte) { set(l, b, about, linkField, text) }, change: drop(text), want: ".about needs a section that is dropped"},
		{name: "relocations", change: func(c *Change) { delete(c.Drop, dropRela) }, want: ".rela.drop is about a section that is dropped"},
		{name: "flag", change: drop(merged), want: ".about is about a section that is dropped"},
		{name: "info", damage: func(l elftest.Layout, b []byte) { set(l, b, about, infoField, count) }, want: ".about is about"},
		{name: "info of REL", damage: func(l elftest.Layout, b []byte) {
			set(l, b, strtab, typeField, typeRel)
			set(l, b, strtab, infoField, count)
		}, want: ".strtab is about"},
		{name: "offset", damage: func(l elftest.Layout, b []byte) { set(l, b, text, offsetField, uint64(len(b))+1) }, want: ".text: its contents lie beyond"},
		{name: "size", damage: func(l elftest.Layout, b []byte) { set(l, b, text, offsetField, uint64(len(b))-4) }, want: ".text: its contents lie beyond"},
		{name: "flags of a group", damage: func(l elftest.Layout, b []byte) { set(l, b, group, sizeField, 3) }, want: ".group: a section group without flags"},
		{name: "member of a group", damage: func(l elftest.Layout, b []byte) {
			set(l, b, empty, sizeField, 8)
			at := l.SectionTable(b) - 16
			set(l, b, empty, offsetField, uint64(at))
			l.Put(b, at+4, 4, count)
		}, want: ".empty: a section of a group is not there"},
	} {
		for _, l := range elftest.Layouts {
			b := sample(l)
			if c.damage != nil {
				c.damage(l, b)
			}
			change := sampleChange()
			if c.change != nil {
				c.change(&change)
			}
			_, err := object(t, b).Rewrite(change)
			refused(t, l.String()+" "+c.name, err, c.want)
		}
	}
}

// TestHugeIndexes: an index that is negative as an int of 32 bits is not the index of a section.
func TestHugeIndexes(t *testing.T) {
	for _, l := range elftest.Layouts {
		for _, k := range hugeIndexes {
			b := sample(l)
			set(l, b, about, infoField, uint64(k))
			_, err := object(t, b).Rewrite(sampleChange())
			refused(t, l.String()+" info", err, ".about is about")
			b = sample(l)
			at := l.SectionTable(b) - 16
			set(l, b, empty, sizeField, 8)
			set(l, b, empty, offsetField, uint64(at))
			l.Put(b, at+4, 4, uint64(k))
			_, err = object(t, b).Rewrite(sampleChange())
			refused(t, l.String()+" member of a group", err, ".empty: a section of a group is not there")
			b = sample(l)
			set(l, b, about, linkField, uint64(k)) // the new file keeps it
			if _, err := object(t, b).Rewrite(sampleChange()); err != nil {
				t.Errorf("%v, link %d: %v", l, k, err)
			}
		}
	}
}

// TestRewriteBounds: contents may end where the file ends.
func TestRewriteBounds(t *testing.T) {
	for _, l := range elftest.Layouts {
		b := sample(l)
		set(l, b, text, offsetField, uint64(len(b))-5)
		set(l, b, inactive, sizeField, 0)
		set(l, b, zipped, sizeField, 0)
		set(l, b, zipped, offsetField, uint64(len(b)))
		if _, err := object(t, b).Rewrite(sampleChange()); err != nil {
			t.Errorf("%v: %v", l, err)
		}
		b = sample(l)
		set(l, b, group, offsetField, uint64(len(b)))
		if _, err := object(t, b).Rewrite(sampleChange()); err == nil {
			t.Errorf("%v: a section group beyond the file passes", l)
		}
	}
}

// TestHeaders: the headers are looked up in the file, which a reader may have seen otherwise.
func TestHeaders(t *testing.T) {
	for _, l := range elftest.Layouts {
		b := sample(l)
		o := object(t, b)
		o.raw = b[:l.HeaderSize()-1]
		_, err := o.Rewrite(sampleChange())
		refused(t, l.String(), err, "no header")
		o.raw = b[:len(b)-1]
		_, err = o.Rewrite(sampleChange())
		refused(t, l.String(), err, "section header 16 lies beyond")

		o.raw = bytes.Clone(b)
		r := &rewriter{Object: o}
		for _, at := range []uint64{uint64(len(b)) + 1 - uint64(l.SectionSize()), uint64(len(b)), uint64(len(b)) + 1, ^uint64(0) - uint64(l.SectionSize()) + 1} {
			l.Put(o.raw, l.Pick(40, 32), l.WordSize(), at)
			for i := range 2 {
				_, err = r.oldHeader(i)
				refused(t, l.String(), err, "section header")
			}
		}
		l.Put(o.raw, l.Pick(40, 32), l.WordSize(), uint64(len(b)-l.SectionSize()))
		if h, err := r.oldHeader(0); err != nil || !bytes.Equal(h, o.raw[len(b)-l.SectionSize():]) {
			t.Errorf("%v: the last header is % x, %v", l, h, err)
		}
	}
}

// TestRewriteLimit: headers that ask for much more than the file has are refused, before anyone
// gets the memory.
func TestRewriteLimit(t *testing.T) {
	for _, l := range elftest.Layouts {
		for _, align := range []uint64{1 << 20, 1 << 25, 1 << 31, 1 << 63} {
			if align > 1<<32 && !l.Class64 {
				continue
			}
			b := sample(l)
			set(l, b, about, alignField, align)
			_, err := object(t, b).Rewrite(sampleChange())
			switch {
			case align > 1<<20:
				refused(t, l.String(), err, ".about makes the file too large")
			case err != nil:
				t.Errorf("%v, alignment %#x: %v", l, align, err)
			}
		}
		same := make([]elftest.Section, 40)
		same = append(same, elftest.Section{Name: ".symtab", Type: elftest.Symtab}, elftest.Section{Data: make([]byte, 1<<20)})
		b := l.Image(same...)
		for i := range 40 {
			set(l, b, 1+i, sizeField, 1<<20)
		}
		_, err := object(t, b).Rewrite(Change{Set: map[int]Contents{41: {}}})
		refused(t, l.String()+" overlapping", err, "makes the file too large")
	}
}

// TestFits: the limit counts the gap and the contents to the byte.
func TestFits(t *testing.T) {
	for _, c := range []struct {
		most  uint64
		align uint64
		n     int
		want  bool
	}{
		{10, 1, 0, true}, {10, 1, 1, false}, {9, 1, 0, false}, {9, 0, 1, false}, {12, 0, 2, true}, {12, 0, 3, false},
		{12, 4, 0, true}, {11, 4, 0, false}, {13, 4, 1, true}, {13, 4, 2, false}, {12, 5, 2, true}, {12, 2, 3, false}, {1 << 40, 1 << 63, 0, false},
	} {
		r := &rewriter{most: c.most, out: make([]byte, 10)}
		if got := r.fits(c.align, c.n); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestRewriteLast: the last symbol of a table that ends with it counts, and new contents may be
// much longer than the old file.
func TestRewriteLast(t *testing.T) {
	for _, l := range elftest.Layouts {
		b := sample(l)
		set(l, b, symtab, sizeField, uint64(3*l.SymbolSize()))
		change := sampleChange()
		change.Set[debug] = Contents{Data: make([]byte, slack+1<<20)}
		out, err := object(t, b).Rewrite(change)
		if err != nil {
			t.Fatal(err)
		}
		last := object(t, out).symbol(2)
		if want := l.Symbol(nil, elftest.Symbol{Name: 1, Info: 0x12, Other: 2, Section: 2}); !bytes.Equal(last, want) {
			t.Errorf("%v: the last symbol is % x, want % x", l, last, want)
		}
	}
}
