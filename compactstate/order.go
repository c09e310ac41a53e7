package compactstate

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"runtime"
	"slices"

	"github.com/btflite/btflite/workers"
)

// sortKey is an entry with eight bytes of its base name, big-endian and padded
// with zeros, so that integers compare as the bytes do. They are the first
// ones, or if those are the same as in another name, the next ones, and so on:
// entries with the same name have the same.
type sortKey struct {
	prefix uint64
	entry  uint32
}

// setPrefix makes prefix the bytes of the name from at on.
func (k *sortKey) setPrefix(t *FuncTable, at int) {
	var b [8]byte
	if name := t.Name(k.entry); at < len(name) {
		copy(b[:], name[at:])
	}
	k.prefix = binary.BigEndian.Uint64(b[:])
}

// sorted returns the entries that have states, by base name and file.
func (s *States) sorted(t *FuncTable) []sortKey {
	keys := make([]sortKey, 0, s.counts.Entries)
	for e := range s.heads {
		if s.heads[e].n != 0 {
			k := sortKey{entry: uint32(e)}
			k.setPrefix(t, 0)
			keys = append(keys, k)
		}
	}
	if len(keys) < minParallel || runtime.GOMAXPROCS(0) == 1 {
		sortNames(keys, t, 0)
		return keys
	}
	// At this point of a run nothing else can be done side by side.
	n := split(keys)
	workers.Do(2, func(k int) { sortNames([][]sortKey{keys[:n], keys[n:]}[k], t, 0) })
	return keys
}

// split puts the keys below some middle prefix in front and returns their
// number.
func split(keys []sortKey) int {
	var some [101]uint64
	for i := range some {
		some[i] = keys[i*len(keys)/len(some)].prefix
	}
	slices.Sort(some[:])
	middle := some[len(some)/2]
	n := 0
	for i := range keys {
		if keys[i].prefix < middle {
			keys[i], keys[n] = keys[n], keys[i]
			n++
		}
	}
	return n
}

// sortedBytes is after how many equal bytes names are compared as a whole.
const sortedBytes = 64

// sortNames sorts keys whose names have the same first at bytes, and the bytes
// behind those in prefix. Names of kernel functions begin with the same bytes by
// the hundred: compared in pairs, each would be read from afar many times.
func sortNames(keys []sortKey, t *FuncTable, at int) {
	slices.SortFunc(keys, func(a, b sortKey) int {
		if c := cmp.Compare(a.prefix, b.prefix); c != 0 {
			return c
		}
		return cmp.Compare(a.entry, b.entry)
	})
	at += 8
	for len(keys) > 0 {
		n := 1
		for n < len(keys) && keys[n].prefix == keys[0].prefix {
			n++
		}
		same := keys[:n]
		keys = keys[n:]
		switch {
		case n == 1 || same[0].prefix&0xff == 0: // the names end here: by entry
		case at >= sortedBytes:
			slices.SortFunc(same, func(a, b sortKey) int {
				if c := bytes.Compare(t.Name(a.entry), t.Name(b.entry)); c != 0 {
					return c
				}
				return cmp.Compare(a.entry, b.entry)
			})
		default:
			for i := range same {
				same[i].setPrefix(t, at)
			}
			sortNames(same, t, at)
		}
	}
}

// minParallel is for how many entries a goroutine more pays.
const minParallel = 1 << 12
