package compactstate

import (
	"reflect"
	"testing"
)

func TestSectionsAscendAndVariablesAreSortedByOffset(t *testing.T) {
	var v Vars
	if got := v.Sections(); len(got) != 0 {
		t.Errorf("no variables: %v", got)
	}
	v.Add(9, 1, 16, 4)
	v.Add(2, 2, 8, 8)
	v.Add(9, 3, 0, 4)
	v.Add(9, 4, 16, 1) // same offset: stays behind 1
	v.Add(9, 5, 4, 100)
	want := []DataSection{
		{Index: 2, Size: 16, Vars: []Var{{2, 8, 8}}},
		{Index: 9, Size: 17, Vars: []Var{{3, 0, 4}, {5, 4, 100}, {1, 16, 4}, {4, 16, 1}}},
	}
	for range 2 { // asking does not change anything
		if got := v.Sections(); !reflect.DeepEqual(got, want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
	}
}

func TestSectionKeepsAllVariables(t *testing.T) {
	for _, n := range []int{65535, 65536, 65540, 131073} {
		var v Vars
		v.Add(1, 7, 0, 1)
		for i := range n {
			v.Add(3, uint32(i), uint32(4*(n-i)), 4) // descending offsets
		}
		got := v.Sections()
		if len(got) != 2 || len(got[1].Vars) != n {
			t.Errorf("%d variables: %d sections, %d variables", n, len(got), len(got[len(got)-1].Vars))
			continue
		}
		if first := got[1].Vars[0].ID; first != uint32(n-1) {
			t.Errorf("%d variables: lowest is number %d, want %d", n, first, n-1)
		}
		if end := uint32(4*n + 4); got[1].Size != end {
			t.Errorf("%d variables: size %d, want %d", n, got[1].Size, end)
		}
	}
}
