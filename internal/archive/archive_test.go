package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/btflite/btflite/encode"
	at "github.com/btflite/btflite/internal/archive/archivetest"
	"github.com/btflite/btflite/internal/pack"
	"github.com/btflite/btflite/internal/workers"
	"github.com/btflite/btflite/test/testfile"
)

const (
	deb   = "linux-image-6.99-dbg_6.99-1_amd64.deb"
	inDeb = "usr/lib/debug/boot/vmlinux-6.99.0"
)

// packages writes files of the names into a folder.
func packages(t *testing.T, files map[string][]byte) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, data := range files {
		testfile.Write(t, filepath.Join(dir, name), data)
	}
	return dir
}

// archiveIn returns an archive in a new folder.
func archiveIn(t *testing.T) *Archive {
	return &Archive{Options{Dir: t.TempDir(), Limits: pack.UsualLimits, Program: "btflite test"}}
}

// add archives a package.
func add(t *testing.T, a *Archive, path string) *PackageRecord {
	t.Helper()
	pkg, err := pack.Open(path, a.Limits)
	if err != nil {
		t.Fatal(err)
	}
	defer pkg.Close()
	rec, err := a.Add(pkg)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// files lists an archive.
func files(t *testing.T, dir string) (list []string) {
	t.Helper()
	if err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, name)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return list
}

// debOf returns a Debian package of a kernel.
func debOf(release string) []byte {
	return at.Deb("xz", at.Entry{Name: "./usr/share/doc/x", Data: []byte("text")}, at.Entry{Name: "./" + inDeb, Data: at.Kernel(release)})
}

// TestAdd: the kernel of a package gets its name, a record, and one copy of its contents, and the
// record of the package says where it is.
func TestAdd(t *testing.T) {
	dir, a := packages(t, map[string][]byte{deb: debOf("6.99.0")}), archiveIn(t)
	rec := add(t, a, filepath.Join(dir, deb))
	if len(rec.Kernels) != 1 || rec.Reason != "" || rec.Name != "linux-image-6.99-dbg" {
		t.Fatalf("%+v", rec)
	}
	k := rec.Kernels[0]
	const name = "debian/12/x86_64/6.99.0"
	want := KernelRecord{BuildID: at.BuildID, Release: "6.99.0", Distro: "debian", Version: "12", Arch: "x86_64", Package: deb, File: inDeb, Program: "btflite test",
		Contents: Contents{BTF: name + ".btf", SHA256: k.SHA256, Size: k.Size, Source: "encoded", Types: 1}}
	if k.Size == 0 || len(k.SHA256) != 64 || !equalRecords(&k, &want) {
		t.Errorf("%+v, want %+v", k, want)
	}
	if got, want := files(t, a.Dir), []string{name + ".btf", name + ".json", "packages/" + deb + ".json", "store/" + k.SHA256[:2] + "/" + k.SHA256 + ".btf"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	one, err := os.Stat(filepath.Join(a.Dir, name+".btf"))
	two, err2 := os.Stat(filepath.Join(a.Dir, "store", k.SHA256[:2], k.SHA256+".btf"))
	if err != nil || err2 != nil || !os.SameFile(one, two) || one.Mode().Perm() != 0o444 {
		t.Errorf("the name is no link to the contents, or can be written: %v %v %v", err, err2, one.Mode())
	}
	if old, err := a.Done(filepath.Join(dir, deb)); err != nil || old == nil || len(old.Kernels) != 1 || !equalRecords(&old.Kernels[0], &k) {
		t.Errorf("done: %+v, %v", old, err)
	}
}

func equalRecords(a, b *KernelRecord) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}

