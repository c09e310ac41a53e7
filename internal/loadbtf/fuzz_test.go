package loadbtf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/test/testfile"
)

// FuzzLoadBTF reads files of any content as BTF: raw, in ELF, compressed; by
// themselves, and over a base.
func FuzzLoadBTF(f *testing.F) {
	small, err := os.ReadFile("../../testdata/small/small.btf")
	if err != nil {
		f.Fatal(err)
	}
	base := btftest.Parse(f, small, nil)
	b := btftest.Over(base)
	b.Typedef("of_base", 1)
	f.Add(small)
	long := btftest.Parse(f, small, nil)
	long.Form = btf.WithLayout()
	f.Add(long.Encode())
	f.Add(b.Encode(false))
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
		testfile.Write(t, path, data)
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
