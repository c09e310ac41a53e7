package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/verify"
	at "github.com/btflite/btflite/internal/archive/archivetest"
	"github.com/btflite/btflite/internal/job"
	"github.com/btflite/btflite/internal/loadbtf"
	"github.com/btflite/btflite/internal/pack"
	"github.com/btflite/btflite/mmapelf"
	"github.com/btflite/btflite/test/testfile"
)

const (
	release     = "6.99.0"
	kernelName  = "debian/12/x86_64/" + release
	inModules   = "usr/lib/debug/lib/modules/" + release + "/kernel/"
	lastInOrder = "usr/lib/debug/lib/modules/" + release + "/vmlinux"
)

// someModules are modules in all forms that distributions have. One is broken, one is stripped, and
// one is of another kernel.
var someModules = sync.OnceValue(func() []at.Entry {
	return []at.Entry{
		{Name: inModules + "plain.ko", Data: at.Module(release, "plain", 'p')},
		{Name: inModules + "z/plain.ko", Data: at.Module(release, "plain2", 'P')},
		{Name: inModules + "with-xz.ko.xz", Data: at.Compress("xz", at.Module(release, "with_xz", 'x'))},
		{Name: inModules + "with_zst.ko.zst", Data: at.Compress("zst", at.Module(release, "with_zst", 'z'))},
		{Name: inModules + "with_gz.ko.gz", Data: at.Compress("gz", at.Module(release, "with_gz", 'g'))},
		{Name: inModules + "debug.ko.debug", Data: at.Module(release, "debug", 'd')},
		{Name: inModules + "both.ko", Data: at.StrippedModule(release, "both", 'b', nil)},
		{Name: inModules + "both.ko.debug", Data: at.Module(release, "both", 'b')},
		{Name: inModules + "broken.ko", Data: at.BrokenModule(release, "broken", 'B')},
		{Name: inModules + "stripped.ko", Data: at.StrippedModule(release, "stripped", 's', nil)},
		{Name: "usr/lib/debug/lib/modules/6.98.0/kernel/other.ko", Data: at.Module("6.98.0", "other", 'o')},
	}
})

// wantedModules are the files of someModules in the archive by the name of the struct in them.
var wantedModules = map[string]string{"plain": "plain.btf", "with_xz": "with_xz.btf", "with_zst": "with_zst.btf", "with_gz": "with_gz.btf", "debug": "debug.btf",
	"both": "both.btf", "plain2": "plain+500203040506.btf"}

// orders are packages of a kernel and modules in all formats, with the kernel first, last, and between.
var orders = sync.OnceValue(func() map[string][]byte {
	kernel := []at.Entry{{Name: lastInOrder, Data: at.Kernel(release)}}
	mods := someModules()
	all := map[string][]byte{}
	for order, entries := range map[string][]at.Entry{"first": slices.Concat(kernel, mods), "last": slices.Concat(mods, kernel), "between": slices.Concat(mods[:4], kernel, mods[4:])} {
		for _, c := range at.Compressions {
			all[order+"."+c+".deb"] = at.Deb(c, entries...)
			all[order+"."+c+".rpm"] = at.RPM(at.Compress(c, at.Cpio(entries...)))
			all[order+"."+c+".tar"] = at.Compress(c, at.Tar(entries...))
		}
	}
	return all
})