// TestReasons: what has no BTF is recorded with the reason.
func TestReasons(t *testing.T) {
	cut := debOf("6.99.0")
	for name, c := range map[string]struct {
		data []byte
		want string // of the package, or of its kernel
	}{
		"image.deb":   {at.Deb("", at.Entry{Name: "./boot/vmlinuz-6.99", Data: []byte("x")}), "(1 file looked at); boot/vmlinuz-6.99 has no debug information: take the package whose name has dbg, dbgsym or debuginfo"},
		"image.rpm":   {at.SummedRPM("", at.Entry{Name: "./lib/modules/6.99/vmlinuz", Data: []byte("x")}, at.Entry{Name: "./lib/modules/6.99/x", Data: []byte("x")}), "(2 files looked at); lib/modules/6.99/vmlinuz has no debug information: take"},
		"built.tar":   {at.Tar(at.Entry{Name: "vmlinuz", Data: []byte("x")}), "no kernel with DWARF or BTF in it (1 file looked at)"},
		"empty.deb":   {at.Deb("", at.Entry{Name: "x", Data: []byte("x")}), "no kernel with DWARF or BTF in it (1 file looked at)"},
		"no-elf.tar":  {at.Tar(at.Entry{Name: "vmlinux-6.1", Data: []byte("\x7fELF but no more")}), "no kernel with DWARF or BTF"},
		"damaged.tar": {at.Tar(at.Entry{Name: "vmlinux-6.1", Data: at.Kernel("6.1")[:900]}), "no kernel with DWARF or BTF"},
		"cut.deb":     {cut[:len(cut)-400], "data.tar.xz"},
		"dwarf.tar":   {at.Tar(at.Entry{Name: "x", Data: at.BrokenKernel("6.1")}), "vmlinux"},
	} {
		dir, a := packages(t, map[string][]byte{name: c.data}), archiveIn(t)
		rec := add(t, a, filepath.Join(dir, name))
		got := rec.Reason
		if len(rec.Kernels) > 0 {
			got += rec.Kernels[0].Reason
		}
		if !strings.Contains(got, c.want) && name != "dwarf.tar" || got == "" || strings.Contains(got, dir) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if list := files(t, a.Dir); !slices.Equal(list, []string{"packages/" + name + ".json"}) {
			t.Errorf("%s: %q", name, list)
		}
	}
}

// TestNames: builds of one release and equal BTF do not overwrite each other, and the contents of
// equal BTF are stored once.
func TestNames(t *testing.T) {
	other := bytes.Replace(at.Kernel("6.99.0"), []byte("\x01\x02\x03\x04\x05"), []byte("\xaa\xbb\xcc\xdd\xee"), 1)
	dir, a := packages(t, map[string][]byte{
		"a.tar": at.Tar(at.Entry{Name: "a", Data: at.Kernel("6.99.0")}, at.Entry{Name: "b", Data: other}), "b.tar": at.Tar(at.Entry{Name: "c", Data: at.Kernel("6.99.0")})}), archiveIn(t)
	a.Distro = "debian/12"
	rec := add(t, a, filepath.Join(dir, "a.tar"))
	again := add(t, a, filepath.Join(dir, "b.tar"))
	if len(rec.Kernels) != 2 || rec.Kernels[0].BTF != "debian/12/x86_64/6.99.0.btf" || rec.Kernels[1].BTF != "debian/12/x86_64/6.99.0+aabbccddee06.btf" || rec.Kernels[0].SHA256 != rec.Kernels[1].SHA256 {
		t.Errorf("%+v", rec.Kernels)
	}
	if len(again.Kernels) != 1 || !again.Kernels[0].Before || again.Kernels[0].BTF != rec.Kernels[0].BTF {
		t.Errorf("%+v", again.Kernels)
	}
	stored := 0
	for _, name := range files(t, a.Dir) {
		if strings.HasPrefix(name, StoreDir) {
			stored++
		}
	}
	if stored != 1 {
		t.Errorf("%d files in the store", stored)
	}
	x, err := Merge(a.Dir)
	if err != nil || len(x.Kernels) != 2 || x.Kernels[0].BuildID != at.BuildID {
		t.Errorf("%+v, %v", x, err)
	}
	for round, write := range []bool{false, true} {
		if write {
			if err := x.Write(a.Dir); err != nil {
				t.Fatal(err)
			}
		}
		for id, n := range map[string]int{at.BuildID: 1, at.BuildID[:8]: 1, "aabbccdd": 1, "00000000": 0} {
			if found, err := Find(a.Dir, id); err != nil || len(found) != n {
				t.Errorf("round %d, %s: %+v, %v", round, id, found, err)
			}
		}
	}
}

// TestExisting: BTF that is there already is copied, encoded anew, or left out.
func TestExisting(t *testing.T) {
	kernel := at.KernelWithBTF("6.99.0", at.SomeBTF())
	for how, want := range map[Existing]string{CopyExisting: "copied", EncodeExisting: "encoded", SkipExisting: "it has BTF already"} {
		dir, a := packages(t, map[string][]byte{"vmlinux": kernel}), archiveIn(t)
		a.Existing = how
		rec := add(t, a, filepath.Join(dir, "vmlinux"))
		if len(rec.Kernels) != 1 || rec.Kernels[0].Source+rec.Kernels[0].Reason != want {
			t.Fatalf("%+v", rec)
		}
		k := rec.Kernels[0]
		if how == SkipExisting {
			continue
		}
		data, err := os.ReadFile(PathOf(a.Dir, k.BTF))
		if err != nil || bytes.Equal(data, at.SomeBTF()) != (how == CopyExisting) {
			t.Errorf("%s: %d bytes, %v", want, len(data), err)
		}
	}
}

