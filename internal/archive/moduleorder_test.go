package archive

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	at "github.com/btflite/btflite/internal/archive/archivetest"
	"github.com/btflite/btflite/internal/pack"
)

// buildOf returns Kernel of another build, whose build-id begins with first.
func buildOf(release string, first byte) []byte {
	return bytes.Replace(at.Kernel(release), []byte("\x01\x02\x03\x04\x05"), []byte{first, first, 3, 4, 5}, 1)
}

// orderedFiles has the files from which TestModuleOrders makes packages, by short names. A and B are kernels of two
// releases, T is another build of A's release, and G is a kernel without BTF.
var orderedFiles = map[string]at.Entry{
	"A":  {Name: "one/vmlinux", Data: at.Kernel(release)},
	"a":  {Name: "one/a.ko", Data: at.Module(release, "a", 1)},
	"B":  {Name: "two/vmlinux", Data: buildOf("6.1.0", 0xbb)},
	"b":  {Name: "two/b.ko", Data: at.Module("6.1.0", "b", 2)},
	"T":  {Name: "one/twin/vmlinux", Data: buildOf(release, 0xcc)},
	"t":  {Name: "one/twin/a.ko", Data: at.Module(release, "a", 3)},
	"x":  {Name: "far/x.ko", Data: at.Module(release, "x", 4)},
	"o":  {Name: "far/o.ko", Data: at.Module("5.0", "o", 5)},
	"G":  {Name: "bad/vmlinux", Data: bytes.Replace(at.BrokenKernel("6.2.0"), []byte("\x01\x02\x03\x04\x05"), []byte{0xdd, 2, 3, 4, 5}, 1)},
	"g":  {Name: "bad/g.ko", Data: at.Module("6.2.0", "g", 6)},
	"A2": {Name: "copy/vmlinux", Data: at.Kernel(release)},
	"c":  {Name: "copy/c.ko", Data: at.Module(release, "c", 7)},
	"S":  {Name: "boot/vmlinux", Data: at.StrippedKernel(release)},
	"s":  {Name: "boot/s.ko", Data: at.Module(release, "s", 8)},
}

// orderedPackage returns a tar archive of orderedFiles.
func orderedPackage(names string) []byte {
	var entries []at.Entry
	for name := range strings.FieldsSeq(names) {
		entries = append(entries, orderedFiles[name])
	}
	return at.Tar(entries...)
}

// kernelsElsewhere returns a tar archive of the kernels of orderedFiles that have DWARF, each in the folder
// of another one.
func kernelsElsewhere() []byte {
	a, b, twin := orderedFiles["A"], orderedFiles["B"], orderedFiles["T"]
	a.Name, b.Name, twin.Name = twin.Name, a.Name, b.Name
	return at.Tar(a, b, twin)
}

