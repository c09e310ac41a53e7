package unitrecord_test

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/btflite/btflite"
	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/test/testfile"
)

// TestFormat6: records that btflite wrote before format 7 are read, alone and between newer ones.
// format6.o is a partial link of the objects of ccobject/testdata/crossing/a.c and b.c, converted at
// d7801e1; format6.btf is pahole's of the same objects with DWARF.
func TestFormat6(t *testing.T) {
	old := testfile.Read(t, "testdata/format6.o")
	want := testfile.Read(t, "testdata/format6.btf")
	for _, jobs := range []int{1, 3} {
		for _, features := range []encode.Features{0, encode.ForceCUMerging} {
			r, err := btflite.Encode(context.Background(), []btflite.Source{{Path: "format6.o", Data: old}},
				btflite.Options{Features: encode.DefaultFeatures | encode.GlobalVar | features, Jobs: jobs, Libbpf: encode.Libbpf17})
			if err != nil {
				t.Fatal(err)
			}
			if features == 0 && !bytes.Equal(r.BTF, want) {
				t.Errorf("-j%d: format 6 gives other BTF than the DWARF", jobs)
			}
			r.Close()
		}
	}
	btf, err := encoded(t, linked(t, object(t), old, object(t)))
	for _, name := range []string{"same_too", "weak_one", "calls_variadic"} { // of a.c, b.c and unit.c
		if err != nil || !bytes.Contains(btf, []byte("\x00"+name+"\x00")) {
			t.Errorf("formats 7, 6 and 7 in one file: %v, or it has no %s", err, name)
		}
	}
}

// linked is a partial link of objects.
func linked(t *testing.T, objects ...[]byte) []byte {
	t.Helper()
	dir := t.TempDir()
	words := []string{"-r", "-z", "muldefs", "-o", "linked.o"}
	for i, data := range objects {
		name := fmt.Sprintf("%d.o", i)
		words = append(words, name)
		testfile.Write(t, filepath.Join(dir, name), data)
	}
	cmd := exec.Command("ld", words...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("%v\n%s", err, out)
	}
	return testfile.Read(t, filepath.Join(dir, "linked.o"))
}
