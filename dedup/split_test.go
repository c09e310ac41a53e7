package dedup_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/edsrzf/mmap-go"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/dedup/btffile"
	"github.com/btflite/btflite/dedup/deduptest"
	"github.com/btflite/btflite/dedup/exact"
	"github.com/btflite/btflite/test/testfile"
)

// splitNames are the tokens of a split BTF's strings: the base's token if the base has
// the text, else dedup.MaxBaseStrings and more.
type splitNames struct {
	base  *dedup.Base
	texts [][]byte
	index map[string]dedup.Name
}

func (sn *splitNames) Alias(t, canon dedup.Name) { panic("one token a text") }

func (sn *splitNames) Touch(t []dedup.Name) byte { return 0 }

func (sn *splitNames) Bytes(t dedup.Name) ([]byte, bool) {
	if t < dedup.MaxBaseStrings {
		return sn.base.Bytes(t), true
	}
	return sn.texts[t-dedup.MaxBaseStrings], true
}

func (sn *splitNames) token(text []byte) dedup.Name {
	if t := sn.base.Token(text, dedup.TextHash(text)); t != 0 || len(text) == 0 {
		return t
	}
	if t, ok := sn.index[string(text)]; ok {
		return t
	}
	t := dedup.Name(dedup.MaxBaseStrings + len(sn.texts))
	sn.texts = append(sn.texts, bytes.Clone(text))
	sn.index[string(text)] = t
	return t
}

// cut returns the types first..end-1 of in as BTF of their own.
func cut(in *btf.Blob, first, end uint32) *btf.Blob {
	out := &btf.Blob{BigEndian: in.BigEndian, FirstID: 1, Strings: in.Strings}
	for id := first; id < end; id++ {
		at := len(out.Words)
		out.Off = append(out.Off, uint32(at))
		out.Words = append(out.Words, in.Record(id)...)
		m := make([]uint32, end)
		for i := first; i < end; i++ {
			m[i] = i - first + 1
		}
		btf.EachRef(out.Words[at:], func(id *uint32) { *id = m[*id] })
	}
	return out
}

// streamSplit merges the units of in, split BTF, into s, and returns what the
// base lacks. cus are the first type ids of the units, and the end.
func streamSplit(s *dedup.Set, names *splitNames, in *btf.Blob, cus []uint32) (*btf.Blob, error) {
	r := btffile.NewReader(in, func(off uint32) (dedup.Name, error) { return names.token(in.NameBytes(off)), nil })
	for id := range in.FirstID {
		r.Placed[id] = id
	}
	for len(cus) > 1 {
		var u dedup.Unit
		defer u.Free()
		if err := r.Read(&u, cus[0], cus[1]); err != nil {
			return nil, err
		}
		s.Resolve(&u)
		if err := s.Commit(&u); err != nil {
			return nil, err
		}
		copy(r.Placed[cus[0]:cus[1]], u.ID.S)
		cus = cus[1:]
	}
	n := s.Finish()
	defer n.Free()
	data := btf.AppendHeader(nil, in.BigEndian, uint32(n.TypeBytes), uint32(len(s.Strings())))
	types := make([]byte, n.TypeBytes)
	n.PutTypes(types, in.BigEndian, 3)
	data = append(append(data, types...), s.Strings()...)
	return btf.Parse(data, in.Base)
}

// splitInput is a base, split BTF over it as it was before deduplication, the first type
// ids of its units and the end, and what package exact makes of it.
type splitInput struct {
	base, in, want *btf.Blob
	units          []uint32
}

