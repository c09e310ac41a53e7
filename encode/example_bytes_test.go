package encode_test

import (
	"encoding/hex"
	"regexp"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/test/testfile"
)

// TestBytesOfTheGuide: the example in ARCHITECTURE.md has the bytes that its
// three DIEs give.
func TestBytesOfTheGuide(t *testing.T) {
	guide := testfile.Read(t, "../ARCHITECTURE.md")
	lines := regexp.MustCompile(`(?m)^(?:[0-9a-f]{2} +){3,}[0-9a-f]{2}$`).FindAllString(string(guide), -1)
	want, err := hex.DecodeString(strings.ReplaceAll(strings.Join(lines, ""), " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	i := intType()
	r := rule{files: []dt.File{{Units: []*dt.Unit{dt.CU(i, structure("item", 8, member("count", i, 4)))}}}}
	got := mustRun(t, r.write(t, t.TempDir()), r.options(1))
	got = got[btf.HeaderLen:]
	if !strings.HasPrefix(string(got), string(want)) || len(want) != 40 {
		t.Errorf("got\n%s\nwant\n%s", hex.Dump(got), hex.Dump(want))
	}
}
