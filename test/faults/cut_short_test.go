//go:build unix

package faults

import (
	"os"
	"strings"
	"testing"

	lib "github.com/btflite/btflite"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/diff"
	"github.com/btflite/btflite/test/testfile"
)

// TestCutShort: a base that was cut short while it was open ended the process of a caller
// of Verify or Diff. Encode and OpenBase already had an error. Mended in 0cb5c61.
//
// Input: split BTF over a base of some pages, whose file is then cut to 0 bytes. Each
// function must return an error that says that a file was cut short.
func TestCutShort(t *testing.T) {
	b := btftest.New()
	for range 4000 { // some pages
		b.Int("int", 4)
	}
	path := testfile.New(t, "base.btf", b.Encode(false))
	over := btftest.Over(b.Blob(t))
	over.Typedef("of_base", 4000)
	module := over.Encode(false)
	base, err := lib.OpenBase(t.Context(), lib.Source{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer base.Close()
	if err := lib.Verify(t.Context(), module, base, ""); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	source := lib.Source{Path: "module", Data: module}
	found, errDiff := lib.Diff(t.Context(), source, source, base, base, diff.Options{})
	if found != nil {
		t.Errorf("%d differences", len(found))
	}
	for what, err := range map[string]error{"Verify": lib.Verify(t.Context(), module, base, ""), "Diff": errDiff} {
		if err == nil || !strings.Contains(err.Error(), ": a file was cut short or could not be read while in use") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
