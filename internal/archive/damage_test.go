package archive

import (
	"bytes"
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

// TestDoubt: if the checksum of a package, behind all of its files, says that the package is damaged, the
// records of its kernels say so, too. When an intact package brings the kernel, the archive has the BTF and
// the record of that one, and the doubtful BTF only under another build's name, if it was wrong.
func TestDoubt(t *testing.T) {
	tar := at.Tar(at.Entry{Name: "vmlinux", Data: at.Kernel(release)}, at.Entry{Name: "a.ko", Data: at.Module(release, "a", 'a')}, at.Entry{Name: "z", Data: make([]byte, 200_000)})
	whole := at.Compress("gz", tar)
	sum := append([]byte(nil), whole...)
	sum[len(sum)-6] ^= 1
	otherType := bytes.Replace(tar, []byte("int\x00"), []byte("inn\x00"), 1)
	otherSum := at.Compress("gz", otherType)
	otherSum[len(otherSum)-6] ^= 1
	for what, damaged := range map[string][]byte{"the checksum alone": sum, "the kernel": otherSum, "cut": whole[:len(whole)-9]} {
		dir := packages(t, map[string][]byte{"a.tar.gz": whole, "b.tar.gz": damaged})
		once, a := moduleArchive(t), moduleArchive(t)
		want := add(t, once, filepath.Join(dir, "a.tar.gz")).Kernels[0]
		for range 2 { // the second run finds the record of the first
			rec := add(t, a, filepath.Join(dir, "b.tar.gz"))
			k := rec.Kernels[0]
			if !rec.Damaged || rec.Reason == "" || !k.PackageDamaged || len(k.Warnings) != 1 || k.BTF != want.BTF {
				t.Errorf("%s: %+v", what, rec)
			}
			x, err := Merge(a.Dir)
			if err != nil || len(x.Kernels) != 1 || !x.Kernels[0].PackageDamaged || len(x.Kernels[0].Warnings) != 1 {
				t.Errorf("%s: %+v, %v", what, x, err)
			}
		}
		rec := add(t, a, filepath.Join(dir, "a.tar.gz"))
		k := rec.Kernels[0]
		if rec.Damaged || k.PackageDamaged || k.Warnings != nil || k.SHA256 != want.SHA256 || k.Before || k.Modules == nil || k.Modules.Stored != 1 {
			t.Errorf("%s: then %+v", what, rec)
		}
		if got := testfile.Read(t, filepath.Join(a.Dir, k.BTF)); !bytes.Equal(got, testfile.Read(t, filepath.Join(once.Dir, want.BTF))) {
			t.Errorf("%s: %s has other BTF", what, k.BTF)
		}
		if found, err := Find(a.Dir, k.BuildID); err != nil || len(found) != 1 || found[0] != k.BTF {
			t.Errorf("%s: found %q, %v", what, found, err)
		}
		if k.BTF != want.BTF {
			continue // the name was taken
		}
		for _, name := range files(t, once.Dir) {
			if !bytes.Equal(testfile.Read(t, filepath.Join(once.Dir, name)), testfile.Read(t, filepath.Join(a.Dir, name))) {
				t.Errorf("%s: %s differs", what, name)
			}
		}
	}
}
