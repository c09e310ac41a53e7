package dedup_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/dedup/btffile"
	"github.com/btflite/btflite/dedup/deduptest"
	"github.com/btflite/btflite/dedup/exact"
)

// along calls merge while look-ups compare n types of a chain before they use the family.
func along(n int, merge func() (*btf.Blob, error)) (*btf.Blob, error) {
	defer dedup.SetMaxLinear(dedup.SetMaxLinear(n))
	return merge()
}

// sameAsChains checks that a merge that uses families early finds the types that one along the
// chains finds.
func sameAsChains(t *testing.T, early int, what string, merge func() (*btf.Blob, error)) {
	t.Helper()
	want, err := along(1<<30, merge)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	got, err := along(early, merge)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if !bytes.Equal(got.Encode(), want.Encode()) {
		t.Errorf("%s: %s", what, deduptest.FirstDifference(btftest.Text(got), btftest.Text(want)))
	}
}

// TestFamiliesChangeNothing: with one type of a chain compared, nearly all types of random
// inputs are found through families.
func TestFamiliesChangeNothing(t *testing.T) {
	for _, opt := range append([]deduptest.Options{{Names: 3, Units: 40, Ambiguous: true, Mixed: true, Loops: true}}, timings...) {
		for seed := range uint64(deduptest.Universes(60)) {
			raw, cus := deduptest.NewUniverse(seed, opt).Build(t, false)
			sameAsChains(t, 1, fmt.Sprintf("%+v, seed %d, units", opt, seed), func() (*btf.Blob, error) {
				out, _, err := streamUnits(raw, cus, 1, false)
				return out, err
			})
			sameAsChains(t, 1, fmt.Sprintf("%+v, seed %d, runs", opt, seed), func() (*btf.Blob, error) {
				out, _, err := btffile.Stream(raw)
				return out, err
			})
		}
	}
}

// crowd makes units that give a few names many definitions each, which differ in a member, behind
// a pointer, behind a name behind a pointer, or in nothing. Some units only declare what others
// define. Each unit defines a name only once.
func crowd(b *btftest.Builder, units int, rng *rand.Rand) (cus []uint32) {
	cus = []uint32{b.N + 1}
	for range units {
		x := b.Int("int", 4)
		pick := func(prefix string) string { return fmt.Sprint(prefix, rng.IntN(units/2)) }
		definition := func(name string, build func() uint32) uint32 {
			if rng.IntN(8) == 0 {
				return b.Fwd(name)
			}
			return build()
		}
		inner := b.Ptr(definition("inner", func() uint32 { return b.Struct("inner", 4, b.Member(pick("i"), x, 0)) }))
		enum := b.Enum("e", b.Value(pick("E"), int32(rng.IntN(2))))
		foo := b.Ptr(definition("foo", func() uint32 {
			if rng.IntN(2) == 0 {
				return b.Struct("foo", 16, b.Member("v", inner, 0), b.Member("e", enum, 64))
			}
			return b.Struct("foo", 16, b.Member(pick("v"), x, 0))
		}))
		unnamed := b.Union("", 8, b.Member("foo", b.Const(foo), 0), b.Member("x", x, 0))
		deep := b.Typedef("t", b.Array(unnamed, x, 3))
		bar := b.Struct("bar", 48, b.Member("foo", foo, 0), b.Member("t", deep, 64), b.Member("u", b.Union("", 8, b.Member("p", inner, 0)), 256))
		f := b.Proto(b.Ptr(bar), b.Param("e", enum))
		b.Struct("ops", 8, b.Member("call", b.Ptr(f), 0))
		b.Func(pick("f"), 1, f)
		cus = append(cus, b.N+1)
	}
	return cus
}

// TestFamiliesOfManyDefinitions: families change nothing where names have many definitions, unit
// by unit, as one unit, and over a base.
func TestFamiliesOfManyDefinitions(t *testing.T) {
	for seed := range uint64(deduptest.Universes(40)) {
		rng := rand.New(rand.NewPCG(seed, 7))
		b := btftest.New()
		cus := crowd(b, 60, rng)
		raw := b.Blob(t)
		early := 1 + int(seed%3)*8
		for _, window := range []int{1, 7} {
			sameAsChains(t, early, fmt.Sprintf("seed %d, window %d", seed, window), func() (*btf.Blob, error) {
				out, _, err := streamUnits(raw, cus, window, window > 1)
				return out, err
			})
		}
		sameAsChains(t, early, fmt.Sprintf("seed %d, one unit", seed), func() (*btf.Blob, error) {
			out, _, err := btffile.Stream(raw)
			return out, err
		})
		half := len(cus) / 2
		base, err := exact.Dedup(cut(raw, 1, cus[half]), exact.Options{})
		if err != nil {
			t.Fatal(err)
		}
		x := splitOver(t, base, raw, cus[half:], false)
		var outs [2][][]byte
		for k, n := range []int{1 << 30, early} {
			before := dedup.SetMaxLinear(n)
			x.streams(t, false, func(_ int, _ *dedup.Set, got *btf.Blob) { outs[k] = append(outs[k], got.Encode()) })
			dedup.SetMaxLinear(before)
		}
		for round := range outs[0] {
			if !bytes.Equal(outs[0][round], outs[1][round]) {
				t.Errorf("seed %d, over a base, round %d: differs", seed, round)
			}
		}
	}
}

