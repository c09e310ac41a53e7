package pack

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	at "github.com/btflite/btflite/internal/archive/archivetest"
	"github.com/btflite/btflite/test/testfile"
)

// TestTemporaryFileIsNamed: if the file that blocks of a package are expanded into cannot be written, the error
// names that file, and is not damage of the package.
func TestTemporaryFileIsNamed(t *testing.T) {
	dir := t.TempDir()
	name, temp := filepath.Join(dir, "a.deb"), filepath.Join(dir, "temporary")
	big := make([]byte, 1<<20)
	testfile.Write(t, temp, "")
	testfile.Write(t, name, at.Deb("xz", at.Entry{Name: "x", Data: big}, at.Entry{Name: "vmlinux", Data: at.Kernel("6.99.0")}))
	for _, last := range []bool{false, true} {
		p, err := Open(name, UsualLimits)
		if err != nil {
			t.Fatal(err)
		}
		p.Temp = func() (*os.File, error) { return os.Open(temp) } // not for writing
		if visit := func(*File) error { return nil }; last {
			_, err = p.Last(func(name string, _ int64, _ []byte) bool { return name == "vmlinux" }, visit)
		} else {
			err = p.Each(visit)
		}
		p.Close()
		if want := temp + ": cannot write a temporary file: "; err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("from the end %v: %v, want %s", last, err, want)
		}
	}
}
