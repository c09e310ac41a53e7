//go:build linux

package fileid

import (
	"errors"
	"os"
	"path/filepath"
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
