package callconv

import (
	"testing"

	"github.com/btflite/btflite/internal/elfabi"
)

// TestLinkFar: a function takes name and type, and its parameter takes them, too, from up to eight hops
// away, by origins and by specifications, and chains without end do no harm.
func TestLinkFar(t *testing.T) {
	for _, bySpec := range []bool{false, true} {
		for hops := 1; hops <= 10; hops++ {
			// Each function but the last one refers to the next one, which is not linked yet when it is.
			funs := make([]fun, hops+1)
			for i := range funs {
				funs[i] = fun{origin: uint32(i + 2), params: []prm{{origin: uint32(i + 2)}}}
			}
			funs[hops] = fun{params: []prm{{typ: tLong}}}
			e := buildEnv(elfabi.EMX8664, 5, funs)
			for i := range e.Funcs {
				if f := &e.Funcs[i]; bySpec {
					f.Origin, f.Spec = 0, f.Origin
				}
			}
			last := &e.Funcs[hops]
			last.Type, last.Flags = tInt, FuncHasType
			name := e.Params[hops].Name
			e.Link()
			e.LinkFar()
			f, p, want := e.Funcs[0], e.Params[0], hops <= 8
			if has := f.Name == last.Name && f.Type == tInt && f.Flags&FuncHasType != 0; has != want {
				t.Errorf("%d hops, by specifications %v: name %d, type %d", hops, bySpec, f.Name, f.Type)
			}
			if has := p.HasType && p.Type == tLong && p.Name == name; has != want {
				t.Errorf("%d hops, by specifications %v: parameter %+v", hops, bySpec, p)
			}
		}
	}
	// What a function has of its own stays.
	e := buildEnv(elfabi.EMX8664, 5, []fun{{origin: 2, params: []prm{{origin: 2, typ: tInt}}}, {params: []prm{{typ: tLong}}}})
	e.Funcs[0].Name, e.Funcs[0].Type, e.Funcs[0].Flags = 77, tTwo, FuncHasType
	e.Funcs[1].Type, e.Funcs[1].Flags = tInt, FuncHasType
	e.Link()
	e.LinkFar()
	if f, p := e.Funcs[0], e.Params[0]; f.Name != 77 || f.Type != tTwo || p.Type != tInt {
		t.Errorf("%+v, %+v", f, p)
	}
	// Two that refer to each other, one that refers to itself, and one that refers to nothing that is there.
	e = buildEnv(elfabi.EMX8664, 5, []fun{{origin: 2, params: []prm{{origin: 2}}}, {origin: 1, params: []prm{{origin: 1}}}, {origin: 3}, {origin: 99}})
	e.Link()
	e.LinkFar()
	for i, f := range e.Funcs {
		if f.Name != 0 || f.Flags&FuncHasType != 0 {
			t.Errorf("function %d: %+v", i, f)
		}
	}
}
