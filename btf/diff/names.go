package diff

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"math/bits"
	"slices"

	"github.com/btflite/btflite/arena"
	"github.com/btflite/btflite/btf"
)

// names numbers the distinct names of both sides; 0 is the empty one.
type names struct {
	seed     maphash.Seed
	slots    []uint32 // number + 1, or 0; a power of two, at most half of it in use
	list     []nameAt
	sections []*stringSection
}

// nameAt is where a name was first found.
type nameAt struct {
	hash    uint32
	section uint32
	index   uint32 // in the text of the section
	size    uint32 // in bytes
}

// maxCompared is how many bytes of a longer name are compared, beside its
// length: many offsets may lie in one long string.
const maxCompared = 4096

func (n *names) init() {
	n.seed = maphash.MakeSeed()
	n.slots = make([]uint32, 1<<10)
	n.intern(&stringSection{}, 0)
}

// intern returns the number of the name at index i of a section's text.
func (n *names) intern(t *stringSection, i uint32) uint32 {
	name := t.at(i)
	begin := compared(name)
	hash := uint32(maphash.Bytes(n.seed, begin)) ^ uint32(len(name))
	mask := uint32(len(n.slots) - 1)
	slot := hash & mask
	for ; n.slots[slot] != 0; slot = (slot + 1) & mask {
		id := n.slots[slot] - 1
		if at := &n.list[id]; at.hash == hash && int(at.size) == len(name) && bytes.HasPrefix(n.bytes(id), begin) {
			return id
		}
	}
	if len(n.sections) == 0 || n.sections[len(n.sections)-1] != t {
		n.sections = append(n.sections, t)
	}
	n.list = append(arena.Room(n.list, 1), nameAt{hash, uint32(len(n.sections) - 1), i, uint32(len(name))})
	n.slots[slot] = uint32(len(n.list))
	if 2*len(n.list) > len(n.slots) {
		n.slots = grown(n.slots, len(n.list), func(i int) uint32 { return n.list[i].hash })
	}
	return uint32(len(n.list)) - 1
}

// compared are the bytes of a name that are compared.
func compared(name []byte) []byte { return name[:min(len(name), maxCompared)] }

// compare orders two names by their text.
func (n *names) compare(x, y uint32) int {
	v, w := n.bytes(x), n.bytes(y)
	return cmp.Or(bytes.Compare(compared(v), compared(w)), cmp.Compare(len(v), len(w)))
}

// bytes is a name, as a slice of the blob.
func (n *names) bytes(id uint32) []byte {
	at := &n.list[id]
	return n.sections[at.section].text[at.index:][:at.size]
}

// text is a name as differences show it: cut if it is very long.
func (n *names) text(id uint32) string { return cut(n.bytes(id)) }

// maxName is how many bytes of a name are shown; cutShort stands for the rest.
const (
	maxName  = 1024
	cutShort = "..."
)

// cut is a name, shortened if it is too long to be shown.
func cut(name []byte) string {
	if len(name) > maxName {
		return string(name[:maxName]) + cutShort
	}
	return string(name)
}

// stringSection is the strings of one blob, with the numbers of the names
// asked for so far.
type stringSection struct {
	start uint32   // string offset of text[0]
	text  []byte   // the blob's strings
	ends  []uint32 // indexes in text of the NULs after strings longer than maxCompared
	// firsts has a bit for each byte that begins a string, and ranks counts the bits
	// before each word of firsts. numbers has the number of each whole string in order,
	// 0 if not yet known, and tails the numbers of names that begin inside a string.
	firsts  []uint64
	ranks   []uint32
	numbers []uint32
	tails   map[uint32]uint32
}

func newStringSection(b *btf.Blob) *stringSection {
	t := &stringSection{start: b.StrBase, text: b.Strings, tails: map[uint32]uint32{}}
	t.firsts = arena.Make[uint64](len(t.text)/64 + 1)
	for at := 0; at < len(t.text); {
		t.firsts[at/64] |= 1 << (at % 64)
		n := bytes.IndexByte(t.text[at:], 0)
		if n < 0 {
			break
		}
		if n > maxCompared {
			t.ends = append(t.ends, uint32(at+n))
		}
		at += n + 1
	}
	t.ranks = arena.Make[uint32](len(t.firsts))
	n := uint32(0)
	for i, w := range t.firsts {
		t.ranks[i] = n
		n += uint32(bits.OnesCount64(w))
	}
	t.numbers = arena.Make[uint32](int(n))
	return t
}

// number returns the number of the name at index i of text.
func (t *stringSection) number(i uint32, n *names) uint32 {
	bit := uint64(1) << (i % 64)
	word := t.firsts[i/64]
	if word&bit == 0 {
		id, ok := t.tails[i]
		if !ok {
			id = n.intern(t, i)
			t.tails[i] = id
		}
		return id
	}
	p := &t.numbers[t.ranks[i/64]+uint32(bits.OnesCount64(word&(bit-1)))]
	if *p == 0 {
		*p = n.intern(t, i) // 0, for the empty name, is looked up again
	}
	return *p
}

// at is the string at index i of text.
func (t *stringSection) at(i uint32) []byte {
	text := t.text[i:]
	if n := bytes.IndexByte(text[:min(len(text), maxCompared+1)], 0); n >= 0 {
		return text[:n]
	}
	if e, _ := slices.BinarySearch(t.ends, i); e < len(t.ends) {
		return text[:t.ends[e]-i]
	}
	return text
}
