package arena

import (
	"bytes"
	"encoding/binary"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/btflite/btflite/test/testfile"
	"github.com/edsrzf/mmap-go"
)

// TestShare: a Vec begins with words of a mapped file, and grows, first where it is and then
// somewhere else.
func TestShare(t *testing.T) {
	content := make([]byte, 5*pageSize+100)
	for i := range content {
		content[i] = byte(i * 7)
	}
	path := testfile.New(t, "file", content)
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	mapping, err := mmap.Map(file, mmap.RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer mapping.Unmap()
	for _, c := range []struct{ from, to int }{{0, 4}, {24, 5 * pageSize}, {pageSize, 2 * pageSize}, {pageSize + 4, 5*pageSize + 100}} {
		x, _ := Words(mapping[c.from:c.to])
		want := slices.Clone(x)
		var v Vec[uint32]
		v.Append(1)
		at, ok := v.Share(x, mapping)
		if ok != (runtime.GOOS == "linux") {
			t.Fatalf("%v: ok is %v", c, ok)
		} else if !ok {
			continue
		}
		first := len(v.S)
		for i := range uint32(maxReserve / 4) {
			v.Append(i)
		}
		if !slices.Equal(v.S[at:][:len(want)], want) {
			t.Errorf("%v: the words differ", c)
		}
		for i, x := range v.S[first:] {
			if x != uint32(i) {
				t.Fatalf("%v: element %d behind them is %d", c, i, x)
			}
		}
		v.Free()
	}
	if !bytes.Equal(mapping, content) {
		t.Error("the mapping has changed")
	}
}

// TestShareRefuses: words that do not lie in the mapping.
func TestShareRefuses(t *testing.T) {
	mapping, err := mmap.MapRegion(nil, 2*pageSize, mmap.RDWR, mmap.ANON, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer mapping.Unmap()
	binary.NativeEndian.PutUint32(mapping, 5)
	inside, _ := Words(mapping)
	for _, c := range []struct {
		name    string
		x       []uint32
		mapping []byte
	}{
		{"no words", nil, mapping},
		{"no mapping", inside, nil},
		{"on the heap", make([]uint32, 3), mapping},
		{"beyond the end", inside, mapping[:pageSize]},
		{"before the start", inside, mapping[pageSize:]},
	} {
		var v Vec[uint32]
		v.Append(1)
		if _, ok := v.Share(c.x, c.mapping); ok || len(v.S) != 1 || v.S[0] != 1 {
			t.Errorf("%s: ok is %v, the Vec is %v", c.name, ok, v.S)
		}
		v.Free()
	}
	if inside[0] != 5 {
		t.Error("the mapping has changed")
	}
}
