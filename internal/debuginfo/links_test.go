package debuginfo

import (
	"testing"

	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/mmapelf"
)

// withSection is an ELF file with one section of these contents.
func withSection(t *testing.T, s dt.Section, bigEndian bool) *File {
	return fileOf(t, &dt.File{BigEndian: bigEndian, Sections: []dt.Section{s}})
}

// withSections is an ELF file with these sections.
func withSections(t *testing.T, sections []dt.Section) *File {
	return fileOf(t, &dt.File{Sections: sections})
}

// fileOf is a file that has not been loaded, without its debug sections.
func fileOf(t *testing.T, file *dt.File) *File {
	image := file.Image(nil)
	e, err := mmapelf.New("in", image)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return &File{Path: "in", ELF: e, Dwarf: e, BigEndian: file.BigEndian}
}

// FuzzSplitIndex looks an id up in any .debug_cu_index.
func FuzzSplitIndex(f *testing.F) {
	// Version 5; 2 columns, 1 unit, 2 slots; the id 7 in the second.
	f.Add([]byte("\x05\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00"+
		"\x00\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00"+
		"\x01\x00\x00\x00\x03\x00\x00\x00\x10\x00\x00\x00\x20\x00\x00\x00\x30\x00\x00\x00\x40\x00\x00\x00"), uint64(7), false)
	f.Add([]byte("\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), uint64(0), true)
	f.Fuzz(func(t *testing.T, index []byte, id uint64, bigEndian bool) {
		p := withSection(t, dt.Section{Name: ".debug_cu_index", Data: index}, bigEndian)
		parts, err := indexEntry(p.ELF, ".debug_cu_index", id)
		if err != nil && parts != nil {
			t.Fatal("parts and an error")
		}
		for name, at := range parts {
			if at.off>>32 != 0 || at.size>>32 != 0 {
				t.Errorf("%s: %x", name, at)
			}
		}
	})
}

// FuzzLinks reads the sections that name other files: notes, .gnu_debuglink,
// .gnu_debugaltlink and .debug_sup.
func FuzzLinks(f *testing.F) {
	f.Add([]byte("a.debug\x00\x01\x02\x03\x04"), byte(0), false)
	f.Add([]byte("alt.debug\x00"+"01234567890123456789"), byte(1), false)
	f.Add([]byte("\x05\x00\x01\x00\x04abcd"), byte(2), false)
	f.Add([]byte("\x05\x00\x00sup\x00\x04abcd"), byte(2), true)
	f.Add([]byte("\x04\x00\x00\x00\x04\x00\x00\x00\x03\x00\x00\x00GNU\x00abcd"), byte(3), false)
	sections := []dt.Section{{Name: ".gnu_debuglink"}, {Name: ".gnu_debugaltlink"}, {Name: ".debug_sup"}, {Name: ".note.gnu.build-id", Type: elfabi.SHTNote}}
	f.Fuzz(func(t *testing.T, data []byte, which byte, bigEndian bool) {
		s := sections[int(which)%len(sections)]
		s.Data = data
		p := withSection(t, s, bigEndian)
		name, _, err := debugLink(p.ELF)
		if err != nil && name != "" {
			t.Error("a name and an error")
		}
		for _, c := range name {
			if c == '/' {
				t.Errorf("%q leads out of the folder", name)
			}
		}
		altLink(p.ELF)
		altID(p.ELF)
	})
}
