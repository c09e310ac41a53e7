package diff

import (
	"cmp"
	"slices"
)

// feature is something that pairs are found by: the number of a name, alone or
// with the id of its type or its value in the upper half.
type feature uint64

// maxOwners bounds how many of a are looked at for one feature.
const maxOwners = 8

// match pairs lists of features that have some in common, those with most
// first; each is in one pair at most.
func match(a, b [][]feature) [][2]int {
	owners := map[feature][]int{}
	for i, list := range a {
		for _, f := range list {
			if o := owners[f]; len(o) < maxOwners && (len(o) == 0 || o[len(o)-1] != i) {
				owners[f] = append(o, i)
			}
		}
	}
	type candidate struct{ shared, i, j int }
	var candidates []candidate
	for j, list := range b {
		shared := map[int]int{}
		for _, f := range list {
			for _, i := range owners[f] {
				shared[i]++
			}
		}
		for i, n := range shared {
			candidates = append(candidates, candidate{n, i, j})
		}
	}
	slices.SortFunc(candidates, func(x, y candidate) int {
		return cmp.Or(cmp.Compare(y.shared, x.shared), cmp.Compare(x.i, y.i), cmp.Compare(x.j, y.j))
	})
	var pairs [][2]int
	takenA, takenB := make([]bool, len(a)), make([]bool, len(b))
	for _, c := range candidates {
		if !takenA[c.i] && !takenB[c.j] {
			takenA[c.i], takenB[c.j] = true, true
			pairs = append(pairs, [2]int{c.i, c.j})
		}
	}
	return pairs
}
