package compactstate

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestSorted: the order of entries is that of a plain comparison of their names,
// also where names share long beginnings, are the beginning of another, or are
// in several files.
func TestSorted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	ft := NewFuncTable(0, nil, nil)
	s := NewStates()
	for range 3 {
		var strtab []byte
		var at []uint32
		for range 3000 {
			name := strings.Repeat("long_beginning__", rng.IntN(6)) + strings.Repeat("ab", rng.IntN(9))
			for range rng.IntN(4) {
				name += string(rune('a' + rng.IntN(3)))
			}
			at = append(at, uint32(len(strtab)))
			strtab = append(append(strtab, name...), 0)
		}
		ft.BeginFile(strtab)
		for _, off := range at {
			ft.Add(off, 1)
		}
		ft.Seal()
	}
	for e := 1; e <= ft.MaxEntry(); e++ {
		if len(ft.Name(uint32(e))) != 0 && rng.IntN(4) != 0 {
			s.Add(uint32(e), 0, 0, 0, nil, nil)
		}
	}
	got := s.sorted(ft)
	if len(got) < minParallel {
		t.Fatalf("%d entries are not sorted side by side", len(got))
	}
	want := slices.Clone(got)
	slices.SortFunc(want, func(a, b sortKey) int {
		if c := bytes.Compare(ft.Name(a.entry), ft.Name(b.entry)); c != 0 {
			return c
		}
		return cmp.Compare(a.entry, b.entry)
	})
	for i := range got {
		if got[i].entry != want[i].entry {
			t.Fatalf("place %d: %q, want %q", i, ft.Name(got[i].entry), ft.Name(want[i].entry))
		}
		if i > 0 && bytes.Equal(ft.Name(got[i].entry), ft.Name(got[i-1].entry)) && got[i].prefix != got[i-1].prefix {
			t.Fatalf("place %d: %q has another prefix than before", i, ft.Name(got[i].entry))
		}
	}
}
