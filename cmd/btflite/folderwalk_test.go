package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/internal/archive"
)

// TestLinkedFolders: all commands that read the folders of an archive find the same in it, whether folders are their
// own or links to other disks, each folder once, and no loop of links is endless.
func TestLinkedFolders(t *testing.T) {
	move := func(name string) func(dir, disk string) error { // to another disk
		return func(dir, disk string) error {
			from := filepath.Join(dir, name)
			return errors.Join(os.Rename(from, disk), os.Symlink(disk, from))
		}
	}
	link := func(name, to string) func(dir, disk string) error {
		return func(dir, _ string) error { return os.Symlink(to, filepath.Join(dir, name)) }
	}
	for name, change := range map[string]func(dir, disk string) error{
		"nothing":         func(string, string) error { return nil },
		"distribution":    move("debian"),
		"version":         move("debian/12"),
		"architecture":    move("debian/12/x86_64"),
		"modules":         move("debian/12/x86_64/6.1.0"),
		"another name":    link("debian/bookworm", "12"),
		"an earlier name": link("debian/0", "12"),
		"itself":          link("debian/12/x86_64/self", "."),
		"the root":        link("debian/12/up", "../.."),
		"a loop":          link("debian/12/x86_64/loop", "loop"),
		"the parent":      link("debian/12/above", "../../.."),
		"the kernel's":    link("debian/12/x86_64/build", "../../../../other"),
	} {
		t.Run(name, func(t *testing.T) {
			dir := archiveOf(t, "raw")
			disk := filepath.Join(t.TempDir(), "disk")
			other := filepath.Join(filepath.Dir(dir), "other/x.btf")
			if name == "the kernel's" {
				if err := errors.Join(os.Mkdir(filepath.Dir(other), 0o700), os.WriteFile(other, []byte("no BTF"), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			if err := change(dir, disk); err != nil {
				t.Skip(err)
			}
			switch name {
			case "a loop":
				if _, errs := runArchive(t, exitOK, "-q", "-o", dir, "index"); errs != "" {
					t.Error(errs)
				}
				stdout, stderr := runs(t, exitTrouble, "verify", dir)
				if !strings.Contains(stdout, "10 files: 9 fine, 0 refused, 1 not readable") || !strings.Contains(stderr, "/loop: cannot read: too many levels of symbolic links\n") {
					t.Errorf("%q, %q", stdout, stderr)
				}
				return
			}
			if stdout, stderr := runs(t, exitOK, "verify", dir); !strings.Contains(stdout, "9 files: 9 fine") || stderr != "" {
				t.Errorf("%q, %q", stdout, stderr)
			}
			kernels, err := findMinKernels([]string{dir})
			var found []string
			for _, k := range kernels {
				found = append(found, k.rel)
			}
			if want := []string{"debian/12/x86_64/6.0.0", "debian/12/x86_64/6.1.0", "debian/12/x86_64/6.2.0"}; err != nil || !slices.Equal(found, want) {
				t.Errorf("min: %q, %v, want %q", found, err, want)
			}
			if stdout, errs := runArchive(t, exitOK, "-o", dir, "index"); stdout != "3 kernels in the index\n" || errs != "" {
				t.Errorf("index: %q, %q", stdout, errs)
			}
			out := filepath.Join(t.TempDir(), "all.btf")
			kernel := filepath.Join(dir, "debian/12/x86_64/6.1.0")
			runs(t, exitOK, "flatten", "-o", out, kernel+".btf", kernel)
			if stdout, _ := runs(t, exitOK, "dump", out); !strings.Contains(stdout, "STRUCT 'a'") || !strings.Contains(stdout, "STRUCT 'b'") {
				t.Errorf("flatten: %q", stdout)
			}
		})
	}
}

// TestLinkedNowhere: in an archive, a link that leads nowhere is an error: a disk may be missing. In another folder, only
// a link that is called as a file of BTF is one.
func TestLinkedNowhere(t *testing.T) {
	for _, c := range []struct {
		isArchive bool
		link      string
		fails     bool
	}{{true, "debian/11", true}, {false, "debian/11", false}, {false, ".#6.1.0", false}, {false, "debian/x.btf", true}, {false, "debian/x.btf.zst", true}} {
		dir := archiveOf(t, "raw")
		if !c.isArchive {
			if err := os.RemoveAll(filepath.Join(dir, archive.PackagesDir)); err != nil {
				t.Fatal(err)
			}
		}
		at := filepath.Join(dir, c.link)
		if err := os.Symlink("nowhere", at); err != nil {
			t.Skip(err)
		}
		status, want := exitOK, ""
		if c.fails {
			status, want = exitTrouble, "btflite: "+at+": cannot read: no such file or directory\n"
		}
		if _, stderr := runs(t, status, "verify", dir); stderr != want {
			t.Errorf("%+v: %q", c, stderr)
		}
		kernels, err := findMinKernels([]string{dir})
		failed := slices.ContainsFunc(kernels, func(k minKernel) bool { return k.path == at && k.err != nil })
		if err != nil || failed != c.fails || len(kernels) != map[bool]int{true: 4, false: 3}[c.fails] {
			t.Errorf("%+v: %+v, %v", c, kernels, err)
		}
	}
}

// TestLinkedFiles: names of BTF may be links, as tools that save room make them, also to the store. Links to single
// modules are of another kernel.
func TestLinkedFiles(t *testing.T) {
	dir := archiveOf(t, "raw")
	for i := range 3 {
		name := filepath.Join(dir, fmt.Sprintf("debian/12/x86_64/6.%d.0.btf", i))
		aside := filepath.Join(dir, "store", fmt.Sprint(i, ".btf"))
		if err := errors.Join(os.Rename(name, aside), os.Symlink(aside, name), os.Symlink(aside, filepath.Join(dir, fmt.Sprint("debian/", i, ".ko")))); err != nil {
			t.Skip(err)
		}
	}
	if stdout, stderr := runs(t, exitOK, "verify", dir); !strings.Contains(stdout, "9 files: 9 fine") || stderr != "" {
		t.Errorf("%q, %q", stdout, stderr)
	}
	if kernels, err := findMinKernels([]string{dir}); err != nil || len(kernels) != 3 {
		t.Errorf("%+v, %v", kernels, err)
	}
}

// TestArchivesInAFolder: a folder with two archives, one of them by a link, has their names, and not their stores too.
func TestArchivesInAFolder(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Rename(archiveOf(t, "raw"), filepath.Join(dir, "a")), os.Symlink(archiveOf(t, "raw"), filepath.Join(dir, "b"))); err != nil {
		t.Skip(err)
	}
	if stdout, stderr := runs(t, exitOK, "verify", dir); !strings.Contains(stdout, "18 files: 18 fine") || stderr != "" {
		t.Errorf("%q, %q", stdout, stderr)
	}
	if kernels, err := findMinKernels([]string{dir}); err != nil || len(kernels) != 6 {
		t.Errorf("%+v, %v", kernels, err)
	}
}

// TestModulesFollowNoLinks: modules writes into the files that it finds, so it changes nothing outside of its folder.
func TestModulesFollowNoLinks(t *testing.T) {
	dir := inFolder(t, map[string][]byte{"in/a.ko": nil, "out/b.ko": nil})
	if err := errors.Join(os.Symlink("../out", filepath.Join(dir, "in/linked")), os.Symlink("../out/b.ko", filepath.Join(dir, "in/b.ko"))); err != nil {
		t.Skip(err)
	}
	if mods, err := findModules([]string{filepath.Join(dir, "in")}); err != nil || len(mods) != 1 {
		t.Errorf("%+v, %v", mods, err)
	}
}
