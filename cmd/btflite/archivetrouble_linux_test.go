package main

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/btflite/btflite/internal/archive/archivetest"
)

// asNobody calls f with the rights of nobody on files, if it is root that runs the test.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	const nobody = 65534
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	old, err := unix.SetfsuidRetUid(nobody)
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = unix.Setfsuid(old) }()
	f()
}

// TestArchiveTroubleNamesTheFile: whatever cannot be read or written, in a folder that is a package, in the archive
// or in the folder for temporary files, one line names that very file, and the status is 75.
func TestArchiveTroubleNamesTheFile(t *testing.T) {
	const kernel = "debian/12/x86_64/6.99.0"
	closed := func(name string) func(string) error {
		return func(in string) error { return os.Chmod(filepath.Join(in, name), 0) }
	}
	loop := func(name string) func(string) error {
		return func(in string) error {
			if err := os.RemoveAll(filepath.Join(in, name)); err != nil {
				return err
			}
			return os.Symlink(filepath.Base(name), filepath.Join(in, name))
		}
	}
	noLink := func(name string) func(string) error {
		return func(in string) error { return os.Symlink("nowhere", filepath.Join(in, name)) }
	}
	linkTo := func(name, to string) func(string) error { // to is in the folder with all files
		return func(in string) error {
			if err := os.Remove(filepath.Join(in, name)); err != nil {
				return err
			}
			return errors.Join(os.Symlink(filepath.Join(in, to), filepath.Join(in, name)), closed("tmp")(in))
		}
	}
	folder := func(name string) func(string) error {
		return func(in string) error {
			if err := os.Remove(filepath.Join(in, name)); err != nil {
				return err
			}
			return os.Mkdir(filepath.Join(in, name), 0o700)
		}
	}
	short := func(name string) func(string) error {
		return func(in string) error {
			return errors.Join(os.Remove(filepath.Join(in, name)), os.WriteFile(filepath.Join(in, name), []byte("x"), 0o600))
		}
	}
	for name, c := range map[string]struct {
		done  bool // an earlier run has made the archive
		spoil func(in string) error
		words string // IN is the folder with all files
		want  string // how the line begins
	}{
		"subfolder":                              {false, closed("tree/b"), "-o IN/out IN/tree", "IN/tree/b: cannot read: permission denied"},
		"subfolder, slash":                       {false, closed("tree/b"), "-o IN/out IN/tree/", "IN/tree/b: cannot read: permission denied"},
		"deep file":                              {false, closed("tree/b/c/x.ko"), "--modules -o IN/out IN/tree", "IN/tree/b/c/x.ko: cannot open: permission denied"},
		"kernel":                                 {false, closed("tree/a/vmlinux"), "-o IN/out IN/tree", "IN/tree/a/vmlinux: cannot open: permission denied"},
		"folder":                                 {false, closed("tree"), "-o IN/out IN/tree", "IN/tree: cannot open: permission denied"},
		"package":                                {false, closed("a.tar"), "-o IN/out IN/a.tar", "IN/a.tar: cannot open: permission denied"},
		"temporary folder":                       {false, closed("tmp"), "-o IN/out --tmp=IN/tmp IN/a.tar", "IN/a.tar: IN/tmp: cannot make a temporary file: permission denied"},
		"store leads nowhere":                    {false, noLink("out/store"), "-o IN/out IN/a.tar", "IN/a.tar: IN/out/store: cannot write: not a directory"},
		"store is a loop":                        {false, loop("out/store"), "-o IN/out IN/a.tar", "IN/a.tar: IN/out/store: cannot write: not a directory"},
		"names lead nowhere":                     {false, noLink("out/debian"), "-o IN/out IN/a.tar", "IN/a.tar: IN/out/debian/12/x86_64: cannot write: not a directory"},
		"records nowhere":                        {false, noLink("out/packages"), "-o IN/out IN/a.tar", "IN/a.tar: IN/out/packages: cannot write: not a directory"},
		"record is a loop":                       {true, loop("out/packages/a.tar.json"), "-o IN/out IN/a.tar", "IN/a.tar: IN/out/packages/a.tar.json: cannot read: too many levels"},
		"record is a folder":                     {true, folder("out/packages/a.tar.json"), "-o IN/out IN/a.tar", "IN/a.tar: IN/out/packages/a.tar.json: cannot read: it is not a file"},
		"kernel's loop":                          {true, loop("out/" + kernel + ".json"), "-o IN/out IN/a.tar", "IN/a.tar: IN/out/" + kernel + ".json: cannot open: too many levels"},
		"kernel's folder":                        {true, folder("out/" + kernel + ".json"), "-o IN/out IN/a.tar", "IN/a.tar: IN/out/" + kernel + ".json: cannot read: it is not a file"},
		"modules' loop":                          {true, loop("out/" + kernel), "--modules -o IN/out IN/a.tar", "IN/a.tar: IN/out/" + kernel + "/modules.json: cannot read: too many levels"},
		"index, loop":                            {true, loop("out/" + kernel + ".json"), "index -o IN/out", "IN/out/" + kernel + ".json: cannot read: too many levels"},
		"index, modules":                         {true, loop("out/" + kernel), "index -o IN/out", "IN/out/" + kernel + "/modules.json: cannot read: too many levels"},
		"index, closed":                          {true, closed("out/debian/12"), "index -o IN/out", "IN/out/debian/12: cannot read: permission denied"},
		"kernel's BTF is a loop":                 {true, loop("out/" + kernel + ".btf"), "--modules -o IN/out IN/a.tar", "IN/a.tar: IN/out/" + kernel + ".btf: cannot open: too many levels"},
		"index, kernel's BTF is a loop":          {true, loop("out/" + kernel + ".btf"), "index -o IN/out", "IN/out/" + kernel + ".btf: cannot open: too many levels"},
		"find, kernel's BTF is a loop":           {true, loop("out/" + kernel + ".btf"), "find -o IN/out 0102030405060708", "IN/out/" + kernel + ".btf: cannot open: too many levels"},
		"kernel's BTF is behind a file":          {true, linkTo("out/"+kernel+".btf", "a.tar/x"), "--modules -o IN/out IN/a.tar", "IN/a.tar: IN/out/" + kernel + ".btf: cannot open: not a directory"},
		"index, kernel's BTF is behind a file":   {true, linkTo("out/"+kernel+".btf", "a.tar/x"), "index -o IN/out", "IN/out/" + kernel + ".btf: cannot open: not a directory"},
		"find, kernel's BTF is behind a file":    {true, linkTo("out/"+kernel+".btf", "a.tar/x"), "find -o IN/out 0102030405060708", "IN/out/" + kernel + ".btf: cannot open: not a directory"},
		"kernel's BTF is behind a closed folder": {true, linkTo("out/"+kernel+".btf", "tmp/x"), "--modules -o IN/out IN/a.tar", "IN/a.tar: IN/out/" + kernel + ".btf: cannot open: permission denied"},
		"index, kernel's BTF is behind a closed folder": {true, linkTo("out/"+kernel+".btf", "tmp/x"), "index -o IN/out", "IN/out/" + kernel + ".btf: cannot open: permission denied"},
		"find, kernel's BTF is behind a closed folder":  {true, linkTo("out/"+kernel+".btf", "tmp/x"), "find -o IN/out 0102030405060708", "IN/out/" + kernel + ".btf: cannot open: permission denied"},
		"module's BTF is a loop":                        {true, loop("out/" + kernel + "/x.btf"), "--modules -o IN/out IN/a.tar", "IN/a.tar: IN/out/" + kernel + "/x.btf: cannot open: too many levels"},
		"module's BTF is behind a file":                 {true, linkTo("out/"+kernel+"/x.btf", "a.tar/x"), "--modules -o IN/out IN/a.tar", "IN/a.tar: IN/out/" + kernel + "/x.btf: cannot open: not a directory"},
		"module's BTF is behind a closed folder":        {true, linkTo("out/"+kernel+"/x.btf", "tmp/x"), "--modules -o IN/out IN/a.tar", "IN/a.tar: IN/out/" + kernel + "/x.btf: cannot open: permission denied"},
		"index, BTF is a folder":                        {true, folder("out/" + kernel + ".btf"), "index -o IN/out", "IN/out/" + kernel + ".btf: cannot use: it is not a file; remove it and what links to it"},
		"index, BTF is short":                           {true, short("out/" + kernel + ".btf"), "index -o IN/out", "IN/out/" + kernel + ".btf: cannot use: it has 1 bytes, and its record says 45; remove it and what links to it"},
	} {
		t.Run(name, func(t *testing.T) {
			in := inFolder(t, map[string][]byte{
				"a.tar":          archivetest.Tar(archivetest.Entry{Name: "vmlinux", Data: archivetest.Kernel("6.99.0")}, archivetest.Entry{Name: "x.ko", Data: archivetest.Module("6.99.0", "x", 1)}),
				"tree/a/vmlinux": archivetest.Kernel("6.99.0"), "tree/b/c/x.ko": archivetest.Module("6.99.0", "x", 1), "tmp/x": nil, "out/x": nil,
			})
			if c.done {
				runArchive(t, exitOK, "-q", "--modules", "-o", filepath.Join(in, "out"), filepath.Join(in, "a.tar"))
			}
			allow := func() { // the folder of a test is its user's alone
				_ = filepath.WalkDir(filepath.Dir(in), func(name string, _ os.DirEntry, _ error) error { return os.Chmod(name, 0o777) })
			}
			allow()
			if err := c.spoil(in); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(c.want, "permission denied") {
				defer func() {
					_ = filepath.WalkDir(in, func(name string, _ os.DirEntry, _ error) error { return os.Chmod(name, 0o700) })
				}()
			}
			place := func(s string) string { return strings.ReplaceAll(s, "IN", in) }
			run := func() {
				_, errs := runArchive(t, exitTemporary, strings.Fields(place(c.words))...)
				if want := "btflite: " + place(c.want); !strings.HasPrefix(errs, want) || strings.Count(errs, "\n") != 1 {
					t.Errorf("%q, want %q", errs, want)
				}
			}
			if strings.Contains(c.want, "permission denied") {
				defer allow()
				asNobody(t, run)
			} else {
				run()
			}
		})
	}
}

