package distill

import (
	"cmp"
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
)

// TestRelocate: what was distilled from a kernel is found in another, whose types have other
// ids, or the error names the type.
func TestRelocate(t *testing.T) {
	base := btftest.Build(t, nil, func(b *btftest.Builder) {
		i := b.Int("int", 4)
		b.Struct("inner", 8, b.Member("a", i, 0))
		b.Ptr(b.Struct("other", 16, b.Member("x", i, 0)))
		b.Enum("colour", b.Value("RED", 1))
		b.Float("double", 8)
	})
	module := btftest.Build(t, base, func(b *btftest.Builder) {
		b.Struct("mine", 48, b.Member("in", 2, 0), b.Member("p", 4, 64), b.Member("c", 5, 128), b.Member("d", 6, 192), b.Member("n", 1, 256))
	})
	_, over, err := Split(context.Background(), module)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		kernel func(b *btftest.Builder)
		want   string // of the error; "" for none
	}{
		{"another order", func(b *btftest.Builder) {
			b.Float("double", 8)
			b.Struct("other", 24)
			b.Enum64("colour", b.Value64("RED", 1))
			b.Enum("colour", b.Value("RED", 1))
			b.Struct("inner", 12)
			b.Struct("inner", 8)
			b.Int("int", 4)
		}, ""},
		{"a struct that is declared and defined", func(b *btftest.Builder) {
			b.Fwd("other")
			b.Struct("other", 16)
			b.Fwd("other")
			b.Float("double", 8)
			b.Enum("colour")
			b.Struct("inner", 8)
			b.Int("int", 4)
		}, ""},
		{"a struct that is declared only", func(b *btftest.Builder) {
			b.Fwd("other")
			b.Float("double", 8)
			b.Enum("colour")
			b.Struct("inner", 8)
			b.Int("int", 4)
		}, ""},
		{"another size", func(b *btftest.Builder) {
			b.Struct("inner", 16)
			b.Struct("other", 16)
			b.Float("double", 8)
			b.Enum("colour")
			b.Int("int", 4)
		}, `no STRUCT "inner"`},
		{"two of the size", func(b *btftest.Builder) {
			b.Struct("inner", 8)
			b.Struct("inner", 8)
			b.Struct("other", 16)
			b.Float("double", 8)
			b.Enum("colour")
			b.Int("int", 4)
		}, `2 types that may be STRUCT "inner"`},
		{"nothing", func(b *btftest.Builder) {}, "the kernel has no"},
	} {
		kernel := btftest.Build(t, nil, tt.kernel)
		got, err := NewRelocator(kernel).Relocate(over)
		switch {
		case tt.want != "":
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
			}
		case err != nil:
			t.Errorf("%s: %v", tt.name, err)
		default:
			// What is behind the pointer is the definition, wherever there is one.
			defined := false
			for id := uint32(1); id < kernel.TypeCount(); id++ {
				defined = defined || kernel.Kind(id) == btf.KindStruct && kernel.Name(kernel.Record(id).Name()) == "other"
			}
			r := got.Record(got.FirstID)
			_, pointer, _ := r.Member(1)
			if to := got.Record(pointer).Third(); (got.Kind(to) == btf.KindStruct) != defined {
				t.Errorf("%s: the pointer leads to %s [%d]", tt.name, got.Kind(to), to)
			}
			for j := range int(r.Vlen()) {
				_, id, _ := r.Member(j)
				_, was, _ := module.Record(module.FirstID).Member(j)
				if k := base.Kind(was); k != btf.KindPtr && base.Name(base.Record(was).Name()) != got.Name(got.Record(id).Name()) {
					t.Errorf("%s: member %d is of %s %q", tt.name, j, got.Kind(id), got.Name(got.Record(id).Name()))
				}
			}
		}
	}
}

