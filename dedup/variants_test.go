package dedup_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/dedup/btffile"
	"github.com/btflite/btflite/dedup/deduptest"
	"github.com/btflite/btflite/dedup/exact"
)

// variants are types that differ in one word each. Every one adds all that it
// refers to.
var variants = map[string][]func(b *btftest.Builder){
	"struct": {
		func(b *btftest.Builder) { b.Struct("s", 8, b.Member("a", b.Int("int", 4), 0), b.Member("b", b.N, 32)) },
		func(b *btftest.Builder) { b.Struct("s", 8, b.Member("a", b.Int("int", 4), 0), b.Member("c", b.N, 32)) },
		func(b *btftest.Builder) { b.Struct("s", 8, b.Member("c", b.Int("int", 4), 0), b.Member("b", b.N, 32)) },
		func(b *btftest.Builder) { b.Struct("s", 8, b.Member("a", b.Int("int", 4), 0), b.Member("b", b.N, 40)) },
		func(b *btftest.Builder) { b.Struct("s", 12, b.Member("a", b.Int("int", 4), 0), b.Member("b", b.N, 32)) },
		func(b *btftest.Builder) { b.Struct("s", 8, b.Member("a", b.Int("int", 4), 0)) },
		func(b *btftest.Builder) { b.Struct("s", 8, b.Member("a", b.Int("int", 4), 0), b.Member("b", 0, 32)) },
		func(b *btftest.Builder) { b.Struct("s", 8, b.Member("a", 0, 0), b.Member("b", b.Int("int", 4), 32)) },
		func(b *btftest.Builder) { b.Struct("s", 8, b.Member("a", 0, 0), b.Member("b", 0, 32)) },
		func(b *btftest.Builder) { b.Struct("s", 8, b.Member("a", b.Int("long", 4), 0), b.Member("b", b.N, 32)) },
		func(b *btftest.Builder) { b.Struct("s", 8, b.Member("a", b.Ptr(0), 0), b.Member("b", b.N, 32)) },
		func(b *btftest.Builder) { b.Struct("s", 8, b.Member("a", b.Const(0), 0), b.Member("b", b.N, 32)) },
		func(b *btftest.Builder) {
			b.Of(btf.KindStruct, "s", true, 8, b.Member("a", b.Int("int", 4), 0), b.Member("b", b.N, 32))
		},
		func(b *btftest.Builder) { b.Union("s", 8, b.Member("a", b.Int("int", 4), 0), b.Member("b", b.N, 32)) },
	},
	"struct without a name": {
		func(b *btftest.Builder) { b.Struct("", 8, b.Member("a", b.Int("int", 4), 0), b.Member("b", b.N, 32)) },
		func(b *btftest.Builder) { b.Struct("", 8, b.Member("a", b.Int("int", 4), 0), b.Member("c", b.N, 32)) },
		func(b *btftest.Builder) { b.Struct("", 8, b.Member("a", b.Int("int", 4), 0), b.Member("b", b.N, 40)) },
		func(b *btftest.Builder) { b.Struct("", 12, b.Member("a", b.Int("int", 4), 0), b.Member("b", b.N, 32)) },
		func(b *btftest.Builder) { b.Struct("", 8, b.Member("a", 0, 0), b.Member("b", b.Int("int", 4), 32)) },
		func(b *btftest.Builder) { b.Struct("", 8, b.Member("a", b.Int("int", 4), 0), b.Member("b", 0, 32)) },
		func(b *btftest.Builder) { b.Union("", 8, b.Member("a", b.Int("int", 4), 0), b.Member("b", b.N, 32)) },
		func(b *btftest.Builder) {
			b.Struct("", 8, b.Member("a", b.Struct("", 4, b.Member("x", b.Int("int", 4), 0)), 0))
		},
		func(b *btftest.Builder) {
			b.Struct("", 8, b.Member("a", b.Struct("", 4, b.Member("y", b.Int("int", 4), 0)), 0))
		},
	},
	"leaf": {
		func(b *btftest.Builder) { b.Int("int", 4) },
		func(b *btftest.Builder) { b.Int("int", 8) },
		func(b *btftest.Builder) { b.Int("char", 4) },
		func(b *btftest.Builder) { b.Add("int", btf.Info(btf.KindInt, 0, false), 4, 4<<24|32) },
		func(b *btftest.Builder) { b.Float("int", 4) },
		func(b *btftest.Builder) { b.Float("int", 8) },
		func(b *btftest.Builder) { b.Fwd("int") },
		func(b *btftest.Builder) { b.FwdUnion("int") },
		func(b *btftest.Builder) { b.Typedef("int", 0) },
	},
	"enum": {
		func(b *btftest.Builder) { b.Enum("e", b.Value("A", 1), b.Value("B", 2)) },
		func(b *btftest.Builder) { b.Enum("e", b.Value("A", 1), b.Value("B", 3)) },
		func(b *btftest.Builder) { b.Enum("e", b.Value("A", 1), b.Value("C", 2)) },
		func(b *btftest.Builder) { b.Enum("e", b.Value("A", 1)) },
		func(b *btftest.Builder) { b.Enum("", b.Value("A", 1), b.Value("B", 2)) },
		func(b *btftest.Builder) { b.Enum("", b.Value("A", 1), b.Value("B", 3)) },
		func(b *btftest.Builder) { b.Enum64("e", b.Value64("A", 1), b.Value64("B", 2)) },
		func(b *btftest.Builder) { b.Enum64("e", b.Value64("A", 1), b.Value64("B", 2|1<<32)) },
		func(b *btftest.Builder) { b.Enum64("", b.Value64("A", 1), b.Value64("B", 2|1<<32)) },
		func(b *btftest.Builder) { b.Enum64("", b.Value64("A", 1), b.Value64("B", 2)) },
	},
	"array": {
		func(b *btftest.Builder) { b.Array(b.Int("int", 4), b.N, 3) },
		func(b *btftest.Builder) { b.Array(b.Int("int", 4), b.N, 4) },
		func(b *btftest.Builder) { b.Array(b.Int("char", 1), b.Int("int", 4), 3) },
		func(b *btftest.Builder) { i := b.Int("int", 4); b.Array(i, b.Int("char", 1), 3) },
	},
	"prototype": {
		func(b *btftest.Builder) { b.Proto(b.Int("int", 4), b.Param("a", b.N), b.Param("b", 0)) },
		func(b *btftest.Builder) { b.Proto(b.Int("int", 4), b.Param("a", b.N), b.Param("c", 0)) },
		func(b *btftest.Builder) { b.Proto(b.Int("int", 4), b.Param("a", 0), b.Param("b", 0)) },
		func(b *btftest.Builder) { b.Proto(b.Int("int", 4), b.Param("a", b.N), b.Param("b", b.N)) },
		func(b *btftest.Builder) { b.Proto(b.Int("int", 4), b.Param("a", b.N)) },
		func(b *btftest.Builder) { i := b.Int("int", 4); b.Proto(0, b.Param("a", i), b.Param("b", 0)) },
	},
	"reference": {
		func(b *btftest.Builder) { b.Ptr(b.Int("int", 4)) },
		func(b *btftest.Builder) { b.Ptr(0) },
		func(b *btftest.Builder) { b.Const(b.Int("int", 4)) },
		func(b *btftest.Builder) { b.Const(0) },
		func(b *btftest.Builder) { b.Volatile(b.Int("int", 4)) },
		func(b *btftest.Builder) { b.Restrict(b.Int("int", 4)) },
		func(b *btftest.Builder) { b.TypeTag("t", b.Int("int", 4)) },
		func(b *btftest.Builder) { b.TypeTag("u", b.Int("int", 4)) },
		func(b *btftest.Builder) { b.Typedef("t", b.Int("int", 4)) },
		func(b *btftest.Builder) { b.Typedef("u", b.Int("int", 4)) },
		func(b *btftest.Builder) { b.Typedef("t", b.Float("f", 4)) },
		func(b *btftest.Builder) { b.Func("t", btftest.Static, b.Proto(0)) },
		func(b *btftest.Builder) { b.Func("t", btftest.Global, b.Proto(0)) },
		func(b *btftest.Builder) { b.Func("t", btftest.Static, b.Proto(b.Int("int", 4))) },
	},
	"tag": {
		func(b *btftest.Builder) {
			b.DeclTag("t", b.Struct("s", 4, b.Member("a", b.Int("int", 4), 0)), btftest.Whole)
		},
		func(b *btftest.Builder) {
			b.DeclTag("u", b.Struct("s", 4, b.Member("a", b.Int("int", 4), 0)), btftest.Whole)
		},
		func(b *btftest.Builder) { b.DeclTag("t", b.Struct("s", 4, b.Member("a", b.Int("int", 4), 0)), 0) },
		func(b *btftest.Builder) { b.DeclTag("t", b.Typedef("s", b.Int("int", 4)), btftest.Whole) },
	},
}

