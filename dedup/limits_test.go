package dedup_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/dedup/btffile"
)

// chainOf adds n structs, each with a pointer to the next. The last one has the size of
// end. The first one is the first type that it adds.
func chainOf(b *btftest.Builder, n int, end uint32) {
	for i := range n - 1 {
		pointer := b.N + 2
		b.Struct(fmt.Sprint("s", i), 8, b.Member("next", pointer, 0))
		b.Ptr(pointer + 1)
	}
	b.Struct("end", end)
}

// TestNestedTooDeep: types that refer to each other over too many steps are an error where
// the walk would follow them all, and merged where that is not necessary.
func TestNestedTooDeep(t *testing.T) {
	pointers := func(b *btftest.Builder, n int) {
		for range n - 1 {
			b.Ptr(b.N + 2)
		}
		b.Int("int", 4)
	}
	for _, c := range []struct {
		name string
		add  func(b *btftest.Builder, n int)
		n    int
		want error
	}{
		{"pointers", pointers, 4000, nil},
		{"many pointers", pointers, 4200, dedup.ErrChain},
		{"structs", func(b *btftest.Builder, n int) { chainOf(b, n, 4) }, 100_000, nil},
	} {
		b := btftest.New()
		c.add(b, c.n)
		if _, _, err := streamUnits(b.Blob(t), []uint32{1, b.N + 1}, 1, false); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	for n, want := range map[int]error{10_000: nil, 20_000: dedup.ErrChain} {
		b := btftest.New()
		cus := []uint32{1}
		for _, end := range []uint32{4, 8, 4} {
			chainOf(b, n, end)
			cus = append(cus, b.N+1)
		}
		if _, _, err := streamUnits(b.Blob(t), cus, 1, false); !errors.Is(err, want) {
			t.Errorf("%d structs that end in two ways: %v, want %v", n, err, want)
		}
	}
}

// TestTriesAreCounted: all types of one name that are considered for another count, so that
// there is an end of them.
func TestTriesAreCounted(t *testing.T) {
	defer dedup.SetMaxLinear(dedup.SetMaxLinear(1 << 30)) // families leave most types out
	const n = 500
	for name, add := range map[string]func(b *btftest.Builder, i int){
		"typedefs": func(b *btftest.Builder, i int) { b.Typedef("t", b.N) },
		"enums":    func(b *btftest.Builder, i int) { b.Enum("e", b.Value(fmt.Sprint("v", i), int32(i))) },
		"structs":  func(b *btftest.Builder, i int) { b.Struct("s", 4, b.Member(fmt.Sprint("m", i), 1, 0)) },
		"unnamed structs": func(b *btftest.Builder, i int) {
			p := b.Ptr(b.N)
			b.Struct("", 8, b.Member("a", p, 0), b.Member("b", p, 0))
		},
	} {
		b := btftest.New()
		b.Int("int", 4)
		cus := []uint32{1}
		for i := range n {
			add(b, i)
			cus = append(cus, b.N+1)
		}
		in := b.Blob(t)
		names := btffile.NewTokens(in)
		r := btffile.NewReader(in, names.Token)
		s := dedup.NewSet(names, 16)
		for i := range n {
			var u dedup.Unit
			if err := r.Read(&u, cus[i], cus[i+1]); err != nil {
				t.Fatal(err)
			}
			s.Resolve(&u)
			if err := s.Commit(&u); err != nil {
				t.Fatal(name, err)
			}
			copy(r.Placed[cus[i]:cus[i+1]], u.ID.S)
			u.Free()
		}
		if got := s.Tries(); got < n*(n-3)/2 {
			t.Errorf("%s: %d tries of %d types", name, got, n)
		}
		s.Free()
		names.Free()
	}
}
