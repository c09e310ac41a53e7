package encode_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/encode"
)

// shapes are the types of BTF data without their ids and order.
func shapes(t *testing.T, data []byte) []string {
	text, _ := format(t, data)
	text = regexp.MustCompile(`(type_id|size|offset)=\d+`).ReplaceAllString(text, "")
	types := strings.Split(strings.ReplaceAll(text, "\n\t", " "), "\n")
	for i, s := range types {
		_, types[i], _ = strings.Cut(s, "] ")
	}
	slices.Sort(types)
	return types
}

// TestSupplementaryFile: DWARF 5 files of which parts went to another file
// have the types of the same program in one piece.
func TestSupplementaryFile(t *testing.T) {
	opt := encode.Options{Features: encode.DefaultFeatures, Jobs: 2}
	whole, err := runFiles([]string{"testdata/golden/x86-gcc5.elf"}, opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"testdata/dwz/x86-gcc5-sup.elf", "testdata/golden/x86-gcc5-dwz.elf"} {
		got, err := runFiles([]string{path}, opt)
		if err != nil {
			t.Fatal(err)
		}
		a, b := shapes(t, got), shapes(t, whole)
		if len(a) != len(b) || len(a) < 100 {
			t.Fatalf("%s: %d types, in one piece %d", path, len(a), len(b))
		}
		for i := range a {
			if a[i] != b[i] {
				t.Errorf("%s: %q, in one piece %q", path, a[i], b[i])
			}
		}
	}
}

// TestAlternateFileMissing: a file without its alternate file is an error that
// names it, and so is one whose alternate file has another id.
func TestAlternateFileMissing(t *testing.T) {
	for _, c := range []struct{ elf, alt, other string }{
		{"testdata/golden/x86-gcc4-alt.elf", "x86-gcc4-alt.alt", "testdata/dwz/x86-gcc5-sup.alt"},
		{"testdata/dwz/x86-gcc5-sup.elf", "x86-gcc5-sup.alt", "testdata/golden/x86-gcc4-alt.alt"},
	} {
		dir := t.TempDir()
		link := func(from, to string) {
			b, err := os.ReadFile(from)
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, to), b, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		link(c.elf, "x")
		paths := []string{filepath.Join(dir, "x")}
		fails := func(how string) {
			if _, err := runFiles(paths, encode.Options{Features: encode.DefaultFeatures}); err == nil || !strings.Contains(err.Error(), c.alt) {
				t.Errorf("%s: error %v does not say %q", how, err, c.alt)
			}
		}
		fails("missing")
		link(c.other, c.alt)
		fails("other id")
		if err := os.Mkdir(filepath.Join(dir, ".dwz"), 0o755); err != nil {
			t.Fatal(err)
		}
		link(filepath.Join(filepath.Dir(c.elf), c.alt), ".dwz/"+c.alt)
		if _, err := runFiles(paths, encode.Options{Features: encode.DefaultFeatures}); err != nil {
			t.Errorf("in .dwz: %v", err)
		}
	}
}
