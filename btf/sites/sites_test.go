package sites

import (
	"testing"
	"time"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
)

// TestCompare: sites that are gone, that have come, and that say something else.
func TestCompare(t *testing.T) {
	blob := func(register uint32, offsets ...uint32) *btf.Blob {
		b := btftest.New()
		b.Add("int", btf.Info(btf.KindInt, 0, false), 4, 1<<24|32)
		b.Add("", btf.Info(btf.KindFuncProto, 1, false), 0, b.Str("a"), 1)
		b.Add("f", btf.Info(btf.KindFunc, 0, false), 2)
		b.Add("", btf.Info(btf.KindLocParam, 1, false), 4, btf.LocReg, register)
		b.Add("", btf.Info(btf.KindLocProto, 1, false), 0, 4)
		var words []uint32
		for _, o := range offsets {
			words = append(words, 3, 5, o)
		}
		b.Add("inline.text", btf.Info(btf.KindLocsec, uint32(len(offsets)), false), 0, words...)
		return b.Blob(t)
	}
	for _, c := range []struct {
		a, b *btf.Blob
		want Difference
	}{
		{blob(1, 4, 8), blob(1, 8, 4), Difference{Counts{2, 2}, Counts{2, 2}, 0, 0}},
		{blob(1, 4, 8), blob(1, 8), Difference{Counts{2, 2}, Counts{1, 1}, 1, 0}},
		{blob(1, 4), blob(1, 4, 4, 12), Difference{Counts{1, 1}, Counts{3, 3}, 0, 2}},
		{blob(1, 4), blob(2, 4), Difference{Counts{1, 1}, Counts{1, 1}, 1, 1}},
	} {
		if got := Compare(c.a, c.b); got != c.want {
			t.Errorf("%+v, want %+v", got, c.want)
		}
	}
}

// TestEach: sites of split BTF and of its base, an ellipsis, a function without
// parameters, and records that do not fit together.
func TestEach(t *testing.T) {
	b := btftest.New()
	b.Add("int", btf.Info(btf.KindInt, 0, false), 4, 1<<24|32)
	b.Add("", btf.Info(btf.KindFuncProto, 2, false), 0, b.Str("a"), 1, 0, 0)
	b.Add("f", btf.Info(btf.KindFunc, 0, false), 2)
	b.Add("", btf.Info(btf.KindLocParam, 1, false), 4, btf.LocReg, 5)
	b.Add("", btf.Info(btf.KindLocProto, 2, false), 0, 4, 0)
	b.Add("inline.text", btf.Info(btf.KindLocsec, 2, false), 0, 3, 5, 0x10, 3, 5, 0x20)
	base := b.Blob(t)
	b = btftest.Over(base)
	b.Add("", btf.Info(btf.KindFuncProto, 0, false), 0)
	b.Add("g", btf.Info(btf.KindFunc, 0, false), 7)
	b.Add("", btf.Info(btf.KindLocProto, 0, false), 0)
	b.Add("", btf.Info(btf.KindLocProto, 1, false), 0, 0) // too short for f
	b.Add("inline.init.text", btf.Info(btf.KindLocsec, 3, false), 0, 8, 9, 4, 3, 10, 8, 1, 9, 12)
	over := b.Blob(t)
	var got []string
	Each(over, func([]byte, string, uint32) bool { return true }, func(s *Site) bool {
		line := s.Func + s.Section
		for _, p := range s.Params {
			line += " " + p.Name
			if p.Place != nil {
				line += "=" + btf.LocText(p.Place)
			}
		}
		got = append(got, line)
		return len(got) < 3
	})
	want := []string{"g.init.text", "f.init.text a", "f.text a=reg5"}
	if len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("%q, want %q", got, want)
	}
	if c := Count(base); c != (Counts{2, 2}) {
		t.Errorf("%+v", c)
	}
	if c := Count(over); c != (Counts{3, 2}) {
		t.Errorf("%+v", c)
	}
}

// TestSitesOfNoFunction: sites of void, of a type that is not a FUNC, and with places that are
// none are counted, and nothing else.
func TestSitesOfNoFunction(t *testing.T) {
	b := btftest.Build(t, nil, func(b *btftest.Builder) {
		b.Int("int", 4)
		b.Func("f", btftest.Static, b.Proto(0, b.Param("p", 1)))
		b.Add("inline.text", btf.Info(btf.KindLocsec, 4, false), 0, 0, 0, 16, 1, 2, 32, 2, 1, 48, 3, 1, 64)
	})
	if got := Count(b); got.Sites != 4 {
		t.Errorf("%+v", got)
	}
	if d := Compare(b, b); !d.Same() {
		t.Errorf("%+v", d)
	}
}

// TestLongPrototypes: sites and their places may have a function in common that has many parameters. The
// work does not multiply.
func TestLongPrototypes(t *testing.T) {
	const many = 100_000
	b := btftest.New()
	b.Add("int", btf.Info(btf.KindInt, 0, false), 4, 1<<24|32)
	params := make([]uint32, 2*many)
	for i := range many {
		params[2*i+1] = 1
	}
	b.Add("", btf.Info(btf.KindFuncProto, many, false), 0, params...)
	b.Add("f", btf.Info(btf.KindFunc, 0, false), 2)
	long := b.Add("", btf.Info(btf.KindLocProto, many, false), 0, make([]uint32, many)...)
	var words []uint32
	for range many {
		words = append(words, 3, long, 0, 3, b.Add("", btf.Info(btf.KindLocProto, 0, false), 0), 4)
	}
	b.Add("inline.text", btf.Info(btf.KindLocsec, uint32(len(words)/3), false), 0, words...)
	blob := b.Blob(t)
	begun := time.Now()
	if d := Compare(blob, blob); !d.Same() || d.A != (Counts{2 * many, 0}) {
		t.Errorf("%+v", d)
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}
