package tree

import (
	"testing"

	"github.com/btflite/btflite/bench/shape"
)

// Limits of the program's shape; see CONTRIBUTING.md.
const (
	maxFields   = 25
	maxMethods  = 40
	maxFunction = 120 // lines
	maxMost     = 45  // lines, of 19 functions in 20
	maxDepth    = 4
	maxUpward   = 20 // percent of the references between files
)

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
	for _, c := range []struct {
		what  string
		list  []shape.Size
		limit int
	}{
		{"fields", s.Fields, maxFields},
		{"methods", s.Methods, maxMethods},
		{"lines", s.Functions, maxFunction},
		{"levels of nesting", s.Depth, maxDepth},
	} {
		for _, x := range c.list {
			if x.N > c.limit {
				t.Errorf("%s has %d %s, at most %d are allowed", x.Name, x.N, c.what, c.limit)
			}
		}
	}
	n := len(s.Functions)
	if x := s.Functions[(n*95+99)/100-1]; x.N > maxMost {
		t.Errorf("one function in 20 has %d lines or more, as %s; at most %d are allowed", x.N, x.Name, maxMost)
	}
	for _, p := range s.Packages {
		if 100*p.Up > maxUpward*p.Refs {
			t.Errorf("%s: %d of %d references between files run upwards, at most %d %% may", p.Path, p.Up, p.Refs, maxUpward)
		}
	}
}
