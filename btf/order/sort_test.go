package order

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/test/testfile"
)

var update = flag.Bool("update", false, "rewrite the golden files of testdata")

// sample builds BTF with every kind, names that repeat, an anonymous union, a
// loop and two copies of one struct that only their users tell apart.
func sample(t testing.TB, bigEndian bool) *btf.Blob {
	t.Helper()
	b := btftest.New()
	b.BigEndian = bigEndian
	fn := b.Func("run", btftest.Global, 2)
	b.Proto(3, b.Param("n", 4), b.Param("x", 5))
	b.Int("int", 4)
	b.Typedef("u8", 20)
	b.Ptr(6)
	b.Struct("node", 24, b.Member("next", 5, 0), b.Member("cpu", 3, 64), b.Member("", 7, 128))
	b.Union("", 8, b.Member("l", 3, 0), b.Member("d", 8, 0))
	b.Float("double", 8)
	b.Typedef("node", 6)
	b.Array(5, 3, 7)
	b.Array(3, 3, 7)
	b.Of(btf.KindEnum, "color", true, 4, b.Value("RED", 0), b.Value("GREEN", -1))
	b.Enum64("wide", b.Value64("BIG", 2<<32|1))
	b.FwdUnion("later")
	b.Volatile(3)
	b.Const(0)
	b.Restrict(5)
	v := b.Var("state", 10, btftest.Global)
	b.Datasec(".data", 56, btftest.Place(v, 0, 56))
	b.Add("unsigned char", btf.Info(btf.KindInt, 0, false), 1, 8)
	b.DeclTag("kfunc", fn, btftest.Whole)
	b.TypeTag("user", 6)
	b.Struct("copy", 4, b.Member("i", 3, 0))
	b.Struct("copy", 4, b.Member("i", 3, 0))
	b.Typedef("uses_one", 23)
	b.Typedef("uses_other", 24)
	return b.Blob(t)
}

var orders = []struct {
	name string
	sort func(context.Context, *btf.Blob) (*btf.Blob, []uint32, error)
}{{"name", ByName}, {"canonical", Canonical}}

func TestOrdersOfEveryKind(t *testing.T) {
	for _, o := range orders {
		for _, big := range []bool{false, true} {
			b := sample(t, big)
			before := b.Encode()
			got, _, err := o.sort(t.Context(), b)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(b.Encode(), before) {
				t.Errorf("%s: the input has changed", o.name)
			}
			path := "testdata/" + o.name + ".txt"
			if *update {
				testfile.Write(t, path, btftest.Text(got))
			}
			want := testfile.Read(t, path)
			if s := btftest.Text(got); s != string(want) {
				t.Errorf("%s, big endian %v: got\n%s", o.name, big, s)
			}
			again := btftest.Parse(t, got.Encode(), nil)
			if again, _, err = o.sort(t.Context(), again); err != nil || !bytes.Equal(again.Encode(), got.Encode()) {
				t.Errorf("%s: sorting what is sorted changes it, error %v", o.name, err)
			}
		}
	}
}

