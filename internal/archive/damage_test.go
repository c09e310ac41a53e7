package archive

import (
	"bytes"
	"errors"
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
				if err == nil || !IsTrouble(err) || !strings.HasPrefix(err.Error(), a.Dir) || !strings.Contains(err.Error(), k.SHA256) {
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

// TestDamagedRecords: a damaged file of the archive is the archive's trouble, and not damage of the package
// at work. The error names the file and the place.
func TestDamagedRecords(t *testing.T) {
	dir := packages(t, map[string][]byte{
		"a.tar": at.Tar(at.Entry{Name: "vmlinux", Data: at.Kernel(release)}, at.Entry{Name: "a.ko", Data: at.Module(release, "a", 'a')}),
		"b.tar": at.Tar(at.Entry{Name: "b/vmlinux", Data: at.Kernel(release)}, at.Entry{Name: "b/a.ko", Data: at.Module(release, "a", 'a')}),
	})
	a := moduleArchive(t)
	k := add(t, a, filepath.Join(dir, "a.tar")).Kernels[0]
	index, err := Merge(a.Dir)
	if err == nil {
		err = index.Write(a.Dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{kernelName + ".json", kernelName + "/modules.json", "packages/a.tar.json", "index.json"} {
		file := filepath.Join(a.Dir, name)
		good := testfile.Read(t, file)
		if err := os.Chmod(file, 0o644); err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, data := range damages(good) {
			if err := os.WriteFile(file, data, 0o644); err != nil {
				t.Fatal(err)
			}
			check := func(err error) {
				if err == nil {
					return // what is wrong is in no place that matters
				}
				text := err.Error() // a path in the record may be damaged, too
				if found++; !IsTrouble(err) || !strings.HasPrefix(text, file+": cannot read: byte ") && !strings.HasSuffix(text, "no such file or directory") {
					t.Errorf("%s: %v", name, err)
				}
			}
			pkg, err := pack.Open(filepath.Join(dir, "b.tar"), a.Limits)
			if err != nil {
				t.Fatal(err)
			}
			rec, err := a.Add(pkg)
			pkg.Close()
			if check(err); err == nil && rec.Damaged {
				t.Errorf("%s: %+v", name, rec)
			}
			_, err = a.Done(filepath.Join(dir, "a.tar"))
			if err != nil && strings.Contains(err.Error(), "give it another name") {
				err = nil // it is about another package
			}
			check(err)
			if name != "index.json" {
				_, err = Merge(a.Dir)
				check(err)
			} else if _, err = Find(a.Dir, k.BuildID); err != nil {
				check(err)
			}
			if err := os.Remove(filepath.Join(a.Dir, "packages/b.tar.json")); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
		if found < 4 {
			t.Errorf("%s: %d errors", name, found)
		}
		if err := os.WriteFile(file, good, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFindGone: find names no file that is gone. If the index is old, the records count.
func TestFindGone(t *testing.T) {
	dir, a := packages(t, map[string][]byte{deb: debOf("6.99.0")}), archiveIn(t)
	k := add(t, a, filepath.Join(dir, deb)).Kernels[0]
	record, other := strings.TrimSuffix(k.BTF, ".btf")+RecordSuffix, k
	other.BTF = "debian/12/x86_64/elsewhere.btf"
	if err := (&Index{Format: 1, Kernels: []KernelRecord{other}}).Write(a.Dir); err != nil {
		t.Fatal(err)
	}
	if found, err := Find(a.Dir, k.BuildID); err != nil || len(found) != 1 || found[0] != k.BTF {
		t.Errorf("%q, %v", found, err)
	}
	file := filepath.Join(a.Dir, k.BTF)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(a.Dir, k.BuildID); err == nil || err.Error() != file+": cannot open: no such file or directory" {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(a.Dir, record)); err != nil {
		t.Fatal(err)
	}
	if found, err := Find(a.Dir, k.BuildID); err != nil || len(found) != 0 {
		t.Errorf("%q, %v", found, err)
	}
}

// TestFindReadsModulesOnce: without the build-id in the index, find reads all records, but no record of modules twice.
// If a record has been deleted since the index was written, find goes on without it.
func TestFindReadsModulesOnce(t *testing.T) {
	dir, a := packages(t, map[string][]byte{"a.tar": threeModules()}), moduleArchive(t)
	k := add(t, a, filepath.Join(dir, "a.tar")).Kernels[0]
	x, err := Merge(a.Dir)
	if err != nil {
		t.Fatal(err)
	}
	const none = "deadbeef"
	record := filepath.Join(a.Dir, k.ModulesFile())
	s := &search{dir: a.Dir, prefix: none, without: map[string]bool{}}
	for range 2 {
		if found, err := s.in(x); err != nil || len(found) != 0 {
			t.Errorf("%q, %v", found, err)
		}
		if err := os.Remove(record); err != nil {
			t.Fatal(err)
		}
		testfile.Write(t, record, []byte(`"`+none)) // an error if it is read
	}
	if _, err := Find(a.Dir, none); err == nil {
		t.Error("no error for a damaged record")
	}
	if err := errors.Join(x.Write(a.Dir), os.Remove(record)); err != nil {
		t.Fatal(err)
	}
	if found, err := Find(a.Dir, none); err != nil || len(found) != 0 {
		t.Errorf("%q, %v", found, err)
	}
}
