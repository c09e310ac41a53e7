package btf_test

import (
	"path/filepath"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/test/testfile"
)

// TestCount compares with what Parse finds in real BTF of both byte orders, and
// cuts it at every word: that is an error or no more than there was.
func TestCount(t *testing.T) {
	files, err := filepath.Glob("../encode/testdata/golden/*.all.btf")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		data := testfile.Read(t, path)
		b := btftest.Parse(t, data, nil)
		want := btf.Counts{Types: len(b.Off), TypeLen: 4 * len(b.Words), StrLen: len(b.Strings)}
		for id := b.FirstID; id < b.TypeCount(); id++ {
			want.Kinds[b.Kind(id)]++
			want.Vlen = max(want.Vlen, b.Record(id).Vlen())
		}
		if got, err := btf.Count(data); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", path, got, err, want)
		}
		for n := 0; n < len(data); n += 4 {
			if got, err := btf.Count(data[:n]); err == nil {
				t.Errorf("%s: cut at %d: %+v and no error", path, n, got)
			}
		}
		cut := btf.AppendHeader(nil, b.BigEndian, uint32(want.TypeLen-4), uint32(want.StrLen))
		cut = append(append(cut, data[btf.HeaderLen:btf.HeaderLen+want.TypeLen-4]...), b.Strings...)
		if got, err := btf.Count(cut); err == nil {
			t.Errorf("%s: the last record is cut: %+v and no error", path, got)
		}
	}
}
