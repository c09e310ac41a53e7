package encode_test

import (
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
)

// TestStats: what is counted of two units with the same types, by any number of workers.
func TestStats(t *testing.T) {
	r := rule{files: with(funcs(), intType(), structure("s", 4, member("x", nil, 0)), function("f", fn1, nil))}
	i := intType()
	r.files[0].Units = append(r.files[0].Units, dt.CU(i, ptr(i)))
	paths := r.write(t, t.TempDir())
	for _, jobs := range []int{1, 3} {
		out, err := encode.Run(paths, encode.Options{Features: encode.DefaultFeatures, Jobs: jobs})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := out.Write(&b); err != nil {
			t.Fatal(err)
		}
		s := out.Stats
		// Two INTs, a STRUCT, a PTR, and the FUNC with its prototype. The 8 DIEs include
		// the units and the member. One INT remains.
		if s.CUs != 2 || s.CUsFiltered != 0 || s.DIEs != 8 || s.TypesIn != 6 || s.TypesOut != 5 || s.FuncStates != 1 || s.Funcs != 1 || s.Vars != 0 {
			t.Errorf("%d workers: %+v", jobs, s)
		}
		if blob, err := btf.Parse([]byte(b.String()), nil); err != nil || len(blob.Off) != s.TypesOut || len(blob.Strings) != s.StrBytes || 4*len(blob.Words) != s.TypeBytes {
			t.Errorf("%d workers: %d bytes of types, %d of strings, %v", jobs, s.TypeBytes, s.StrBytes, err)
		}
		out.Close()
	}
}
