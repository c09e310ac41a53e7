package encode_test

import (
	"bytes"
	"debug/elf"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/mmapelf"
	"github.com/btflite/btflite/test/testfile"
)

// TestSession: what a session has encoded before leaves no trace, with and
// without a base, and after files that fail.
func TestSession(t *testing.T) {
	files := goldenFiles(t)
	bad := testfile.New(t, "bad", "no ELF file")
	base := sessionBase(t, files[0])
	defer base.Free()
	for name, opt := range map[string]encode.Options{
		"alone":  {Features: encode.DefaultFeatures, Jobs: 1},
		"base":   {Features: encode.DefaultFeatures, Jobs: 1, Base: base},
		"flaw":   {Features: encode.DefaultFeatures, Jobs: 2, Base: base, Libbpf: encode.Libbpf17},
		"exact":  {Features: encode.DefaultFeatures, Jobs: 1, Base: base, Dedup: encode.DedupExact},
		"global": {Features: encode.AllFeatures, Jobs: 2, Base: base},
	} {
		t.Run(name, func(t *testing.T) {
			s := encode.NewSession(opt)
			defer s.Close()
			n := 0
			for round := range 2 {
				for _, path := range files {
					want, wantErr := encode.Run([]string{path}, opt)
					got, err := s.EncodeSource(mmapelf.Source{Path: path})
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
				if _, err := s.EncodeSource(mmapelf.Source{Path: bad}); err == nil {
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
	data := mustRun(t, []string{path}, encode.Options{Features: encode.DefaultFeatures, Jobs: 1})
	return newBase(t, btftest.Parse(t, data, nil))
}

// TestSessionForgetsAbbreviations: two files with tables of equal length at the
// same place, which say other things.
func TestSessionForgetsAbbreviations(t *testing.T) {
	s := encode.NewSession(encode.Options{Features: encode.DefaultFeatures, Jobs: 1})
	defer s.Close()
	for tag, want := range map[int]string{dt.TagConstType: "CONST", dt.TagVolatileType: "VOLATILE"} {
		i := intType()
		x := rule{files: one(i, ref(tag, "", i))}
		out, err := s.EncodeSource(mmapelf.Source{Path: x.write(t, t.TempDir())[0]})
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := format(t, out.Bytes()); !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
		out.Close()
	}
}

// TestSessionAfterDamage: a session first reads damaged files, and many fail
// half-way. It then gives undamaged files the same bytes as a new run.
func TestSessionAfterDamage(t *testing.T) {
	if testing.Short() {
		t.Skip("all golden files, damaged")
	}
	files := goldenFiles(t)
	base := sessionBase(t, files[0])
	defer base.Free()
	data := make([][]byte, len(files))
	for i, path := range files {
		var err error
		if data[i], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	damaged := filepath.Join(t.TempDir(), "damaged")
	damage := func(b []byte) []byte {
		b = bytes.Clone(b)
		f, err := elf.NewFile(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{".debug_info", ".debug_abbrev", ".symtab", ".debug_str"} {
			if s := f.Section(name); s != nil && s.FileSize > 0 && r.IntN(2) == 0 {
				b[s.Offset+uint64(r.Int64N(int64(s.FileSize)))] ^= 1 << r.IntN(8)
			}
		}
		return b
	}
	for name, opt := range map[string]encode.Options{
		"alone": {Features: encode.AllFeatures, Jobs: 1},
		"base":  {Features: encode.AllFeatures, Jobs: 1, Base: base},
		"four":  {Features: encode.DefaultFeatures, Jobs: 4, Base: base, ExtraVars: true},
	} {
		s := encode.NewSession(opt)
		failed, whole := 0, 0
		for range 250 {
			testfile.Write(t, damaged, damage(data[r.IntN(len(data))]))
			if out, err := s.EncodeSource(mmapelf.Source{Path: damaged}); err == nil {
				out.Close()
			} else {
				failed++
			}
			path := files[r.IntN(len(files))]
			want, wantErr := encode.Run([]string{path}, opt)
			got, err := s.EncodeSource(mmapelf.Source{Path: path})
			if (err == nil) != (wantErr == nil) {
				t.Fatalf("%s: %s: %v, alone: %v", name, path, err, wantErr)
			}
			if err != nil {
				continue
			}
			whole++
			if !bytes.Equal(got.Bytes(), want.Bytes()) || !bytes.Equal(got.Extra(), want.Extra()) {
				t.Errorf("%s: %s: differs from what it is alone", name, path)
			}
			got.Close()
			want.Close()
		}
		s.Close()
		if failed < 50 || whole < 50 {
			t.Errorf("%s: %d damaged files failed, %d whole ones were encoded", name, failed, whole)
		}
	}
}
