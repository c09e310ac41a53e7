package encode_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/test/corpus"
	"github.com/btflite/btflite/test/testfile"
)

// formed is an attribute whose form is tried, in a file that shows what is read of it.
type formed struct {
	name  string
	forms []int
	parts func(a func(dt.Attr) dt.Attr) []any
}

var (
	blockForms  = []int{dt.FormBlock, dt.FormBlock1, dt.FormBlock2, dt.FormBlock4, dt.FormExprloc}
	numberForms = []int{dt.FormData1, dt.FormData2, dt.FormData4, dt.FormData8, dt.FormSdata, dt.FormUdata, dt.FormImplicitConst, dt.FormIndirect}
)

// formedAttributes are the attributes that an encoding reads and that have a choice of forms.
func formedAttributes() []formed {
	const data, odd = 0x60000, 9 // a section; a register that no convention gives to a first parameter
	i := func() *dt.DIE { return intType() }
	return []formed{
		{"location of a variable", blockForms, func(a func(dt.Attr) dt.Attr) []any {
			t := i()
			return []any{t, ref(dt.TagVariable, "v", t, dt.External(), a(dt.Location(at(data+8)...))), variable("w", t, data+16), function("f", fn1, t)}
		}},
		{"location of a parameter", blockForms, func(a func(dt.Attr) dt.Attr) []any {
			t := i()
			return []any{t, function("f", fn1, t, ref(dt.TagFormalParameter, "p", t, a(dt.Location(0x50+odd)))), function("g", fn2, t, param("p", t, 5))}
		}},
		{"location of a member", append(slices.Clone(blockForms), numberForms...), func(a func(dt.Attr) dt.Attr) []any {
			t := i()
			return []any{t, structure("s", 16, ref(dt.TagMember, "m", t, a(dt.Attr{At: dt.AtMemberLocation, Val: 8})))}
		}},
		{"size", numberForms, func(a func(dt.Attr) dt.Attr) []any {
			t := i()
			return []any{t, ref(dt.TagStructureType, "s", nil, a(dt.Size(12)), member("m", t, 4))}
		}},
		{"upper bound", append(slices.Clone(blockForms), numberForms...), func(a func(dt.Attr) dt.Attr) []any {
			t := i()
			return []any{t, ref(dt.TagArrayType, "", t, dt.N(dt.TagSubrangeType, a(dt.Upper(7))))}
		}},
		{"count", append(slices.Clone(blockForms), numberForms...), func(a func(dt.Attr) dt.Attr) []any {
			t := i()
			return []any{t, ref(dt.TagArrayType, "", t, dt.N(dt.TagSubrangeType, a(dt.Count(7))))}
		}},
		{"value of an enumerator", numberForms, func(a func(dt.Attr) dt.Attr) []any {
			return []any{enum("e", 4, dt.N(dt.TagEnumerator, dt.Name("a"), a(dt.Const(7))))}
		}},
		{"size of a bit-field", numberForms, func(a func(dt.Attr) dt.Attr) []any {
			t := i()
			return []any{t, structure("s", 4, ref(dt.TagMember, "m", t, a(dt.BitSize(3)), dt.BitAt(5)))}
		}},
		{"place of a bit-field", numberForms, func(a func(dt.Attr) dt.Attr) []any {
			t := i()
			return []any{t, structure("s", 4, ref(dt.TagMember, "m", t, dt.BitSize(3), a(dt.BitAt(5))))}
		}},
		{"encoding", numberForms, func(a func(dt.Attr) dt.Attr) []any {
			return []any{ref(dt.TagBaseType, "b", nil, dt.Size(4), a(dt.Encoding(ateSigned)))}
		}},
		{"type", []int{dt.FormRef1, dt.FormRef2, dt.FormRef4, dt.FormRef8, dt.FormRefUdata, dt.FormRefAddr, dt.FormIndirect}, func(a func(dt.Attr) dt.Attr) []any {
			t := i()
			return []any{t, ref(dt.TagTypedef, "t", nil, a(dt.Type(t)))}
		}},
		{"declaration", []int{dt.FormFlag, dt.FormFlagPresent, dt.FormIndirect, dt.FormData1, dt.FormImplicitConst}, func(a func(dt.Attr) dt.Attr) []any {
			t := i()
			return []any{t, dt.N(dt.TagStructureType, dt.Name("s"), a(dt.Declaration())), typedef("t", t)}
		}},
		{"address of a function", []int{dt.FormAddr, dt.FormIndirect, dt.FormData8, dt.FormData4}, func(a func(dt.Attr) dt.Attr) []any {
			t := i()
			return []any{t, ref(dt.TagSubprogram, "f", t, dt.External(), a(dt.LowPC(fn1)))}
		}},
	}
}

// TestForms: an attribute in each form of each version of DWARF says the same, or nothing, as
// in pahole.
func TestForms(t *testing.T) {
	pahole := corpus.Pahole()
	if pahole == "" {
		t.Skip("no pahole 1.32 (BTFLITE_PAHOLE)")
	}
	for _, row := range formedAttributes() {
		for _, form := range row.forms {
			for version := 2; version <= 5; version++ {
				if version < 4 && row.name == "location of a member" && (form == dt.FormData4 || form == dt.FormData8) {
					continue // before DWARF 4 these lead to lists, which compilers never write for members; pahole reads 0
				}
				name := fmt.Sprintf("%s/%#x/v%d", row.name, form, version)
				t.Run(name, func(t *testing.T) {
					u := dt.CU(row.parts(func(a dt.Attr) dt.Attr { a.Form = form; return inForm(a) })...)
					u.Version = version
					f := dt.File{Units: []*dt.Unit{u}, Symbols: []dt.Symbol{dt.Func("f", fn1), dt.Func("g", fn2)},
						Sections: []dt.Section{{Name: ".data", Flags: 3, Addr: 0x60000, Data: make([]byte, 256)}}}
					path, out := filepath.Join(t.TempDir(), "f.elf"), filepath.Join(t.TempDir(), "out.btf")
					testfile.Write(t, path, f.Bytes())
					log, err := exec.Command(pahole, "-J", "-j1", "--btf_features=default,global_var", "--btf_encode_detached="+out, path).CombinedOutput()
					want, _ := os.ReadFile(out)
					got, our := runFiles([]string{path}, encode.Options{Features: encode.DefaultFeatures | encode.GlobalVar, Jobs: 1})
					if !bytes.Equal(got, want) {
						a, _ := format(t, got)
						b, _ := format(t, want)
						t.Errorf("got %v\n%spahole %v\n%s%s", our, a, err, b, log)
					}
				})
			}
		}
	}
}

// inForm gives the attribute a value that can be written in its form.
func inForm(a dt.Attr) dt.Attr {
	if n, ok := a.Val.(int); ok && slices.Contains(blockForms, a.Form) {
		a.Val = []byte{0x23, byte(n)} // DW_OP_plus_uconst
	}
	return a
}
