package btflite_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/btflite/btflite"
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/diff"
	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/test/testfile"
)

const (
	splitFiles = "testdata/split/"
	smallFile  = "testdata/small/small"
)

var ctx = context.Background()

// structFile is an ELF file with one struct of that name.
func structFile(name string) []byte {
	i := dt.N(dt.TagBaseType, dt.Size(4), dt.Encoding(5), dt.Name("int"))
	s := dt.N(dt.TagStructureType, dt.Name(name), dt.Size(4), dt.N(dt.TagMember, dt.Name("m"), dt.Type(i), dt.MemberAt(0)))
	const c11 = 0x1d
	f := dt.File{Units: []*dt.Unit{{Root: dt.N(dt.TagCompileUnit, dt.Name("t.c"), dt.Language(c11), i, s)}}}
	return f.Bytes()
}

// TestZeroOptions: they are the default features, for inputs of each kind.
func TestZeroOptions(t *testing.T) {
	want := testfile.Read(t, splitFiles+"x86.base.btf")
	path := splitFiles + "x86.base.o"
	data := testfile.Read(t, path)
	for i, in := range []btflite.Source{{Path: path}, {Path: "x", Data: data}, {Path: "x", Reader: bytes.NewReader(data), Size: int64(len(data))}} {
		r, err := btflite.Encode(ctx, []btflite.Source{in}, btflite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(r.BTF, want) || r.Stats.TypesOut == 0 || r.ExtraVars != nil || r.DistilledBase != nil || r.Warnings != nil {
			t.Errorf("source %d: %d bytes, %d are wanted; %+v", i, len(r.BTF), len(want), r.Stats)
		}
		r.Close()
		r.Close()
	}
}

func openBase(t testing.TB, in ...btflite.Source) *btflite.Base {
	t.Helper()
	b, err := btflite.OpenBase(ctx, in...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// TestBase: a module over a base of each kind, distilled, sorted, and a chain.
func TestBase(t *testing.T) {
	module := btflite.Paths(splitFiles + "x86.module.o")
	want := testfile.Read(t, splitFiles+"x86.module.btf")
	var bases []btflite.Source
	for _, name := range []string{"x86.base.btf", "x86.base-btf.o", "x86.base.btf.gz", "x86.base-btf.o.zst"} {
		bases = append(bases, btflite.Source{Path: splitFiles + name}, btflite.Source{Path: "b", Data: testfile.Read(t, splitFiles+name)})
	}
	file, err := os.Open(splitFiles + "x86.base.btf")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	bases = append(bases, btflite.Source{Path: "b", Reader: file})
	for i, in := range bases {
		r, err := btflite.Encode(ctx, module, btflite.Options{Base: openBase(t, in), Libbpf: btflite.Libbpf17})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(r.BTF, want) {
			t.Errorf("base %d: other bytes", i)
		}
		r.Close()
	}
	base := openBase(t, bases[0])
	r, err := btflite.Encode(ctx, module, btflite.Options{Base: base, Distil: true, Order: btflite.ByName})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	below := btftest.Parse(t, r.DistilledBase, nil)
	if _, err := btf.Parse(r.BTF, below); err != nil {
		t.Error(err)
	}
	for _, bad := range [][]btflite.Source{nil, {{Path: "none"}}, {{Path: "b", Data: want}}, {bases[0], bases[0]}} {
		if b, err := btflite.OpenBase(ctx, bad...); err == nil {
			b.Close()
			t.Errorf("%v is a base", bad)
		}
	}
}

// TestMismatch: the base of another machine is told of, whatever the inputs are.
func TestMismatch(t *testing.T) {
	const machine, aarch64 = 18, 183 // e_machine, EM_AARCH64
	image := testfile.Read(t, splitFiles+"x86.base-btf.o")
	image[machine] = aarch64
	path := testfile.New(t, "other", image)
	module := splitFiles + "x86.module.o"
	data := testfile.Read(t, module)
	sources := func(path string, data []byte) []btflite.Source {
		return []btflite.Source{{Path: path}, {Path: path, Data: data}, {Path: path, Reader: bytes.NewReader(data), Size: int64(len(data))}}
	}
	for _, over := range sources(path, image) {
		base := openBase(t, over)
		for _, in := range sources(module, data) {
			r, err := btflite.Encode(ctx, []btflite.Source{in}, btflite.Options{Base: base})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Warnings) != 1 || !strings.HasPrefix(r.Warnings[0], module+": ") || !strings.Contains(r.Warnings[0], "for another machine") {
				t.Errorf("base %T %d, module %T %d: warnings %q", over.Reader, len(over.Data), in.Reader, len(in.Data), r.Warnings)
			}
			r.Close()
		}
	}
}

// TestExtraVars: they are split BTF over what is encoded.
func TestExtraVars(t *testing.T) {
	r, err := btflite.Encode(ctx, btflite.Paths(splitFiles+"x86.base.o"), btflite.Options{ExtraVars: true, Order: btflite.Canonical})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	main := btftest.Parse(t, r.BTF, nil)
	if _, err := btf.Parse(r.ExtraVars, main); err != nil || r.Stats.ExtraVars == 0 {
		t.Errorf("%d variables, %v", r.Stats.ExtraVars, err)
	}
}

// TestInline: the sites are split BTF over what is encoded, whose bytes do not change.
func TestInline(t *testing.T) {
	n := dt.N(dt.TagBaseType, dt.Name("int"), dt.Size(4), dt.Encoding(5))
	a := dt.N(dt.TagFormalParameter, dt.Name("a"), dt.Type(n))
	add := dt.N(dt.TagSubprogram, dt.Name("add"), dt.Inline(), dt.Type(n), a)
	site := dt.N(dt.TagInlinedSubroutine, dt.Origin(add), dt.LowPC(dt.TextAddr+4), dt.N(dt.TagFormalParameter, dt.Origin(a), dt.Location(0x55)))
	f := dt.File{Units: []*dt.Unit{dt.CU(n, add, dt.N(dt.TagSubprogram, dt.Name("f"), dt.LowPC(dt.TextAddr), site))}}
	in := []btflite.Source{{Path: "in", Data: f.Bytes()}}
	plain, err := btflite.Encode(ctx, in, btflite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	r, err := btflite.Encode(ctx, in, btflite.Options{Inline: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if !bytes.Equal(r.BTF, plain.BTF) || plain.Inline != nil {
		t.Errorf("%d bytes of BTF, %d without Inline, which has %d bytes of sites", len(r.BTF), len(plain.BTF), len(plain.Inline))
	}
	main := btftest.Parse(t, r.BTF, nil)
	over := btftest.Parse(t, r.Inline, main)
	if text := btftest.Text(over); !strings.Contains(text, "name='add' func_type_id=") || !strings.Contains(text, "'reg5'") {
		t.Error(text)
	}
}

// TestErrors: errors say what is at fault in fields and in their text.
func TestErrors(t *testing.T) {
	broken := structFile("s")
	unit := &dt.Unit{Root: dt.N(dt.TagCompileUnit, dt.Name("t.c"))}
	noUnit := dt.File{Units: []*dt.Unit{unit, {Root: dt.N(dt.TagBaseType, dt.Size(4), dt.Encoding(5), dt.Name("int"))}}}
	for _, tt := range []struct {
		name string
		data []byte
		want btflite.Error
		is   error
	}{
		{name: "not ELF", data: []byte("no ELF file at all"), want: btflite.Error{File: "in", Section: "ELF header"}},
		{name: "cut", data: broken[:len(broken)-8], want: btflite.Error{File: "in", Section: "section table"}},
		{name: "no unit", data: noUnit.Bytes(), want: btflite.Error{File: "in", Section: ".debug_info"}},
		{name: "refused", data: structFile("a b"), want: btflite.Error{File: "in"}},
	} {
		_, err := btflite.Encode(ctx, []btflite.Source{{Path: "in", Data: tt.data}}, btflite.Options{})
		var e *btflite.Error
		if !errors.As(err, &e) || e.File != tt.want.File || e.Section != tt.want.Section || !strings.HasPrefix(err.Error(), "in") {
			t.Errorf("%s: %+v", tt.name, err)
			continue
		}
	}
	_, err := btflite.Encode(ctx, []btflite.Source{{Path: "in", Data: structFile("a b")}}, btflite.Options{})
	var fault *verify.Fault
	if !errors.As(err, &fault) || fault.Name != "a b" || !strings.HasPrefix(err.Error(), "in: a kernel would refuse the BTF type [2]") {
		t.Errorf("%+v", err)
	}
	r, err := btflite.Encode(ctx, []btflite.Source{{Path: "in", Data: structFile("a b")}}, btflite.Options{AllowRefused: true})
	if err != nil || len(r.Warnings) != 1 {
		t.Fatalf("%v %v", r, err)
	}
	if err := btflite.Verify(ctx, r.BTF, nil, "6.12"); !errors.As(err, &fault) {
		t.Error(err)
	}
	r.Close()
	if _, err := btflite.Encode(ctx, btflite.Paths(filepath.Join(t.TempDir(), "none")), btflite.Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	stripped := dt.File{Symbols: []dt.Symbol{}}
	if _, err := btflite.Encode(ctx, []btflite.Source{{Path: "in", Data: stripped.Bytes()}}, btflite.Options{}); !errors.Is(err, btflite.ErrNoDWARF) {
		t.Error(err)
	}
	base := openBase(t, btflite.Source{Path: splitFiles + "x86.base.btf"})
	for i, o := range []btflite.Options{
		{Distil: true}, {Order: 7}, {Lang: []uint16{1}, LangExclude: []uint16{2}},
		{ExtraVars: true, Features: encode.GlobalVar}, {Distil: true, ExtraVars: true, Base: base},
		{Distil: true, Inline: true, Base: base}, {Features: btflite.AllFeatures | 1<<31}, {Features: 2 * encode.Inline},
	} {
		if r, err := btflite.Encode(ctx, btflite.Paths(smallFile), o); err == nil {
			r.Close()
			t.Errorf("options %d are taken", i)
		}
	}
	if _, err := btflite.Encode(ctx, nil, btflite.Options{}); err == nil {
		t.Error("no inputs are taken")
	}
	for _, o := range []btflite.Options{{Inline: true}, {Features: btflite.DefaultFeatures | encode.Inline}} {
		if _, err := btflite.Encode(ctx, btflite.Paths(smallFile, smallFile), o); err == nil || !strings.Contains(err.Error(), "several inputs") {
			t.Errorf("two inputs with sites: %v", err)
		}
	}
}

// TestNotOpen: what is closed, or was never opened, closes again, and everything else of it is an
// error and not another result.
func TestNotOpen(t *testing.T) {
	source := btflite.Source{Path: splitFiles + "x86.base.btf"}
	closed, err := btflite.OpenBase(ctx, source)
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for what, b := range map[string]*btflite.Base{"closed": closed, "zero": new(btflite.Base)} {
		b.Close()
		r, err := btflite.Encode(ctx, btflite.Paths(splitFiles+"x86.module.o"), btflite.Options{Base: b})
		if err == nil || r != nil {
			t.Errorf("%s: encoded over it", what)
		}
		if err := btflite.Verify(ctx, testfile.Read(t, source.Path), b, ""); err == nil {
			t.Errorf("%s: verified over it", what)
		}
		for _, bases := range [][2]*btflite.Base{{b, nil}, {nil, b}} {
			if _, err := btflite.Diff(ctx, source, source, bases[0], bases[1], diff.Options{}); err == nil {
				t.Errorf("%s: compared over it", what)
			}
		}
	}
	(*btflite.Base)(nil).Close()
	(*btflite.Result)(nil).Close()
	new(btflite.Result).Close()
	var kept []btflite.Function
	r, err := btflite.Encode(ctx, btflite.Paths(splitFiles+"x86.base.o"), btflite.Options{Functions: &btflite.FunctionQuery{Tell: func(f *btflite.Function) { kept = append(kept, *f) }}})
	if err != nil || len(kept) == 0 {
		t.Fatalf("%v, %d functions", err, len(kept))
	}
	r.Close()
	for i := range kept {
		if _, err := kept[i].Definitions(); err == nil {
			t.Errorf("%s has definitions afterwards", kept[i].Name)
		}
	}
}

// TestNames: an error begins with a name of the input, which an input without a name gets.
func TestNames(t *testing.T) {
	bad := []byte("neither ELF nor BTF")
	path := testfile.New(t, "bad", bad)
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	good := btflite.Source{Path: splitFiles + "x86.base.btf"}
	for _, x := range []struct {
		in   btflite.Source
		name string
	}{
		{btflite.Source{Path: path}, path},
		{btflite.Source{Data: bad}, "input 1"}, {btflite.Source{Data: bad, Path: "b"}, "b"},
		{btflite.Source{Reader: bytes.NewReader(bad), Size: int64(len(bad))}, "input 1"},
		{btflite.Source{Reader: file}, path}, {btflite.Source{Reader: file, Path: "b"}, "b"},
	} {
		_, encoded := btflite.Encode(ctx, []btflite.Source{x.in}, btflite.Options{})
		_, opened := btflite.OpenBase(ctx, x.in)
		_, compared := btflite.Diff(ctx, x.in, good, nil, nil, diff.Options{})
		for i, err := range []error{encoded, opened, compared} {
			var e *btflite.Error
			if !errors.As(err, &e) || e.File != x.name || !strings.HasPrefix(err.Error(), x.name+": ") {
				t.Errorf("%d: %q is not named %s", i, err, x.name)
			}
		}
	}
	var e *btflite.Error
	if _, err := btflite.Diff(ctx, good, btflite.Source{Data: bad}, nil, nil, diff.Options{}); !errors.As(err, &e) || e.File != "input 2" {
		t.Errorf("the second of two: %v", err)
	}
	if _, err := btflite.Encode(ctx, make([]btflite.Source, 1), btflite.Options{}); err == nil {
		t.Error("nothing is encoded")
	}
}

// TestTogether: encodes over one base and alone go on at the same time, each with
// its own options, and a tight limit of one is none of another's. The race detector
// looks at it: go test -race -run Together.
func TestTogether(t *testing.T) {
	base := openBase(t, btflite.Source{Path: splitFiles + "x86.base.btf"})
	data := testfile.Read(t, splitFiles+"x86.module.o")
	want := map[bool][]byte{false: testfile.Read(t, splitFiles+"x86.base.btf"), true: testfile.Read(t, splitFiles+"x86.module.btf")}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			o, in, split := btflite.Options{Jobs: 1 + i%3, Libbpf: btflite.Libbpf17}, btflite.Paths(splitFiles+"x86.base.o"), i%2 == 0
			if split {
				o.Base, in = base, []btflite.Source{{Path: "module", Data: data}}
			}
			for range 4 {
				r, err := btflite.Encode(ctx, in, o)
				if err != nil {
					t.Error(err)
					return
				}
				if !bytes.Equal(r.BTF, want[split]) {
					t.Errorf("encode %d: other bytes", i)
				}
				r.Close()
				tight := o
				tight.MemoryLimit = 1 << 20
				if _, err := btflite.Encode(ctx, in, tight); err == nil || !strings.Contains(err.Error(), "memory limit") {
					t.Errorf("encode %d: %v", i, err)
				}
			}
		})
	}
	wg.Wait()
}

// TestDiffOfSources: none between one file in two forms, and some between others.
func TestDiffOfSources(t *testing.T) {
	a := btflite.Source{Path: splitFiles + "x86.base.btf"}
	same := btflite.Source{Path: "b", Data: testfile.Read(t, splitFiles+"x86.base-btf.o.xz")}
	if found, err := btflite.Diff(ctx, a, same, nil, nil, diff.Options{}); err != nil || len(found) > 0 {
		t.Errorf("%v %v", found, err)
	}
	other := btflite.Source{Path: splitFiles + "x86.module.btf"}
	if found, err := btflite.Diff(ctx, a, other, nil, openBase(t, a), diff.Options{}); err != nil || len(found) == 0 {
		t.Errorf("%v %v", found, err)
	}
	if _, err := btflite.Diff(ctx, a, other, nil, nil, diff.Options{}); err == nil {
		t.Error("split BTF without its base is read")
	}
}
