package unitrecord

import (
	"encoding/binary"
	"flag"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

var update = flag.Bool("update", false, "write names.idx again")

// TestIndex: names.idx is the index of names.txt. With -update the test writes it.
func TestIndex(t *testing.T) {
	names := strings.Split(strings.TrimSuffix(dictionaryText, "\n"), "\n")
	index := binary.LittleEndian.AppendUint32(nil, uint32(len(names)))
	slots := make([]byte, 2*dictionarySlots)
	start := 0
	for i, name := range names {
		index = binary.LittleEndian.AppendUint32(index, uint32(start))
		start += len(name) + 1
		h := textHash([]byte(name)) % dictionarySlots
		for slots[2*h] != 0 || slots[2*h+1] != 0 {
			h = (h + 1) % dictionarySlots
		}
		binary.LittleEndian.PutUint16(slots[2*h:], uint16(i+1))
	}
	index = append(binary.LittleEndian.AppendUint32(index, uint32(start)), slots...)
	if *update {
		testfile.Write(t, "names.idx", index)
		return
	}
	if string(index) != dictionaryIndex {
		t.Fatal("names.idx is not the index of names.txt: go test ./internal/unitrecord -run TestIndex -update writes it")
	}
	for i, name := range names {
		if k, ok := inDictionary([]byte(name), textHash([]byte(name))); !ok || k != i || dictionaryName(i) != name {
			t.Fatalf("%q is number %d, %v, in place of %d", name, k, ok, i)
		}
	}
	if _, ok := inDictionary([]byte("no such name"), textHash([]byte("no such name"))); ok {
		t.Error("a name that the dictionary does not have is found")
	}
}

// TestFill: names of the dictionary that follow each other get their places in it, however many
// there are.
func TestFill(t *testing.T) {
	for n := range 14 {
		for _, at := range []int{0, 1, dictionaryLen() - n} {
			to := make([]freshName, n)
			fill(to, at)
			for i, f := range to {
				if int(f.at()) != at+i || f.token() != 0 {
					t.Errorf("%d names from %d on: name %d is at %d, token %d", n, at, i, f.at(), f.token())
				}
			}
		}
	}
}
