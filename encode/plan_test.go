package encode_test

import (
	"bytes"
	"debug/elf"
	"slices"
	"testing"

	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/test/testfile"
)

// countPasses encodes a file and says how often its units were gone through.
func countPasses(t *testing.T, image []byte, opt encode.Options) (data []byte, passes int) {
	t.Helper()
	path := testfile.New(t, "in", image)
	last := ^uint64(0)
	opt.Features, opt.Jobs = encode.DefaultFeatures, 1
	opt.Progress = func(done, _ uint64) {
		if done <= last {
			passes++
		}
		last = done
	}
	data = mustRun(t, []string{path}, opt)
	return data, passes
}

// referring is a file whose second unit refers to the first one.
func referring() []byte {
	i := base("int", 4, ateSigned)
	other := dt.N(dt.TagTypedef, dt.Name("t"), dt.Attr{At: dt.AtType, Form: dt.FormRefAddr, Val: i})
	units := []*dt.Unit{dt.CU(i), dt.CU(other)}
	return (&dt.File{Units: units}).Bytes()
}

// TestPlan: it is decided before units are read how to read a file, so each unit is read
// once. Only units that disagree about a type cause a second phase.
func TestPlan(t *testing.T) {
	image, want, off, end := relocatable(t, ".debug_info")
	reversed := slices.Clone(image)
	for i := off; i < end; i += entrySize {
		copy(reversed[i:i+entrySize], image[end-entrySize-(i-off):])
	}
	if got, passes := countPasses(t, reversed, encode.Options{}); passes != 1 || !bytes.Equal(got, want) {
		t.Errorf("unsorted relocations: %d passes, the bytes of sorted ones: %v", passes, bytes.Equal(got, want))
	}
	if _, passes := countPasses(t, referring(), encode.Options{}); passes != 1 {
		t.Errorf("units that refer to each other: %d passes", passes)
	}
	most := 0
	for seed := range uint64(40) {
		f := disagreeing(seed)
		_, passes := countPasses(t, f.Bytes(), encode.Options{})
		most = max(most, passes)
		for _, dedup := range []encode.Dedup{encode.DedupStream, encode.DedupExact} {
			if _, passes := countPasses(t, f.Bytes(), encode.Options{Dedup: dedup, Verbose: func(string) {}}); passes != 1 {
				t.Errorf("units that disagree, one algorithm: %d passes", passes)
			}
		}
	}
	if most != 2 {
		t.Errorf("units that disagree: %d passes", most)
	}
}

// TestBytesBehindAbbreviations: if not all abbreviations can be read beforehand, the
// units that use them decide how to read the file.
func TestBytesBehindAbbreviations(t *testing.T) {
	alone := (&dt.File{Units: []*dt.Unit{dt.CU(base("int", 4, ateSigned)), dt.CU(base("char", 1, ateSigned))}}).Bytes()
	for name, image := range map[string][]byte{"alone": alone, "referring": referring()} {
		want, _ := countPasses(t, image, encode.Options{})
		f, err := elf.NewFile(bytes.NewReader(image))
		if err != nil {
			t.Fatal(err)
		}
		s := f.Section(".debug_abbrev")
		// The section moves to the end of the file, and gets bytes that are not abbreviations.
		moved := slices.Concat(image, image[s.Offset:][:s.Size], []byte{1, 0, 7, 7, 7})
		header := sectionHeader(t, image, ".debug_abbrev")
		f.ByteOrder.PutUint64(moved[header+24:], uint64(len(image)))
		f.ByteOrder.PutUint64(moved[header+32:], s.Size+5)
		if got, passes := countPasses(t, moved, encode.Options{}); passes != 1 || !bytes.Equal(got, want) {
			t.Errorf("%s: %d passes; the same bytes: %v", name, passes, bytes.Equal(got, want))
		}
	}
}

// sectionHeader is where the header of a section is in a 64-bit file.
func sectionHeader(t *testing.T, image []byte, name string) int {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range f.Sections {
		if s.Name == name {
			return int(f.ByteOrder.Uint64(image[40:])) + 64*i
		}
	}
	t.Fatalf("no section %s", name)
	return 0
}
