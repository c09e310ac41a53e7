package archive

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	at "github.com/btflite/btflite/internal/archive/archivetest"
	"github.com/btflite/btflite/internal/pack"
	"github.com/btflite/btflite/test/testfile"
)

// threeModules is a package of a kernel with three modules, two of which have one name.
func threeModules() []byte {
	return at.Tar(at.Entry{Name: "vmlinux", Data: at.Kernel(release)}, at.Entry{Name: "a.ko", Data: at.Module(release, "a", 'a')},
		at.Entry{Name: "b/b.ko", Data: at.Module(release, "b", 'b')}, at.Entry{Name: "c/b.ko", Data: at.Module(release, "c", 'c')})
}

// contents returns the files of an archive without the store, which nobody needs to have.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range files(t, dir) {
		if !strings.HasPrefix(name, StoreDir+"/") {
			all[name] = string(testfile.Read(t, filepath.Join(dir, name)))
		}
	}
	return all
}

// addUnlessDone does with a package what a run does.
func addUnlessDone(t *testing.T, a *Archive, path string) (done bool) {
	t.Helper()
	rec, err := a.Done(path)
	if err != nil {
		t.Fatal(err)
	}
	if rec == nil {
		add(t, a, path)
	}
	return rec != nil
}

// TestGone: whatever was deleted from an archive, one file, two, or a folder, with the store or without, the next
// run makes it again, and the run after that finds all done.
func TestGone(t *testing.T) {
	for _, form := range []Form{Raw, Zstd, TarXZ} {
		for _, modules := range []bool{false, true} {
			dir := packages(t, map[string][]byte{"a.tar": threeModules()})
			made := archiveIn(t)
			made.Form, made.Modules = form, modules
			file := filepath.Join(dir, "a.tar")
			add(t, made, file)
			want := contents(t, made.Dir)
			names := []string{kernelName}
			for name := range want {
				names = append(names, name)
			}
			slices.Sort(names)
			if least := map[bool]int{false: 3, true: 7}[modules]; len(want) != least {
				t.Fatalf("%q, want %d files", names, least)
			}
			for i, one := range names {
				pairs := names[i:]
				if form != Raw {
					pairs = pairs[:1] // with itself
				}
				for _, two := range pairs {
					for _, withStore := range []bool{false, true} {
						gone := []string{one, two}
						if withStore {
							gone = append(gone, StoreDir)
						}
						a := archiveIn(t)
						a.Form, a.Modules = form, modules
						add(t, a, file)
						for _, name := range gone {
							if err := os.RemoveAll(filepath.Join(a.Dir, name)); err != nil {
								t.Fatal(err)
							}
						}
						nothing := one == two && one == kernelName && !modules // there is no such folder
						if done := addUnlessDone(t, a, file); done != nothing {
							t.Errorf("form %d, modules %v, without %q: done is %v", form, modules, gone, done)
						}
						if !addUnlessDone(t, a, file) {
							t.Errorf("form %d, modules %v, without %q: it is never done", form, modules, gone)
						}
						for name, data := range contents(t, a.Dir) {
							if want[name] != data {
								t.Errorf("form %d, modules %v, without %q: %s is new, or has other contents", form, modules, gone, name)
							}
							delete(want, name)
						}
						for name := range want {
							t.Errorf("form %d, modules %v, without %q: %s is not there", form, modules, gone, name)
						}
						want = contents(t, made.Dir)
					}
				}
			}
		}
	}
}

