package faults

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestFullcircleWithoutRoom: without a folder for temporary files, the error of
// fullcircle began with mkdir in place of a file. Mended in 94f9e6e.
//
// Input: TMPDIR is a missing folder. The error must begin with its name.
func TestFullcircleWithoutRoom(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none")
	t.Setenv("TMPDIR", missing)
	if _, stderr := btflite(t, 2, "fullcircle", smallFile); !strings.HasPrefix(stderr, "btflite: "+missing) || !strings.Contains(stderr, ": cannot ") {
		t.Error(stderr)
	}
}