// naive finds what d may stand for by looking at all types of a kernel.
func naive(kernel *btf.Blob, name string, d btf.Record) (fits []uint32) {
	isEnum := func(k btf.Kind) bool { return k == btf.KindEnum || k == btf.KindEnum64 }
	of := func(r btf.Record) btf.Kind {
		if r.Kind() == btf.KindFwd && btf.InfoKflag(r.Info()) {
			return btf.KindUnion
		} else if r.Kind() == btf.KindFwd {
			return btf.KindStruct
		}
		return r.Kind()
	}
	for id := uint32(1); id < kernel.TypeCount(); id++ {
		r := kernel.Record(id)
		same := r.Kind() == d.Kind() || isEnum(r.Kind()) && isEnum(d.Kind())
		switch {
		case kernel.Name(r.Name()) != name:
		case d.Kind() == btf.KindFwd && of(r) == of(d), d.Kind() != btf.KindFwd && same && r.Third() == d.Third() && (d.Kind() != btf.KindInt || r.Data() == d.Data()):
			fits = append(fits, id)
		}
	}
	if d.Kind() == btf.KindFwd { // a definition is better
		last := []btf.Kind{btf.KindFwd}
		slices.SortStableFunc(fits, func(a, b uint32) int {
			return cmp.Compare(slices.Index(last, kernel.Kind(a)), slices.Index(last, kernel.Kind(b)))
		})
		fits = fits[:min(1, len(fits))]
	}
	return fits
}

// TestFind: of each type that a distilled base may have, find finds what a look at all types of the kernel finds.
func TestFind(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[int]int{}
	for range 200 {
		kernel := btftest.Build(t, nil, func(b *btftest.Builder) { addNamed(b, r, 40) })
		x := NewRelocator(kernel)
		base := btftest.Build(t, nil, func(b *btftest.Builder) { addNamed(b, r, 20) })
		for id := uint32(1); id < base.TypeCount(); id++ {
			d := base.Record(id)
			name := base.Name(d.Name())
			want := naive(kernel, name, d)
			seen[min(len(want), 2)]++
			if got, err := x.find(name, d); (err == nil) != (len(want) == 1) || err == nil && got != want[0] {
				t.Fatalf("%s %q: %d, %v, want %v", d.Kind(), name, got, err, want)
			}
		}
	}
	if seen[0] < 100 || seen[1] < 100 || seen[2] < 100 {
		t.Errorf("too few of a sort: %v", seen)
	}
}

// addNamed adds n types of few names and sizes.
func addNamed(b *btftest.Builder, r *rand.Rand, n int) {
	for range n {
		name, size := []string{"a", "b", "c"}[r.IntN(3)], uint32(4*r.IntN(3)+4)
		switch r.IntN(8) {
		case 0:
			b.Int(name, 1<<r.IntN(3))
		case 1:
			b.Float(name, 4)
		case 2:
			b.Fwd(name)
		case 3:
			b.FwdUnion(name)
		case 4:
			b.Struct(name, size)
		case 5:
			b.Union(name, size)
		case 6:
			b.Enum(name)
		case 7:
			b.Enum64(name)
		}
	}
}

// TestFindCost: many types of one name in the base and in the kernel cost no more than as many of different names.
func TestFindCost(t *testing.T) {
	const n = 100_000
	build := func(b *btftest.Builder) {
		for i := range uint32(n) {
			b.Struct("s", i+1)
		}
	}
	base, kernel := btftest.Build(t, nil, build), btftest.Build(t, nil, build)
	split := btftest.Build(t, base, func(b *btftest.Builder) {
		for i := range uint32(n) {
			b.Struct("own", i+1, b.Member("m", i+1, 0))
		}
	})
	began := time.Now()
	out, err := NewRelocator(kernel).Relocate(split)
	if err != nil || out.TypeCount() != split.TypeCount() {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("%d types of one name took %v", n, took)
	}
}

// FuzzRelocate: whatever the files are, there is an error, or BTF over the kernel.
func FuzzRelocate(f *testing.F) {
	for _, machine := range []string{"x86", "s390x"} {
		var data [3][]byte
		for i, part := range []string{".distilled.base.btf", ".distilled.btf", ".base.btf"} {
			data[i], _ = os.ReadFile("../../testdata/split/" + machine + part)
		}
		f.Add(data[0], data[1], data[2])
	}
	f.Fuzz(func(t *testing.T, base, split, kernel []byte) {
		below, err := btf.Parse(base, nil)
		if err != nil {
			return
		}
		own, err := btf.Parse(split, below)
		if err != nil {
			return
		}
		k, err := btf.Parse(kernel, nil)
		if err != nil {
			return
		}
		out, err := NewRelocator(k).Relocate(own)
		if err == nil && len(out.Off) != len(own.Off) {
			t.Errorf("%d types of %d", len(out.Off), len(own.Off))
		}
	})
}
