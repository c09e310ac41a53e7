package btflite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite"
	"github.com/btflite/btflite/btf/diff"
	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/internal/elfabi"
	"github.com/btflite/btflite/test/testfile"
)

// each calls all functions of the package that take sources, with one source.
func each(ctx context.Context, in btflite.Source) map[string]error {
	good := btflite.Source{Path: splitFiles + "x86.base.btf"}
	_, encoded := btflite.Encode(ctx, []btflite.Source{in}, btflite.Options{})
	_, opened := btflite.OpenBase(ctx, in)
	_, compared := btflite.Diff(ctx, in, good, nil, nil, diff.Options{})
	return map[string]error{"Encode": encoded, "OpenBase": opened, "Diff": compared}
}

// TestWrongArguments: what no caller should give is an error that says so. It is neither a panic
// nor an internal error, and it names the source by the name that it was given under.
func TestWrongArguments(t *testing.T) {
	var none context.Context
	errs := each(none, btflite.Source{Path: splitFiles + "x86.base.btf"})
	errs["Verify"] = btflite.Verify(none, testfile.Read(t, splitFiles+"x86.base.btf"), nil, "")
	for what, err := range errs {
		if err == nil || !strings.Contains(err.Error(), "the context is nil") {
			t.Errorf("%s without a context: %v", what, err)
		}
	}
	closed, err := os.Open(smallFile)
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	write.Close()
	defer read.Close()
	folder, err := os.Open(".")
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	missing := filepath.Join(t.TempDir(), "none")
	for what, x := range map[string]struct {
		in       btflite.Source
		name, is string
	}{
		"nothing":             {btflite.Source{}, "input 1", "neither a path nor bytes"},
		"no bytes":            {btflite.Source{Data: []byte{}}, "input 1", ""},
		"no file":             {btflite.Source{Reader: (*os.File)(nil)}, "input 1", "invalid argument"},
		"no file, with name":  {btflite.Source{Reader: (*os.File)(nil), Path: "a"}, "a", "invalid argument"},
		"closed":              {btflite.Source{Reader: closed}, smallFile, "already closed"},
		"closed, with a name": {btflite.Source{Reader: closed, Path: "a"}, "a", "already closed"},
		"a pipe":              {btflite.Source{Reader: read, Path: "a"}, "a", "not a regular file"},
		"a folder":            {btflite.Source{Reader: folder, Path: "a"}, "a", "not a regular file"},
		"less than no bytes":  {btflite.Source{Reader: strings.NewReader(""), Size: -1}, "input 1", "-1 bytes"},
		"a missing file":      {btflite.Source{Path: missing}, missing, "no such file"},
	} {
		for function, err := range each(t.Context(), x.in) {
			var e *btflite.Error
			var crash *encode.Crash
			if !errors.As(err, &e) || errors.As(err, &crash) || e.File != x.name || !strings.HasPrefix(err.Error(), x.name+": ") || !strings.Contains(err.Error(), x.is) {
				t.Errorf("%s of %s: %v", function, what, err)
			}
		}
	}
}

// TestFindDebugFails: if FindDebug finds nothing, the error about the input gives its reason, and also says
// that the input has no DWARF.
func TestFindDebugFails(t *testing.T) {
	down, id := errors.New("the server is down"), "GNU\x00\x0aBCDEFGH"
	note := dt.Section{Name: ".note.gnu.build-id", Type: elfabi.SHTNote, Data: []byte("\x04\x00\x00\x00\x08\x00\x00\x00\x03\x00\x00\x00" + id)}
	link := dt.Section{Name: ".gnu_debuglink", Data: []byte("none\x00\x00\x00\x00\x01\x02\x03\x04")}
	alt := dt.Section{Name: ".gnu_debugaltlink", Data: []byte("alt\x00" + id)}
	for what, x := range map[string]struct {
		in     dt.File
		noFile string
	}{
		"by build-id":       {dt.File{NoDebug: true, Sections: []dt.Section{note}}, ""},
		"by link":           {dt.File{NoDebug: true, Sections: []dt.Section{note, link}}, `file "none" is not in`},
		"an alternate file": {dt.File{Units: []*dt.Unit{dt.CU(dt.N(dt.TagImportedUnit, dt.Attr{At: dt.AtImport, Form: 0x1f20, Val: dt.Raw{12, 0, 0, 0}}))}, Sections: []dt.Section{alt}}, `alternate debug file "alt"`},
	} {
		in := []btflite.Source{{Path: testfile.New(t, "in", x.in.Bytes())}}
		_, err := btflite.Encode(t.Context(), in, btflite.Options{FindDebug: func(string, []byte) (string, error) { return "", down }})
		if !errors.Is(err, down) || errors.Is(err, btflite.ErrNoDWARF) != (x.noFile == "") || !strings.Contains(err.Error(), x.noFile) {
			t.Errorf("%s: %v", what, err)
		}
		missing := filepath.Join(t.TempDir(), "found")
		_, err = btflite.Encode(t.Context(), in, btflite.Options{FindDebug: func(string, []byte) (string, error) { return missing, nil }})
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("cannot be used: %s: cannot open: no such file", missing)) {
			t.Errorf("%s, FindDebug returns a path without a file: %v", what, err)
		}
	}
}
