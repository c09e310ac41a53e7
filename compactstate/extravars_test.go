package compactstate

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
)

func same(x uint32) uint32 { return x }

func TestExtraVarsOrderAndRepeats(t *testing.T) {
	var e ExtraVars
	e.Add(ExtraVar{Name: 9, Type: 1, Section: 7, Offset: 8, Size: 4})
	e.Add(ExtraVar{Name: 2, Type: 1, Section: 5, Offset: 16, Size: 4}, 70, 71)
	e.Add(ExtraVar{Name: 3, Type: 1, Section: 5, Offset: 0, Size: 4, External: true})
	e.Add(ExtraVar{Name: 9, Type: 2, Section: 7, Offset: 8, Size: 4}) // type 2 is 1
	e.Add(ExtraVar{Name: 2, Type: 1, Section: 5, Offset: 16, Size: 4}, 70, 71)
	e.Add(ExtraVar{Name: 2, Type: 1, Section: 5, Offset: 16, Size: 4}, 70)
	e.Add(ExtraVar{Name: 3, Type: 1, Section: 5, Offset: 0, Size: 4})
	e.Settle(func(n uint32) uint32 { return 100 + n }, func(uint32) uint32 { return 1 })
	var got []string
	for i := range e.Len() {
		v, tags := e.At(i)
		got = append(got, fmt.Sprint(v.Section, v.Offset, v.Name, v.Type, v.External, tags))
	}
	want := []string{"5 0 103 1 true []", "5 0 103 1 false []", "5 16 102 1 false [70 71]", "5 16 102 1 false [70]", "7 8 109 1 false []"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	// What overlaps goes into a DATASEC of its own.
	sections := []ExtraSection{{5, 20, []uint32{0, 2}}, {5, 20, []uint32{1, 3}}, {7, 12, []uint32{4}}}
	if got := e.Sections(); !reflect.DeepEqual(got, sections) {
		t.Errorf("%v, want %v", got, sections)
	}
	if got := new(ExtraVars).Sections(); got != nil {
		t.Errorf("%v for none", got)
	}
}

// TestExtraSectionsAreLegal: every variable is in one DATASEC, none overlaps
// another there, and none has more than kernels take.
func TestExtraSectionsAreLegal(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ n, sections, space, size int }{{2000, 3, 500, 20}, {50000, 1, 1 << 20, 3}, {200_000, 2, 1 << 30, 8}, {20_000, 1, 10, 100}} {
		var e ExtraVars
		for i := range c.n {
			e.Add(ExtraVar{Name: uint32(i), Section: uint32(rng.IntN(c.sections)), Offset: uint32(rng.IntN(c.space)), Size: uint32(1 + rng.IntN(c.size))})
		}
		e.Settle(same, same)
		in := make([]int, e.Len())
		last := uint32(0)
		for _, s := range e.Sections() {
			end := uint32(0)
			for _, i := range s.Vars {
				v, _ := e.At(int(i))
				if in[i]++; v.Section != s.Index || v.Offset < end {
					t.Fatalf("%+v: variable %+v", s.Index, v)
				}
				end = v.Offset + v.Size
			}
			if len(s.Vars) == 0 || len(s.Vars) > 65535 || s.Size != end || s.Index < last {
				t.Errorf("%+v: section %d, %d variables, size %d, end %d", c, s.Index, len(s.Vars), s.Size, end)
			}
			last = s.Index
		}
		for i, n := range in {
			if n != 1 {
				t.Fatalf("%+v: variable %d is in %d sections", c, i, n)
			}
		}
	}
}
