package archive

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	at "github.com/btflite/btflite/internal/archive/archivetest"
)

// TestPackageNames: every name that a file system takes gets a record of its own, and the package is
// not read again.
func TestPackageNames(t *testing.T) {
	long := strings.Repeat("n", longestName-4)
	names := []string{"a.tar", long[:longestName-len(RecordSuffix)], long + ".tar", long + ".rpm", strings.Repeat("é", longestName/2), " \n\\", "*?%00", "-", "\xff\xfe.deb"}
	a := archiveIn(t)
	for i, name := range names {
		dir := packages(t, map[string][]byte{name: at.Tar(at.Entry{Name: "vmlinux", Data: at.Kernel(fmt.Sprintf("6.%d.0", i))})})
		rec := add(t, a, filepath.Join(dir, name))
		if len(rec.Kernels) != 1 || !rec.Recorded || rec.Package != name {
			t.Errorf("%q: %+v", name, rec)
		}
		if old, err := a.Done(filepath.Join(dir, name)); err != nil || old == nil || len(old.Kernels) != 1 || old.Kernels[0].Release != rec.Kernels[0].Release {
			t.Errorf("%q is done: %+v, %v", name, old, err)
		}
	}
	if records, err := os.ReadDir(filepath.Join(a.Dir, PackagesDir)); err != nil || len(records) != len(names) {
		t.Errorf("%d records of %d packages, %v", len(records), len(names), err)
	}
	if x, err := Merge(a.Dir); err != nil || len(x.Kernels) != len(names) {
		t.Errorf("%+v, %v", x, err)
	}
}