// TestNamesAreEscapedOnce: a file whose name has a line feed is named once, in one line.
func TestNamesAreEscapedOnce(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a\nb")
	if _, errs := runArchive(t, exitTemporary, "-o", t.TempDir(), name); strings.Count(errs, `a\nb: `) != 1 || strings.Count(errs, "\n") != 1 {
		t.Errorf("%q", errs)
	}
}

// TestArchiveFullDisk: a disk that is full ends the run with one line, which says how many packages were not tried.
// What earlier runs have done is still counted as done.
func TestArchiveFullDisk(t *testing.T) {
	in := inFolder(t, map[string][]byte{
		"a.deb": archivetest.Deb("xz", archivetest.Entry{Name: "vmlinux", Data: append(archivetest.Kernel("6.99.0"), make([]byte, 1<<20)...)}),
		"b.tar": archivetest.Tar(archivetest.Entry{Name: "vmlinux", Data: archivetest.Kernel("6.98.0")}),
		"c.tar": archivetest.Tar(archivetest.Entry{Name: "vmlinux", Data: archivetest.Kernel("6.97.0")}), "disk/x": nil,
	})
	disk, out := filepath.Join(in, "disk"), filepath.Join(in, "out")
	file := func(name string) string { return filepath.Join(in, name) }
	mount := func(flags uintptr, data string) {
		if err := unix.Mount("none", disk, "tmpfs", flags, data); err != nil {
			t.Skip(err)
		}
	}
	mount(0, "size=64k")
	defer func() { _ = unix.Unmount(disk, unix.MNT_DETACH) }()
	runArchive(t, exitOK, "-q", "-o", out, file("c.tar"))
	stdout, errs := runArchive(t, exitTemporary, "-o", out, "--tmp", disk, file("a.deb"), file("c.tar"), file("b.tar"), file("none.tar"), file("vmlinux"))
	if want := "btflite: " + file("a.deb") + ": " + disk + ": cannot write a temporary file: no space left on device; not tried: 3 packages more\n"; errs != want {
		t.Errorf("%q, want %q", errs, want)
	}
	if want := "0 kernels archived, 1 done before, 4 packages not done\n"; stdout != want {
		t.Errorf("%q, want %q", stdout, want)
	}
	mount(unix.MS_REMOUNT|unix.MS_RDONLY, "")
	stdout, errs = runArchive(t, exitTemporary, "-o", disk, file("b.tar"), file("c.tar"))
	if strings.Count(errs, "\n") != 1 || !strings.HasSuffix(errs, ": read-only file system; not tried: 1 package more\n") || stdout != "0 kernels archived, 2 packages not done\n" {
		t.Errorf("%q, %q", errs, stdout)
	}
	runArchive(t, exitOK, "-q", "-o", out, file("a.deb"), file("b.tar"), file("c.tar"))
}

