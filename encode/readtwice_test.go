package encode_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/test/testfile"
)

// readTwice writes a file with a partial unit of dies, and another unit that imports it. It is read where
// it is, and where it is imported.
func readTwice(t *testing.T, dies ...any) string {
	const partialUnit = 3 // DW_UT_partial
	u := &dt.Unit{Type: partialUnit, Root: dt.N(dt.TagPartialUnit, dies...)}
	path := filepath.Join(t.TempDir(), "file")
	testfile.Write(t, path, (&dt.File{Units: []*dt.Unit{u, dt.CU(dt.N(dt.TagImportedUnit, dt.Attr{At: dt.AtImport, Form: dt.FormRefAddr, Val: u.Root}))}}).Bytes())
	return path
}

// TestSignsOfReadTwice: the values of an enumeration without a sign look the same in -V for both readings
// of its unit.
func TestSignsOfReadTwice(t *testing.T) {
	u := base("unsigned int", 4, ateUnsigned)
	lines, _, _ := verboseRun(t, []string{readTwice(t, u, enum("e", 4, dt.Type(u), value("negative", -1)))}, encode.Options{Features: encode.DefaultFeatures})
	const line = "\tnegative val=18446744073709551615\n"
	if n := strings.Count(lines, "\tnegative "); n != 2 || strings.Count(lines, line) != n {
		t.Errorf("not two lines %q in\n%s", line, lines)
	}
}

// TestDeclaredInFunctionReadTwice: a struct that only a function declares is known as such if its unit is
// read twice.
func TestDeclaredInFunctionReadTwice(t *testing.T) {
	i := intType()
	out, err := encode.Run([]string{readTwice(t, i, function("f", fn1, i, structure("inner", 4, member("x", i, 0))), structure("outer", 4, member("x", i, 0)))},
		encode.Options{Features: encode.DefaultFeatures, For: encode.ForReaders})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if n := len(out.Stats.InFunctions); n != 1 {
		t.Errorf("%d structs that only functions declare, want 1", n)
	}
}