// splitOf encodes a module over the BTF of a kernel, as btflite modules does.
func splitOf(t *testing.T, kernel string, module []byte) []byte {
	t.Helper()
	base, err := job.OpenBase(context.Background(), loadbtf.Loader{}, mmapelf.Paths(kernel))
	if err != nil {
		t.Fatal(err)
	}
	defer base.Close()
	opt := job.Options{Base: base}
	enc, err := opt.Run(context.Background(), []mmapelf.Source{{Path: "module", Data: module}})
	if err != nil {
		t.Fatal(err)
	}
	defer enc.Free()
	var b bytes.Buffer
	if err := enc.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// moduleArchive returns an archive that takes modules.
func moduleArchive(t *testing.T) *Archive {
	a := archiveIn(t)
	a.Modules, a.Distro = true, "debian/12"
	return a
}

// checkModules compares the modules of an archive with someModules.
func checkModules(t *testing.T, what, dir string) {
	t.Helper()
	var want []string
	for name, file := range wantedModules {
		want = append(want, file)
		got, err := os.ReadFile(filepath.Join(dir, kernelName, file))
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if split := splitOf(t, filepath.Join(dir, kernelName+".btf"), at.Module(release, name, 'x')); !bytes.Equal(got, split) {
			t.Errorf("%s: %s differs from what btflite modules makes: %d bytes, want %d", what, file, len(got), len(split))
		}
	}
	slices.Sort(want)
	got := slices.DeleteFunc(files(t, filepath.Join(dir, kernelName)), func(s string) bool { return s == "modules.json" })
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// TestModules: the modules of a package are over its kernel in the archive, wherever that lies in the
// package, and one that fails stops nothing.
func TestModules(t *testing.T) {
	all := orders()
	dir := packages(t, all)
	var records []byte
	for name := range all {
		a := moduleArchive(t)
		rec := add(t, a, filepath.Join(dir, name))
		if rec.Reason != "" || len(rec.Kernels) != 1 || rec.OfNoKernel != 1 || !rec.Modules {
			t.Errorf("%s: %+v", name, rec)
			continue
		}
		k := rec.Kernels[0]
		if k.Modules == nil || *k.Modules != (ModuleCounts{Stored: 7, Failed: 2}) || len(k.ModulesFailed) != 2 {
			t.Errorf("%s: %+v of %+v", name, k.Modules, k)
		}
		checkModules(t, name, a.Dir)
		var mods ModulesRecord
		data, err := os.ReadFile(PathOf(a.Dir, k.ModulesFile()))
		if err2 := readJSON(PathOf(a.Dir, k.ModulesFile()), &mods); err != nil || err2 != nil || len(mods.List) != 9 || mods.Package != name {
			t.Errorf("%s: %+v, %v", name, mods, err)
		}
		if data = bytes.ReplaceAll(data, []byte(name), nil); records == nil {
			records = data
		} else if !bytes.Equal(data, records) && !strings.HasPrefix(name, "between") {
			t.Errorf("%s: the record differs from that of another order: %s, %s", name, data, records)
		}
		if again, err := a.Done(filepath.Join(dir, name)); err != nil || again == nil || *again.Kernels[0].Modules != *k.Modules {
			t.Errorf("%s: done: %+v, %v", name, again, err)
		}
	}
}

// TestModulesStream: a stream has its modules if the kernel comes first. If not, it has the kernel alone, and
// says how many modules came too early.
func TestModulesStream(t *testing.T) {
	for name, data := range orders() {
		a := moduleArchive(t)
		rec, err := a.Add(pack.Stream("stdin", bytes.NewReader(data), a.Limits))
		if err != nil || rec.Reason != "" || len(rec.Kernels) != 1 {
			t.Errorf("%s: %+v, %v", name, rec, err)
			continue
		}
		if strings.HasPrefix(name, "first") {
			checkModules(t, name, a.Dir)
			continue
		}
		k, early := rec.Kernels[0], 10
		if strings.HasPrefix(name, "between") {
			early = 4
		}
		if k.ModulesEarly != early || k.Modules != nil || len(files(t, a.Dir)) != 3 {
			t.Errorf("%s: %+v, %q", name, k, files(t, a.Dir))
		}
	}
}

// TestModulesFolder: a folder is walked twice.
func TestModulesFolder(t *testing.T) {
	dir := t.TempDir()
	for _, e := range append(slices.Clone(someModules()), at.Entry{Name: lastInOrder, Data: at.Kernel(release)}) {
		name := filepath.Join(dir, e.Name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, e.Data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	a := moduleArchive(t)
	rec := add(t, a, dir)
	if rec.Reason != "" || len(rec.Kernels) != 1 || *rec.Kernels[0].Modules != (ModuleCounts{Stored: 7, Failed: 2}) {
		t.Fatalf("%+v", rec)
	}
	checkModules(t, "folder", a.Dir)
	if again := add(t, a, dir); !again.Kernels[0].Before || !again.Kernels[0].ModulesBefore || again.Kernels[0].Modules.Stored != 7 {
		t.Errorf("again: %+v", again.Kernels[0])
	}
}

// TestModulesLater: modules can be added to an archive without them, and the record of the package
// says so afterwards.
func TestModulesLater(t *testing.T) {
	dir := packages(t, map[string][]byte{deb: at.Deb("xz", slices.Concat(someModules(), []at.Entry{{Name: lastInOrder, Data: at.Kernel(release)}})...)})
	file := filepath.Join(dir, deb)
	a := moduleArchive(t)
	a.Modules = false
	add(t, a, file)
	if rec, err := a.Done(file); rec == nil || err != nil || rec.Modules || rec.Kernels[0].Modules != nil {
		t.Errorf("%+v, %v", rec, err)
	}
	a.Modules = true
	if rec, err := a.Done(file); rec != nil || err != nil {
		t.Errorf("done without modules: %+v, %v", rec, err)
	}
	if rec := add(t, a, file); !rec.Kernels[0].Before || rec.Kernels[0].ModulesBefore || rec.Kernels[0].Modules.Stored != 7 {
		t.Errorf("%+v", rec.Kernels[0])
	}
	checkModules(t, "later", a.Dir)
	if rec, err := a.Done(file); rec == nil || err != nil || !rec.Modules || rec.Kernels[0].Modules.Failed != 2 {
		t.Errorf("%+v, %v", rec, err)
	}
	a.Modules = false
	if rec, err := a.Done(file); rec == nil || err != nil || !rec.Modules {
		t.Errorf("without modules again: %+v, %v", rec, err)
	}
}

// TestModulesFind: modules are found by build-id, and counted in the index.
func TestModulesFind(t *testing.T) {
	dir, a := packages(t, map[string][]byte{"a.tar": at.Tar(append(slices.Clone(someModules()), at.Entry{Name: lastInOrder, Data: at.Kernel(release)})...)}), moduleArchive(t)
	add(t, a, filepath.Join(dir, "a.tar"))
	for round := range 2 {
		for id, want := range map[string]string{"7002030405": "plain.btf", "78020304": "with_xz.btf", "42020304": "", "ffffffff": ""} {
			if want != "" {
				want = path.Join(kernelName, want)
			}
			if found, err := Find(a.Dir, id); err != nil || strings.Join(found, " ") != want {
				t.Errorf("round %d, %s: %q, %v", round, id, found, err)
			}
		}
		x, err := Merge(a.Dir)
		if err != nil || len(x.Kernels) != 1 || x.Kernels[0].Modules == nil || *x.Kernels[0].Modules != (ModuleCounts{Stored: 7, Failed: 2}) {
			t.Fatalf("%+v, %v", x, err)
		}
		if err := x.Write(a.Dir); err != nil {
			t.Fatal(err)
		}
	}
}

// TestModulesExisting: the BTF that a module has is copied only if its kernel's was.
func TestModulesExisting(t *testing.T) {
	own := slices.Clone(at.SomeBTF())
	kernel := at.Entry{Name: "vmlinux", Data: at.KernelWithBTF(release, own)}
	split := splitOf(t, filepath.Join(packages(t, map[string][]byte{"k.btf": own}), "k.btf"), at.Module(release, "stripped", 's'))
	entries := []at.Entry{kernel, {Name: "dwarf.ko", Data: at.Module(release, "dwarf", 'd')}, {Name: "stripped.ko", Data: at.StrippedModule(release, "stripped", 's', split)}}
	for how, want := range map[Existing]string{CopyExisting: "encoded copied", EncodeExisting: "encoded " + reasonNoDWARF, SkipExisting: ""} {
		dir, a := packages(t, map[string][]byte{"a.tar": at.Tar(entries...)}), moduleArchive(t)
		a.Existing = how
		rec := add(t, a, filepath.Join(dir, "a.tar"))
		if how == SkipExisting {
			if rec.Kernels[0].Modules != nil || len(files(t, a.Dir)) != 1 {
				t.Errorf("%+v", rec)
			}
			continue
		}
		var mods ModulesRecord
		if err := readJSON(PathOf(a.Dir, rec.Kernels[0].ModulesFile()), &mods); err != nil || len(mods.List) != 2 {
			t.Fatalf("%+v, %v", mods, err)
		}
		if got := mods.List[0].Source + " " + mods.List[1].Source + mods.List[1].Reason; got != want {
			t.Errorf("%d: %s, want %s", how, got, want)
		}
		if data, err := os.ReadFile(filepath.Join(a.Dir, kernelName, "stripped.btf")); how == CopyExisting && (err != nil || !bytes.Equal(data, split)) {
			t.Errorf("%d bytes, %v", len(data), err)
		}
	}
}

// TestCopiedForTarget: what is copied passes verify for the kernel that the options name, of a kernel
// and of its modules. If it cannot be lowered to that, it is left out, unless the options are
// lenient. Without a target it is copied as it is.
func TestCopiedForTarget(t *testing.T) {
	own := btftest.Build(t, nil, func(b *btftest.Builder) {
		b.Int("int", 4)
		b.Float("double", 8)
	})
	good := btftest.Build(t, own, func(b *btftest.Builder) { b.DeclTag("t", b.Typedef("of", 2), 0) }).Encode()
	bad := btftest.Build(t, own, func(b *btftest.Builder) { b.Struct("a b", 0) }).Encode()
	entries := []at.Entry{{Name: "vmlinux", Data: at.KernelWithBTF(release, own.Encode())},
		{Name: "bad.ko", Data: at.StrippedModule(release, "bad", 'b', bad)}, {Name: "good.ko", Data: at.StrippedModule(release, "good", 'g', good)}}
	dir := packages(t, map[string][]byte{"a.tar": at.Tar(entries...)})
	old := verify.Release{Major: 5, Minor: 12}
	for _, c := range []struct {
		job            job.Options
		written, taken []string
	}{
		{job.Options{}, []string{"vmlinux", "bad", "good"}, nil},
		{job.Options{Target: old}, []string{"vmlinux", "good"}, []string{"vmlinux", "good"}},
		{job.Options{Target: old, Lenient: true}, []string{"vmlinux", "bad", "good"}, []string{"vmlinux", "good"}},
	} {
		a := moduleArchive(t)
		a.Job.Target, a.Job.Lenient = c.job.Target, c.job.Lenient
		rec := add(t, a, filepath.Join(dir, "a.tar"))
		var written, taken []string
		base := (*btf.Blob)(nil)
		for _, name := range []string{"vmlinux", "bad", "good"} {
			path := filepath.Join(a.Dir, kernelName, name+".btf")
			if base == nil {
				path = PathOf(a.Dir, rec.Kernels[0].BTF)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				continue
			}
			written = append(written, name)
			if _, err := verify.Check(data, base, verify.Rules{Kernel: old}); err == nil {
				taken = append(taken, name)
			}
			if base == nil {
				base = btftest.Parse(t, data, nil)
			}
		}
		if !slices.Equal(written, c.written) || !slices.Equal(taken, c.taken) {
			t.Errorf("target %s, lenient %v: %q written, %q of them good", c.job.Target, c.job.Lenient, written, taken)
		}
	}
}

// TestModulesOfSeveral: each module is over the kernel of its release and machine, and, if builds of
// one release are beside each other, over the one that is in its folder.
func TestModulesOfSeveral(t *testing.T) {
	other := bytes.Replace(at.KernelWithBTF(release, at.SomeBTF()), []byte("\x01\x02\x03\x04\x05"), []byte("\xaa\xbb\xcc\xdd\xee"), 1)
	dir, a := packages(t, map[string][]byte{"a.tar": at.Tar(
		at.Entry{Name: "one/vmlinux", Data: at.Kernel(release)},
		at.Entry{Name: "one/net/a.ko", Data: at.Module(release, "a", 1)},
		at.Entry{Name: "two/a.ko", Data: at.Module(release, "a", 2)},
		at.Entry{Name: "two/vmlinux", Data: other},
		at.Entry{Name: "three/a.ko", Data: at.Module("6.1.0", "a", 3)},
		at.Entry{Name: "three/vmlinux", Data: at.Kernel("6.1.0")})}), moduleArchive(t)
	rec := add(t, a, filepath.Join(dir, "a.tar"))
	var got []string
	for i := range rec.Kernels {
		var mods ModulesRecord
		if err := readJSON(PathOf(a.Dir, rec.Kernels[i].ModulesFile()), &mods); err != nil || len(mods.List) != 1 {
			t.Fatalf("%+v, %v", mods, err)
		}
		got = append(got, mods.List[0].File+" "+path.Base(rec.Kernels[i].ModulesDir()))
	}
	if want := []string{"one/net/a.ko 6.99.0", "two/a.ko 6.99.0+aabbccddee06", "three/a.ko 6.1.0"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestModulesTwoWorkers: workers on one package at once give one whole output.
func TestModulesTwoWorkers(t *testing.T) {
	dir := packages(t, map[string][]byte{deb: orders()["last.xz.deb"]})
	var list []string
	var record []byte
	for range 10 {
		a := moduleArchive(t)
		addAtOnce(3, a, filepath.Join(dir, deb))
		got := files(t, a.Dir)
		data := testfile.Read(t, filepath.Join(a.Dir, kernelName, "modules.json"))
		if list == nil {
			list, record = got, data
		}
		if !slices.Equal(got, list) || !bytes.Equal(data, record) {
			t.Errorf("%q, before %q", got, list)
		}
		checkModules(t, "workers", a.Dir)
	}
}

// TestModuleName: which files are modules by their names.
func TestModuleName(t *testing.T) {
	for file, want := range map[string]string{"kernel/net/nf-nat.ko": "nf_nat", "a.ko.xz": "a", "a.ko.debug": "a", "a.ko.debug.zst": "a", "a.ko.gz": "a", "x/a.ko.bz2": "", "a.o": "", "a.mod.o": "", "ko": "", ".ko": "_", "a.ko/b": ""} {
		name, ok := moduleName(file)
		if ok != (want != "") || ok && name != want {
			t.Errorf("%s: %q, %v, want %q", file, name, ok, want)
		}
	}
	for file, want := range map[string]string{inModules + "a.ko": release, "lib/modules/6.1/extra/a.ko": "6.1", "modules/6.2/a.ko": "6.2", "modules/a.ko": "", "a.ko": "", "x/modules/6.1/a.ko": ""} {
		if got := newModule(file).release; got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

// TestModulesHostile: what is wrong with files that are called as modules are is recorded, or it ends the
// reading of the package; the kernel and the other modules stay, and nothing lies outside of the archive.
func TestModulesHostile(t *testing.T) {
	good := at.Module(release, "good", 'g')
	gz := at.Compress("gz", good)
	bomb := at.Compress("gz", make([]byte, 3<<20))
	limits := pack.UsualLimits
	limits.File, limits.RatioFrom, limits.Ratio = 2<<20, 1<<20, 100
	for name, c := range map[string]struct {
		entry at.Entry
		want  string // the reason
	}{
		"empty":                {at.Entry{Name: "x.ko"}, "x.ko"},
		"text":                 {at.Entry{Name: "x.ko", Data: []byte("text")}, "ELF"},
		"only a magic number":  {at.Entry{Name: "x.ko", Data: []byte("\x7fELF")}, "ELF"},
		"half":                 {at.Entry{Name: "x.ko", Data: good[:len(good)/2]}, "section"},
		"a kernel":             {at.Entry{Name: "x.ko", Data: at.Kernel(release)}, errNoModule.Error()},
		"an object":            {at.Entry{Name: "x.ko", Data: bytes.ReplaceAll(good, []byte(".modinfo"), []byte(".notinfo"))}, errNoModule.Error()},
		"broken DWARF":         {at.Entry{Name: "x.ko", Data: at.BrokenModule(release, "x", 'x')}, "debug_info"},
		"broken BTF":           {at.Entry{Name: "x.ko", Data: at.StrippedModule(release, "x", 'x', []byte("no BTF"))}, "no DWARF"},
		"stripped":             {at.Entry{Name: "x.ko", Data: at.StrippedModule(release, "x", 'x', nil)}, "no DWARF"},
		"gzip of half":         {at.Entry{Name: "x.ko.gz", Data: at.Compress("gz", good[:len(good)/2])}, "section"},
		"half of gzip":         {at.Entry{Name: "x.ko.gz", Data: gz[:len(gz)/2]}, "gzip: it is cut short"},
		"half of xz":           {at.Entry{Name: "x.ko.xz", Data: at.Compress("xz", good)[:200]}, "xz: it is cut short"},
		"half of zstd":         {at.Entry{Name: "x.ko.zst", Data: at.Compress("zst", good)[:200]}, "zstd: it is cut short"},
		"not compressed":       {at.Entry{Name: "x.ko.xz", Data: []byte("text")}, "ELF"},
		"a bomb":               {at.Entry{Name: "x.ko.gz", Data: bomb}, "gzip: "},
		"a bomb by its name":   {at.Entry{Name: "x.ko", Data: bomb}, "gzip: "},
		"compressed twice":     {at.Entry{Name: "x.ko.gz", Data: at.Compress("gz", gz)}, "ELF"},
		"a name of dots":       {at.Entry{Name: "...ko", Data: []byte("text")}, "ELF"},
		"a name with a quote":  {at.Entry{Name: "a\"b.ko", Data: []byte("text")}, "ELF"},
		"a name with newlines": {at.Entry{Name: "a\nb.ko", Data: []byte("text")}, "ELF"},
	} {
		for order, list := range map[string][]at.Entry{"first": {{Name: "vmlinux", Data: at.Kernel(release)}, c.entry, {Name: "good.ko", Data: good}},
			"last": {c.entry, {Name: "good.ko", Data: good}, {Name: "vmlinux", Data: at.Kernel(release)}}} {
			dir, a := packages(t, map[string][]byte{"a.deb": at.Deb("gz", list...)}), moduleArchive(t)
			a.Limits = limits
			rec := add(t, a, filepath.Join(dir, "a.deb"))
			if rec.Reason != "" || len(rec.Kernels) != 1 || rec.Kernels[0].Modules == nil || *rec.Kernels[0].Modules != (ModuleCounts{Stored: 1, Failed: 1}) {
				t.Errorf("%s, %s: %+v", name, order, rec)
				continue
			}
			if got := rec.Kernels[0].ModulesFailed[0]; !strings.Contains(got.Reason, c.want) && !strings.Contains(got.File, c.want) || strings.Contains(got.Reason, "\n") || got.Reason == "" || strings.Contains(got.Reason, dir) {
				t.Errorf("%s, %s: %q, want %q", name, order, got.Reason, c.want)
			}
			if left := files(t, a.Dir); len(left) != 7 {
				t.Errorf("%s, %s: %q", name, order, left)
			}
		}
	}
}

// TestModulesDamagedPackage: a package that ends within its modules keeps what was read, and its record has
// the reason; the modules have no record, since they are not all.
func TestModulesDamagedPackage(t *testing.T) {
	whole := at.Tar(at.Entry{Name: "vmlinux", Data: at.Kernel(release)}, at.Entry{Name: "a.ko", Data: at.Module(release, "a", 'a')}, at.Entry{Name: "b.ko", Data: at.Module(release, "b", 'b')})
	end := bytes.LastIndex(whole, []byte("b.ko\x00"))
	dir, a := packages(t, map[string][]byte{"a.tar": whole[:end+600]}), moduleArchive(t)
	rec := add(t, a, filepath.Join(dir, "a.tar"))
	if rec.Reason == "" || len(rec.Kernels) != 1 || rec.Kernels[0].BTF == "" {
		t.Errorf("%+v", rec)
	}
	list := files(t, a.Dir)
	if !slices.Contains(list, kernelName+"/a.btf") || slices.Contains(list, kernelName+"/modules.json") {
		t.Errorf("%q", list)
	}
}

// TestModulesTooMany: a package with more modules than a record can have says so, and leaves no record of them.
func TestModulesTooMany(t *testing.T) {
	k := &kernelModules{}
	long := strings.Repeat("x", 4000)
	for i := range 3000 {
		k.add(&ModuleRecord{Name: fmt.Sprint(i), File: long})
	}
	if data, err := encodeJSON(k.rec); !k.full || err != nil || len(data) > maxRecord {
		t.Errorf("full %v, %d bytes, %v", k.full, len(data), err)
	}
}
