package unit

import (
	"strings"
	"testing"

	"github.com/btflite/btflite/internal/callconv"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
)

// TestNestedFunctions: parameters and tags that stand between nested functions, to any depth, take memory
// and time in proportion to their number, and each function has its own.
func TestNestedFunctions(t *testing.T) {
	const n, depth = 1000, 3
	i := dt.N(dt.TagBaseType, dt.Name("int"), dt.Size(4), dt.Encoding(5))
	tag := dt.N(dt.TagLLVMAnnotation, dt.Name("btf_decl_tag"), dt.Const("of the function"))
	gnu := dt.N(dt.TagGNUAnnotation, dt.Name("btf_decl_tag"), dt.Const("by GCC"))
	param := func() *dt.DIE {
		return dt.N(dt.TagFormalParameter, dt.Name("p"), dt.Type(i), dt.N(dt.TagLLVMAnnotation, dt.Name("btf_decl_tag"), dt.Const("of the parameter")))
	}
	var function func(level int) *dt.DIE
	function = func(level int) *dt.DIE {
		f := dt.N(dt.TagSubprogram, dt.Name("f"), dt.Attr{At: dt.AtGNUAnnotation, Val: gnu}, param(), tag)
		if level == depth {
			return f
		}
		for k := range n {
			f.Add(param(), tag)
			if k > 0 {
				f.Add(dt.N(dt.TagLexicalBlock, dt.N(dt.TagSubprogram, dt.Name("g"), param(), tag)))
			} else {
				f.Add(function(level + 1))
			}
		}
		return f
	}
	r, _, err := readUnit(t, &dt.File{Units: []*dt.Unit{dt.CU(i, gnu, function(0))}}, all)
	if err != nil {
		t.Fatal(err)
	}
	u, params, tags := &r.Unit, 0, 0
	for k := range u.Funcs.S {
		fn := &u.Funcs.S[k]
		want, of := uint32(1), uint32(2) // g, and the tags of its parameter and of itself
		if string(r.Cursor.File.Names.Text(fn.Name)) == "f" {
			if want, of = n+1, 2*(n+1)+1; fn.N == 1 {
				want, of = 1, 3
			}
		}
		if fn.N != want || fn.NAn != of {
			t.Fatalf("function %d has %d parameters and %d tags, want %d and %d", k, fn.N, fn.NAn, want, of)
		}
		last, at := callconv.Param{}, map[int32]uint32{}
		for _, p := range u.Params.S[fn.First:][:fn.N] {
			if p.Off <= max(last.Off, fn.Off) {
				t.Fatalf("function %d at %#x: the parameter after the one at %#x is the one at %#x", k, fn.Off, last.Off, p.Off)
			}
			last = p
		}
		for _, a := range u.Annots.S[fn.FirstAn:][:fn.NAn] {
			at[a.Component]++
		}
		if len(at) != int(want)+1 || at[-1] != of-want || at[int32(want)-1] != 1 {
			t.Fatalf("function %d with %d parameters: tags of %d components, %d of them of the function", k, want, len(at), at[-1])
		}
		params += int(fn.N)
		tags += int(fn.NAn)
	}
	if len(u.Params.S) > 2*params || len(u.Annots.S) > 2*tags || len(r.openParams.S)+len(r.openTags.S) > 0 {
		t.Errorf("%d places for %d parameters, %d for %d tags; %d and %d wait", len(u.Params.S), params, len(u.Annots.S), tags, len(r.openParams.S), len(r.openTags.S))
	}
}

// TestSharedChains: chains of GCC's annotations that many DIEs share are an error if they have more
// annotations than the unit has bytes, whatever the DIEs are.
func TestSharedChains(t *testing.T) {
	i := dt.N(dt.TagBaseType, dt.Name("int"), dt.Size(4), dt.Encoding(5))
	for what, x := range map[string]struct {
		name string
		die  func(chain dt.Attr) *dt.DIE
	}{
		"structs": {"btf_decl_tag", func(chain dt.Attr) *dt.DIE { return dt.N(dt.TagStructureType, dt.Name("s"), dt.Size(4), chain) }},
		"members": {"btf_decl_tag", func(chain dt.Attr) *dt.DIE {
			return dt.N(dt.TagStructureType, dt.Size(4), dt.N(dt.TagMember, dt.Name("m"), dt.Type(i), chain))
		}},
		"pointers":  {"btf_type_tag", func(chain dt.Attr) *dt.DIE { return dt.N(dt.TagPointerType, dt.Type(i), chain) }},
		"functions": {"btf_decl_tag", func(chain dt.Attr) *dt.DIE { return dt.N(dt.TagSubprogram, dt.Name("f"), chain) }},
		"parameters": {"btf_decl_tag", func(chain dt.Attr) *dt.DIE {
			return dt.N(dt.TagSubprogram, dt.N(dt.TagFormalParameter, dt.Name("p"), chain))
		}},
	} {
		for _, n := range []int{8, 1000} {
			unit := dt.CU(i)
			var chain *dt.DIE
			for range 500 {
				last := chain
				chain = dt.N(dt.TagGNUAnnotation, dt.Name(x.name), dt.Const("text"))
				if last != nil {
					chain.Add(dt.Attr{At: dt.AtGNUAnnotation, Val: last})
				}
				unit.Root.Add(chain)
			}
			for range n {
				unit.Root.Add(x.die(dt.Attr{At: dt.AtGNUAnnotation, Val: chain}))
			}
			_, _, err := readUnit(t, &dt.File{Units: []*dt.Unit{unit}}, all)
			if refused := err != nil && strings.Contains(err.Error(), "chains of annotations are too long"); refused != (n > 8) {
				t.Errorf("%d %s: error %v", n, what, err)
			}
		}
	}
}
