package draft

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

// names returns the names of the files in a folder.
func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// eachWay runs f with files that have no name, where that can be, and with temporary names.
func eachWay(t *testing.T, f func(t *testing.T)) {
	t.Run("nameless", f)
	defer func() { Nameless = true }()
	Nameless = false
	t.Run("temporary name", f)
}

// TestReplace: a file has its name only when it is whole, with the contents and the mode of the draft, whether the
// name is taken or not.
func TestReplace(t *testing.T) {
	eachWay(t, func(t *testing.T) {
		for _, old := range []string{"", "old"} {
			dir := t.TempDir()
			path := filepath.Join(dir, "file")
			if old != "" {
				testfile.Write(t, path, old)
			}
			f, err := New(dir, 0o640)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteString("new"); err != nil {
				t.Fatal(err)
			}
			if data, err := os.ReadFile(path); string(data) != old {
				t.Errorf("the file has %q before Replace (%v)", data, err)
			}
			if err := f.Replace(path); err != nil {
				t.Fatal(err)
			}
			f.Discard()
			if data := testfile.Read(t, path); string(data) != "new" {
				t.Errorf("after Replace the file has %q", data)
			}
			if info, err := os.Stat(path); err != nil || info.Mode() != 0o640 {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
			if list := names(t, dir); len(list) != 1 || f.Temporary() != "" {
				t.Errorf("the folder has %q, the draft is %q", list, f.Temporary())
			}
		}
	})
}

// TestReplaceFails: after an error, Discard leaves nothing of the draft.
func TestReplaceFails(t *testing.T) {
	eachWay(t, func(t *testing.T) {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "folder", "full"), 0o777); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"folder", "none/file"} {
			f, err := New(dir, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			if err := f.Replace(filepath.Join(dir, path)); err == nil {
				t.Errorf("%s: no error", path)
			}
			f.Discard()
			if list := names(t, dir); len(list) != 1 {
				t.Errorf("%s: the folder has %q", path, list)
			}
		}
	})
}

// TestRest: a file that rests is closed, has a temporary name, and can be put in place or discarded.
func TestRest(t *testing.T) {
	eachWay(t, func(t *testing.T) {
		for _, discard := range []bool{false, true} {
			dir := t.TempDir()
			path := filepath.Join(dir, "file")
			f, err := New(dir, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteString("new"); err != nil {
				t.Fatal(err)
			}
			if err := f.Rest(); err != nil || f.Temporary() == "" || string(testfile.Read(t, f.Temporary())) != "new" {
				t.Errorf("%q: %v", f.Temporary(), err)
			}
			if _, err := f.WriteString("more"); !errors.Is(err, os.ErrClosed) {
				t.Errorf("it is open: %v", err)
			}
			want := 0
			if !discard {
				want = 1
				if err := f.Replace(path); err != nil || string(testfile.Read(t, path)) != "new" {
					t.Error(err)
				}
			}
			f.Discard()
			if list := names(t, dir); len(list) != want {
				t.Errorf("discarded %v: the folder has %q", discard, list)
			}
		}
	})
}

// TestLink: Link never replaces a file, and the draft may be discarded afterwards.
func TestLink(t *testing.T) {
	eachWay(t, func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "file")
		for _, text := range []string{"first", "second"} {
			f, err := New(dir, 0o444)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteString(text); err != nil {
				t.Fatal(err)
			}
			if err := f.Link(path); (err == nil) != (text == "first") || err != nil && !errors.Is(err, fs.ErrExist) {
				t.Errorf("%s: %v", text, err)
			}
			f.Discard()
		}
		if data := testfile.Read(t, path); string(data) != "first" {
			t.Errorf("the file has %q", data)
		}
		if list := names(t, dir); len(list) != 1 {
			t.Errorf("the folder has %q", list)
		}
	})
}

// TestNoFolder: the error of New names the folder and says what is wrong with it.
func TestNoFolder(t *testing.T) {
	eachWay(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "none")
		f, err := New(dir, 0o600)
		var at *fs.PathError
		if !errors.As(err, &at) || filepath.Dir(at.Path) != dir || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v, %v", f, err)
		}
	})
}

// TestUnnamed: a file without a name can be written and read, and is never in its folder.
func TestUnnamed(t *testing.T) {
	eachWay(t, func(t *testing.T) {
		dir := t.TempDir()
		f, err := Unnamed(dir, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		b := make([]byte, 3)
		if _, err := f.WriteString("abc"); err != nil {
			t.Error(err)
		}
		if _, err := f.ReadAt(b, 0); err != nil || string(b) != "abc" {
			t.Errorf("%q, %v", b, err)
		}
		if list := names(t, dir); len(list) != 0 {
			t.Errorf("the folder has %q", list)
		}
	})
}

// TestUnnamedFails: where an open file keeps its name, as on some systems, the file is closed and
// removed.
func TestUnnamedFails(t *testing.T) {
	defer func(nameless bool, old func(string) error) { Nameless, unname = nameless, old }(Nameless, unname)
	Nameless, unname = false, func(string) error { return fs.ErrPermission }
	dir := t.TempDir()
	if f, err := Unnamed(dir, 0o600); f != nil || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v, %v", f, err)
	}
	if list := names(t, dir); len(list) != 0 {
		t.Errorf("the folder has %q", list)
	}
}

// TestSyncDir: a missing folder is an error. A folder that cannot be synchronised, such as
// /proc, is not.
func TestSyncDir(t *testing.T) {
	dir := t.TempDir()
	if err := SyncDir(dir); err != nil {
		t.Error(err)
	}
	err := SyncDir(filepath.Join(dir, "none"))
	var late *NotSynced
	if !errors.As(err, &late) || !errors.Is(err, os.ErrNotExist) || strings.Contains(err.Error(), dir) {
		t.Errorf("no folder: %v", err)
	}
	if _, err := os.Stat("/proc/self"); err == nil {
		if err := SyncDir("/proc/self"); err != nil {
			t.Errorf("/proc/self: %v", err)
		}
	}
}