// The strings of BTF in canonical order are those in use, sorted.
func TestCanonicalStrings(t *testing.T) {
	b := btftest.New()
	b.Str("nobody's")
	i := b.Int("int", 4)
	b.Typedef("also", i)
	base := b.Blob(t)
	got, _, err := Canonical(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(got.Strings); s != "\x00also\x00int\x00" {
		t.Errorf("strings %q", s)
	}
	s := btftest.Over(base)
	s.Typedef("zz", i)
	s.Typedef("also", 0)
	s.Typedef("aa", 2)
	if got, _, err = Canonical(t.Context(), s.Blob(t)); err != nil {
		t.Fatal(err)
	}
	if s := string(got.Strings); s != "aa\x00zz\x00" {
		t.Errorf("strings of split BTF %q", s)
	}
	const want = "[3] TYPEDEF 'aa' type_id=2\n[4] TYPEDEF 'also' type_id=0\n[5] TYPEDEF 'zz' type_id=1\n"
	if s := btftest.Text(got); s != want {
		t.Errorf("split BTF:\n%s", s)
	}
}

// shuffled is b with types and strings in another order, with strings that
// nobody uses, and with some strings twice.
func shuffled(t testing.TB, b *btf.Blob, rnd *rand.Rand) *btf.Blob {
	t.Helper()
	order := make([]uint32, len(b.Off))
	for i, n := range rnd.Perm(len(order)) {
		order[i] = uint32(n)
	}
	out, _ := permuted(b, order)
	var strs []string
	for id := b.FirstID; id < b.TypeCount(); id++ {
		btf.EachName(b.Record(id), func(off *uint32) { strs = append(strs, b.Name(*off)) })
	}
	slices.Sort(strs)
	strs = append(slices.Compact(strs), "unused", "never")
	strs = append(strs, strs[:len(strs)/2]...)
	rnd.Shuffle(len(strs), func(i, j int) { strs[i], strs[j] = strs[j], strs[i] })
	out.Strings = nil
	if b.Base == nil {
		out.Strings = []byte{0}
	}
	at := map[string][]uint32{"": {0}}
	for _, s := range strs {
		if s != "" {
			at[s] = append(at[s], out.StrEnd())
			out.Strings = append(append(out.Strings, s...), 0)
		}
	}
	for id := out.FirstID; id < out.TypeCount(); id++ {
		old := b.Record(b.FirstID + order[id-out.FirstID])
		var names []string
		btf.EachName(old, func(off *uint32) { names = append(names, b.Name(*off)) })
		btf.EachName(out.Record(id), func(off *uint32) {
			places := at[names[0]]
			*off = places[rnd.IntN(len(places))]
			names = names[1:]
		})
	}
	return btftest.Parse(t, out.Encode(), b.Base)
}

// random builds types that refer to each other in any way, many of them alike.
func random(t testing.TB, rnd *rand.Rand, base *btf.Blob) *btf.Blob {
	t.Helper()
	n := 1 + rnd.IntN(60)
	b := btftest.Over(base)
	first := uint32(1)
	if base != nil {
		first = base.TypeCount()
	}
	ref := func() uint32 {
		if rnd.IntN(4) == 0 {
			return uint32(rnd.IntN(int(first)))
		}
		return first + uint32(rnd.IntN(n))
	}
	name := func() string { return []string{"", "a", "b", "c", "a2", "long name"}[rnd.IntN(6)] }
	for range n {
		switch rnd.IntN(8) {
		case 0:
			b.Add(name(), btf.Info(btf.KindInt, 0, false), 4, 32)
		case 1, 2:
			b.Ptr(ref())
		case 3:
			b.Const(ref())
		case 4:
			b.Typedef(name(), ref())
		case 5:
			b.Proto(ref(), b.Param(name(), ref()))
		case 6:
			b.Array(ref(), ref(), uint32(rnd.IntN(2)))
		case 7:
			b.Struct(name(), 8, b.Member(name(), ref(), 0), b.Member(name(), ref(), 32))
		}
	}
	return b.Blob(t)
}

func TestCanonicalForgetsTheOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	base := sample(t, false)
	choices := 0
	for range 200 {
		for _, over := range []*btf.Blob{nil, base} {
			b := random(t, rnd, over)
			got, n := canonical(t, b)
			choices += n
			for range 3 {
				other, _ := canonical(t, shuffled(t, b, rnd))
				if !bytes.Equal(got.Encode(), other.Encode()) {
					t.Fatalf("another order gives other bytes (%d choices):\n%s\nand\n%s", n, btftest.Text(got), btftest.Text(other))
				}
			}
		}
	}
	if choices == 0 {
		t.Error("no type was like another: the test is too weak")
	}
	got, _ := canonical(t, base)
	other, _ := canonical(t, shuffled(t, base, rnd))
	if !bytes.Equal(got.Encode(), other.Encode()) {
		t.Error("the sample in another order gives other bytes")
	}
}