// gotModules describes the modules of an archive: "RELEASE: FILE..." of each kernel, with "early N" for one
// whose modules came too early.
func gotModules(t *testing.T, a *Archive, rec *PackageRecord) string {
	t.Helper()
	var lines []string
	for i := range rec.Kernels {
		k := &rec.Kernels[i]
		if k.BTF == "" || k.Before && k.Modules == nil && k.ModulesEarly == 0 {
			continue
		}
		line := filepath.Base(k.ModulesDir()) + ":"
		if k.ModulesEarly > 0 {
			line += fmt.Sprintf(" early %d", k.ModulesEarly)
		}
		var mods ModulesRecord
		if err := readJSON(PathOf(a.Dir, k.ModulesFile()), &mods); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		for _, m := range mods.List {
			line += " " + m.File
			if got, err := os.ReadFile(PathOf(a.Dir, m.BTF)); err != nil || !bytes.Equal(got, splitOf(t, PathOf(a.Dir, k.BTF), at.Module(release, m.Name, 0))) {
				t.Errorf("%s of %s: %d bytes, %v", m.File, k.Release, len(got), err)
			}
		}
		if in, err := os.ReadDir(PathOf(a.Dir, k.ModulesDir())); err == nil && len(in) != len(mods.List)+1 {
			t.Errorf("%s: %v and %d modules", k.Release, in, len(mods.List))
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	if rec.OfNoKernel > 0 {
		lines = append(lines, fmt.Sprintf("%d of none", rec.OfNoKernel))
	}
	return strings.Join(lines, "; ")
}

// TestModuleOrders: what becomes of modules does not depend on the order of the files in a package. If a
// module comes before its kernel in a stream, all modules of that kernel are left out, and the record says so.
func TestModuleOrders(t *testing.T) {
	const a, ab, at2 = "6.99.0: one/a.ko", "6.1.0: two/b.ko; 6.99.0: one/a.ko", "6.99.0+cccc03040506: one/twin/a.ko; 6.99.0: one/a.ko"
	for _, c := range []struct{ files, want, stream string }{
		{"A a", a, a},
		{"a A", a, "6.99.0: early 1"},
		{"A a B b", ab, ab},
		{"A B b a", ab, ab},
		{"A b B a", ab, "6.1.0: early 1; 6.99.0: one/a.ko"},
		{"A a b B", ab, "6.1.0: early 1; 6.99.0: one/a.ko"},
		{"a A B b", ab, "6.1.0: two/b.ko; 6.99.0: early 1"},
		{"a b A B", ab, "6.1.0: early 1; 6.99.0: early 1"},
		{"b B A a o", ab + "; 1 of none", "6.1.0: early 1; 6.99.0: one/a.ko; 1 of none"},
		{"o A a", a + "; 1 of none", a + "; 1 of none"},
		{"o", "", ""},
		// Builds of one release: the nearer one has the module, whichever comes first.
		{"A a T t", at2, at2},
		{"A T a t", at2, at2},
		{"A t a T", at2, "6.99.0+cccc03040506: early 1; 6.99.0: one/a.ko"},
		{"t A a T", at2, "6.99.0+cccc03040506: early 1; 6.99.0: early 1"},
		{"a A t T", at2, "6.99.0+cccc03040506: early 1; 6.99.0: early 1"},
		// A module beside no kernel belongs to the one of its release.
		{"A x", "6.99.0: far/x.ko", "6.99.0: far/x.ko"},
		{"x B b A", "6.1.0: two/b.ko; 6.99.0: far/x.ko", "6.1.0: two/b.ko; 6.99.0: early 1"},
		// A kernel that fails keeps its modules from the others, and its modules are of a kernel.
		{"G g A a", a, a},
		{"A g G a", a, a},
		{"g G", "", ""},
		// A kernel that lies in two places.
		{"A a A2 c", "6.99.0: one/a.ko copy/c.ko", "6.99.0: one/a.ko copy/c.ko"},
		{"A c a A2", "6.99.0: one/a.ko copy/c.ko", "6.99.0: one/a.ko copy/c.ko"},
		// One file of it has no BTF.
		{"S s A a", "6.99.0: one/a.ko boot/s.ko", "6.99.0: early 1"},
		{"A a S s", "6.99.0: one/a.ko boot/s.ko", "6.99.0: one/a.ko boot/s.ko"},
	} {
		for jobs, compression := range map[int]string{1: "", 3: "xz"} {
			what := fmt.Sprintf("%s, %q, -j%d", c.files, compression, jobs)
			data := at.Compress(compression, orderedPackage(c.files))
			dir := packages(t, map[string][]byte{"a.tar": data})
			archiveOf := func() *Archive {
				a := moduleArchive(t)
				a.Jobs, a.Existing = jobs, EncodeExisting
				return a
			}
			streamed := func(a *Archive) *PackageRecord {
				rec, err := a.Add(pack.Stream("stdin", bytes.NewReader(data), a.Limits))
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				return rec
			}
			file := archiveOf()
			if got := gotModules(t, file, add(t, file, filepath.Join(dir, "a.tar"))); got != c.want {
				t.Errorf("%s: %q, want %q", what, got, c.want)
			}
			// Kernels that are in the archive lay elsewhere in other packages.
			known := archiveOf()
			known.Modules = false
			add(t, known, filepath.Join(packages(t, map[string][]byte{"k.tar": kernelsElsewhere()}), "k.tar"))
			known.Modules = true
			if got := gotModules(t, known, add(t, known, filepath.Join(dir, "a.tar"))); got != c.want {
				t.Errorf("%s, with known kernels: %q, want %q", what, got, c.want)
			}
			// What the archive has already needs no second reading.
			before := len(files(t, file.Dir))
			for _, k := range streamed(file).Kernels {
				if k.ModulesEarly > 0 || k.BTF != "" && !k.Before || len(files(t, file.Dir)) != before {
					t.Errorf("%s: again, from a pipe: %+v", what, k)
				}
			}
			pipe := archiveOf()
			if got := gotModules(t, pipe, streamed(pipe)); got != c.stream {
				t.Errorf("%s, from a pipe: %q, want %q", what, got, c.stream)
			}
			// The file gives the rest. It is not read only because modules have no kernel.
			got := gotModules(t, pipe, add(t, pipe, filepath.Join(dir, "a.tar")))
			if strings.TrimSuffix(got, "; 1 of none") != strings.TrimSuffix(c.want, "; 1 of none") {
				t.Errorf("%s, the file after the pipe: %q, want %q", what, got, c.want)
			}
		}
	}
}

// TestModulesAfterCut: a stream that was cut and comes again as a whole, or the other way round, gives the
// archive that it gives when it comes once.
func TestModulesAfterCut(t *testing.T) {
	whole := orderedPackage("A a x B b")
	once := moduleArchive(t)
	send := func(a *Archive, data []byte) *PackageRecord {
		rec, err := a.Add(pack.Stream("stdin", bytes.NewReader(data), a.Limits))
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	send(once, whole)
	for _, name := range []string{"one/a.ko", "far/x.ko", "two/vmlinux", "two/b.ko"} {
		cut := whole[:bytes.Index(whole, []byte(name+"\x00"))+700]
		for _, order := range [][2][]byte{{cut, whole}, {whole, cut}} {
			a := moduleArchive(t)
			damaged := send(a, order[0]).Damaged
			if damaged == send(a, order[1]).Damaged || !slices.Equal(files(t, a.Dir), files(t, once.Dir)) {
				t.Errorf("%s: first damaged %v; %q, want %q", name, damaged, files(t, a.Dir), files(t, once.Dir))
			}
		}
	}
}
