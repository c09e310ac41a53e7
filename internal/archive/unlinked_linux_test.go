package archive

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btflite/btflite/test/testfile"
)

// TestWithoutProc: an archive is written where /proc is missing, as below a chroot, and nothing is left of the names
// that files have meanwhile.
func TestWithoutProc(t *testing.T) {
	dir, a, usual := packages(t, map[string][]byte{deb: debOf(release)}), archiveIn(t), archiveIn(t)
	add(t, usual, filepath.Join(dir, deb))
	defer func(old string) { openFiles = old }(openFiles)
	openFiles = filepath.Join(t.TempDir(), "none")
	if rec := add(t, a, filepath.Join(dir, deb)); len(rec.Kernels) != 1 || rec.Kernels[0].BTF == "" {
		t.Errorf("%+v", rec)
	}
	if got, want := files(t, a.Dir), files(t, usual.Dir); !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestKilledWhileReplacing: a process that is killed while it replaces a file leaves the old file or the new one, and
// almost never another name.
func TestKilledWhileReplacing(t *testing.T) {
	const variable = "BTFLITE_TEST_REPLACE"
	if at := os.Getenv(variable); at != "" {
		for data := make([]byte, 1<<20); ; data[0]++ {
			if err := replaceFile(at, data); err != nil {
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
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledWhileReplacing$")
		cmd.Env = append(os.Environ(), variable+"="+filepath.Join(dir, "x"))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(10+rand.IntN(20)) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	left := files(t, dir)
	if n := len(left) - 1; n > kills/10 {
		t.Errorf("%d of %d kills left a file: %q", n, kills, left)
	}
	for _, name := range left {
		if n := len(testfile.Read(t, filepath.Join(dir, name))); n != 1<<20 {
			t.Errorf("%s: %d bytes", name, n)
		}
	}
}