// TestVariants merges two units that have one variant each, all in all orders: equal ones
// become one type, others stay apart, and the batch algorithm agrees. The same holds
// behind a pointer, in an array, and as the member of a struct. Without
// BTFLITE_UNIVERSES, one pair in eight is tried.
func TestVariants(t *testing.T) {
	around := map[string]func(b *btftest.Builder){
		"alone":      func(*btftest.Builder) {},
		"pointed to": func(b *btftest.Builder) { b.Ptr(b.N) },
		"in a struct": func(b *btftest.Builder) {
			n := b.N
			b.Struct("outer", 64, b.Member("m", n, 0), b.Member("n", b.Ptr(n), 64))
		},
		"in a struct without a name": func(b *btftest.Builder) {
			n := b.N
			b.Struct("", 64, b.Member("m", b.Const(n), 0), b.Member("n", b.Array(n, b.Int("int", 4), 2), 64))
		},
	}
	for what, list := range variants {
		for way, wrap := range around {
			if what == "tag" && way != "alone" {
				continue
			}
			for i := range list {
				for j := range list {
					if !deduptest.Whole() && (i+3*j+len(way))%8 != 0 {
						continue
					}
					b := btftest.New()
					list[i](b)
					wrap(b)
					middle := b.N + 1
					list[j](b)
					wrap(b)
					name := fmt.Sprintf("%s %s, %d and %d", what, way, i, j)
					same(t, name, b.Blob(t), []uint32{1, middle, b.N + 1}, i == j)
				}
			}
		}
	}
}

// same checks that streaming makes of the units what the batch algorithm does, and that
// the second unit adds nothing if it is like the first.
func same(t *testing.T, name string, raw *btf.Blob, cus []uint32, like bool) {
	t.Helper()
	want, err := exact.Dedup(raw, exact.Options{})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	first := btftest.Parse(t, raw.Encode(), nil)
	if n := uint32(len(want.Off)); (n < cus[1]) != like {
		t.Errorf("%s: %d types of %d and %d\n%s", name, n, cus[1]-1, cus[2]-cus[1], btftest.Text(want))
	}
	byUnit, _, err := streamUnits(raw, cus, 1, false)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	early, _, err := streamUnits(first, cus, 2, false)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	runs, _, err := btffile.Stream(raw)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for how, got := range map[string]*btf.Blob{"units": byUnit, "units that are looked up early": early, "runs": runs} {
		if !bytes.Equal(got.Encode(), want.Encode()) {
			t.Errorf("%s, %s: (-want +got)\n%s", name, how, cmp.Diff(btftest.Text(want), btftest.Text(got)))
		}
	}
}
