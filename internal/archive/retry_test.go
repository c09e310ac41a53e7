package archive

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/arena"
	at "github.com/btflite/btflite/internal/archive/archivetest"
	"github.com/btflite/btflite/internal/pack"
	"github.com/btflite/btflite/mmapelf"
	"github.com/btflite/btflite/test/testfile"
)

// failing makes each file whose name has part crash the program, until the function that it returns is called.
func failing(part string) (repair func()) {
	old := meddle
	meddle = func(in mmapelf.Source) {
		if strings.Contains(in.Path, part) {
			panic("a fault")
		}
	}
	return func() { meddle = old }
}

// TestFaultIsTriedAgain: what a fault of the program has left without BTF is not done: each run tries it again, and
// says so. A program without the fault adds it, and leaves all else as it is, also what it would encode otherwise.
func TestFaultIsTriedAgain(t *testing.T) {
	for _, form := range []Form{Raw, TarXZ} {
		for _, part := range []string{": vmlinux", ": a.ko", "/b.ko", ".ko"} {
			dir, a, want := packages(t, map[string][]byte{"a.tar": threeModules(), "b.tar": threeModules()}), moduleArchive(t), moduleArchive(t)
			a.Form, want.Form = form, form
			file := filepath.Join(dir, "a.tar")
			add(t, want, file)
			repair := failing(part)
			defer repair()
			first := add(t, a, file)
			before := contents(t, a.Dir)
			if n := faults(first); n == 0 {
				t.Errorf("%s: %+v", part, first)
			}
			if rec, err := a.Done(file); rec != nil || err != nil {
				t.Errorf("%s: done: %+v, %v", part, rec, err)
			}
			if again := add(t, a, file); faults(again) != faults(first) {
				t.Errorf("%s: again: %d faults, want %d", part, faults(again), faults(first))
			}
			same(t, part+", again", contents(t, a.Dir), before)
			// The modules of another package do not take the place of those that are recorded.
			if part != ": vmlinux" {
				other := filepath.Join(dir, "b.tar")
				if rec := add(t, a, other); faults(rec) != 0 || !rec.Kernels[0].ModulesBefore {
					t.Errorf("%s: other: %+v", part, rec)
				}
				if rec, err := a.Done(other); rec == nil || err != nil {
					t.Errorf("%s: other is not done: %v", part, err)
				}
			}
			repair()
			// What is kept is not made again: a newer program may make other BTF of it.
			made := []string{}
			meddle = func(in mmapelf.Source) { made = append(made, in.Path) }
			if rec := add(t, a, file); faults(rec) != 0 {
				t.Errorf("%s: repaired: %+v", part, rec)
			}
			if n := map[string]int{": vmlinux": 4, ": a.ko": 1, "/b.ko": 2, ".ko": 3}[part]; len(made) != n {
				t.Errorf("%s: made again: %q, want %d", part, made, n)
			}
			got := contents(t, a.Dir)
			delete(got, "packages/b.tar.json")
			same(t, part+", repaired", got, contents(t, want.Dir))
			if rec, err := a.Done(file); rec == nil || err != nil {
				t.Errorf("%s: it is never done: %v", part, err)
			}
		}
	}
}

// faults counts the faults of the program in a record.
func faults(rec *PackageRecord) (n int) {
	for i := range rec.Kernels {
		k := &rec.Kernels[i]
		if k.Internal {
			n++
		}
		for j := range k.ModulesFailed {
			if k.ModulesFailed[j].Internal {
				n++
			}
		}
	}
	return n
}

// same compares the contents of two archives.
func same(t *testing.T, when string, got, want map[string]string) {
	t.Helper()
	for name, data := range got {
		if want[name] != data {
			t.Errorf("%s: %s is new, or has other contents:\n%s\nwant:\n%s", when, name, data, want[name])
		}
	}
	for name := range want {
		if _, ok := got[name]; !ok {
			t.Errorf("%s: %s is not there", when, name)
		}
	}
}

