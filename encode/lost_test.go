package encode_test

import (
	"bytes"
	"debug/elf"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/test/testfile"
)

// TestLostDebugInfo: damage that hides DWARF, or a part of a unit, is not taken
// for an object that has none.
func TestLostDebugInfo(t *testing.T) {
	for _, c := range []struct {
		seed   string
		change func(t *testing.T, image []byte)
		want   string
	}{
		{"x86-gcc5", rename(".debug_info", ".lebug_info"), "section .debug_aranges without .debug_info"},
		{"x86-gcc5-zlib", rename(".debug_info", ".lebug_info"), "section .debug_aranges without .debug_info"},
		{"x86-gcc5", func(_ *testing.T, image []byte) { image[62]-- }, "the section names cannot be right"}, // e_shstrndx: .strtab
		{"x86-gcc5", inSection(".debug_info", 12, 0), "DIE behind the end of the unit's tree"},              // the unit DIE
		{"x86-clang4-o", inSection(".debug_info", 42, 0), "DIE behind the end of the unit's tree"},          // its first child
	} {
		image := testfile.Read(t, filepath.Join("testdata/golden", c.seed+".elf"))
		c.change(t, image)
		path := filepath.Join(t.TempDir(), "in")
		data, err := tryBytes(t, path, image, encode.DefaultFeatures)
		if data != nil || err == nil || errors.Is(err, encode.ErrNoDwarf) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %d bytes, %v; want %s", c.seed, len(data), err, c.want)
		}
	}
}

// rename changes a section's name to one of the same length.
func rename(from, to string) func(*testing.T, []byte) {
	return func(t *testing.T, image []byte) {
		i := bytes.LastIndex(image, []byte("\x00"+from+"\x00"))
		if i < 0 {
			t.Fatalf("no section %s", from)
		}
		copy(image[i+1:], to)
	}
}

// inSection changes a byte of a section.
func inSection(name string, off int, b byte) func(*testing.T, []byte) {
	return func(t *testing.T, image []byte) {
		f, err := elf.NewFile(bytes.NewReader(image))
		if err != nil {
			t.Fatal(err)
		}
		image[int(f.Section(name).Offset)+off] = b
	}
}
