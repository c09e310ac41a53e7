package draft

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/btflite/btflite/test/testfile"
)

// TestWithoutProc: below a chroot without /proc a file without a name could not get one, so it has a temporary name.
func TestWithoutProc(t *testing.T) {
	defer func(old string) { openFiles = old }(openFiles)
	openFiles = filepath.Join(t.TempDir(), "none")
	dir := t.TempDir()
	f, err := New(dir, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Discard()
	if f.Temporary() == "" {
		t.Error("the file has no name")
	}
	if err := f.Replace(filepath.Join(dir, "file")); err != nil {
		t.Error(err)
	}
	if list := names(t, dir); len(list) != 1 || list[0] != "file" {
		t.Errorf("the folder has %q", list)
	}
}

// TestKilled: a process that is killed while it replaces a file leaves the old file or the new one, and
// almost never another name.
func TestKilled(t *testing.T) {
	const variable = "BTFLITE_TEST_REPLACE"
	if path := os.Getenv(variable); path != "" {
		for data := make([]byte, 1<<20); ; data[0]++ {
			f, err := New(filepath.Dir(path), 0o600)
			if err == nil {
				_, err = f.Write(data)
			}
			if err == nil {
				err = f.Replace(path)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	dir := t.TempDir()
	f, err := openNameless(dir, 0o600)
	if err != nil {
		t.Skip(err)
	}
	f.Close()
	const kills = 40
	for range kills {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		cmd.Env = append(os.Environ(), variable+"="+filepath.Join(dir, "x"))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(10+rand.IntN(20)) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	left := names(t, dir)
	if n := len(left) - 1; n > kills/10 {
		t.Errorf("%d of %d kills left a file: %q", n, kills, left)
	}
	for _, name := range left {
		if n := len(testfile.Read(t, filepath.Join(dir, name))); n != 1<<20 {
			t.Errorf("%s: %d bytes", name, n)
		}
	}
}
