package archive

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