// splitUniverse takes the first half of the units of an input as the base and the others
// as split BTF.
func splitUniverse(t *testing.T, seed uint64, opt deduptest.Options, noTypedefs bool) splitInput {
	t.Helper()
	raw, cus := deduptest.NewUniverse(seed, opt).Build(t, seed%7 == 0)
	k := len(cus) / 2
	base, err := exact.Dedup(cut(raw, 1, cus[k]), exact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return splitOver(t, base, raw, cus[k:], noTypedefs)
}

// splitOver takes the units of raw with these first type ids as split BTF over base.
func splitOver(t *testing.T, base, raw *btf.Blob, cus []uint32, noTypedefs bool) splitInput {
	t.Helper()
	x := splitInput{base: base}
	var err error
	if x.in, err = exact.Split(cut(raw, cus[0], cus[len(cus)-1]), base); err != nil {
		t.Fatal(err)
	}
	if x.want, err = exact.Dedup(x.in, exact.Options{LibbpfTypedefBug: noTypedefs}); err != nil {
		t.Fatal(err)
	}
	for _, first := range cus {
		x.units = append(x.units, first-cus[0]+x.in.FirstID)
	}
	return x
}

// mapped returns the base. Every other time, it is mapped from a file, as programs have it.
func (x *splitInput) mapped(t *testing.T) *btf.Blob {
	t.Helper()
	if x.base.Base != nil || len(x.base.Off)%2 != 0 {
		return x.base
	}
	path := testfile.New(t, "base", x.base.Encode())
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	m, err := mmap.Map(file, mmap.RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Unmap() })
	b, err := btf.ParseShared(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.Mapping = m
	return b
}

// streams merges the units of x into a new Set, and then into the same Set two times
// more, and calls each with every result.
func (x *splitInput) streams(t *testing.T, noTypedefs bool, each func(round int, s *dedup.Set, got *btf.Blob)) {
	t.Helper()
	b, err := dedup.NewBase(x.mapped(t))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Free()
	names := &splitNames{base: b, index: map[string]dedup.Name{}}
	s, err := dedup.NewSplitSet(names, b, 16, noTypedefs)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Free()
	for round := range 3 {
		if round > 0 {
			names = &splitNames{base: b, index: map[string]dedup.Name{}}
			if err := s.Restart(names); err != nil {
				t.Fatal(err)
			}
		}
		got, err := streamSplit(s, names, x.in, x.units)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		each(round, s, got)
	}
}

// compare says where got, of a seed and round, is not what is wanted.
func (x *splitInput) compare(t *testing.T, seed uint64, round int, got *btf.Blob) {
	t.Helper()
	if !bytes.Equal(got.Encode(), x.want.Encode()) {
		t.Errorf("seed %d, round %d: %d types instead of %d: %s", seed, round, len(got.Off), len(x.want.Off),
			deduptest.FirstDifference(btftest.Text(got), btftest.Text(x.want)))
	}
}

// TestSplitStreamEqualsExact merges units over a base, into a new Set and into one that
// was used before. With noTypedefs the flaw of libbpf 1.7.0 is repeated.
func TestSplitStreamEqualsExact(t *testing.T) {
	for _, opt := range []deduptest.Options{{Names: 6, Units: 6}, {Names: 10, Units: 10}, {Names: 4, Units: 3}} {
		for _, noTypedefs := range []bool{false, true} {
			t.Run(fmt.Sprint(opt.Names, "x", opt.Units, noTypedefs), func(t *testing.T) {
				raised := 0
				for seed := range uint64(deduptest.Universes(300)) {
					x := splitUniverse(t, seed, opt, noTypedefs)
					x.streams(t, noTypedefs, func(round int, s *dedup.Set, got *btf.Blob) {
						raised += s.Copies()
						x.compare(t, seed, round, got)
					})
				}
				t.Logf("%d copies of types of the base", raised)
			})
		}
	}
}

// TestSplitStreamOfAmbiguousInputs merges units with several definitions of a name, or
// forward and definition side by side, over a base. Streaming sees one unit after the
// other, so it cannot always make what package exact makes of all of them: of 300 inputs,
// as many as differ says.
func TestSplitStreamOfAmbiguousInputs(t *testing.T) {
	for _, c := range []struct {
		opt    deduptest.Options
		differ int
	}{
		{deduptest.Options{Names: 6, Units: 6, Mixed: true}, 9},
		{deduptest.Options{Names: 6, Units: 6, Mixed: true, Loops: true}, 11},
		{deduptest.Options{Names: 6, Units: 6, Ambiguous: true}, 11},
		{deduptest.Options{Names: 8, Units: 8, Ambiguous: true, Mixed: true, Loops: true}, 34},
	} {
		t.Run(fmt.Sprintf("%+v", c.opt), func(t *testing.T) {
			differ, n := 0, deduptest.Universes(300)
			for seed := range uint64(n) {
				x := splitUniverse(t, seed, c.opt, false)
				var first []byte
				x.streams(t, false, func(round int, _ *dedup.Set, got *btf.Blob) {
					if round == 0 {
						first = got.Encode()
					} else if !bytes.Equal(got.Encode(), first) {
						t.Errorf("seed %d, round %d: %d types, not the same as in round 0", seed, round, len(got.Off))
					}
				})
				if !bytes.Equal(first, x.want.Encode()) {
					differ++
				}
			}
			most := c.differ * n / 300
			if !deduptest.Whole() {
				most += 2 // the few that are tried may be unlike the average
			}
			if t.Logf("%d of %d differ", differ, n); differ > most {
				t.Errorf("more than %d", most)
			}
		})
	}
}

// TestSplitStreamOfForwards merges the few inputs, of thousands, where forwards of the
// base and own ones of the same name must lead to one definition in the right order.
func TestSplitStreamOfForwards(t *testing.T) {
	many := deduptest.Options{Names: 12, Units: 12, Ambiguous: true, Mixed: true, Loops: true}
	few := deduptest.Options{Names: 3, Units: 4, Mixed: true}
	for _, c := range []struct {
		seed uint64
		opt  deduptest.Options
	}{{3456, many}, {3836, many}, {939, few}, {1476, few}, {2945, few}} {
		x := splitUniverse(t, c.seed, c.opt, false)
		x.streams(t, false, func(round int, _ *dedup.Set, got *btf.Blob) { x.compare(t, c.seed, round, got) })
	}
}

// repeating returns base with copies of some of its records at the end, as resolve_btfids
// leaves prototypes.
func repeating(base *btf.Blob, rng *rand.Rand, kinds ...btf.Kind) *btf.Blob {
	out := *base
	out.Words, out.Off = slices.Clone(base.Words), slices.Clone(base.Off)
	for range 1 + rng.IntN(3*len(base.Off)) {
		r := base.Record(1 + uint32(rng.IntN(len(base.Off))))
		if slices.Contains(kinds, r.Kind()) {
			out.Off = append(out.Off, uint32(len(out.Words)))
			out.Words = append(out.Words, r...)
		}
	}
	return &out
}

// entries is how many types of b libbpf's table takes.
func entries(b *btf.Blob) (n int) {
	for id := b.FirstID; id < b.TypeCount(); id++ {
		if k := b.Kind(id); k != btf.KindVar && k != btf.KindDatasec {
			n++
		}
	}
	return n
}

// turnsAfter returns how often libbpf's table doubles after entry n, up to entry end.
func turnsAfter(n, end int) (turns int) {
	for next := 4; next <= end; next = 2*next - 1 {
		if next > n {
			turns++
		}
	}
	return turns
}

// TestBaseThatRepeatsTypes compares with package exact over a base with equal types. Which
// of them counts depends on how often libbpf's table has doubled since.
func TestBaseThatRepeatsTypes(t *testing.T) {
	compared, turned := 0, 0
	n := deduptest.Universes(600)
	for seed := range uint64(n) {
		raw, cus := deduptest.NewUniverse(seed, deduptest.Options{Names: 6, Units: 6}).Build(t, false)
		k := len(cus) - 2
		base, err := exact.Dedup(cut(raw, 1, cus[k]), exact.Options{})
		if err != nil {
			t.Fatal(err)
		}
		unique := entries(base)
		base = repeating(base, rand.New(rand.NewPCG(seed, 0)),
			btf.KindFuncProto, btf.KindPtr, btf.KindConst, btf.KindVolatile, btf.KindArray, btf.KindTypedef)
		x := splitOver(t, base, raw, cus[k:k+2], false)
		if all := entries(base); turnsAfter(all, all+len(x.in.Off)) > 0 {
			continue
		}
		x.streams(t, false, func(round int, _ *dedup.Set, got *btf.Blob) { x.compare(t, seed, round, got) })
		compared++
		if turnsAfter(unique, entries(base))%2 != 0 {
			turned++
		}
	}
	if t.Logf("%d compared, %d turned", compared, turned); turned < n/120 || compared-turned < n/120 {
		t.Error("too few")
	}
}
