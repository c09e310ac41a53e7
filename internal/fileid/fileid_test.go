//go:build linux

package fileid

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// TestUnchanged: each thing that tells another file or other contents, alone.
func TestUnchanged(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "file"), filepath.Join(dir, "other")
	write := func(path, text string) error { return os.WriteFile(path, []byte(text), 0o600) }
	for _, tt := range []struct {
		name   string
		change func(before os.FileInfo) error
		same   bool
	}{
		{"nothing", func(os.FileInfo) error { return nil }, true},
		{"read", func(os.FileInfo) error { _, err := os.ReadFile(path); return err }, true},
		{"other contents of the same size and time", func(b os.FileInfo) error {
			return errors.Join(write(path, "56789"), os.Chtimes(path, time.Time{}, b.ModTime()))
		}, false},
		{"longer, of the same time", func(b os.FileInfo) error {
			return errors.Join(write(path, "123456"), os.Chtimes(path, time.Time{}, b.ModTime()))
		}, false},
		{"later", func(b os.FileInfo) error { return os.Chtimes(path, time.Time{}, b.ModTime().Add(time.Second)) }, false},
		{"replaced by the same", func(b os.FileInfo) error {
			return errors.Join(write(other, "12345"), os.Chtimes(other, time.Time{}, b.ModTime()), os.Rename(other, path))
		}, false},
		{"replaced by a link to it", func(os.FileInfo) error {
			return errors.Join(os.Rename(path, other), os.Symlink("other", path))
		}, false},
		{"gone", func(os.FileInfo) error { return os.Remove(path) }, false},
	} {
		os.Remove(path)
		os.Remove(other)
		if err := write(path, "12345"); err != nil {
			t.Fatal(err)
		}
		before, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond) // a tick of the clock of files
		if err := tt.change(before); err != nil {
			t.Fatal(tt.name, err)
		}
		if err := CheckUnchanged(path, before); (err == nil) != tt.same {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if Unchanged(nil, nil) {
		t.Error("no file is like no file")
	}
}

// TestPlaceOf: names of one file, there or not, have one place, and others do not.
func TestPlaceOf(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, err := range []error{
		os.MkdirAll("real/sub", 0o700), os.Symlink("real", "linked"), os.Symlink("real/sub", "deep"),
		os.WriteFile("real/file", nil, 0o600), os.Link("real/file", "hard"), os.Symlink("linked/file", "soft"),
		os.Symlink("linked/new", "dangling"), os.Symlink("../new", "real/sub/up"), os.Symlink("loop", "loop"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[Place]string{}
	for _, names := range [][]string{
		{"real/file", "linked/file", "hard", "soft", "real/../linked/file", here + "/real/file", "./real//file"},
		{"real/new", "linked/new", "linked/./new", "dangling", "real/sub/up", "deep/up", "real/sub/../new", here + "/linked/new"},
		{"real/New"},
		{"real", "linked"},
		{"real/sub/new", "deep/new"},
		{"real/none/x/new", "linked/none/x/new"},
		{"new"},
		{"/dev/null"},
	} {
		first, err := PlaceOf(names[0])
		if err != nil {
			t.Fatal(names[0], err)
		}
		if other, ok := seen[first]; ok {
			t.Errorf("%s and %s have one place", names[0], other)
		}
		seen[first] = names[0]
		for _, n := range names[1:] {
			if p, err := PlaceOf(n); p != first {
				t.Errorf("%s and %s: %+v, %+v, %v", names[0], n, first, p, err)
			}
		}
	}
	for _, bad := range []string{"real/file/x", "loop"} {
		if _, err := PlaceOf(bad); err == nil {
			t.Errorf("%s has a place", bad)
		}
	}
}

// TestFollow: where links end, also at a name that is free, and how many there may be.
func TestFollow(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	link := func(to, name string) {
		t.Helper()
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.MkdirAll("real/sub", 0o700), os.WriteFile("real/file", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	link("real", "linked")
	link("real/file", "near")
	link("near", "far")
	link("../new", "real/sub/up")
	link("real/sub", "deep")
	link(dir+"/none", "free")
	link("nosuch/x", "lost")
	link("../x", "real/lost")
	link("end", "40")
	for i := 39; i >= 0; i-- {
		link(strconv.Itoa(i+1), strconv.Itoa(i))
	}
	for path, want := range map[string]string{
		"real/file":   "real/file",
		"linked/file": "linked/file", // the folder is not the end of the path
		"near":        "./real/file",
		"far":         "./real/file",
		"deep/up":     "real/sub/../new", // not dir/new: ".." begins where deep leads
		"linked":      "./real",
		"free":        dir + "/none",
		"lost":        "./nosuch/x",
		"nosuch":      "nosuch",
		"1":           "./end", // 40 links
	} {
		if got, err := Follow(path); got != want || err != nil {
			t.Errorf("%s leads to %s, %v; want %s", path, got, err, want)
		}
	}
	if got, err := Follow("0"); err == nil {
		t.Errorf("41 links lead to %s", got)
	}
}

// TestIsOwn needs root for a file of another user; others take a file of root.
func TestIsOwn(t *testing.T) {
	own, other := filepath.Join(t.TempDir(), "file"), "/"
	if err := os.WriteFile(own, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		other = filepath.Join(t.TempDir(), "file")
		if err := errors.Join(os.WriteFile(other, nil, 0o600), os.Chown(other, 12345, -1)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]bool{own: true, other: false} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := IsOwn(info); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}
