package unitrecord

import (
	_ "embed" // for names.txt
	"strings"
	"sync"
)

// The dictionary of names. Kernel headers bring the same names into nearly every unit:
// with them built in, a record needs to spell only its own.

// Dictionary is the number of the dictionary. It changes with names.txt.
const Dictionary = 1

// dictionaryText has the names, each with a newline behind it, in the order in which
// kernels use them (mkdict writes it).
//
//go:embed names.txt
var dictionaryText string

// dictionary finds its names by number.
type dictionary struct {
	start []uint32 // of each name in dictionaryText, and the end of the last one
	slots []uint16 // 1 + number of names, by hash; for find
}

var loadDictionary = sync.OnceValue(func() *dictionary {
	d := &dictionary{start: make([]uint32, 1, len(dictionaryText)/12)}
	for at := 0; at < len(dictionaryText); {
		at += strings.IndexByte(dictionaryText[at:], '\n') + 1
		d.start = append(d.start, uint32(at))
	}
	return d
})

// slots is the size of the table for find: over twice as many as there are names.
const slots = 1 << 16

// len is how many names there are.
func (d *dictionary) len() int { return len(d.start) - 1 }

// name is name i.
func (d *dictionary) name(i int) string { return dictionaryText[d.start[i] : d.start[i+1]-1] }

// index prepares find.
func (d *dictionary) index() {
	d.slots = make([]uint16, slots)
	for i := range d.len() {
		h := hash(d.name(i))
		for d.slots[h] != 0 {
			h = (h + 1) & (slots - 1)
		}
		d.slots[h] = uint16(i + 1)
	}
}

// find looks a name up.
func (d *dictionary) find(name []byte) (i int, ok bool) {
	for h := hash(string(name)); d.slots[h] != 0; h = (h + 1) & (slots - 1) {
		if k := int(d.slots[h] - 1); d.name(k) == string(name) {
			return k, true
		}
	}
	return 0, false
}

// hash is FNV-1a, cut to the size of slots.
func hash(name string) uint32 {
	h := uint32(2166136261)
	for i := range len(name) {
		h = (h ^ uint32(name[i])) * 16777619
	}
	return (h ^ h>>15) & (slots - 1)
}
