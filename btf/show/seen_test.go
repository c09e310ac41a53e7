package show

import (
	"bytes"
	"testing"

	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/view"
)

// TestFirsts: the table finds its entries, however full it is, and the hash 0.
func TestFirsts(t *testing.T) {
	var f firsts
	const n = 5000
	hash := func(i uint32) uint32 { return i * 2654435761 &^ 1 }
	for i := range uint32(n) {
		if old, ok := f.add(hash(i), i+1); ok {
			t.Fatalf("%d is there already, as %d", i, old)
		}
	}
	for i := range uint32(n) {
		for _, want := range []uint32{i + 1, 0, 0} {
			if old, ok := f.add(hash(i), 7); !ok || old != want {
				t.Fatalf("%d: %d %v, want %d", i, old, ok, want)
			}
		}
	}
	if f.used != n || len(f.slots) < n {
		t.Errorf("%d slots, %d in use", len(f.slots), f.used)
	}
}

// TestAlike: two structs of one name count as one if each member has the name of the other one's, or
// if one of the two has none. So pahole counts them.
func TestAlike(t *testing.T) {
	for _, x := range []struct {
		first, second string
		want          string
	}{
		{"x", "x", "s 2\n"}, {"y", "y", "s 2\n"}, {"", "", "s 2\n"}, {"x", "", "s 2\n"}, {"", "x", "s 2\n"}, {"y", "", "s 2\n"}, {"", "y", "s 2\n"},
		{"x", "y", "s 1\ns 1\n"}, {"y", "x", "s 1\ns 1\n"},
	} {
		v := view.New(btftest.Build(t, nil, func(b *btftest.Builder) {
			b.Str("x") // the first string of all
			of := b.Union("", 4, b.Member("in", b.Int("int", 4), 0))
			for _, name := range []string{x.first, x.second} {
				b.Struct("s", 4, b.Member(name, of, 0))
			}
		}))
		var got bytes.Buffer
		if err := New(&got, v, Options{}).List(&Filter{}, Times, " "); err != nil || got.String() != x.want {
			t.Errorf("members %q and %q: %q, %v, want %q", x.first, x.second, got.String(), err, x.want)
		}
	}
	v := view.New(btftest.Build(t, nil, func(b *btftest.Builder) {
		x := b.Member("x", b.Int("int", 4), 0)
		b.Struct("s", 4, x)
		b.Union("s", 4, x)
		b.Union("s", 4, x)
	}))
	for _, x := range []struct {
		filter Filter
		want   string
	}{{Filter{}, "s 3\n"}, {Filter{Structs: true}, "s 1\n"}, {Filter{Unions: true}, "s 2\n"}} {
		var got bytes.Buffer
		if err := New(&got, v, Options{}).List(&x.filter, Times, " "); err != nil || got.String() != x.want {
			t.Errorf("%+v: %q, %v, want %q", x.filter, got.String(), err, x.want)
		}
	}
}
