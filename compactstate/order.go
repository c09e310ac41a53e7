package compactstate

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"runtime"
	"slices"

	"github.com/btflite/btflite/internal/workers"
)

// sortKey is an entry with eight bytes of its base name, big-endian and padded
// with zeros, so that integers compare like the bytes. They are the first eight
// bytes; among names that agree in these, they are the next eight, and so on.
type sortKey struct {
	prefix uint64
	entry  uint32
}

// setPrefix makes prefix the bytes of the name from at on.
func (k *sortKey) setPrefix(t *FuncTable, at int) {
	name := t.Name(k.entry)
	if at+8 <= len(name) {
		k.prefix = binary.BigEndian.Uint64(name[at:])
		return
	}
	k.prefix = 0
	for i := 0; at+i < len(name); i++ {
		k.prefix |= uint64(name[at+i]) << (56 - 8*i)
	}
}

// sorted returns the entries that have states, by base name and file.
func (s *States) sorted(t *FuncTable) []sortKey {
	keys := make([]sortKey, s.counts.Entries)
	if len(keys) < minParallel || runtime.GOMAXPROCS(0) == 1 {
		s.keys(t, 0, len(s.heads), keys)
		sortNames(keys, t, 0)
		return keys
	}
	// Two goroutines are free: nothing else in a run can be done at this point.
	half, n := len(s.heads)/2, 0
	for e := range s.heads[:half] {
		if s.heads[e].n != 0 {
			n++
		}
	}
	entries, cuts := [...]int{0, half, len(s.heads)}, [...]int{0, n, len(keys)}
	workers.Do(2, func(k int) { s.keys(t, entries[k], entries[k+1], keys[cuts[k]:cuts[k+1]]) })
	cuts[1] = split(keys)
	workers.Do(2, func(k int) { sortNames(keys[cuts[k]:cuts[k+1]], t, 0) })
	return keys
}

// keys fills keys with the entries from..to-1 that have states.
func (s *States) keys(t *FuncTable, from, to int, keys []sortKey) {
	n := 0
	for e := from; e < to; e++ {
		if s.heads[e].n != 0 {
			keys[n].entry = uint32(e)
			keys[n].setPrefix(t, 0)
			n++
		}
	}
}

// split moves the keys below an estimate of the median prefix to the front and
// returns their number.
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

// sortedBytes is how many equal bytes sortNames passes before it compares names as a whole.
const sortedBytes = 64

// sortNames sorts keys whose names agree in the first at bytes and have the next
// eight in prefix. Hundreds of kernel functions begin with the same bytes: if names
// were compared in pairs, each would miss the cache many times.
func sortNames(keys []sortKey, t *FuncTable, at int) {
	slices.SortFunc(keys, func(a, b sortKey) int { return cmp.Compare(a.prefix, b.prefix) })
	at += 8
	for len(keys) > 0 {
		n := 1
		for n < len(keys) && keys[n].prefix == keys[0].prefix {
			n++
		}
		same := keys[:n]
		keys = keys[n:]
		switch {
		case n == 1:
		case same[0].prefix&0xff == 0 || at >= sortedBytes: // the names end here, or are compared as a whole
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

// minParallel is how many entries another goroutine must have to pay.
const minParallel = 1 << 12