// crowds are units, or parts of units. Each brings another type of the same name or shape.
var crowds = map[string]func(b *btftest.Builder, i int){
	"structs": func(b *btftest.Builder, i int) { b.Struct("s", 4, b.Member(fmt.Sprint("m", i), b.Int("int", 4), 0)) },
	"structs of other types": func(b *btftest.Builder, i int) {
		b.Struct("s", 8, b.Member("m", b.Ptr(b.Struct(fmt.Sprint("own", i), 4, b.Member("x", b.Int("int", 4), 0))), 0))
	},
	"structs below structs": func(b *btftest.Builder, i int) {
		s := b.Struct("s", 4, b.Member(fmt.Sprint("m", i), b.Int("int", 4), 0))
		for j := range 6 {
			s = b.Struct(fmt.Sprint("outer", j), 8, b.Member("p", b.Ptr(s), 0))
		}
	},
	"typedefs": func(b *btftest.Builder, i int) { b.Typedef("t", b.Int(fmt.Sprint("int", i), 4)) },
	"enums":    func(b *btftest.Builder, i int) { b.Enum("e", b.Value(fmt.Sprint("v", i), int32(i))) },
	"unnamed unions": func(b *btftest.Builder, i int) {
		p := b.Ptr(b.Struct(fmt.Sprint("own", i), 4, b.Member("x", b.Int("int", 4), 0)))
		b.Struct(fmt.Sprint("s", i), 8, b.Member("u", b.Union("", 8, b.Member("v", p, 0), b.Member("x", b.N, 0)), 0))
	},
	"unnamed unions of structs": func(b *btftest.Builder, i int) {
		p := b.Ptr(b.Struct("own", 4, b.Member(fmt.Sprint("x", i), b.Int("int", 4), 0)))
		b.Struct(fmt.Sprint("s", i), 8, b.Member("u", b.Union("", 8, b.Member("v", p, 0)), 0))
	},
	"unnamed unions of unnamed enums": func(b *btftest.Builder, i int) {
		e := b.Enum("", b.Value(fmt.Sprint("v", i), int32(i)))
		b.Struct(fmt.Sprint("s", i), 4, b.Member("u", b.Union("", 4, b.Member("e", e, 0)), 0))
	},
}

// TestStepsGrowWithTypes: twice as many types of a name or shape take twice as many comparisons,
// whether each is in a unit of its own or all are in one.
func TestStepsGrowWithTypes(t *testing.T) {
	const n = 400
	for name, add := range crowds {
		for _, unit := range []int{1, 1 << 30} {
			var steps [2]uint64
			for k := range steps {
				b := btftest.New()
				cus := []uint32{1}
				for i := range n << k {
					add(b, i)
					if (i+1)%unit == 0 {
						cus = append(cus, b.N+1)
					}
				}
				if unit > n {
					cus = append(cus, b.N+1)
				}
				steps[k] = stepsOf(t, b.Blob(t), cus)
			}
			if steps[1] > 2*steps[0]+steps[0]/5 {
				t.Errorf("%s, %d in a unit: %d steps for %d types, %d for %d", name, unit, steps[0], n, steps[1], 2*n)
			}
		}
	}
}

// stepsOf merges units and returns how many candidates were tried, and how many steps walks took.
func stepsOf(t *testing.T, in *btf.Blob, cus []uint32) uint64 {
	t.Helper()
	names := btffile.NewTokens(in)
	defer names.Free()
	r := btffile.NewReader(in, names.Token)
	s := dedup.NewSet(names, 16)
	defer s.Free()
	var u dedup.Unit
	defer u.Free()
	for ; len(cus) > 1; cus = cus[1:] {
		u.Reset(1 << 20)
		if err := r.Read(&u, cus[0], cus[1]); err != nil {
			t.Fatal(err)
		}
		s.Resolve(&u)
		if err := s.Commit(&u); err != nil {
			t.Fatal(err)
		}
		copy(r.Placed[cus[0]:cus[1]], u.ID.S)
	}
	return s.Steps()
}

// TestFamilyOfLongTypes: types that differ only behind what a hash covers are told apart.
func TestFamilyOfLongTypes(t *testing.T) {
	b := btftest.New()
	x := b.Int("int", 4)
	cus := []uint32{1, b.N + 1}
	const members, types = 1000, 60
	for i := range 2 * types {
		var m []btftest.Part
		for j := range members {
			m = append(m, b.Member(fmt.Sprint("m", j), x, uint32(32*j)))
		}
		m[members-1] = b.Member(fmt.Sprint("last", i%types), x, 32*(members-1))
		b.Struct("s", 4*members, m...)
		cus = append(cus, b.N+1)
	}
	out, _, err := streamUnits(b.Blob(t), cus, 1, false)
	if err != nil || len(out.Off) != 1+types {
		t.Errorf("%d types, %v", len(out.Off), err)
	}
}
