package debuginfo

import (
	"encoding/binary"
	"slices"
	"testing"

	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/internal/elfabi"
)

// appendNote appends a note with its padding.
func appendNote(b []byte, o binary.AppendByteOrder, name string, typ uint32, desc string) []byte {
	pad := func() {
		for len(b)%4 != 0 {
			b = append(b, 0xee)
		}
	}
	b = o.AppendUint32(o.AppendUint32(o.AppendUint32(b, uint32(len(name))), uint32(len(desc))), typ)
	b = append(b, name...)
	pad()
	b = append(b, desc...)
	pad()
	return b
}

// TestNotes: notes of every length follow each other, up to the first one that is cut off.
func TestNotes(t *testing.T) {
	var b []byte
	var ends []int
	want := []string{"GNU\x00/abcd", "a/", "/x", "12345/123456789", "/"}
	for i, x := range [][2]string{{"GNU\x00", "abcd"}, {"a", ""}, {"", "x"}, {"12345", "123456789"}, {"", ""}} {
		b = appendNote(b, binary.LittleEndian, x[0], uint32(i), x[1])
		ends = append(ends, len(b))
	}
	read := func(b []byte, stop int) (got []string) {
		eachNote(b, false, func(name []byte, typ uint32, desc []byte) bool {
			if int(typ) != len(got) {
				t.Errorf("note %d has type %d", len(got), typ)
			}
			got = append(got, string(name)+"/"+string(desc))
			return len(got) != stop
		})
		return got
	}
	if got := read(b, 0); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := read(b, 2); !slices.Equal(got, want[:2]) {
		t.Errorf("stopped at the second one: %q", got)
	}
	for n := range b {
		whole := 0
		for i, end := range ends {
			if i == 2 || i == 3 { // the last bytes are padding, which may be missing
				end -= 3
			}
			if n >= end {
				whole++
			}
		}
		if got := read(b[:n], 0); !slices.Equal(got, want[:whole]) {
			t.Errorf("%d of %d bytes: %q, want %q", n, len(b), got, want[:whole])
		}
	}
}

// TestNoteKinds: name and type distinguish the build id and the note of link-time
// optimization from other notes, in both byte orders.
func TestNoteKinds(t *testing.T) {
	for _, x := range []struct {
		name string
		typ  uint32
		desc string // little endian
		id   string
		lto  bool
	}{
		{"GNU\x00", 3, "abcdefgh", "abcdefgh", false}, {"GNU", 3, "abcd", "", false}, {"GNU\x00", 2, "abcd", "", false},
		{"Linux\x00", 0x101, "\x01\x00\x00\x00", "", true}, {"Linux\x00", 0x101, "\x00\x00\x00\x00", "", false},
		{"Linux\x00", 0x101, "\x01\x00\x00", "", false}, {"Linux\x00", 0x100, "\x01\x00\x00\x00", "", false},
		{"Linus\x00", 0x101, "\x01\x00\x00\x00", "", false},
	} {
		for _, big := range []bool{false, true} {
			o := binary.AppendByteOrder(binary.LittleEndian)
			if big {
				o = binary.BigEndian
			}
			b := appendNote(nil, o, "Other\x00", 3, "wxyz")
			b = appendNote(b, o, x.name, x.typ, x.desc)
			b = appendNote(b, o, "Other\x00", 0x101, "wxyz")
			f := withSection(t, dt.Section{Name: ".notes", Type: elfabi.SHTNote, Data: b}, big)
			if id := BuildID(f.ELF); string(id) != x.id {
				t.Errorf("%+v: id %q", x, id)
			}
			if on, err := f.LinkTimeOptimized(); on != x.lto || err != nil {
				t.Errorf("%+v: link-time optimized %v, %v", x, on, err)
			}
			f = withSection(t, dt.Section{Name: ".notes", Data: b}, big)
			if id := BuildID(f.ELF); id != nil {
				t.Errorf("id %q from a section of another type", id)
			}
			if on, _ := f.LinkTimeOptimized(); on {
				t.Error("link-time optimized by a section of another type")
			}
		}
	}
}

// TestNoteSections: the build id may be in any section of notes, and the first one counts.
func TestNoteSections(t *testing.T) {
	other := dt.Section{Name: ".note.other", Type: elfabi.SHTNote, Data: appendNote(nil, binary.LittleEndian, "Other\x00", 3, "wxyz")}
	f := withSections(t, []dt.Section{other, buildIDNote("first"), buildIDNote("second"), other})
	if id := BuildID(f.ELF); string(id) != "first" {
		t.Errorf("id %q", id)
	}
}
