package btffile

import (
	"bytes"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/dedup/exact"
)

// costs is the BTF of a family of btftest.Costs.
func costs(t *testing.T, build func(*btftest.Builder, int), n int) *btf.Blob {
	t.Helper()
	b := btftest.New()
	build(b, n)
	return b.Blob(t)
}

// TestShapesTellTypesWithoutNamesApart: thousands of structs and unions without names
// that differ only far from the top take little time, and stay apart. Equal ones become
// one.
func TestShapesTellTypesWithoutNamesApart(t *testing.T) {
	tried := 0
	for _, family := range btftest.Costs {
		switch name := family.Name; {
		case !strings.Contains(name, "unnamed") && name != "arrays twice in each other":
			continue
		case strings.HasPrefix(name, "a ring"), strings.HasPrefix(name, "the same"):
			continue // none of them has an end, or all are one
		}
		tried++
		in := costs(t, family.Build, 8000)
		once, _, err := Stream(in)
		if err != nil {
			t.Errorf("%s: %v", family.Name, err)
			continue
		}
		if once.TypeCount() != in.TypeCount() {
			t.Errorf("%s: %d types, want %d", family.Name, once.TypeCount(), in.TypeCount())
		}
		twice, err := Dedup([]*btf.Blob{in, in}, nil, false)
		if err != nil || !bytes.Equal(once.Encode(), twice.Encode()) {
			t.Errorf("%s: twice gives another result (%v)", family.Name, err)
		}
	}
	if tried < 10 {
		t.Errorf("%d families", tried)
	}
}

// TestCostsEqualLibbpf: the most expensive inputs give libbpf's result.
func TestCostsEqualLibbpf(t *testing.T) {
	for _, family := range btftest.Costs {
		in := costs(t, family.Build, 100)
		want, err := exact.Dedup(in, exact.Options{})
		if err != nil {
			t.Errorf("%s: %v", family.Name, err)
			continue
		}
		got, _, err := Stream(in)
		if err != nil || !bytes.Equal(got.Encode(), want.Encode()) {
			t.Errorf("%s: %v, got\n%swant\n%s", family.Name, err, btftest.Text(got), btftest.Text(want))
		}
	}
}

// TestShapesOfEquivalentTypesAreOne: a forward declaration counts as any definition, and an
// enumeration without values as any of its name.
func TestShapesOfEquivalentTypesAreOne(t *testing.T) {
	b := btftest.New()
	x := b.Int("int", 4)
	long := b.Int("long", 8)
	s := b.Struct("s", 4, b.Member("a", x, 0))
	f := b.Fwd("s")
	e := b.Enum("e", b.Value("one", 1))
	first := b.N + 1
	for _, p := range [][2]uint32{{s, e}, {f, b.N}} {
		enum := p[1]
		if p[0] == f {
			enum = b.Enum("e")
		}
		proto := b.Proto(0, b.Param("p", b.Ptr(p[0])))
		b.Struct("", 16, b.Member("f", b.Ptr(proto), 0), b.Member("e", b.Array(enum, x, 2), 64))
	}
	other := b.Struct("", 16, b.Member("f", b.Ptr(x), 0), b.Member("e", b.Array(long, x, 2), 64))
	in := b.Blob(t)
	names := NewTokens(in)
	defer names.Free()
	numbers := make([]uint32, in.TypeCount())
	if err := numberShapes(in, names.Token, numbers); err != nil {
		t.Fatal(err)
	}
	var got []uint32
	for id := first; id <= other; id++ {
		if in.Kind(id) == btf.KindStruct {
			got = append(got, numbers[id])
		}
	}
	if len(got) != 3 || got[0] != got[1] || got[1] == got[2] {
		t.Errorf("shapes %v, want two that are one and another", got)
	}
}