// TestCutShortPackage: a package that was archived while half of it had come is read again when it is whole.
func TestCutShortPackage(t *testing.T) {
	for name, data := range map[string][]byte{"a.deb": debOf("6.99.0"), "a.tar": threeModules(), "b.deb": at.Deb("gz", at.Entry{Name: "vmlinux", Data: at.Kernel("6.99.0")}, at.Entry{Name: "x", Data: make([]byte, 9000)})} {
		for _, modules := range []bool{false, true} {
			for _, part := range []int{4, 8, 15} { // sixteenths
				dir, a, want := packages(t, map[string][]byte{name: data[:len(data)*part/16]}), moduleArchive(t), moduleArchive(t)
				a.Modules, want.Modules = modules, modules
				file := filepath.Join(dir, name)
				cut := add(t, a, file)
				if cut.Reason == "" {
					continue // what is missing is not needed
				}
				testfile.Write(t, file, data)
				if done := addUnlessDone(t, a, file); done {
					t.Errorf("%s, %d/16: it is taken for done", name, part)
				}
				if !addUnlessDone(t, a, file) {
					t.Errorf("%s, %d/16: it is never done", name, part)
				}
				add(t, want, file)
				same(t, name, contents(t, a.Dir), contents(t, want.Dir))
			}
		}
	}
}

// TestOtherSize: a whole package is not taken for another one of its name.
func TestOtherSize(t *testing.T) {
	dir, a := packages(t, map[string][]byte{"a.tar": threeModules()}), archiveIn(t)
	file := filepath.Join(dir, "a.tar")
	add(t, a, file)
	testfile.Write(t, file, at.Tar(at.Entry{Name: "vmlinux", Data: at.Kernel("6.98.0")}))
	if rec, err := a.Done(file); err == nil || !strings.Contains(err.Error(), "give it another name") {
		t.Errorf("%+v, %v", rec, err)
	}
}

// TestPanicCostsOneKernel: kernels behind one that the program has a fault with are archived.
func TestPanicCostsOneKernel(t *testing.T) {
	defer failing("b/vmlinux")()
	dir, a := packages(t, map[string][]byte{"a.tar": at.Tar(at.Entry{Name: "a/vmlinux", Data: at.Kernel("6.1.0")}, at.Entry{Name: "b/vmlinux", Data: at.KernelWithBTF("6.2.0", at.SomeBTF())},
		at.Entry{Name: "c/vmlinux", Data: at.Kernel("6.3.0")})}), archiveIn(t)
	pkg, err := pack.Open(filepath.Join(dir, "a.tar"), a.Limits)
	if err != nil {
		t.Fatal(err)
	}
	defer pkg.Close()
	rec, err := a.Add(pkg)
	if err != nil || len(rec.Kernels) != 3 || rec.Kernels[0].BTF == "" || !rec.Kernels[1].Internal || rec.Kernels[2].BTF == "" {
		t.Errorf("%+v, %v", rec, err)
	}
}

// memoryFault stands for the panic of the runtime if it cannot read a page of a mapped file.
type memoryFault struct{}

func (memoryFault) Error() string { return "unexpected fault address" }
func (memoryFault) Addr() uintptr { return 1 }

// TestReadFaultIsTrouble: a file that cannot be read while it is at work, or changes, is trouble of the run: nothing is
// recorded. The same holds for memory.
func TestReadFaultIsTrouble(t *testing.T) {
	defer func(old func(mmapelf.Source)) { meddle = old }(meddle)
	for _, modules := range []bool{false, true} {
		for _, v := range []any{memoryFault{}, arena.Exhausted{}, arena.Stopped{Err: errors.New("stop")}} {
			dir, a := packages(t, map[string][]byte{"a.tar": threeModules()}), archiveIn(t)
			a.Modules = modules
			meddle = func(in mmapelf.Source) {
				if !modules || strings.HasSuffix(in.Path, ".ko") {
					panic(v)
				}
			}
			pkg, err := pack.Open(filepath.Join(dir, "a.tar"), a.Limits)
			if err != nil {
				t.Fatal(err)
			}
			rec, err := a.Add(pkg)
			pkg.Close()
			if rec != nil || !IsTrouble(err) {
				t.Errorf("%T, modules %v: %+v, %v", v, modules, rec, err)
			}
		}
	}
}
