package encode_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
)

// voidTypes returns types that are void in BTF, by name: each DIE that pahole has no type
// for, a missing type, and all of these behind typedefs and qualifiers. add are the other
// DIEs that the unit needs.
func voidTypes() map[string]func() (t *dt.DIE, add []*dt.DIE) {
	void := map[string]func() (*dt.DIE, []*dt.DIE){"missing": func() (*dt.DIE, []*dt.DIE) { return nil, nil }}
	const packed, set, thrown, file, shared, coarray, dynamic, vendor = 0x2d, 0x20, 0x31, 0x29, 0x40, 0x44, 0x46, 0x4200
	tags := []int{dt.TagUnspecifiedType, dt.TagSubrangeType, packed, set, thrown, file, shared, coarray, dynamic, vendor}
	for _, tag := range tags {
		void[fmt.Sprintf("tag %#x", tag)] = func() (*dt.DIE, []*dt.DIE) {
			t := ref(tag, "decltype(nullptr)", nil)
			return t, []*dt.DIE{t}
		}
	}
	all := maps.Clone(void)
	for _, name := range []string{"missing", fmt.Sprintf("tag %#x", dt.TagUnspecifiedType), fmt.Sprintf("tag %#x", vendor)} {
		f := void[name]
		behind := func(how string, tags ...int) {
			all[how+" "+name] = func() (*dt.DIE, []*dt.DIE) {
				t, add := f()
				for _, tag := range tags {
					name := ""
					if tag == dt.TagTypedef {
						name = "void_t"
					}
					t = ref(tag, name, t)
					add = append([]*dt.DIE{t}, add...)
				}
				return t, add
			}
		}
		behind("typedef", dt.TagTypedef)
		behind("const", dt.TagConstType)
		behind("volatile const", dt.TagConstType, dt.TagVolatileType)
		behind("const typedef", dt.TagTypedef, dt.TagConstType)
		behind("typedef const", dt.TagConstType, dt.TagTypedef)
		behind("restrict typedef", dt.TagTypedef, dt.TagRestrictType)
	}
	return all
}

// voidPlaces are where a type can stand.
var voidPlaces = map[string]func(v *dt.DIE) []any{
	"nowhere": func(*dt.DIE) []any { return nil },
	"pointer": func(v *dt.DIE) []any { return []any{ptr(v)} },
	"member":  func(v *dt.DIE) []any { return []any{structure("s", 8, member("v", v, 0), member("p", v, 4))} },
	"tagged member": func(v *dt.DIE) []any {
		tag := dt.N(dt.TagLLVMAnnotation, dt.Name("btf_decl_tag"), dt.Const("tag"))
		return []any{structure("s", 8, member("v", v, 0, tag))}
	},
	"union member":              func(v *dt.DIE) []any { return []any{composite(dt.TagUnionType, "u", 8, member("v", v, 0))} },
	"bit-field":                 func(v *dt.DIE) []any { return []any{structure("s", 8, member("v", v, 0, dt.BitAt(3), dt.BitSize(2)))} },
	"base class":                func(v *dt.DIE) []any { return []any{structure("s", 8, ref(dt.TagInheritance, "", v, dt.MemberAt(0)))} },
	"element":                   func(v *dt.DIE) []any { return []any{array(v, 3)} },
	"element of two dimensions": func(v *dt.DIE) []any { return []any{array(v, 3, 2)} },
	"member that is an array": func(v *dt.DIE) []any {
		a := array(v, 3)
		return []any{a, structure("s", 8, member("v", a, 0))}
	},
	"result of a prototype": func(v *dt.DIE) []any { return []any{ref(dt.TagSubroutineType, "", v)} },
	"parameter of a prototype": func(v *dt.DIE) []any {
		p := ptr(nil)
		return []any{p, ref(dt.TagSubroutineType, "", nil, ref(dt.TagFormalParameter, "", v), ref(dt.TagFormalParameter, "", p))}
	},
	"last parameter of a prototype": func(v *dt.DIE) []any {
		p := ref(dt.TagSubroutineType, "", nil, ref(dt.TagFormalParameter, "", v))
		return []any{ptr(p), p}
	},
	"named last parameter of a prototype": func(v *dt.DIE) []any {
		return []any{ref(dt.TagSubroutineType, "", nil, ref(dt.TagFormalParameter, "v", v))}
	},
	"variadic prototype": func(v *dt.DIE) []any {
		return []any{ref(dt.TagSubroutineType, "", v, ref(dt.TagFormalParameter, "", v), dt.N(dt.TagUnspecifiedParams))}
	},
	"result":    func(v *dt.DIE) []any { return []any{function("f", fn1, v)} },
	"parameter": func(v *dt.DIE) []any { return []any{function("f", fn1, nil, param("v", v, 5))} },
	"parameter of the origin": func(v *dt.DIE) []any {
		p := param("v", v, -1)
		abstract := function("f", 0, v, p)
		return []any{abstract, dt.N(dt.TagSubprogram, dt.Origin(abstract), dt.LowPC(fn1), dt.N(dt.TagFormalParameter, dt.Origin(p)))}
	},
	"variable": func(v *dt.DIE) []any { return []any{variable("v", v, dt.PercpuAddr+8)} },
}

