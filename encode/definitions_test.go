package encode_test

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/compactstate"
	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/test/testfile"
)

// definitionsOf are all functions of a file with their definitions, and the BTF.
func definitionsOf(t *testing.T, path string, features encode.Features, jobs int, wanted func([]byte) bool) (map[string][]encode.Definition, []encode.Function, []byte) {
	t.Helper()
	all := map[string][]encode.Definition{}
	var told []encode.Function
	data, err := runFiles([]string{path}, encode.Options{Features: features, Jobs: jobs, Functions: &encode.FunctionQuery{
		Wanted: wanted,
		Tell: func(f *encode.Function) {
			defs, err := f.Definitions()
			if err != nil {
				t.Errorf("%s: %s: %v", path, f.Name, err)
			}
			all[f.Name] = append(all[f.Name], defs...)
			told = append(told, *f)
		},
	}})
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return all, told, data
}

// TestDefinitions: units, files, lines and code are those that the standard library
// finds, whatever the number of workers, and the BTF is the same as without.
func TestDefinitions(t *testing.T) {
	reasons := map[string]bool{}
	for _, r := range []compactstate.Reason{compactstate.ReasonOptimized, compactstate.ReasonReordered, compactstate.ReasonUncertain, compactstate.ReasonUnexpected} {
		reasons[r.String()] = true
	}
	compared, faults := 0, 0
	for _, path := range goldenFiles(t) {
		for set, features := range goldenSets {
			if set != "default" && set != "merge" {
				continue
			}
			plain, err := runFiles([]string{path}, encode.Options{Features: features, Jobs: 1})
			if err != nil {
				continue // TestGolden says which
			}
			name := filepath.Base(path) + " " + set
			one, told, data := definitionsOf(t, path, features, 1, func([]byte) bool { return true })
			four, _, _ := definitionsOf(t, path, features, 4, func([]byte) bool { return true })
			if !bytes.Equal(plain, data) {
				t.Errorf("%s: other BTF", name)
			}
			if a, b := fmt.Sprint(one), fmt.Sprint(four); a != b {
				t.Errorf("%s: 1 and 4 workers differ:\n%s\n%s", name, a, b)
			}
			for _, f := range told {
				own := slices.ContainsFunc(one[f.Name], func(d encode.Definition) bool { return d.Fault == f.Reason })
				if f.Encoded && len(one[f.Name]) > 0 && !own {
					t.Errorf("%s: %s is in BTF, but all its definitions are left out: %+v", name, f.Name, one[f.Name])
				}
				if reasons[f.Reason] {
					faults++
					if !own {
						t.Errorf("%s: %s is left out: %s, and none of its definitions is so: %+v", name, f.Name, f.Reason, one[f.Name])
					}
				}
			}
			want, ok := stdDefinitions(path)
			if !ok {
				continue
			}
			compared++
			for fn, defs := range want {
				got := slices.DeleteFunc(slices.Clone(one[fn]), func(d encode.Definition) bool { return !d.Code })
				if !slices.EqualFunc(got, defs, sameDefinition) {
					t.Errorf("%s: %s: %+v, want %+v", name, fn, got, defs)
				}
			}
		}
	}
	if compared < 30 || faults < 10 {
		t.Errorf("only %d files compared, and %d functions with a fault of their own", compared, faults)
	}
}

// sameDefinition compares with what the standard library says, whose paths are whole.
func sameDefinition(got, want encode.Definition) bool {
	return got.Unit == want.Unit && got.Line == want.Line && strings.HasSuffix(want.File, strings.TrimPrefix(got.File, "./")) &&
		(want.File == "") == (got.File == "") && len(got.Params) == len(want.Params)
}

