package faults

import (
	"errors"
	"io"
	"testing"

	lib "github.com/btflite/btflite"
	"github.com/btflite/btflite/btf/diff"
	"github.com/btflite/btflite/encode"
)

// readerFunc is a source's reader that a test defines.
type readerFunc func(p []byte, off int64) (int, error)

func (f readerFunc) ReadAt(p []byte, off int64) (int, error) { return f(p, off) }

// TestCallersFaults: OpenBase returned a Base together with the error of a panic in the
// caller's reader. A reader that read nothing without an error was called again for ever,
// and one that counted wrong was an index out of bounds. Mended in 0cb5c61.
//
// Input: readers that panic, stall, or return impossible counts. Each function must
// return an error and no result.
func TestCallersFaults(t *testing.T) {
	for what, f := range map[string]readerFunc{
		"panics":   func([]byte, int64) (int, error) { panic("no disk") },
		"stalls":   func([]byte, int64) (int, error) { return 0, nil },
		"too many": func(p []byte, _ int64) (int, error) { return len(p) + 1, nil },
		"below 0":  func([]byte, int64) (int, error) { return -1, nil },
	} {
		in := lib.Source{Path: "in", Reader: f, Size: 4096}
		r, err := lib.Encode(t.Context(), []lib.Source{in}, lib.Options{})
		b, errBase := lib.OpenBase(t.Context(), in)
		found, errDiff := lib.Diff(t.Context(), in, in, nil, nil, diff.Options{})
		if r != nil || b != nil || found != nil {
			t.Errorf("a reader that %s: %v %v %v", what, r, b, found)
		}
		for _, err := range []error{err, errBase, errDiff} {
			var crash *encode.Crash
			if errors.Is(err, io.ErrNoProgress) != (what != "panics") || errors.As(err, &crash) != (what == "panics") {
				t.Errorf("a reader that %s: %v", what, err)
			}
		}
	}
}
