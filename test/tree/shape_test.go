package tree

import (
	"testing"

	"github.com/btflite/btflite/bench/shape"
)

// Limits of the program's shape; see CONTRIBUTING.md.
const (
	maxFields    = 25
	maxMethods   = 40
	reachFields  = 40 // with those of what is embedded: what a reader can reach through a value
	reachMethods = 50
	maxFunction  = 120 // lines
	maxMost      = 45  // lines, of 19 functions in 20
	maxDepth     = 4
	maxUpward    = 20 // percent of the references between files of a package
	maxCircular  = 30 // percent of these references in all packages
)

// beyond lists the types that break the limits of what can be reached. A number may be
// lowered, never raised. The test fails for a number that is too high, and for a row of a
// type that has gone or keeps to the limits.
var beyond = map[string]int{
	"btf/diff.side: methods that can be reached":    51,
	"btf/verify.proof: methods that can be reached": 57,
	"btf/verify.walk: methods that can be reached":  52,
}

// TestShape: types, functions and packages are small enough to be read one by one,
// and files refer to those below them.
func TestShape(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the program")
	}
	s, err := shape.Measure(".")
	if err != nil {
		t.Fatal(err)
	}
	needed := map[string]bool{}
	for _, c := range []struct {
		what  string
		list  []shape.Size
		limit int
	}{
		{"fields", s.Fields, maxFields},
		{"methods", s.Methods, maxMethods},
		{"lines", s.Functions, maxFunction},
		{"levels of nesting", s.Depth, maxDepth},
		{"fields that can be reached", s.ReachFields, reachFields},
		{"methods that can be reached", s.ReachMethods, reachMethods},
	} {
		for _, x := range c.list {
			limit, row := c.limit, x.Name+": "+c.what
			if known, ok := beyond[row]; ok && x.N > limit {
				if limit = known; x.N < known {
					t.Errorf("%s has %d %s: lower the number in the table beyond", x.Name, x.N, c.what)
				}
				needed[row] = true
			}
			if x.N > limit {
				t.Errorf("%s has %d %s, at most %d are allowed", x.Name, x.N, c.what, limit)
			}
		}
	}
	for row := range beyond {
		if !needed[row] {
			t.Errorf("the table beyond does not need its row %q", row)
		}
	}
	n := len(s.Functions)
	if x := s.Functions[(n*95+99)/100-1]; x.N > maxMost {
		t.Errorf("one function in 20 has %d lines or more, as %s; at most %d are allowed", x.N, x.Name, maxMost)
	}
	refs, circular := 0, 0
	for _, p := range s.Packages {
		refs, circular = refs+p.Refs, circular+p.Circular
		if 100*p.Up > maxUpward*p.Refs {
			t.Errorf("%s: %d of %d references between files run upwards, at most %d %% may", p.Path, p.Up, p.Refs, maxUpward)
		}
	}
	if 100*circular > maxCircular*refs {
		t.Errorf("%d of %d references between files of a package are circular, at most %d %% may", circular, refs, maxCircular)
	}
}
