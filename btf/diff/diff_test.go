package diff

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
)

// linesOf is the text report of a comparison.
func linesOf(t testing.TB, a, b *btf.Blob, o Options) string {
	t.Helper()
	var lines []string
	_, err := Compare(a, b, o, func(d *Difference) error {
		lines = append(lines, d.Lines()...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// pairs are the files of testdata/diff; see scripts/diff.sh.
func pairs(t testing.TB) map[string][2]*btf.Blob {
	t.Helper()
	files, err := filepath.Glob("../../testdata/diff/*/a.btf")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d pairs, %v", len(files), err)
	}
	m := map[string][2]*btf.Blob{}
	for _, a := range files {
		dir := filepath.Dir(a)
		m[filepath.Base(dir)] = [2]*btf.Blob{btftest.Read(t, a, nil), btftest.Read(t, filepath.Join(dir, "b.btf"), nil)}
	}
	return m
}

// remixed is b with the types repeated so many times, in another order, with
// strings in that order. References lead to any of the copies, but tags and
// variables stay with the copy that they belong to.
func remixed(t testing.TB, b *btf.Blob, copies int, r *rand.Rand) *btf.Blob {
	t.Helper()
	return remixedOver(t, b, b.Base, copies, r)
}

// remixedOver is remixed over a base: b's own, or any if b has none.
func remixedOver(t testing.TB, b, base *btf.Blob, copies int, r *rand.Rand) *btf.Blob {
	t.Helper()
	out := btftest.Over(base)
	out.BigEndian = b.BigEndian
	first := uint32(1)
	if base != nil {
		first = base.TypeCount()
	}
	n := len(b.Off) * copies
	order := r.Perm(n) // of the new types: number of the old + copy * len(b.Off)
	place := make([]uint32, n)
	for i, old := range order {
		place[old] = first + uint32(i)
	}
	for _, old := range order {
		rec := b.Record(b.FirstID + uint32(old%len(b.Off)))
		k, vlen := btf.InfoKind(rec[1]), btf.InfoVlen(rec[1])
		words := append([]uint32(nil), rec...)
		move := func(w *uint32) {
			if *w < b.FirstID { // void, or in the base
				return
			}
			c := r.IntN(copies)
			if k == btf.KindDeclTag || k == btf.KindDatasec {
				c = old / len(b.Off)
			}
			*w = place[int(*w-b.FirstID)+c*len(b.Off)]
		}
		if btf.ThirdIsRef(k) {
			move(&words[2])
		}
		start, stride, refs := btf.RefWords(k, vlen)
		for i := range refs {
			move(&words[start+i*stride])
		}
		stride, names := btf.NameWords(k, vlen)
		for i := range names {
			words[3+i*stride] = out.Str(b.Name(words[3+i*stride]))
		}
		out.Add(b.Name(words[0]), words[1], words[2], words[3:]...)
	}
	blob := out.Blob(t)
	return blob
}

// TestOrderAndCopiesDoNotCount: the report about two sets does not depend on ids, order,
// strings and copies.
func TestOrderAndCopiesDoNotCount(t *testing.T) {
	for name, p := range pairs(t) {
		want := linesOf(t, p[0], p[1], Options{})
		if (want == "") != (name == "renumbered") {
			t.Errorf("%s: %q", name, want)
		}
		back := linesOf(t, p[1], p[0], Options{})
		for seed := range uint64(20) {
			r := rand.New(rand.NewPCG(seed, 0))
			a, b := remixed(t, p[0], 1+int(seed%3), r), remixed(t, p[1], 1+int(seed%2), r)
			if got := linesOf(t, p[0], a, Options{}); got != "" {
				t.Errorf("%s, seed %d: differs from itself\n%s", name, seed, got)
			}
			if got := linesOf(t, a, b, Options{}); got != want {
				t.Errorf("%s, seed %d: (-want +got)\n%s", name, seed, cmp.Diff(want, got))
			}
			if got := linesOf(t, b, a, Options{}); got != back {
				t.Errorf("%s, seed %d, reversed: (-want +got)\n%s", name, seed, cmp.Diff(back, got))
			}
		}
	}
}

// TestBasesDoNotCount: types that only the base has do not count, and it does not
// matter whether the file repeats types of its base.
func TestBasesDoNotCount(t *testing.T) {
	for name, p := range pairs(t) {
		r := rand.New(rand.NewPCG(3, 0))
		a, b := p[0], p[1]
		for i, c := range [][2]*btf.Blob{
			{b, remixedOver(t, b, a, 1, r)},
			{remixedOver(t, b, a, 2, r), remixedOver(t, b, b, 1, r)},
			{remixedOver(t, build(t, func(*btftest.Builder) {}), a, 1, r), a},
			{remixedOver(t, a, remixedOver(t, b, a, 1, r), 1, r), a},
		} {
			for _, got := range []string{linesOf(t, c[0], c[1], Options{}), linesOf(t, c[1], c[0], Options{})} {
				if got != "" {
					t.Errorf("%s, %d: %s", name, i, got)
				}
			}
		}
		want := linesOf(t, a, b, Options{})
		if got := linesOf(t, remixedOver(t, a, a, 1, r), remixedOver(t, b, b, 1, r), Options{}); got != want {
			t.Errorf("%s, each over itself: (-want +got)\n%s", name, cmp.Diff(want, got))
		}
	}
}

// TestEveryWordCounts: another word anywhere in a record is a difference, but
// for the index type of an array.
func TestEveryWordCounts(t *testing.T) {
	for name, p := range pairs(t) {
		if name == "definitions" {
			continue // has pointers that nothing uses
		}
		for _, b := range p {
			for id := b.FirstID; id < b.TypeCount(); id++ {
				everyWord(t, name, b, id)
			}
		}
	}
}

func everyWord(t *testing.T, name string, b *btf.Blob, id uint32) {
	t.Helper()
	rec := b.Record(id)
	k := btf.InfoKind(rec[1])
	for i, old := range rec {
		other := old + 1
		switch start, stride, refs := btf.RefWords(k, btf.InfoVlen(rec[1])); {
		case i == 1, k == btf.KindArray && (i == 2 || i == 4), k == btf.KindFwd && i == 2:
			continue
		case i == 0 && old == 0:
			continue // a name changes much, as it should
		case i == 2 && btf.ThirdIsRef(k), i >= start && i < start+refs*stride && (i-start)%stride == 0:
			if other = 0; old == 0 {
				other = 1
			}
			if k == btf.KindFunc || k == btf.KindDatasec || k == btf.KindDeclTag {
				continue // must refer to certain kinds
			}
		}
		rec[i] = other
		changed, err := btf.Parse(b.Encode(), nil)
		rec[i] = old
		if err != nil {
			continue // no longer BTF
		}
		if linesOf(t, b, changed, Options{}) == "" {
			t.Errorf("%s: %s [%d] word %d: %#x, %#x is not reported", name, k, id, i, old, other)
		}
	}
}

func build(t testing.TB, fn func(b *btftest.Builder)) *btf.Blob {
	t.Helper()
	return btftest.Build(t, nil, fn)
}

// compare returns the comparison of a and b.
func compare(t testing.TB, a, b *btf.Blob, o Options) *comparison {
	t.Helper()
	c, err := newComparison(a, b, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var (
	intInfo = btf.Info(btf.KindInt, 0, false)
	defInfo = btf.Info(btf.KindTypedef, 0, false)
)

func structInfo(vlen uint32) uint32 { return btf.Info(btf.KindStruct, vlen, false) }

// ring has types that lead to themselves without a name, which only broken BTF
// has: t is a PTR to a CONST to a PTR and so on, of n types; a struct of size
// bytes has itself as a member.
func ring(t testing.TB, n, size uint32) *btf.Blob {
	t.Helper()
	return build(t, func(b *btftest.Builder) {
		b.Add("t", defInfo, 2)
		for i := range n {
			b.Add("", btf.Info([]btf.Kind{btf.KindPtr, btf.KindConst}[i%2], 0, false), 2+(i+1)%n)
		}
		b.Add("", structInfo(2), size, 0, 2, 0, 0, n+2, 0)
		b.Add("u", defInfo, n+2)
	})
}

func TestLoopsWithoutNames(t *testing.T) {
	for i, c := range []struct {
		a, b *btf.Blob
		same bool
	}{
		{ring(t, 1, 8), ring(t, 1, 8), true},
		{ring(t, 2, 8), ring(t, 2, 8), true},
		{ring(t, 2, 8), ring(t, 2, 16), false},
		{ring(t, 2, 8), ring(t, 4, 8), true}, // nothing tells them apart
		{ring(t, 2, 8), ring(t, 3, 8), false},
		{ring(t, 2000, 8), ring(t, 2000, 8), true},
	} {
		for seed := range uint64(3) {
			b := remixed(t, c.b, 1, rand.New(rand.NewPCG(seed, 1)))
			if got := linesOf(t, c.a, b, Options{}); (got == "") != c.same {
				t.Errorf("%d: %q", i, got)
			}
		}
	}
}

// TestHugeInputsTakeLinearTime: inputs that could make work or output large. Four times the input
// takes about four times the CPU time, not sixteen times. A clock on the wall would count what else
// the machine does.
func TestHugeInputsTakeLinearTime(t *testing.T) {
	const n, ratio, little = 20000, 9, 100 * time.Millisecond
	small, large := huge(t, n/4), huge(t, n)
	for name := range large {
		took := func(c [2]*btf.Blob, n int) time.Duration {
			least := time.Hour
			for range 2 {
				began := cpuTime()
				if got := linesOf(t, c[0], c[0], Options{}); got != "" {
					t.Errorf("%s: differs from itself", name)
				}
				got := linesOf(t, c[0], c[1], Options{})
				if got == "" || len(got) > 3*n*maxName {
					t.Errorf("%s: %d bytes of differences", name, len(got))
				}
				least = min(least, cpuTime()-began)
			}
			return least
		}
		a, b := took(small[name], n/4), took(large[name], n)
		if t.Logf("%s: %v, %v", name, a, b); b > ratio*a+little {
			t.Errorf("%s: %v of CPU time, and %v for four times the input", name, a, b)
		}
	}
}

// cpuTime is the CPU time that the process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// huge has pairs of inputs with n of something.
func huge(t *testing.T, n int) map[string][2]*btf.Blob {
	size := uint32(n)
	chain := func(k btf.Kind, end string) *btf.Blob {
		return build(t, func(b *btftest.Builder) {
			b.Add(end, intInfo, 4, 32)
			for i := range size {
				if k == btf.KindStruct {
					b.Add("", structInfo(1), 4, 0, i+1, 0)
				} else {
					b.Add("", btf.Info(k, 0, false), i+1)
				}
			}
			b.Add("t", defInfo, size+1)
			b.Var("v", size+1, btftest.Static)
		})
	}
	// A struct with many members of one large nameless type.
	shared := func(last string) *btf.Blob {
		return build(t, func(b *btftest.Builder) {
			var inner, outer []uint32
			for i := range size {
				inner = append(inner, b.Str(fmt.Sprint("m", i)), 1, 32*i)
				outer = append(outer, b.Str(fmt.Sprint("n", i)), 2, 0)
			}
			inner[3*n-3] = b.Str(last)
			b.Add("int", intInfo, 4, 32)
			b.Add("", structInfo(size), 4*size, inner...)
			b.Add("s", structInfo(size), 4, outer...)
		})
	}
	// Names that are ends of one long string.
	tails := func(c string) *btf.Blob {
		blob := build(t, func(b *btftest.Builder) {
			b.Str(strings.Repeat(c, 1<<20))
			for range n {
				b.Add("", intInfo, 4, 32)
			}
		})
		for i, off := range blob.Off {
			blob.Words[off] = 1 + uint32(i)
		}
		return blob
	}
	// Definitions of one name, all different.
	many := func(first uint32) *btf.Blob {
		return build(t, func(b *btftest.Builder) {
			b.Add("int", intInfo, 4, 32)
			for i := range size {
				b.Add("s", structInfo(1), first+i, b.Str("m"), 1, 0)
			}
		})
	}
	return map[string][2]*btf.Blob{
		"pointers": {chain(btf.KindPtr, "a"), chain(btf.KindPtr, "b")},
		"structs":  {chain(btf.KindStruct, "a"), chain(btf.KindStruct, "b")},
		"shared":   {shared("x"), shared("y")},
		"tails":    {tails("x"), tails("y")},
		"many":     {many(4), many(1 << 20)},
	}
}

// FuzzCompare: no input makes the comparison fail, order changes nothing, and if
// a set differs from another then that from it.
func FuzzCompare(f *testing.F) {
	for _, p := range pairs(f) {
		f.Add(p[0].Encode(), p[1].Encode(), uint64(1))
	}
	f.Add(ring(f, 2, 8).Encode(), ring(f, 3, 8).Encode(), uint64(2))
	long := ring(f, 2, 8)
	long.Form = btf.WithLayout()
	f.Add(long.Encode(), ring(f, 3, 8).Encode(), uint64(3))
	f.Fuzz(func(t *testing.T, x, y []byte, seed uint64) {
		a, err := btf.Parse(x, nil)
		if err != nil {
			return
		}
		if got := linesOf(t, a, a, Options{}); got != "" {
			t.Errorf("differs from itself: %s", got)
		}
		if a, err = a.WithoutSkipped(); err != nil {
			return
		}
		r := rand.New(rand.NewPCG(seed, 2))
		mixed := remixed(t, a, 1, r)
		if got := linesOf(t, a, mixed, Options{}); got != "" {
			t.Errorf("differs from itself in another order: %s", got)
		}
		b, err := btf.Parse(y, nil)
		if err != nil {
			if b, err = btf.Parse(y, a); err != nil {
				return
			}
		}
		for _, o := range []Options{{}, {Parts: []string{"function"}}, {ABI: true}, {Names: []string{"[a-m]*"}}} {
			there, back := linesOf(t, a, b, o), linesOf(t, b, a, o)
			if (there == "") != (back == "") {
				t.Errorf("one way: %q\nback: %q", there, back)
			}
			if b.Base != nil {
				continue // its references would lead to other types of mixed
			}
			if got := linesOf(t, mixed, remixed(t, b, 1, r), o); got != there {
				t.Errorf("in another order: %q\nas it was: %q", got, there)
			}
		}
	})
}

// TestTextsCost: texts of types without a name count, so that types that hold each other by arrays
// are not told at length.
func TestTextsCost(t *testing.T) {
	set := func(n int) *btf.Blob {
		b := btftest.New()
		x := b.Int("int", 4)
		i := x
		for range n {
			a := b.Array(x, i, 1)
			x = b.Union("", 4, b.Member("a", a, 0), b.Member("b", a, 0))
		}
		b.Struct("s", 4, b.Member("m", x, 0))
		return b.Blob(t)
	}
	a, b := set(500), set(1000)
	told := 0
	var count func(d *Difference)
	count = func(d *Difference) {
		told++
		for i := range d.Details {
			count(&d.Details[i])
		}
	}
	if _, err := Compare(a, b, Options{}, func(d *Difference) error { count(d); return nil }); err != nil {
		t.Fatal(err)
	}
	if words := len(a.Words) + len(b.Words); told == 0 || told > words/4 {
		t.Errorf("%d parts of %d words are told", told, words)
	}
}
