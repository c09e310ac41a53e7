package verify

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
)

// large is valid BTF with more of everything than is judged between two questions
// whether to end, or, if wrong, the same with a reference to a type that does not
// exist, which no step but the first can stand.
func large(wrong bool) []byte {
	const types, elements = 5 * askTypes, 3 * askElements
	b := btftest.New()
	i := b.Int("int", 4)
	var members, params, values []btftest.Part
	for k := range elements {
		name := fmt.Sprintf("a_rather_long_name_of_an_element_%d", k)
		members = append(members, b.Member(name, i, uint32(32*k)))
		params = append(params, b.Param(name, i))
		values = append(values, b.Value(name, int32(k)))
	}
	f := b.Float("float", 4)
	b.Struct("f", 8, b.Member("a", f, 0), b.Member("b", b.Array(f, i, 1), 32))
	b.Struct("s", 4*elements, members...)
	b.Proto(i, params...)
	b.Enum("e", values...)
	for k := range types {
		b.Ptr(i)
		i = b.Typedef(fmt.Sprint("t", b.N), 1)
		if k == 3*askTypes && wrong {
			b.Struct("wrong", 8, b.Member("m", 1<<30, 0), b.Member("n", b.Array(f, i, 1), 32))
		}
	}
	return b.Encode(false)
}

// TestStop: a check whose Stop returns an error ends with that, at whatever point it
// is, and soon: it does not go on asking.
func TestStop(t *testing.T) {
	stop := errors.New("stop")
	const least = 5*5 + 4*3 // of types, in five passes, and elements
	for _, c := range []struct {
		rules Rules
		wrong bool
		asked int64 // at least, if nothing ends the check
	}{
		{Rules{}, false, least},
		{Rules{Kernel: Release{Major: 6, Minor: 1}, PointerSize: 8}, false, least},
		{Rules{Level: Readable}, false, least / 3},
		{Rules{Level: Boot}, true, 5},
		{Rules{}, true, 5},
		{Rules{Workers: 3}, false, least},
	} {
		data := large(c.wrong)
		for what, check := range map[string]func(Rules) error{
			"Check": func(r Rules) error { _, err := Check(data, nil, r); return err },
			"Judge": func(r Rules) error { _, err := Judge(data, nil, r); return err },
			"CheckBoth": func(r Rules) error {
				refused, unreadable := CheckBoth(data, nil, r)
				if errors.Is(refused, stop) != errors.Is(unreadable, stop) {
					t.Errorf("CheckBoth: %v, %v", refused, unreadable)
				}
				return refused
			},
		} {
			var asked, after atomic.Int64
			after.Store(1 << 40)
			rules := c.rules
			rules.Stop = func() error {
				if asked.Add(1) > after.Load() {
					return stop
				}
				return nil
			}
			if err := check(rules); (err != nil) != c.wrong {
				t.Fatalf("%s, %+v: %v", what, c.rules, err)
			}
			all := asked.Load()
			if all < c.asked {
				t.Errorf("%s, %+v: asked %d times, expected %d", what, c.rules, all, c.asked)
			}
			for n := int64(0); n < all; n += 1 + all/8 {
				asked.Store(0)
				after.Store(n)
				if err := check(rules); !errors.Is(err, stop) && c.rules.Workers < 2 {
					t.Fatalf("%s, %+v: ended at question %d: %v", what, c.rules, n, err)
				}
				if more := asked.Load() - n; more > 16 {
					t.Errorf("%s, %+v: %d questions after the end", what, c.rules, more)
				}
			}
		}
	}
}

// TestStopBeforeSites: a check that ends while it follows references does not go on to the sites of
// functions, which rely on references that are right.
func TestStopBeforeSites(t *testing.T) {
	stop := errors.New("stop")
	for _, base := range []*btf.Blob{nil, btftest.Build(t, nil, func(b *btftest.Builder) { b.Int("int", 4) })} {
		b := btftest.Over(base)
		for range 3 * askTypes {
			b.Ptr(0)
		}
		f := b.Func("f", 0, 0)
		proto := b.Add("", btf.Info(btf.KindLocProto, 0, false), 0)
		b.Add("inline.text", btf.Info(btf.KindLocsec, 1, false), 0, f, proto, 0)
		for left := range 100 {
			n := left
			_, err := Check(b.Encode(false), base, Rules{Stop: func() error {
				if n--; n < 0 {
					return stop
				}
				return nil
			}})
			if n < 0 != errors.Is(err, stop) {
				t.Errorf("over a base %v, %d questions: %v", base != nil, left, err)
			}
		}
	}
}