// TestArchiveClosed: a folder for temporary files that this user must not write to, or that is not there, ends the run with
// one line, as a full disk does.
func TestArchiveClosed(t *testing.T) {
	in := inFolder(t, map[string][]byte{
		"a.tar": archivetest.Tar(archivetest.Entry{Name: "vmlinux", Data: archivetest.Kernel("6.99.0")}),
		"b.tar": archivetest.Tar(archivetest.Entry{Name: "vmlinux", Data: archivetest.Kernel("6.98.0")}),
		"c.tar": archivetest.Tar(archivetest.Entry{Name: "vmlinux", Data: archivetest.Kernel("6.97.0")}), "closed/x": nil, "out/x": nil,
	})
	file := func(name string) string { return filepath.Join(in, name) }
	runArchive(t, exitOK, "-q", "-o", file("out"), file("c.tar"))
	err := filepath.WalkDir(filepath.Dir(in), func(name string, _ os.DirEntry, _ error) error { return os.Chmod(name, 0o777) })
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file("closed"), 0o555); err != nil {
		t.Fatal(err)
	}
	for dir, why := range map[string]string{"closed": "permission denied", "none": "no such file or directory"} {
		asNobody(t, func() {
			stdout, errs := runArchive(t, exitTemporary, "--tmp", file(dir), "-o", file("out"), file("a.tar"), file("b.tar"), file("c.tar"))
			if want := "btflite: " + file("a.tar") + ": " + file(dir) + ": cannot make a temporary file: " + why + "; not tried: 1 package more\n"; errs != want {
				t.Errorf("%q, want %q", errs, want)
			}
			if want := "0 kernels archived, 1 done before, 2 packages not done\n"; stdout != want {
				t.Errorf("%q, want %q", stdout, want)
			}
		})
	}
}