// stdDefinitions are the definitions with code and a name; false if the standard
// library cannot read the file.
func stdDefinitions(path string) (map[string][]encode.Definition, bool) {
	e, err := elf.Open(path)
	if err != nil {
		return nil, false
	}
	defer e.Close()
	if e.Type == elf.ET_REL && e.Machine != elf.EM_X86_64 && e.Machine != elf.EM_AARCH64 && e.Machine != elf.EM_S390 && e.Machine != elf.EM_386 {
		return nil, false // relocations that it does not know
	}
	d, err := e.DWARF()
	if err != nil {
		return nil, false
	}
	all := map[string][]encode.Definition{}
	r := d.Reader()
	var unit string
	var files []*dwarf.LineFile
	for {
		at, err := r.Next()
		if err != nil {
			return nil, false
		}
		if at == nil {
			return all, true
		}
		if at.Tag == dwarf.TagCompileUnit {
			unit, _ = at.Val(dwarf.AttrName).(string)
			files = nil
			if lines, err := d.LineReader(at); err == nil && lines != nil {
				files = lines.Files()
			}
			continue
		}
		if at.Tag != dwarf.TagSubprogram {
			continue
		}
		_, code := at.Val(dwarf.AttrLowpc).(uint64)
		if !code || at.Val(dwarf.AttrDeclaration) != nil {
			continue
		}
		x := encode.Definition{Unit: unit}
		x.Params = make([]encode.Parameter, stdParams(d, at))
		name, hops := "", 0
		for o := at; o != nil; o = stdOrigin(d, o) {
			if n, ok := o.Val(dwarf.AttrName).(string); ok && hops < 2 {
				name = n // those further away do not count for the encoder
			}
			if line, ok := o.Val(dwarf.AttrDeclLine).(int64); ok && x.Line == 0 {
				x.Line = int(line)
			}
			if i, ok := o.Val(dwarf.AttrDeclFile).(int64); ok && x.File == "" && int(i) < len(files) && files[i] != nil {
				x.File = files[i].Name
			}
			hops++
		}
		if name != "" {
			all[name] = append(all[name], x)
		}
	}
}

func stdOrigin(d *dwarf.Data, at *dwarf.Entry) *dwarf.Entry {
	for _, a := range []dwarf.Attr{dwarf.AttrAbstractOrigin, dwarf.AttrSpecification} {
		if off, ok := at.Val(a).(dwarf.Offset); ok {
			r := d.Reader()
			r.Seek(off)
			if o, err := r.Next(); err == nil {
				return o
			}
		}
	}
	return nil
}

// stdParams counts the parameters of a subprogram.
func stdParams(d *dwarf.Data, at *dwarf.Entry) (n int) {
	if !at.Children {
		return 0
	}
	r := d.Reader()
	r.Seek(at.Offset)
	_, _ = r.Next()
	for {
		p, err := r.Next()
		if err != nil || p == nil || p.Tag == 0 {
			return n
		}
		if p.Tag == dwarf.TagFormalParameter {
			n++
		}
		r.SkipChildren()
	}
}

// TestMismatch: the first difference between the definitions that units have of a function.
func TestMismatch(t *testing.T) {
	unit := func(result bool, params ...bool) *dt.Unit { // true is a char, false an int
		i, c := intType(), base("char", 1, ateSignedChar)
		of := map[bool]*dt.DIE{false: i, true: c}
		f := function("f", fn1, of[result])
		for j, p := range params {
			f.Add(param("p", of[p], []int{5, 4, 1}[j]))
		}
		return dt.CU(i, c, f)
	}
	for want, second := range map[string]*dt.Unit{
		"":                                   unit(false, false, false),
		"the types that are returned differ": unit(true, true, true),
		"the types of parameter 1 differ":    unit(false, true, true),
		"the types of parameter 2 differ":    unit(false, false, true),
		"2 and 1 parameters":                 unit(false, false),
		"2 and 3 parameters":                 unit(true, true, true, true),
	} {
		path := filepath.Join(t.TempDir(), "file")
		f := dt.File{Units: []*dt.Unit{unit(false, false, false), second}, Symbols: funcs()}
		testfile.Write(t, path, f.Bytes())
		for _, jobs := range []int{1, 3} {
			_, told, _ := definitionsOf(t, path, encode.DefaultFeatures, jobs, func(name []byte) bool { return string(name) == "f" })
			if len(told) != 1 || told[0].Mismatch != want || told[0].Encoded != (want == "") {
				t.Errorf("%d workers: %+v, want %q", jobs, told, want)
			}
		}
	}
}