// TestGoneFromOnePackage: a package has what it names even if another package of the same kernel came first.
func TestGoneFromOnePackage(t *testing.T) {
	dir := packages(t, map[string][]byte{
		"a.tar": threeModules(),
		"b.tar": at.Tar(at.Entry{Name: "vmlinux", Data: at.Kernel(release)}, at.Entry{Name: "z.ko", Data: at.Module(release, "z", 'z')}, at.Entry{Name: "a.ko", Data: at.Module(release, "a", 'a')}),
	})
	a := moduleArchive(t)
	add(t, a, filepath.Join(dir, "a.tar"))
	add(t, a, filepath.Join(dir, "b.tar"))
	want := contents(t, a.Dir)
	if err := os.Remove(filepath.Join(a.Dir, kernelName, "a.btf")); err != nil {
		t.Fatal(err)
	}
	rec := add(t, a, filepath.Join(dir, "b.tar"))
	if m := rec.Kernels[0]; m.Modules.Stored != 1 || len(m.ModulesFailed) != 1 || m.ModulesFailed[0].Reason != reasonNotRecorded {
		t.Errorf("%+v", m)
	}
	for name, data := range contents(t, a.Dir) {
		if want[name] != data {
			t.Errorf("%s is new, or has other contents", name)
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("missing: %q", want)
	}
}

// TestNotRestored: if what is gone would come back with other contents than its record has, because the program or
// the options are others now, the run says so and writes nothing under a name.
func TestNotRestored(t *testing.T) {
	for _, gone := range []string{kernelName + ".btf", kernelName + "/a.btf"} {
		dir, a := packages(t, map[string][]byte{"a.tar": threeModules()}), moduleArchive(t)
		file := filepath.Join(dir, "a.tar")
		add(t, a, file)
		if err := os.Remove(filepath.Join(a.Dir, gone)); err != nil {
			t.Fatal(err)
		}
		want := contents(t, a.Dir)
		a.Form = Zstd
		pkg, err := pack.Open(file, a.Limits)
		if err != nil {
			t.Fatal(err)
		}
		_, err = a.Add(pkg)
		pkg.Close()
		if err == nil || !IsTrouble(err) || !strings.Contains(err.Error(), ": cannot restore: ") && !strings.Contains(err.Error(), ": its record is of other contents") {
			t.Errorf("%s: %v", gone, err)
		}
		got := contents(t, a.Dir)
		for name, data := range got {
			if want[name] != data {
				t.Errorf("%s: %s is new, or has other contents", gone, name)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d files, want %d", gone, len(got), len(want))
		}
	}
}

// TestCutShort: a name whose file is a copy that was cut short is not taken for another build's: the error tells
// which file to remove, and when that is done, the run makes it again.
func TestCutShort(t *testing.T) {
	for _, name := range []string{kernelName + ".btf", kernelName + "/a.btf"} {
		dir, a := packages(t, map[string][]byte{"a.tar": threeModules()}), moduleArchive(t)
		file, cut := filepath.Join(dir, "a.tar"), filepath.Join(a.Dir, name)
		add(t, a, file)
		want := contents(t, a.Dir)
		if err := os.Remove(cut); err != nil {
			t.Fatal(err)
		}
		testfile.Write(t, cut, []byte(want[name][:10]))
		if name != kernelName+".btf" { // the sizes of modules are looked at if one is gone
			if err := os.Remove(filepath.Join(a.Dir, kernelName, "b.btf")); err != nil {
				t.Fatal(err)
			}
		}
		if rec, err := a.Done(file); rec != nil || err != nil {
			t.Errorf("%s: %+v, %v", name, rec, err)
		}
		pkg, err := pack.Open(file, a.Limits)
		if err != nil {
			t.Fatal(err)
		}
		_, err = a.Add(pkg)
		pkg.Close()
		if err == nil || !strings.HasPrefix(err.Error(), cut+": ") || !strings.Contains(err.Error(), "remove the file") {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.Remove(cut); err != nil {
			t.Fatal(err)
		}
		add(t, a, file)
		if got := contents(t, a.Dir); len(got) != len(want) || got[name] != want[name] {
			t.Errorf("%s: %d files, want %d, or other contents", name, len(got), len(want))
		}
	}
}

// TestIndexGone: the index tells which BTF is gone.
func TestIndexGone(t *testing.T) {
	dir, a := packages(t, map[string][]byte{"a.tar": threeModules()}), moduleArchive(t)
	add(t, a, filepath.Join(dir, "a.tar"))
	x, err := Merge(a.Dir)
	if err != nil || x.Lost(a.Dir) != nil {
		t.Fatalf("%v, %q", err, x.Lost(a.Dir))
	}
	if err := os.Remove(filepath.Join(a.Dir, kernelName+".btf")); err != nil {
		t.Fatal(err)
	}
	if got, want := x.Lost(a.Dir), []Lost{{kernelName + ".btf", nil}}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if _, err := Find(a.Dir, at.BuildID); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if data := testfile.Read(t, filepath.Join(a.Dir, kernelName+RecordSuffix)); !bytes.Contains(data, []byte(at.BuildID)) {
		t.Errorf("%s", data)
	}
}