// TestVoidInEachPlace has each kind of void in each place. Of a run for a kernel, the BTF is valid
// and has what needs no void. Where a kernel takes what pahole writes, the bytes are the same.
func TestVoidInEachPlace(t *testing.T) {
	for place, put := range voidPlaces {
		t.Run(place, func(t *testing.T) {
			differ := 0
			for name, void := range voidTypes() {
				if strings.HasSuffix(name, "missing") && place != "pointer" {
					continue // C has void only behind pointers and as a result: TestVoidResult
				}
				v, add := void()
				i := intType()
				parts := []any{i, structure("kept", 4, member("m", i, 0)), function("fine", fn3, i), variable("other", i, dt.PercpuAddr+32)}
				parts = append(parts, put(v)...)
				for _, d := range add {
					parts = append(parts, d)
				}
				f := many(dt.CU(parts...), dt.CU(intType()))
				f[0].Sections, f[0].Symbols = []dt.Section{dt.Percpu()}, []dt.Symbol{dt.Func("f", fn1), dt.Func("fine", fn3)}
				x := rule{files: f}
				paths := x.write(t, t.TempDir())
				opts := []encode.Options{{Features: encode.DefaultFeatures}}
				if d := len(add); d > 0 && add[d-1].Tag == dt.TagUnspecifiedType {
					opts = append(opts, encode.Options{Features: encode.DefaultFeatures, Jobs: 3}, encode.Options{Features: encode.BasicFeatures, Dedup: encode.DedupExact},
						encode.Options{Features: encode.DefaultFeatures | encode.ForceCUMerging})
				}
				for _, opt := range opts {
					if !sameIfTaken(t, name, paths, opt) {
						differ++
					}
				}
			}
			t.Logf("%d outputs that no kernel takes from pahole", differ)
		})
	}
}

// sameIfTaken encodes files as pahole and for a kernel. It reports whether a kernel takes what pahole
// writes: then the bytes have to be the same.
func sameIfTaken(t *testing.T, name string, paths []string, opt encode.Options) bool {
	t.Helper()
	pahole, err := runFiles(paths, opt)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	opt.For = encode.ForKernel
	got, err := runFiles(paths, opt)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	rules := verify.Rules{Kernel: verify.Release{Major: 7}, PointerSize: 8}
	text, _ := format(t, got)
	if _, err := verify.Check(got, nil, rules); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, text)
	}
	for _, want := range []string{"STRUCT 'kept' size=4 vlen=1", "FUNC 'fine'", "VAR 'other'"} {
		if !bytes.Contains([]byte(text), []byte(want)) {
			t.Fatalf("%s: no %s in\n%s", name, want, text)
		}
	}
	if _, err := verify.Check(pahole, nil, rules); err != nil {
		return false
	}
	if !bytes.Equal(got, pahole) {
		was, _ := format(t, pahole)
		t.Fatalf("%s: a kernel takes\n%sbut the output is\n%s", name, was, text)
	}
	return true
}

// TestVoidResult: clang keeps the qualifier of const void f(void) and of a typedef of void, and no
// kernel takes a result without a size. It is plain void.
func TestVoidResult(t *testing.T) {
	c, v, d := dt.TagConstType, dt.TagVolatileType, dt.TagTypedef
	for _, tags := range [][]int{{c}, {v}, {d}, {c, v}, {v, c}, {c, v, c}, {d, c, v}} {
		var void *dt.DIE
		var chain []any // void first
		for _, tag := range tags {
			name := ""
			if tag == d {
				name = "void_t"
			}
			void = ref(tag, name, void)
			chain = append(chain, void)
		}
		for _, reversed := range []bool{false, true} {
			if reversed {
				slices.Reverse(chain)
			}
			i := intType()
			proto := ref(dt.TagSubroutineType, "", void)
			f := with([]dt.Symbol{dt.Func("f", fn1)}, append([]any{i, ptr(proto), proto, function("f", fn1, void, param("a", i, 5))}, chain...)...)
			x := rule{files: f}
			data := mustRun(t, x.write(t, t.TempDir()), encode.Options{Features: encode.DefaultFeatures, For: encode.ForKernel})
			if _, err := verify.Check(data, nil, verify.Rules{Kernel: verify.Release{Major: 7}, PointerSize: 8}); err != nil {
				t.Errorf("tags %#x: %v", tags, err)
			}
			if text, _ := format(t, data); !strings.Contains(text, "FUNC 'f'") || strings.Count(text, "ret_type_id=0") != 2 {
				t.Errorf("tags %#x:\n%s", tags, text)
			}
		}
	}
}
