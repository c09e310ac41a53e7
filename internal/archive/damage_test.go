package archive

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	at "github.com/btflite/btflite/internal/archive/archivetest"
	"github.com/btflite/btflite/internal/pack"
	"github.com/btflite/btflite/test/testfile"
)

// damages are ways in which a file may be damaged: one bit flipped or the end cut off, at 16 places, and one
// byte more.
func damages(data []byte) (all [][]byte) {
	for i := 0; i < len(data); i += max(1, len(data)/16) {
		flipped := append([]byte(nil), data...)
		flipped[i] ^= 1 << (i % 8)
		all = append(all, flipped, data[:i])
	}
	return append(all, append(append([]byte(nil), data...), 0))
}

// TestDamagedStore: what an archive has is compared with its checksum before it gets another name, or
// becomes the base of modules. Nothing is made of a damaged file.
func TestDamagedStore(t *testing.T) {
	for _, form := range []Form{Raw, Zstd, TarXZ} {
		dir, a := packages(t, map[string][]byte{
			"a.tar": at.Tar(at.Entry{Name: "vmlinux", Data: at.Kernel(release)}, at.Entry{Name: "a.ko", Data: at.Module(release, "a", 'a')}),
			"b.tar": at.Tar(at.Entry{Name: "vmlinux", Data: buildOf(release, 'b')}),
		}), archiveIn(t)
		a.Form = form
		k := add(t, a, filepath.Join(dir, "a.tar")).Kernels[0]
		file := filepath.Join(a.Dir, k.BTF)
		if err := os.Chmod(file, 0o644); err != nil {
			t.Fatal(err)
		}
		good, before := testfile.Read(t, file), files(t, a.Dir)
		for i, data := range damages(good) {
			if err := os.WriteFile(file, data, 0o644); err != nil { // it stays the same file, which has two names
				t.Fatal(err)
			}
			for name, modules := range map[string]bool{"a.tar": true, "b.tar": false} {
				a.Modules = modules
				pkg, err := pack.Open(filepath.Join(dir, name), a.Limits)
				if err != nil {
					t.Fatal(err)
				}
				rec, err := a.Add(pkg)
				pkg.Close()
				if err == nil || !isTrouble(err) || !strings.HasPrefix(err.Error(), a.Dir) || !strings.Contains(err.Error(), k.SHA256) {
					t.Fatalf("form %d, damage %d, %s: %+v, %v", form, i, name, rec, err)
				}
			}
		}
		if after := files(t, a.Dir); len(after) != len(before) {
			t.Errorf("form %d: %q were %q", form, after, before)
		}
		if err := os.WriteFile(file, good, 0o644); err != nil {
			t.Fatal(err)
		}
		a.Modules = true
		if rec := add(t, a, filepath.Join(dir, "a.tar")); rec.Kernels[0].Modules.Stored != 1 {
			t.Errorf("%+v", rec)
		}
	}
}
