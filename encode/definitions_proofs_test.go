package encode_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
)

// TestSeveralDefinitions encodes units that disagree about a struct, among many types about which they
// agree. A unit with a definition that is new, or that is older than another one, must not be read a
// second time, unless a declaration could stand for either definition.
func TestSeveralDefinitions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "input")
	// unit makes a unit in which struct "in" has a member of this name, or is only declared, and structs
	// around it, which are the same by their names.
	unit := func(label string, size, levels, user int) *dt.Unit {
		i := intType()
		in := forward(dt.TagStructureType, "in")
		if label != "" {
			in = structure("in", size, member(label, i, 0))
		}
		all := []any{i, array(i, 9), in}
		for k := range levels {
			p := ptr(in)
			in = structure(fmt.Sprint("out", k), 16, member("in", p, 0), member("n", i, 8))
			all = append(all, p, in)
		}
		s := structure(fmt.Sprint("user", user), 8, member("a", in, 0))
		return dt.CU(append(append(all, s), last(i)...)...)
	}
	for _, c := range []struct {
		name    string
		units   []*dt.Unit
		refused int
	}{
		{"a new definition", []*dt.Unit{unit("a", 8, 0, 0), unit("b", 8, 0, 1)}, 0},
		{"a new definition of another size", []*dt.Unit{unit("a", 8, 0, 0), unit("b", 16, 0, 1)}, 0},
		{"a new definition of another size below a struct", []*dt.Unit{unit("a", 8, 1, 0), unit("b", 16, 1, 1)}, 0},
		{"a new definition below structs that are left out", []*dt.Unit{unit("a", 8, 3, 0), unit("b", 8, 3, 1)}, 1},
		{"the older definition again", []*dt.Unit{unit("a", 8, 0, 0), unit("b", 8, 0, 1), unit("a", 8, 0, 2)}, 0},
		{"the older definition again, below a struct", []*dt.Unit{unit("a", 8, 1, 0), unit("b", 16, 1, 1), unit("a", 8, 1, 2)}, 0},
		{"the newer definition again", []*dt.Unit{unit("a", 8, 0, 0), unit("b", 8, 0, 1), unit("b", 8, 0, 2)}, 0},
		{"each of three again", []*dt.Unit{unit("a", 8, 0, 0), unit("b", 8, 0, 1), unit("c", 8, 0, 2), unit("b", 8, 0, 3), unit("a", 8, 0, 4), unit("c", 8, 0, 5)}, 3}, // the last one counts as likely
		{"a declaration after two definitions", []*dt.Unit{unit("a", 8, 1, 0), unit("b", 16, 1, 1), unit("", 0, 1, 2)}, 0},
		{"declarations before and after", []*dt.Unit{unit("", 0, 1, 0), unit("a", 8, 1, 1), unit("b", 16, 1, 2), unit("", 0, 1, 3)}, 1},
		{"a declaration before two definitions", []*dt.Unit{unit("", 0, 1, 0), unit("a", 8, 1, 1), unit("b", 16, 1, 2)}, 0},
	} {
		f := dt.File{Units: c.units}
		equalsExact(t, &f)
		n := checkProofs(t, c.name, path, &f, encode.Options{Features: encode.DefaultFeatures, Dedup: encode.DedupStream})
		if n.Refused != c.refused {
			t.Errorf("%s: %d units are read twice, not %d", c.name, n.Refused, c.refused)
		}
	}
}

// TestForwardedMeanwhile encodes a unit that brings a second definition of a struct, and a typedef of it.
// Other units declare the struct and define it in another way. The last unit may be read before the unit
// that decides what the declaration stands for is committed.
func TestForwardedMeanwhile(t *testing.T) {
	unit := func(size int, isTypedef bool) *dt.Unit {
		i, to := intType(), forward(dt.TagStructureType, "to")
		if size != 0 {
			to = structure("to", size)
		}
		all := append([]any{i}, last(i)...) // types near the end are not proved
		all = append(all, to)
		if isTypedef {
			all = append(all, typedef("t", to))
		}
		return dt.CU(all...)
	}
	f := dt.File{Units: []*dt.Unit{unit(0, true), unit(64, false), unit(64, true), unit(72, true)}}
	for range 8 {
		equalsExact(t, &f)
	}
}
