//go:build unix

package btflite_test

import (
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/diff"
	"github.com/btflite/btflite/encode"
)

// readerFunc is a source's reader that does what a test wants.
type readerFunc func(p []byte, off int64) (int, error)

func (f readerFunc) ReadAt(p []byte, off int64) (int, error) { return f(p, off) }

// TestCutShort: a base that is cut short while it is open is an error of what uses it.
// A fault of memory would end the process.
func TestCutShort(t *testing.T) {
	b := btftest.New()
	for range 4000 { // some pages
		b.Int("int", 4)
	}
	path := filepath.Join(t.TempDir(), "base.btf")
	if err := os.WriteFile(path, b.Encode(false), 0o600); err != nil {
		t.Fatal(err)
	}
	over := btftest.Over(b.Blob(t))
	over.Typedef("of_base", 4000)
	module := over.Encode(false)
	base := openBase(t, btflite.Source{Path: path})
	if err := btflite.Verify(ctx, module, base, ""); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	source := btflite.Source{Path: "module", Data: module}
	found, errDiff := btflite.Diff(ctx, source, source, base, base, diff.Options{})
	if found != nil {
		t.Errorf("%d differences", len(found))
	}
	for what, err := range map[string]error{"Verify": btflite.Verify(ctx, module, base, ""), "Diff": errDiff} {
		if err == nil || !strings.Contains(err.Error(), ": a file was cut short or could not be read while in use") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestCallersFaults: a caller's function that panics or breaks its contract is an error,
// and nothing comes back with it.
func TestCallersFaults(t *testing.T) {
	for what, f := range map[string]readerFunc{
		"panics":   func([]byte, int64) (int, error) { panic("no disk") },
		"stalls":   func([]byte, int64) (int, error) { return 0, nil },
		"too many": func(p []byte, _ int64) (int, error) { return len(p) + 1, nil },
		"below 0":  func([]byte, int64) (int, error) { return -1, nil },
	} {
		in := btflite.Source{Path: "in", Reader: f, Size: 4096}
		r, err := btflite.Encode(ctx, []btflite.Source{in}, btflite.Options{})
		b, errBase := btflite.OpenBase(ctx, in)
		found, errDiff := btflite.Diff(ctx, in, in, nil, nil, diff.Options{})
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

// TestOptionsAtTheirEnds: any number of workers, and a question without a listener.
func TestOptionsAtTheirEnds(t *testing.T) {
	want := read(t, splitFiles+"x86.base.btf")
	for _, o := range []btflite.Options{
		{Jobs: math.MaxInt}, {Jobs: math.MinInt}, {Functions: new(btflite.FunctionQuery)},
	} {
		r, err := btflite.Encode(ctx, btflite.Paths(splitFiles+"x86.base.o"), o)
		if err != nil {
			t.Errorf("%d workers, functions %v: %v", o.Jobs, o.Functions, err)
			continue
		}
		if string(r.BTF) != string(want) {
			t.Errorf("%d workers: other bytes", o.Jobs)
		}
		r.Close()
	}
}
