package encode_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
)

// FuzzEncode encodes files of any content: see tryBytes for what must hold.
// sets chooses the features.
func FuzzEncode(f *testing.F) {
	for _, p := range []string{"x86-tags.elf", "x86-clang4.elf", "s390x-gcc2.elf", "x86-gcc5-dwz.elf", "x86-clang5-thin.elf", "x86-gcc5-lto.elf"} {
		b, err := os.ReadFile(filepath.Join("testdata/golden", p))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, byte(2))
	}
	for _, r := range allRules() {
		if r.bug != "" {
			continue
		}
		for i := range r.files {
			f.Add(r.files[i].Bytes(), byte(1))
		}
	}
	for _, c := range badCases() {
		file := c.file
		file.Units = append(file.Units, c.unit)
		debug := file.DebugSections()
		if c.damage != nil {
			c.damage(debug)
		}
		if b := file.Image(debug); len(b) < 1<<16 {
			f.Add(b, byte(2))
		}
	}
	sets := []encode.Features{encode.BasicFeatures, encode.DefaultFeatures, encode.AllFeatures, encode.DefaultFeatures | encode.ForceCUMerging}
	path := filepath.Join(f.TempDir(), "input")
	f.Fuzz(func(t *testing.T, image []byte, set byte) {
		tryBytes(t, path, image, sets[int(set)%len(sets)])
	})
}

// FuzzSections is FuzzEncode for the debug sections alone, in a sound file.
func FuzzSections(f *testing.F) {
	add := func(file *dt.File) {
		shape := byte(0)
		if file.Class32 {
			shape |= 1
		}
		if file.BigEndian {
			shape |= 2
		}
		var s [4][]byte
		for _, d := range file.DebugSections() {
			switch d.Name {
			case ".debug_info":
				s[0] = d.Data
			case ".debug_abbrev":
				s[1] = d.Data
			case ".debug_str":
				s[2] = d.Data
			case ".debug_loclists":
				s[3] = d.Data
			}
		}
		if len(s[0]) < 1<<14 {
			f.Add(s[0], s[1], s[2], s[3], shape)
		}
	}
	for _, r := range allRules() {
		if r.bug != "" {
			continue
		}
		add(&r.files[0])
	}
	for _, c := range badCases() {
		file := c.file
		file.Units = append(file.Units, c.unit)
		add(&file)
	}
	path := filepath.Join(f.TempDir(), "input")
	f.Fuzz(func(t *testing.T, info, abbrev, str, loclists []byte, shape byte) {
		file := dt.File{Class32: shape&1 != 0, BigEndian: shape&2 != 0, Sections: []dt.Section{dt.Percpu()}, Symbols: funcs(dt.Func("g", fn2))}
		image := file.Image([]dt.Section{{Name: ".debug_info", Data: info}, {Name: ".debug_abbrev", Data: abbrev},
			{Name: ".debug_str", Data: str}, {Name: ".debug_loclists", Data: loclists}})
		features := encode.AllFeatures
		if shape&4 != 0 {
			features = encode.BasicFeatures
		}
		tryBytes(t, path, image, features)
	})
}