// TestForms: a form changes the bytes and the names, not the BTF, and the same BTF becomes the same bytes.
// Modules are over the kernel in any form.
func TestForms(t *testing.T) {
	entries := append(slices.Clone(someModules()), at.Entry{Name: lastInOrder, Data: at.Kernel(release)})
	dir := packages(t, map[string][]byte{"a.deb": at.Deb("gz", entries...)})
	raw := moduleArchive(t)
	add(t, raw, filepath.Join(dir, "a.deb"))
	for _, form := range []Form{Zstd, TarXZ} {
		var sums []string
		for range 2 {
			a := moduleArchive(t)
			a.Form = form
			k := add(t, a, filepath.Join(dir, "a.deb")).Kernels[0]
			if k.BTF != kernelName+form.suffix() || k.Modules.Stored != 7 {
				t.Errorf("%+v", k)
			}
			sums = append(sums, k.SHA256)
			for _, name := range files(t, raw.Dir) {
				if !strings.HasPrefix(name, kernelName) || !strings.HasSuffix(name, ".btf") {
					continue
				}
				want, err := os.ReadFile(filepath.Join(raw.Dir, name))
				got, err2 := expandStored(filepath.Join(a.Dir, name+strings.TrimPrefix(form.suffix(), ".btf")))
				if errors.Is(err2, exec.ErrNotFound) {
					t.Skip("no program that expands it:", err2)
				}
				if err != nil || err2 != nil || !bytes.Equal(got, want) {
					t.Errorf("%s: %d bytes, want %d: %v, %v", name, len(got), len(want), err, err2)
				}
			}
		}
		if sums[0] != sums[1] {
			t.Errorf("%q", sums)
		}
	}
}

// expandStored reads a file of an archive with the programs that users have.
func expandStored(file string) ([]byte, error) {
	if strings.HasSuffix(file, ".zst") {
		return exec.Command("zstd", "-dcq", file).Output()
	}
	return exec.Command("tar", "-xJOf", file).Output()
}

// TestTrouble: an error of the disk is returned and leaves no record.
func TestTrouble(t *testing.T) {
	dir, a := packages(t, map[string][]byte{deb: debOf("6.99.0")}), archiveIn(t)
	a.Temp = filepath.Join(a.Dir, "missing")
	pkg, err := pack.Open(filepath.Join(dir, deb), a.Limits)
	if err != nil {
		t.Fatal(err)
	}
	defer pkg.Close()
	if rec, err := a.Add(pkg); err == nil || !errors.Is(err, syscall.ENOENT) {
		t.Errorf("%+v, %v", rec, err)
	}
	if list := files(t, a.Dir); len(list) != 0 {
		t.Errorf("%q", list)
	}
	if _, err := a.Done(filepath.Join(dir, deb)); err != nil {
		t.Error(err)
	}
	a.Temp = ""
	add(t, a, filepath.Join(dir, deb))
	testfile.Write(t, filepath.Join(dir, deb), "!<arch>\n")
	if rec, err := a.Done(filepath.Join(dir, deb)); rec != nil || err == nil || !strings.Contains(err.Error(), "give it another name") {
		t.Errorf("another package of that name: %+v, %v", rec, err)
	}
}

// TestMemory: a run that ends by the memory limit leaves no record, because more memory would do.
func TestMemory(t *testing.T) {
	dir, a := packages(t, map[string][]byte{deb: debOf("6.99.0")}), archiveIn(t)
	a.Job.Encode.MemoryLimit = 1 << 20
	pkg, err := pack.Open(filepath.Join(dir, deb), a.Limits)
	if err != nil {
		t.Fatal(err)
	}
	defer pkg.Close()
	if rec, err := a.Add(pkg); err == nil || !errors.Is(err, encode.ErrMemory) || !strings.Contains(err.Error(), "the memory limit") {
		t.Errorf("%+v, %v", rec, err)
	}
	if list := files(t, a.Dir); len(list) != 0 {
		t.Errorf("%q", list)
	}
}

// addAtOnce has workers add a package with one kernel, all at once.
func addAtOnce(n int, a *Archive, file string) {
	workers.Do(n, func(int) {
		pkg, err := pack.Open(file, a.Limits)
		if err != nil {
			panic(err)
		}
		defer pkg.Close()
		if rec, err := a.Add(pkg); err != nil || len(rec.Kernels) != 1 {
			panic(fmt.Sprint(rec, err))
		}
	})
}

