package dedup_test

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/dedup/btffile"
	"github.com/btflite/btflite/dedup/deduptest"
	"github.com/btflite/btflite/dedup/exact"
)

// streamUnits deduplicates in with one unit for each span of cus. window units
// at a time are resolved against the Set as it was before them, in goroutines
// if parallel, and then committed in order.
func streamUnits(in *btf.Blob, cus []uint32, window int, parallel bool) (*btf.Blob, []uint32, error) {
	names := btffile.NewTokens(in)
	defer names.Free()
	r := btffile.NewReader(in, names.Token)
	s := dedup.NewSet(names, 16)
	defer s.Free()
	for cus := cus; len(cus) > 1; {
		units := make([]dedup.Unit, min(window, len(cus)-1))
		var group sync.WaitGroup
		for i := range units {
			u := &units[i]
			defer u.Free()
			if err := r.Read(u, cus[i], cus[i+1]); err != nil {
				return nil, nil, err
			}
			if parallel {
				group.Go(func() { s.Resolve(u) })
			} else {
				s.Resolve(u)
			}
		}
		group.Wait()
		for i := range units {
			if err := s.Commit(&units[i]); err != nil {
				return nil, nil, err
			}
			copy(r.Placed[cus[i]:cus[i+1]], units[i].ID.S)
		}
		cus = cus[len(units):]
	}
	return btffile.Finish(s, in.BigEndian, r.Placed)
}

// TestUnitsEqualLibbpfOnUnambiguousVectors merges the inputs by their compile
// units.
func TestUnitsEqualLibbpfOnUnambiguousVectors(t *testing.T) {
	const vectors = deduptest.Vectors("testdata/vectors")
	for _, name := range vectors.Names(t, "unambiguous") {
		raw := vectors.Parse(t, name+".raw.btf", nil)
		out, _, err := streamUnits(raw, vectors.Units(t, name), 1, false)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if exp := vectors.Parse(t, name+".exp.btf", nil); !bytes.Equal(out.Encode(), exp.Encode()) {
			t.Errorf("%s: (-want +got)\n%s", name, cmp.Diff(btftest.Text(exp), btftest.Text(out)))
		}
	}
}

func TestStreamEqualsExactOnUnambiguousInputs(t *testing.T) {
	for _, opt := range []deduptest.Options{{Names: 6, Units: 6}, {Names: 10, Units: 10}, {Names: 3, Units: 8}} {
		t.Run(fmt.Sprint(opt.Names, "x", opt.Units), func(t *testing.T) {
			bad := 0
			for seed := range uint64(deduptest.Universes(700)) {
				raw, cus := deduptest.NewUniverse(seed, opt).Build(t, seed%7 == 0)
				want, err := exact.Dedup(raw, exact.Options{})
				if err != nil {
					t.Fatal(err)
				}
				got, m, err := btffile.Stream(raw)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if err := deduptest.Certificate(raw, m, got); err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
				byUnit, _, err := streamUnits(raw, cus, 1, false)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				for how, got := range map[string]*btf.Blob{"runs": got, "units": byUnit} {
					if !bytes.Equal(got.Encode(), want.Encode()) {
						t.Errorf("seed %d: %d types in %s instead of %d: %s", seed, len(got.Off), how, len(want.Off),
							deduptest.FirstDifference(btftest.Text(got), btftest.Text(want)))
						bad++
					}
				}
				if bad > 10 {
					t.FailNow()
				}
			}
		})
	}
}

// timings are inputs on which the result must not depend on the time of look-ups.
var timings = []deduptest.Options{
	{Names: 6, Units: 9},
	{Names: 10, Units: 10},
	{Names: 6, Units: 9, Ambiguous: true},
	{Names: 8, Units: 20, Ambiguous: true, Mixed: true},
	{Names: 8, Units: 20, Ambiguous: true, Mixed: true, Loops: true},
	{Names: 4, Units: 70, Mixed: true},
}

// eachTiming calls stream for random inputs of a kind. Each stream that it makes
// must have the bytes of one whose units are resolved and committed in turns.
func eachTiming(t *testing.T, opt deduptest.Options, stream func(seed uint64, raw *btf.Blob, cus []uint32, same func(how string, got *btf.Blob, err error))) {
	for seed := range uint64(deduptest.Universes(60)) {
		raw, cus := deduptest.NewUniverse(seed, opt).Build(t, false)
		want, _, err := streamUnits(raw, cus, 1, false)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		stream(seed, raw, cus, func(how string, got *btf.Blob, err error) {
			if err != nil {
				t.Fatalf("seed %d, %s: %v", seed, how, err)
			}
			if !bytes.Equal(got.Encode(), want.Encode()) {
				t.Errorf("seed %d, %s: %d types instead of %d: %s", seed, how,
					len(got.Off), len(want.Off), deduptest.FirstDifference(btftest.Text(got), btftest.Text(want)))
			}
		})
	}
}

// TestStreamDoesNotDependOnWhenUnitsAreResolved resolves units before those in
// front of them are committed, as workers do.
func TestStreamDoesNotDependOnWhenUnitsAreResolved(t *testing.T) {
	for _, opt := range timings {
		t.Run(fmt.Sprintf("%+v", opt), func(t *testing.T) {
			eachTiming(t, opt, func(_ uint64, raw *btf.Blob, cus []uint32, same func(string, *btf.Blob, error)) {
				for _, window := range []int{2, 5, 16, 64} {
					for _, parallel := range []bool{false, true} {
						got, _, err := streamUnits(raw, cus, window, parallel)
						same(fmt.Sprintf("window %d, parallel %v", window, parallel), got, err)
					}
				}
			})
		})
	}
}

// TestStreamLosesNoMoreThanExactOnAmbiguousInputs counts how often the
// certificate fails. It does where a forward declaration of an ambiguous name
// was met: one forward stands for that name in all units and can lead to one
// definition only. libbpf has the same limit.
func TestStreamLosesNoMoreThanExactOnAmbiguousInputs(t *testing.T) {
	for _, opt := range []deduptest.Options{
		{Names: 6, Units: 6, Mixed: true, Loops: true},
		{Names: 6, Units: 6, Ambiguous: true},
		{Names: 8, Units: 8, Ambiguous: true, Mixed: true, Loops: true},
	} {
		t.Run(fmt.Sprintf("%+v", opt), func(t *testing.T) {
			var same, stream, batch, more, less, n int
			for seed := range uint64(deduptest.Universes(300)) {
				raw, _ := deduptest.NewUniverse(seed, opt).Build(t, false)
				got, m, err := btffile.Stream(raw)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				cert := deduptest.Certificate(raw, m, got)
				want, em, err := exact.DedupWithMap(raw, exact.Options{})
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				n++
				if bytes.Equal(got.Encode(), want.Encode()) {
					same++
				}
				if cert != nil {
					stream++
					if !opt.Ambiguous {
						t.Errorf("seed %d: %v", seed, cert)
					}
				}
				if deduptest.Certificate(raw, em, want) != nil {
					batch++
				}
				if len(got.Off) > len(want.Off) {
					more++
				}
				if len(got.Off) < len(want.Off) {
					less++
				}
			}
			if stream > batch+n/20 {
				t.Errorf("certificate fails on %d of %d, for exact on %d", stream, n, batch)
			}
			t.Logf("%d inputs: %d identical to exact; certificate fails on %d (exact: %d); more types %d, fewer %d", n, same, stream, batch, more, less)
		})
	}
}
