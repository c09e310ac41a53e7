package encode_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/test/testfile"
)

// entrySize is the size of an Elf64_Rela.
const entrySize = 24

// relocatable returns a golden file, the BTF of it, and the place of a
// section's entries in the file.
func relocatable(t *testing.T, section string) (image, want []byte, off, end int) {
	t.Helper()
	image = testfile.Read(t, "testdata/golden/x86-gcc4-r.elf")
	want = testfile.Read(t, "testdata/golden/x86-gcc4-r.default.btf")
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		t.Fatal(err)
	}
	s := f.Section(".rela" + section)
	if s == nil || s.Size < 4*entrySize {
		t.Fatalf("no relocations of %s", section)
	}
	return image, want, int(s.Offset), int(s.Offset + s.Size)
}

func encodeImage(t *testing.T, image []byte, jobs int) ([]byte, error) {
	t.Helper()
	path := testfile.New(t, "x.ko", image)
	return runFiles([]string{path}, encode.Options{Features: encode.DefaultFeatures, Jobs: jobs})
}

// TestUnsortedRelocations: the order of relocations does not matter, in
// sections that are read in order and in those that are not.
func TestUnsortedRelocations(t *testing.T) {
	for _, section := range []string{".debug_info", ".debug_loc"} {
		image, want, off, end := relocatable(t, section)
		entries := image[off:end]
		n := len(entries) / entrySize
		for name, permute := range map[string]func(i int) int{
			"reversed": func(i int) int { return n - 1 - i },
			"halves":   func(i int) int { return (i + n/2) % n },
			"last":     func(i int) int { return (i + n - 1) % n },
		} {
			shuffled := make([]byte, 0, len(entries))
			for i := range n {
				k := permute(i)
				shuffled = append(shuffled, entries[k*entrySize:][:entrySize]...)
			}
			changed := slices.Clone(image)
			copy(changed[off:end], shuffled)
			for _, jobs := range []int{1, 3} {
				if got, err := encodeImage(t, changed, jobs); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s %s, jobs=%d: BTF differs (%v)", section, name, jobs, err)
				}
			}
		}
	}
}

// TestBadRelocations: what cannot be applied is an error that says where.
func TestBadRelocations(t *testing.T) {
	le := binary.LittleEndian
	for _, c := range []struct {
		name   string
		damage func(entry []byte)
		says   string
	}{
		{"type", func(e []byte) { le.PutUint32(e[8:], 200) }, "relocation of type 200"},
		{"PC-relative", func(e []byte) { le.PutUint32(e[8:], 2) }, "relocation of type 2:"},
		{"symbol", func(e []byte) { le.PutUint32(e[12:], 1<<31) }, "symbol 2147483648 of"},
		{"offset", func(e []byte) { le.PutUint64(e, 1<<40) }, "offset beyond the section"},
	} {
		for _, section := range []string{".debug_info", ".debug_loc"} {
			image, _, off, end := relocatable(t, section)
			at := off + (end-off)/entrySize/2*entrySize
			c.damage(image[at:])
			_, err := encodeImage(t, image, 2)
			switch {
			case section == ".debug_loc" && c.name == "offset":
				// Never read: nothing depends on it.
				if err != nil {
					t.Errorf("%s of %s: %v", c.name, section, err)
				}
			case err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), section) || !strings.Contains(err.Error(), "x.ko"):
				t.Errorf("%s of %s: error %v, want %q", c.name, section, err, c.says)
			}
		}
	}
}

// TestLinkedAndRelocatable: names that go by their place in one file and by
// their content in the other are the same names.
func TestLinkedAndRelocatable(t *testing.T) {
	want := testfile.Read(t, "testdata/golden/x86-gcc5+r.btf")
	for _, jobs := range []int{1, 3} {
		inputs := []string{"testdata/golden/x86-gcc5.elf", "testdata/golden/x86-gcc5-r.elf"}
		got, err := runFiles(inputs, encode.Options{Features: encode.DefaultFeatures, Jobs: jobs})
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("jobs=%d: BTF differs (%v)", jobs, err)
		}
	}
}
