package faults

import (
	"strings"
	"testing"

	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/test/testfile"
)

// TestDumpMachines: dump --format=c of an amd64 and an arm kernel made a header that was
// right for neither, and files with different byte orders gave a message about bases.
// Mended in 12690ec.
//
// Input: files with different byte orders and sizes of pointers, and one without a long,
// which fits both sizes. The error must name the file and the difference.
func TestDumpMachines(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"wide", "narrow", "big", "small"} {
		b := btftest.New()
		switch name {
		case "wide", "big":
			b.Int("long unsigned int", 8)
		case "narrow":
			b.Int("long int", 4)
		}
		b.Struct("s_"+name, 4, b.Member("i", b.Int("int", 4), 0))
		testfile.Write(t, name, b.Encode(name == "big"))
	}
	for files, want := range map[string]string{
		"wide big":          "big: its byte order differs from wide: the files are for different machines",
		"wide narrow":       "narrow: its pointers have 32 bits, and in wide they have 64: the files are for different machines",
		"small narrow wide": "wide: its pointers have 64 bits, and in narrow they have 32: the files are for different machines",
		"small narrow":      "",
		"wide small":        "",
	} {
		status, out, errs := run(t, append([]string{"dump", "--format=c"}, strings.Fields(files)...)...)
		if want != "" && (status != 1 || out != "" || errs != "btflite: "+want+"\n") {
			t.Errorf("%s: status %d, %q, %q, want %q", files, status, out, errs, want)
		}
		if want == "" && (status != 0 || errs != "" || strings.Count(out, "struct s_") != 2) {
			t.Errorf("%s: status %d, %q, %q", files, status, out, errs)
		}
	}
}
