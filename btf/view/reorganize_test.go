package view

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
)

// numbers gives numbers of 1, 2, 4, 8 and 16 bytes, ids 1 to 5, and a struct of 12
// bytes that is aligned to 4, id 6.
func numbers(b *btftest.Builder) {
	for _, size := range []uint32{1, 2, 4, 8, 16} {
		b.Add(fmt.Sprintf("n%d", size), btf.Info(btf.KindInt, 0, false), size, 8*size)
	}
	b.Add("s12", btf.Info(btf.KindStruct, 3, false), 12, b.Str("a"), 3, 0, b.Str("b"), 3, 32, b.Str("c"), 3, 64)
	b.Add("long int", btf.Info(btf.KindInt, 0, false), 8, 64)
}

var sizes, aligns = []uint32{0, 1, 2, 4, 8, 16, 12}, []uint32{1, 1, 2, 4, 8, 16, 4}

// order lays out members of the types as a compiler does and gives the order of
// Reorganize, with offsets, and the size of both.
func order(t *testing.T, types []uint32) (text string, before, after uint64) {
	t.Helper()
	b := btftest.New()
	numbers(b)
	end, most, members := uint32(0), uint32(1), []uint32{}
	for i, id := range types {
		end = (end + aligns[id] - 1) / aligns[id] * aligns[id]
		members = append(members, b.Str(fmt.Sprintf("m%d", i)), id, 8*end)
		end += sizes[id]
		most = max(most, aligns[id])
	}
	end = (end + most - 1) / most * most
	id := b.Add("s", btf.Info(btf.KindStruct, uint32(len(types)), false), end, members...)
	lays := NewLayouts(New(b.Blob(t)))
	l := lays.Reorganize(lays.v.Type(id), func(Move, *Layout) {})
	defer lays.Done(l)
	var words []string
	seen, at := map[uint32]bool{}, uint64(0)
	for i := range l.Rows {
		r := &l.Rows[i]
		words = append(words, fmt.Sprintf("%s@%d", r.Name(), r.Byte))
		if seen[r.NameOff] || r.Byte < at || r.Byte%uint64(aligns[r.TypeID]) != 0 {
			t.Fatalf("%v: %v", types, words)
		}
		seen[r.NameOff], at = true, r.Byte+r.Size
	}
	if len(seen) != len(types) || l.Size < at || l.Size > uint64(end) || l.Size%uint64(most) != 0 {
		t.Fatalf("%v of %d bytes become %v of %d", types, end, words, l.Size)
	}
	return strings.Join(words, " "), uint64(end), l.Size
}

// TestReorganize: the orders are pahole 1.32's where it finds one. In any struct each
// member is there once, at an offset that its alignment allows, and no struct grows.
func TestReorganize(t *testing.T) {
	for _, x := range []struct {
		types         []uint32
		want          string
		before, after uint64
	}{
		{[]uint32{1, 4, 1, 3, 2}, "m0@0 m2@1 m4@2 m3@4 m1@8", 32, 16},
		{[]uint32{3, 4, 3, 4, 3, 4, 3}, "m0@0 m2@4 m1@8 m3@16 m4@24 m6@28 m5@32", 56, 40},
		{[]uint32{2, 4, 1, 1, 1, 4, 1, 1}, "m0@0 m4@2 m3@3 m2@4 m7@5 m6@6 m1@8 m5@16", 40, 24},
		{[]uint32{3, 4, 1, 3}, "m0@0 m2@4 m1@8 m3@20", 24, 24},
		{[]uint32{4, 4, 4, 2, 1, 4, 1, 4, 4}, "m0@0 m1@8 m2@16 m3@24 m4@26 m6@27 m5@32 m7@40 m8@48", 64, 56},
		{[]uint32{1, 4, 2, 4}, "m0@0 m2@2 m1@8 m3@16", 32, 24},
	} {
		got, before, after := order(t, x.types)
		if got != x.want || before != x.before || after != x.after {
			t.Errorf("%v: %s, %d to %d bytes, want %s", x.types, got, before, after, x.want)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	saved := 0
	for range 3000 {
		types := make([]uint32, 2+r.IntN(12))
		for i := range types {
			types[i] = 1 + uint32(r.IntN(6))
		}
		if _, before, after := order(t, types); after < before {
			saved++
		}
	}
	if saved < 1000 {
		t.Errorf("%d of 3000 structs became smaller", saved)
	}
}

// TestReorganizeCost: the longest struct, in which nothing fits and then nearly all does,
// takes no long time.
func TestReorganizeCost(t *testing.T) {
	for _, pattern := range [][]uint32{{1, 4}, {3, 4}, {2, 5, 1, 4}, {5, 6}} {
		types := make([]uint32, mostReorganized)
		for i := range types {
			types[i] = pattern[i%len(pattern)]
		}
		start := time.Now()
		order(t, types)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%v: %v", pattern, took)
		}
	}
}
