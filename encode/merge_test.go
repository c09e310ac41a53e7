package encode_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/test/testfile"
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

// TestSupplementaryFile: a DWARF 5 file with a supplementary file has the same types as
// the program in one piece.
func TestSupplementaryFile(t *testing.T) {
	opt := encode.Options{Features: encode.DefaultFeatures, Jobs: 2}
	whole := mustRun(t, []string{"testdata/golden/x86-gcc5.elf"}, opt)
	for _, path := range []string{"testdata/dwz/x86-gcc5-sup.elf", "testdata/golden/x86-gcc5-dwz.elf"} {
		got := mustRun(t, []string{path}, opt)
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

// TestAlternateFileOfAlternate: there is no file behind the alternate one. A string, or
// a type, that is said to be there is an error.
func TestAlternateFileOfAlternate(t *testing.T) {
	const formRefAlt, formStrpAlt = 0x1f20, 0x1f21
	i := func(name dt.Attr) *dt.DIE { return dt.N(dt.TagBaseType, name, dt.Size(4), dt.Encoding(5)) }
	aliased := func(form int) dt.Attr { return dt.Attr{At: dt.AtName, Form: form, Val: dt.Raw{0, 0, 0, 0}} }
	for _, c := range []struct {
		what string
		alt  *dt.DIE // in the partial unit of the alternate file
		want string  // the error; "" for none
	}{
		{"a type", i(dt.Name("int")), ""},
		{"a string elsewhere", i(aliased(formStrpAlt)), "a name lies beyond .debug_str"},
		{"a type elsewhere", dt.N(dt.TagTypedef, dt.Name("t"), dt.Attr{At: dt.AtType, Form: formRefAlt, Val: dt.Raw{99, 0, 0, 0}}),
			"reference leads out of the alternate debug file, or there is none"},
	} {
		dir := t.TempDir()
		alt := dt.File{Units: []*dt.Unit{{Type: 3, Root: dt.N(dt.TagPartialUnit, dt.Language(0x1d), c.alt)}}}
		file := dt.File{
			Units: []*dt.Unit{dt.CU(i(dt.Name("unsigned")),
				dt.N(dt.TagImportedUnit, dt.Attr{At: dt.AtImport, Form: formRefAlt, Val: dt.Raw{12, 0, 0, 0}}))},
			Sections: []dt.Section{{Name: ".gnu_debugaltlink", Data: []byte("alt\x00")}},
		}
		path := filepath.Join(dir, "file")
		for path, data := range map[string][]byte{path: file.Bytes(), filepath.Join(dir, "alt"): alt.Bytes()} {
			testfile.Write(t, path, data)
		}
		for _, jobs := range []int{1, 3} {
			data, err := runFiles([]string{path}, encode.Options{Features: encode.DefaultFeatures, Jobs: jobs})
			switch {
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%s, jobs=%d: error %v, want %q", c.what, jobs, err, c.want)
			case c.want == "" && err != nil:
				t.Errorf("%s, jobs=%d: %v", c.what, jobs, err)
			case c.want == "" && !strings.Contains(strings.Join(shapes(t, data), "\n"), "INT 'int'"):
				t.Errorf("%s: types %q", c.what, shapes(t, data))
			}
		}
	}
}

// TestAlternateAbbreviations: the abbreviations of a file and of its alternate file may take the same
// number of bytes at the same place, and be others.
func TestAlternateAbbreviations(t *testing.T) {
	const formRefAlt = 0x1f20
	file := func() *dt.File {
		return &dt.File{
			Units: []*dt.Unit{dt.CU(dt.N(dt.TagBaseType, dt.Encoding(7), dt.Size(4), dt.Name("unsigned")),
				dt.N(dt.TagImportedUnit, dt.Attr{At: dt.AtImport, Form: formRefAlt, Val: dt.Raw{12, 0, 0, 0}}))},
			Sections: []dt.Section{{Name: ".gnu_debugaltlink", Data: []byte("alt\x00")}},
		}
	}
	alt := func(lines int) *dt.File {
		i := dt.N(dt.TagBaseType, dt.Name("int"), dt.Size(4), dt.Encoding(5))
		for range lines {
			i.Add(dt.Attr{At: 0x3b, Val: 0x7f}) // DW_AT_decl_line; no abbreviation has this code
		}
		return &dt.File{Units: []*dt.Unit{{Type: 3, Root: dt.N(dt.TagPartialUnit, dt.Language(0x1d), i)}}}
	}
	size := func(f *dt.File) int {
		sections := f.DebugSections()
		return len(sections[slices.IndexFunc(sections, func(s dt.Section) bool { return s.Name == ".debug_abbrev" })].Data)
	}
	want, lines := size(file()), 0
	for size(alt(lines)) < want {
		lines++
	}
	if n := size(alt(lines)); n != want {
		t.Fatalf("abbreviations of %d bytes, of the alternate file %d", want, n)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	testfile.Write(t, path, file().Bytes())
	testfile.Write(t, filepath.Join(dir, "alt"), alt(lines).Bytes())
	// Over a base, the offset of a name in .debug_str does not tell the files apart either.
	base := sessionBase(t, "../testdata/small/small")
	defer base.Free()
	for _, over := range []*encode.Base{nil, base} {
		if _, err := runFiles([]string{path}, encode.Options{Features: encode.DefaultFeatures, Base: over}); err != nil {
			t.Errorf("over a base %v: %v", over != nil, err)
		}
	}
}
