package debuginfo

import (
	"encoding/binary"
	"fmt"
	"os"
	"reflect"
	"testing"

	"github.com/btflite/btflite/mmapelf"
	"github.com/btflite/btflite/test/testfile"
)

// TestPassageOfSeveral: where several cursors take turns, in any order, the relocations of finished
// units stay out of memory, as with one cursor.
func TestPassageOfSeveral(t *testing.T) {
	var units []string
	for i := range 100_000 {
		units = append(units, fmt.Sprint(i))
	}
	f, err := Open(&mmapelf.Source{Path: testfile.New(t, "in", relocatableOf(units, nil, nil))}, plenty(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Load(false); err != nil {
		t.Fatal(err)
	}
	var ps Passage
	var cursors [8]Cursor
	off := uint64(0)
	for n := 0; off < uint64(len(f.Info)); n++ {
		c := &cursors[n/1000%len(cursors)] // so seven of them are far behind
		c.Reset(0)
		if err := ps.Begin(f, off, c); err != nil {
			t.Fatal(err)
		}
		off = c.Hdr.End()
		ps.Ahead(c, off)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		ps.Behind(c, 0, false)
	}
	for i := range cursors {
		cursors[i].Free()
	}
	relocs, err := f.Dwarf.Data(f.section(".rela.debug_info"))
	if err != nil {
		t.Fatal(err)
	}
	given := f.rel.inInfo.given
	if given < 6<<20 {
		t.Fatalf("%d bytes of %d are given back", given, len(relocs))
	}
	if left := resident(t, relocs[:given]); left > hugePage+mappedAround {
		t.Errorf("%d bytes are in memory, of %d that have been given back", left, given)
	}
}

// hugePage is how many bytes of a file, in the page cache as one piece, Linux maps when one of them is read.
const hugePage = 2 << 20

// resident returns how many bytes of a mapping are in the memory of this process.
func resident(t *testing.T, b []byte) (bytes int) {
	t.Helper()
	pages, err := os.Open("/proc/self/pagemap")
	if err != nil {
		t.Skip(err)
	}
	defer pages.Close()
	const entry, present = 8, 1 << 63
	size := os.Getpagesize()
	entries := make([]byte, len(b)/size*entry)
	if _, err := pages.ReadAt(entries, int64(reflect.ValueOf(b).Pointer())/int64(size)*entry); err != nil {
		t.Skip(err)
	}
	for ; len(entries) > 0; entries = entries[entry:] {
		if binary.NativeEndian.Uint64(entries)&present != 0 {
			bytes += size
		}
	}
	return bytes
}