// TestTwoWorkers: workers on one package at once give one whole output, and the same index.
func TestTwoWorkers(t *testing.T) {
	dir := packages(t, map[string][]byte{deb: debOf("6.99.0")})
	var list []string
	var index *Index
	for range 20 {
		a := archiveIn(t)
		addAtOnce(4, a, filepath.Join(dir, deb))
		got, x := files(t, a.Dir), new(Index)
		x, err := Merge(a.Dir)
		if err != nil || len(x.Kernels) != 1 {
			t.Fatalf("%+v, %v", x, err)
		}
		if list == nil {
			list, index = got, x
		}
		if !slices.Equal(got, list) || len(got) != 4 || !equalRecords(&x.Kernels[0], &index.Kernels[0]) {
			t.Errorf("%q, before %q", got, list)
		}
	}
}

// TestDistroOf: what shows the distribution, and its version.
func TestDistroOf(t *testing.T) {
	for _, c := range []struct{ vendor, version, banner, release, want string }{
		{"Debian Kernel Team <debian-kernel@lists.debian.org>", "6.1.76-1", "Linux version 6.1 (a@b)", "6.1.0-18-amd64", "debian/unknown"},
		{"", "", "Linux version 6.12 (debian-kernel@lists.debian.org) (gcc (Debian 12.2.0-14+deb12u1))", "6.12.117+deb12-amd64", "debian/12"},
		{"", "6.12~bpo12+1", "Linux version 6.12 (debian-kernel@lists.debian.org)", "6.12", "debian/12"},
		{"Ubuntu Kernel Team <kernel-team@lists.ubuntu.com>", "5.15.0-91.101~20.04.1", "", "5.15.0-91-generic", "ubuntu/20.04"},
		{"", "", "Linux version 5.15.0-91-generic (Ubuntu 5.15.0-91.101-generic 5.15.131)", "", "ubuntu/unknown"},
		{"Fedora Project", "6.4.1-200.fc38", "", "6.4.1-200.fc38.x86_64", "fedora/38"},
		{"Red Hat, Inc., Red Hat Enterprise Linux 8", "4.18.0-477.el8", "", "4.18.0-477.el8.x86_64", "rhel/8"},
		{"CentOS", "3.10.0-1160.el7", "", "", "centos/7"},
		{"Oracle America", "5.4.17-2136.el7uek", "", "", "ol/7"},
		{"Amazon Linux", "4.14.1-1.amzn2", "", "", "amzn/2"},
		{"SUSE LLC <https://www.suse.com/>, SUSE Linux Enterprise 15", "5.3.18-150300.59.1", "", "5.3.18-150300.59-default", "sles/15.3"},
		{"openSUSE", "5.3.18-150200.24.1", "", "", "opensuse-leap/15.2"},
		{"", "", "Linux version 6.1 (me@here)", "6.1", "unknown/unknown"},
	} {
		name, version := distroOf(pack.Info{Vendor: c.vendor, Version: c.version}, c.banner, c.release)
		if got := name + "/" + version; got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestReleaseInName: where distributions put kernels.
func TestReleaseInName(t *testing.T) {
	for name, want := range map[string]string{"usr/lib/debug/boot/vmlinux-6.1": "6.1", "boot/vmlinux-5.3.18-default.debug": "5.3.18-default",
		"usr/lib/debug/lib/modules/6.4.0/vmlinux": "6.4.0", "usr/lib/debug/lib/modules/6.4.0/vmlinux.debug": "6.4.0", "vmlinux": "", "a/vmlinux": "", "modules/x": ""} {
		if got := releaseInName(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestCleanName: names from outside are one part of a path.
func TestCleanName(t *testing.T) {
	for in, want := range map[string]string{"6.1.0-18-amd64": "6.1.0-18-amd64", "7.2.13+deb14~rc1": "7.2.13+deb14~rc1", "../../etc": "_.._.._etc", "..": "_..", "": "_", "a/b c\n": "a_b_c_", "ä": "_"} {
		if got := CleanName(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if n := len(CleanName(strings.Repeat("x", 1000))); n != 200 {
		t.Errorf("%d bytes", n)
	}
}

// TestRunningBuildID reads notes as the kernel gives them.
func TestRunningBuildID(t *testing.T) {
	defer func(old string) { runningNotes = old }(runningNotes)
	runningNotes = filepath.Join(t.TempDir(), "notes")
	if _, err := RunningBuildID(); err == nil || !strings.Contains(err.Error(), "build-id of the running kernel") {
		t.Error(err)
	}
	for text, want := range map[string]string{at.Note: at.BuildID, "": ""} {
		testfile.Write(t, runningNotes, text)
		if id, err := RunningBuildID(); id != want || (err == nil) != (want != "") {
			t.Errorf("%q: %s, %v", text, id, err)
		}
	}
	path := testfile.New(t, "vmlinux", at.Kernel("6.1"))
	if id, err := BuildIDOf(path); id != at.BuildID || err != nil {
		t.Errorf("%s, %v", id, err)
	}
}
