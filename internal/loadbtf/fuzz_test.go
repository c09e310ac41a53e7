package loadbtf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
)

// FuzzLoadBTF reads files of any content as BTF: raw, in ELF, compressed; by
// themselves, and over a base.
func FuzzLoadBTF(f *testing.F) {
	small, err := os.ReadFile("../../testdata/small/small.btf")
	if err != nil {
		f.Fatal(err)
	}
	base, err := btf.Parse(small, nil)
	if err != nil {
		f.Fatal(err)
	}
	b := btf.NewBuilder(false, base)
	b.Add("of_base", btf.Info(btf.KindTypedef, 0, false), 1)
	split, err := b.Blob()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(small)
	f.Add(split.Encode())
	for _, pattern := range []string{"../../testdata/split/*.gz", "../../testdata/split/*.xz", "../../testdata/split/*.zst", "../../encode/testdata/golden/x86-tags.elf"} {
		names, _ := filepath.Glob(pattern)
		for _, name := range names {
			if b, err := os.ReadFile(name); err == nil {
				f.Add(b)
			}
		}
	}
	path := filepath.Join(f.TempDir(), "in")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, base := range []*btf.Blob{nil, base} {
			b, err := Loader{}.Load(path, base)
			if (b == nil) == (err == nil) {
				t.Fatalf("blob %v with error %v", b != nil, err)
			}
			if err != nil && !strings.Contains(err.Error(), path) {
				t.Errorf("the error does not name the file: %v", err)
			}
		}
	})
}
