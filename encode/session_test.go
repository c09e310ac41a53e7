package encode_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	dt "github.com/btflite/btflite/dwarf/dwarftest"
	"github.com/btflite/btflite/encode"
)

// TestSession: what a session has encoded before leaves no trace, with and
// without a base, and after files that fail.
func TestSession(t *testing.T) {
	files := goldenFiles(t)
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, []byte("no ELF file"), 0o600); err != nil {
		t.Fatal(err)
	}
	base := sessionBase(t, files[0])
	defer base.Free()
	for name, opt := range map[string]encode.Options{
		"alone":  {Features: encode.DefaultFeatures, Jobs: 1},
		"base":   {Features: encode.DefaultFeatures, Jobs: 1, Base: base},
		"flaw":   {Features: encode.DefaultFeatures, Jobs: 2, Base: base, LibbpfTypedefBug: true},
		"exact":  {Features: encode.DefaultFeatures, Jobs: 1, Base: base, Exact: true},
		"global": {Features: encode.AllFeatures, Jobs: 2, Base: base},
	} {
		t.Run(name, func(t *testing.T) {
			s := encode.NewSession(opt)
			defer s.Close()
			n := 0
			for round := range 2 {
				for _, path := range files {
					want, wantErr := encode.Run([]string{path}, opt)
					got, err := s.Encode(path)
					if (err == nil) != (wantErr == nil) {
						t.Fatalf("%s: %v, alone: %v", path, err, wantErr)
					}
					if err != nil {
						continue
					}
					n++
					if !bytes.Equal(got.Bytes(), want.Bytes()) {
						t.Errorf("round %d: %s: differs from what it is alone", round, path)
					}
					got.Close()
					want.Close()
				}
				if _, err := s.Encode(bad); err == nil {
					t.Error("no error for a file that is not ELF")
				}
			}
			if n < 10 {
				t.Errorf("only %d files were encoded", n)
			}
		})
	}
}

// sessionBase makes a base of the BTF of a file.
func sessionBase(t *testing.T, path string) *encode.Base {
	t.Helper()
	out, err := encode.Run([]string{path}, encode.Options{Features: encode.DefaultFeatures, Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	blob, err := btf.Parse(out.Bytes(), nil)
	if err != nil {
		t.Fatal(err)
	}
	base, err := encode.NewBase(blob)
	if err != nil {
		t.Fatal(err)
	}
	return base
}

// TestSessionForgetsAbbreviations: two files with tables of equal length at the
// same place, which say other things.
func TestSessionForgetsAbbreviations(t *testing.T) {
	s := encode.NewSession(encode.Options{Features: encode.DefaultFeatures, Jobs: 1})
	defer s.Close()
	for tag, want := range map[int]string{dt.TagConstType: "CONST", dt.TagVolatileType: "VOLATILE"} {
		i := intType()
		x := rule{files: one(i, ref(tag, "", i))}
		out, err := s.Encode(x.write(t, t.TempDir())[0])
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := format(t, out.Bytes()); !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
		out.Close()
	}
}
