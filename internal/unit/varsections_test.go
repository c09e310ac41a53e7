package unit

import (
	"math/rand/v2"
	"testing"
	"time"
)

// firstWith returns what at has to return, by a look at all sections.
func firstWith(list []VarSection, addr uint64) *VarSection {
	for i := range list {
		if s := &list[i]; addr-s.Addr < s.Size {
			if s.Wanted {
				return s
			}
			return nil
		}
	}
	return nil
}

// TestVarSections: the first section that has an address is found, also if sections lie in each other, are empty
// or reach beyond the last address.
func TestVarSections(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	ends := []uint64{0, 1, 1 << 31, 1<<32 - 1, 1 << 32, 1 << 63, 1<<64 - 1}
	near := func() uint64 { return ends[r.IntN(len(ends))] + uint64(r.IntN(9)) - 4 }
	inside := 0
	for range 2000 {
		list := make([]VarSection, r.IntN(8))
		var asked []uint64
		for i := range list {
			list[i] = VarSection{Index: uint32(i), Addr: near(), Wanted: r.IntN(4) > 0}
			if list[i].Size = near() - list[i].Addr; r.IntN(2) == 0 {
				list[i].Size = uint64(r.IntN(6))
			}
			asked = append(asked, list[i].Addr, list[i].Addr-1, list[i].Addr+list[i].Size, list[i].Addr+list[i].Size-1)
		}
		v := NewVarSections(list)
		for range 8 {
			asked = append(asked, near())
		}
		for _, addr := range asked {
			got, want := v.at(addr), firstWith(list, addr)
			if got != want {
				t.Fatalf("%#x in %+v: %+v, want %+v", addr, list, got, want)
			}
			if got != nil {
				inside++
			}
		}
	}
	if inside < 10000 {
		t.Errorf("only %d addresses are in a section", inside)
	}
	if new(VarSections).at(0) != nil {
		t.Error("no sections have an address")
	}
}

// TestVarSectionsCost: neither sections in each other nor many variables take more than a moment.
func TestVarSectionsCost(t *testing.T) {
	const n = 100_000
	for _, inner := range []bool{false, true} { // whether the inner sections come first
		list := make([]VarSection, n)
		for i := range list {
			k := uint64(i)
			if inner {
				k = n - 1 - k
			}
			list[i] = VarSection{Index: uint32(i), Addr: k, Size: 2 * (n - k), Wanted: true}
		}
		began, sum := time.Now(), uint32(0)
		v := NewVarSections(list)
		for addr := range uint64(2 * n) {
			if s := v.at(addr); s != nil {
				sum += s.Index
			}
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%d sections and %d addresses took %v (%d)", n, 2*n, took, sum)
		}
	}
}
