package encode_test

import (
	"runtime"
	"testing"

	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/test/testfile"
)

// busyUnit is a unit with some of everything.
func busyUnit() *dt.Unit {
	i, c := intType(), base("char", 1, ateSignedChar)
	s := structure("node", 24)
	p := ptr(s)
	in := composite(dt.TagUnionType, "", 4, ref(dt.TagMember, "a", i), ref(dt.TagMember, "b", c))
	s.Add(member("next", p, 0), in, member("", in, 8), ref(dt.TagMember, "bits", i, dt.BitAt(96), dt.BitSize(3)), member("tail", i, 16))
	f := forward(dt.TagStructureType, "elsewhere")
	a := ref(dt.TagFormalParameter, "a", i)
	abs := ref(dt.TagSubprogram, "f", i, dt.Inline(), a)
	return dt.CU(i, c, s, p, f, ptr(f), array(i, 2, 3), array(c, 9), enum("e", 4, value("ONE", 1), value("MINUS", -1)), typedef("node_t", s),
		ref(dt.TagConstType, "", s), dt.N(dt.TagSubroutineType, dt.Type(i), ref(dt.TagFormalParameter, "", p), dt.N(dt.TagUnspecifiedParams)),
		abs, dt.N(dt.TagSubprogram, dt.Origin(abs), dt.LowPC(fn1), dt.N(dt.TagFormalParameter, dt.Origin(a), dt.LocationList(dt.List{{0x55}, {0xa3, 1, 0x55, 0x9f}}))),
		function("zz", fn3+0x100, i, param("x", p, 5), dt.N(dt.TagLexicalBlock, ref(dt.TagVariable, "v", i))),
		variable("in_data", i, 0x60000))
}

// TestNoAllocationsPerUnit: in steady state a unit is read and committed
// without any allocation on the Go heap.
func TestNoAllocationsPerUnit(t *testing.T) {
	const few, many = 64, 1064
	run := func(units, jobs int, make func() *dt.Unit) uint64 {
		f := dt.File{Symbols: funcs(), Sections: []dt.Section{dt.Percpu()}}
		for range units {
			f.Units = append(f.Units, make())
		}
		path := testfile.New(t, "input", f.Bytes())
		best := ^uint64(0)
		for range 3 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			out, err := encode.Run([]string{path}, encode.Options{Features: encode.DefaultFeatures, Jobs: jobs})
			runtime.ReadMemStats(&after)
			if err != nil {
				t.Fatal(err)
			}
			out.Close()
			best = min(best, after.Mallocs-before.Mallocs)
		}
		return best
	}
	inline := func() *dt.Unit {
		u := busyUnit()
		u.StrForm = dt.FormString
		return u
	}
	tagged := func() *dt.Unit {
		u := busyUnit()
		i := intType()
		u.Root.Add(i, structure("tagged", 4, declTag("s"), member("x", i, 0, declTag("x"))), ptr(i, typeTag("user")))
		return u
	}
	dwarf4 := func() *dt.Unit {
		u := busyUnit()
		u.Version = 4
		return u
	}
	for _, c := range []struct {
		name string
		make func() *dt.Unit
		jobs int
	}{{"one worker", busyUnit, 1}, {"four workers", busyUnit, 4}, {"inline names", inline, 1}, {"DWARF 4", dwarf4, 1}, {"tags", tagged, 1}} {
		t.Run(c.name, func(t *testing.T) {
			a, b := run(few, c.jobs, c.make), run(many, c.jobs, c.make)
			// A few allocations belong to the run, not to a unit, and some
			// to each workspace: the short run may not need all workspaces.
			rest := uint64(many-few) / 50
			if c.jobs > 1 {
				rest += uint64(many-few) / 2
			}
			if b > a+rest {
				t.Errorf("%d allocations for %d units, %d for %d: %.2f per unit", a, few, b, many, float64(b-a)/(many-few))
			}
		})
	}
}
