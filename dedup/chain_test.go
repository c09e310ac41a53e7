package dedup_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/dedup/deduptest"
	"github.com/btflite/btflite/dedup/exact"
)

// flatten is BTF that stands alone and has the ids and string offsets of b with
// all its bases: another way to what a chain must give.
func flatten(b *btf.Blob) *btf.Blob {
	if b.Base == nil {
		return b
	}
	below := flatten(b.Base)
	out := &btf.Blob{BigEndian: b.BigEndian, FirstID: 1, Words: slices.Concat(below.Words, b.Words),
		Off: slices.Concat(below.Off, b.Off), Strings: slices.Concat(below.Strings, b.Strings)}
	for i := range b.Off {
		out.Off[len(below.Off)+i] += uint32(len(below.Words))
	}
	return out
}

// TestChainEqualsFlatBase splits the units of an input into levels and merges
// each over those below it: both algorithms give what they give over one base
// with the same ids, and every reference and name of the result leads somewhere.
func TestChainEqualsFlatBase(t *testing.T) {
	const levels = 4
	for seed := range uint64(deduptest.Universes(60)) {
		raw, cus := deduptest.NewUniverse(seed, deduptest.Options{Names: 9, Units: 3 * levels, Mixed: seed%3 == 0}).Build(t, seed%7 == 0)
		chain, err := exact.Dedup(cut(raw, 1, cus[3]), exact.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for level := 1; level < levels; level++ {
			var outs [2][2][]byte
			for i, base := range []*btf.Blob{chain, flatten(chain)} {
				outs[i] = overBase(t, base, raw, cus[3*level:3*level+4])
			}
			for i, algorithm := range []string{"exact", "stream"} {
				if got, want := outs[0][i], outs[1][i]; !bytes.Equal(got, want) {
					t.Fatalf("seed %d, level %d, %s: other bytes than over one base", seed, level, algorithm)
				}
			}
			if chain, err = btf.Parse(outs[0][1-level%2], chain); err == nil {
				err = chain.CheckBase()
			}
			if err != nil {
				t.Fatalf("seed %d, level %d: %v", seed, level, err)
			}
			if _, err := btf.Parse(flatten(chain).Encode(), nil); err != nil {
				t.Fatalf("seed %d, level %d: %v", seed, level, err)
			}
		}
	}
}

// overBase merges units of raw, with the given first ids, over base by both
// algorithms.
func overBase(t *testing.T, base, raw *btf.Blob, cus []uint32) (outs [2][]byte) {
	x := splitOver(t, base, raw, cus, false)
	x.streams(t, false, func(round int, _ *dedup.Set, got *btf.Blob) {
		if round == 0 {
			outs = [2][]byte{x.want.Encode(), got.Encode()}
		}
	})
	return outs
}