// canonical sorts and checks that the outcome has the same types; it also says
// how often a choice was free.
func canonical(t testing.TB, b *btf.Blob) (*btf.Blob, int) {
	t.Helper()
	got, _, err := Canonical(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	var used []uint32
	for id := b.FirstID; id < b.TypeCount(); id++ {
		btf.EachName(b.Record(id), func(off *uint32) { used = append(used, *off) })
	}
	ranks, err := rankNames(t.Context(), b, slices.Clone(used))
	if err != nil {
		t.Fatal(err)
	}
	r := newRefiner(b, ranks)
	choices := r.run(context.Background())
	sameTypes(t, b, got, r.types)
	return got, choices
}

// sameTypes checks that got has the types of b in that order: words, names, and
// references to the same types.
func sameTypes(t testing.TB, b, got *btf.Blob, order []uint32) {
	t.Helper()
	if len(got.Off) != len(b.Off) || len(order) != len(b.Off) || got.FirstID != b.FirstID {
		t.Fatalf("%d types from %d, %d in the order", len(got.Off), len(b.Off), len(order))
	}
	place := map[uint32]uint32{}
	for to, from := range order {
		place[b.FirstID+from] = b.FirstID + uint32(to)
	}
	if len(place) != len(order) {
		t.Fatal("a type comes twice")
	}
	for from, to := range place {
		x, y := slices.Clone(b.Record(from)), slices.Clone(got.Record(to))
		var refs, names []string
		btf.EachRef(x, func(id *uint32) {
			if *id >= b.FirstID {
				*id = place[*id]
			}
			refs = append(refs, fmt.Sprint(*id))
			*id = 0
		})
		btf.EachRef(y, func(id *uint32) { refs, *id = check(t, refs, fmt.Sprint(*id)), 0 })
		btf.EachName(x, func(off *uint32) { names = append(names, b.Name(*off)); *off = 0 })
		btf.EachName(y, func(off *uint32) { names = check(t, names, got.Name(*off)); *off = 0 })
		if !slices.Equal(x, y) {
			t.Fatalf("[%d] is not [%d]", to, from)
		}
	}
}

// check compares s with the first of want and returns the others.
func check(t testing.TB, want []string, s string) []string {
	t.Helper()
	if len(want) == 0 || want[0] != s {
		t.Fatalf("%q instead of the first of %q", s, want)
	}
	return want[1:]
}

// Work must not grow with the length of chains times the number of types, nor
// with the square of the number of copies.
func TestCanonicalIsNearLinear(t *testing.T) {
	const n = 30_000
	b := btftest.New()
	for i := range uint32(n) {
		b.Ptr(i)
	}
	for range n {
		b.Add("int", btf.Info(btf.KindInt, 0, false), 4, 32)
	}
	last := uint32(2 * n)
	for range n { // a loop of types that nothing tells apart
		b.Const(last)
		last = b.Const(1)
	}
	got, choices := canonical(t, b.Blob(t))
	if choices < n-1 {
		t.Errorf("%d choices for %d copies", choices, n)
	}
	if got.Kind(1) != btf.KindInt || got.Kind(n+1) != btf.KindPtr || got.Record(n + 7)[2] != n+6 {
		t.Error("the types are not in order")
	}
}

func TestOverlappingNamesAreRefused(t *testing.T) {
	b := btftest.New()
	b.Str(strings.Repeat("x", 1<<16))
	const n = 1 << 12
	for range n {
		b.Fwd("")
	}
	blob := b.Blob(t)
	for id := range uint32(n) {
		blob.Record(id + 1)[0] = 1 + id
	}
	for _, o := range orders {
		if _, _, err := o.sort(t.Context(), blob); err == nil || !strings.Contains(err.Error(), "overlapping names") {
			t.Errorf("%s: error %v", o.name, err)
		}
	}
	// Long strings that are used once each do not overlap.
	b = btftest.New()
	b.Ptr(0)
	for len(b.Strings) <= maxNames {
		b.Fwd(fmt.Sprint(b.N, strings.Repeat("x", 4<<20)))
	}
	long := b.Blob(t)
	for _, o := range orders {
		if _, _, err := o.sort(t.Context(), long); err != nil {
			t.Errorf("%s: %d bytes of names that do not overlap: %v", o.name, len(long.Strings), err)
		}
	}
	if b, _, err := Canonical(t.Context(), btftest.Over(sample(t, false)).Blob(t)); err != nil || len(b.Off) != 0 {
		t.Errorf("no types: error %v", err)
	}
}

func withLayout(b *btf.Blob) *btf.Blob {
	b.Form = btf.WithLayout()
	return b
}

func FuzzSort(f *testing.F) {
	f.Add(sample(f, false).Encode(), uint64(1), false)
	f.Add(sample(f, true).Encode(), uint64(2), false)
	f.Add(sample(f, false).Encode(), uint64(3), true)
	f.Add(withLayout(sample(f, true)).Encode(), uint64(4), false)
	f.Add(withLayout(sample(f, false)).Encode(), uint64(5), true)
	base := sample(f, false)
	f.Fuzz(func(t *testing.T, data []byte, seed uint64, split bool) {
		var over *btf.Blob
		if split {
			over = base
		}
		b, err := btf.Parse(data, over)
		if err != nil || len(b.Strings) > 1<<16 {
			return
		}
		if len(b.Skipped) > 0 {
			if _, _, err := ByName(t.Context(), b); err == nil {
				t.Fatal("types of unknown kinds are sorted")
			}
			if b, err = b.WithoutSkipped(); err != nil {
				return
			}
		}
		named, _, err := ByName(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := btf.Parse(named.Encode(), over); err != nil {
			t.Fatal(err)
		}
		got, choices := canonical(t, b)
		if _, err := btf.Parse(got.Encode(), over); err != nil {
			t.Fatal(err)
		}
		if other, _ := canonical(t, shuffled(t, b, rand.New(rand.NewPCG(seed, 0)))); choices == 0 && !bytes.Equal(got.Encode(), other.Encode()) {
			t.Fatal("another order gives other bytes")
		}
	})
}

// TestStop: a sort whose context is done is an error, at whatever point that is.
func TestStop(t *testing.T) {
	b := sample(t, false)
	for _, sort := range []func(context.Context, *btf.Blob) (*btf.Blob, []uint32, error){Canonical, ByName} {
		looks := 0
		for after := 0; ; after++ {
			ctx := btftest.Countdown(t.Context(), after)
			out, ids, err := sort(ctx, b)
			if err == nil {
				break
			}
			if looks++; !errors.Is(err, context.Canceled) || out != nil || ids != nil {
				t.Fatalf("after %d looks: %v %v %v", after, out, ids, err)
			}
		}
		if looks == 0 {
			t.Error("nobody looks at the context")
		}
	}
}
