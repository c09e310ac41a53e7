package archive

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	at "github.com/btflite/btflite/internal/archive/archivetest"
	"github.com/btflite/btflite/internal/pack"
	"github.com/btflite/btflite/test/testfile"
)

// TestSameNameAndSize: a package of the name and the size of another one is not done by that one's record, in each format,
// also if only a byte differs in the middle of its kernel. The same package is done, under any path.
func TestSameNameAndSize(t *testing.T) {
	noise := make([]byte, 300<<10) // more than Ends reads
	for i, r := 0, rand.New(rand.NewPCG(1, 2)); i < len(noise); i++ {
		noise[i] = byte(r.Uint32())
	}
	entry := func(end []byte) at.Entry {
		return at.Entry{Name: "./boot/vmlinux-6.99.0", Data: append(at.Kernel("6.99.0"), end...)}
	}
	built := map[string]func(end []byte) []byte{
		"a.deb":     func(end []byte) []byte { return at.SummedDeb("", entry(end)) },
		"xz.deb":    func(end []byte) []byte { return at.SummedDeb("xz", entry(end)) },
		"zst.deb":   func(end []byte) []byte { return at.SummedDeb("zst", entry(end)) },
		"a.rpm":     func(end []byte) []byte { return at.SummedRPM("xz", entry(end)) },
		"a.tar.gz":  func(end []byte) []byte { return at.Compress("gz", at.Tar(entry(end))) },
		"a.tar.zst": func(end []byte) []byte { return at.Compress("zst", at.Tar(entry(end))) },
	}
	for name, build := range built {
		one, other := build(noise), bytes.Clone(noise)
		other[len(other)/2]++
		two := build(other)
		for range 255 { // until the lists of checksums are as long when they are compressed
			if len(one) == len(two) {
				break
			}
			other[len(other)/2]++
			two = build(other)
		}
		if len(one) != len(two) || bytes.Equal(one, two) {
			t.Fatalf("%s: sizes %d, %d", name, len(one), len(two))
		}
		dir, a := packages(t, map[string][]byte{"1/" + name: one, "2/" + name: two, "3/" + name: one}), archiveIn(t)
		add(t, a, filepath.Join(dir, "1", name))
		if _, err := a.Done(filepath.Join(dir, "2", name)); err == nil || !strings.Contains(err.Error(), "another package of this name and size; give it another name") || IsTrouble(err) {
			t.Errorf("%s: %v", name, err)
		}
		if rec, err := a.Done(filepath.Join(dir, "3", name)); err != nil || rec == nil {
			t.Errorf("%s: the same package: %+v, %v", name, rec, err)
		}
	}
}

// TestSameNameOldRecord: a record without the checksum, of an older program, makes its package done as before. Without
// kernels, a record does not make another package of this name and size done, which then takes its place.
func TestSameNameOldRecord(t *testing.T) {
	kernel, none := at.Tar(at.Entry{Name: "vmlinux", Data: at.Kernel("6.99.0")}), []byte(nil)
	none = bytes.ReplaceAll(kernel, []byte("Linux version"), []byte("Other version"))
	dir, a := packages(t, map[string][]byte{"1/a.tar": kernel, "2/a.tar": none}), archiveIn(t)
	first, second := filepath.Join(dir, "1/a.tar"), filepath.Join(dir, "2/a.tar")
	if rec := add(t, a, second); rec.Reason == "" {
		t.Fatalf("%+v", rec)
	}
	for _, want := range []bool{true, false} { // with the record of the second, then of the first
		if rec, err := a.Done(second); (rec != nil) != want || (err == nil) != want {
			t.Errorf("second: %+v, %v, want %v", rec, err, want)
		}
		if want {
			if rec, err := a.Done(first); rec != nil || err != nil {
				t.Errorf("first: %+v, %v", rec, err)
			}
			add(t, a, first)
		} else if rec, err := a.Done(first); rec == nil || err != nil {
			t.Errorf("first: %+v, %v", rec, err)
		}
	}
	record := filepath.Join(a.Dir, PackagesDir, "a.tar.json")
	rec := new(PackageRecord)
	if err := readJSON(record, rec); err != nil {
		t.Fatal(err)
	}
	ends, err := pack.Ends(bytes.NewReader(kernel), int64(len(kernel)))
	if err != nil || rec.Ends != ends {
		t.Fatalf("%q, want %q, %v", rec.Ends, ends, err)
	}
	rec.Ends = ""
	if err := replaceJSON(record, rec); err != nil || bytes.Contains(testfile.Read(t, record), []byte("ends")) {
		t.Fatal(err)
	}
	for _, file := range []string{first, second} {
		if rec, err := a.Done(file); rec == nil || err != nil {
			t.Errorf("%+v, %v", rec, err)
		}
	}
}
