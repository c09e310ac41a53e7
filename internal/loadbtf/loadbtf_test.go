package loadbtf

import (
	"bytes"
	"compress/gzip"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

const splitFiles = "../../testdata/split/"

func TestLoadBTFForms(t *testing.T) {
	want := testfile.Read(t, splitFiles+"x86.base.btf")
	for _, name := range []string{"x86.base.btf", "x86.base-btf.o"} {
		for _, suffix := range []string{"", ".gz", ".xz", ".zst"} {
			b, err := Loader{}.Load(splitFiles+name+suffix, nil)
			if err != nil {
				t.Error(err)
			} else if !bytes.Equal(b.Encode(), want) {
				t.Errorf("%s%s: other BTF than x86.base.btf", name, suffix)
			}
		}
	}
}

func TestLoadBTFErrors(t *testing.T) {
	dir := t.TempDir()
	cut := func(name string, n int) string {
		data := testfile.Read(t, splitFiles+name)
		path := filepath.Join(dir, name)
		testfile.Write(t, path, data[:len(data)-n])
		return path
	}
	var nested bytes.Buffer
	z := gzip.NewWriter(&nested)
	z.Write([]byte("\x1f\x8b"))
	z.Close()
	twice := filepath.Join(dir, "twice")
	testfile.Write(t, twice, nested.Bytes())
	for _, tt := range []struct{ path, want string }{
		{filepath.Join(dir, "none"), "cannot open: no such file or directory"},
		{dir, "it is a folder; give a file"},
		{splitFiles + "x86.base.o", "no section .BTF"},
		{splitFiles + "base.c", "it is neither an ELF file nor BTF"},
		{splitFiles + "x86.module.btf", "btf: strings: offset 0 is not the empty string"},
		{cut("x86.base.btf", 1), "btf: header: strings end at"},
		{cut("x86.base.btf.gz", 9), "cannot read: gzip: the file ends too early"},
		{cut("x86.base.btf.xz", 40), "cannot read: xz: "},
		{cut("x86.base.btf.zst", 9), "cannot read: zstd: the file ends too early"},
		{twice, "it is neither an ELF file nor BTF, and begins with 1f 8b"},
	} {
		_, err := Loader{}.Load(tt.path, nil)
		if err == nil || !strings.HasPrefix(err.Error(), tt.path+": ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error is %v, want %s: %s", err, tt.path, tt.want)
		}
	}
}
