package dump

import (
	"fmt"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
)

// TestNameSpace: each name has a count of its own while the table grows, and so has a missing name.
func TestNameSpace(t *testing.T) {
	const n = 3000
	b := btftest.Build(t, nil, func(b *btftest.Builder) {
		for i := range n {
			b.Struct(fmt.Sprint("name", i), 0)
		}
	})
	s := newNameSpace(b, 0)
	for round := range uint32(3) {
		for id := uint32(1); id < b.TypeCount(); id++ {
			off := b.Record(id).Name()
			if round == 0 && s.find(off).off != 0 {
				t.Fatalf("name %d is there before it is taken", id)
			}
			if got := s.take(off); got != round+1 {
				t.Fatalf("name %d is taken %d times, want %d", id, got, round+1)
			}
			if 4*s.used > 3*len(s.slots) {
				t.Fatalf("%d of %d slots are in use", s.used, len(s.slots))
			}
			if got, want := s.take(0), round*n+id; got != want {
				t.Fatalf("the missing name is taken %d times, want %d", got, want)
			}
		}
	}
	if s.used != n || len(s.slots) != 4096 {
		t.Errorf("%d names in %d slots", s.used, len(s.slots))
	}
}

// TestLoseFirst: types without a place in a sorted header are not lost.
func TestLoseFirst(t *testing.T) {
	for name, add := range map[string]func(b *btftest.Builder){
		"no type": func(*btftest.Builder) {},
		"a FUNC":  func(b *btftest.Builder) { b.Func("f", 0, b.Proto(0)) },
		"two FWDs": func(b *btftest.Builder) {
			b.Fwd("a")
			b.Fwd("b")
		},
	} {
		o := newOrderer(btftest.Build(t, nil, add))
		if err := o.placeSorted(true); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if want := len(name) / len("two FWDs"); len(o.defined) != want || want == 1 && o.b.Kind(o.defined[0]) != btf.KindFwd {
			t.Errorf("%s: %v are defined", name, o.defined)
		}
	}
}
