package encode_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
)

// longType is a type with any number of elements.
type longType struct {
	name, what string
	kind       btf.Kind // named many, but for prototypes
	files      func(n int) []dt.File
	extra      bool // --extra_vars is a way out
}

// longTypes has one of each kind.
func longTypes() []longType {
	members := func(d *dt.DIE, n int, typ *dt.DIE) *dt.DIE {
		for range n {
			d.Add(member("m", typ, 0))
		}
		return d
	}
	values := func(n int, first int64) *dt.DIE {
		size := 4
		if first != 0 {
			size = 8
		}
		d := enum("many", size)
		for i := range n {
			d.Add(value(fmt.Sprint("E", i), first+int64(i)))
		}
		return d
	}
	params := func(d *dt.DIE, n int, typ *dt.DIE) *dt.DIE {
		for range n {
			d.Add(ref(dt.TagFormalParameter, "p", typ))
		}
		return d
	}
	variables := func(n int) []dt.File {
		c := base("char", 1, ateSignedChar)
		cu := dt.CU(intType(), c)
		for i := range n {
			cu.Root.Add(variable("v", c, dt.PercpuAddr+uint64(i)))
		}
		percpu := dt.Section{Name: ".data..percpu", Flags: 3, Addr: dt.PercpuAddr, Data: make([]byte, n)}
		return []dt.File{{Units: []*dt.Unit{cu}, Sections: []dt.Section{percpu}, Symbols: []dt.Symbol{dt.Object("v", ".data..percpu", dt.PercpuAddr)}}}
	}
	return []longType{
		{"struct", "members", btf.KindStruct, func(n int) []dt.File {
			i := intType()
			return one(i, members(structure("many", 1<<19), n, i))
		}, false},
		{"struct with a type among its members", "members", btf.KindStruct, func(n int) []dt.File {
			i := intType()
			s := members(structure("many", 1<<19), 1, i)
			return one(i, members(s.Add(members(structure("inner", 8), 2, i)), n-1, i))
		}, false},
		{"union", "members", btf.KindUnion, func(n int) []dt.File {
			i := intType()
			return one(i, members(composite(dt.TagUnionType, "many", 1<<19), n, i))
		}, false},
		{"enum", "enumerators", btf.KindEnum, func(n int) []dt.File { return one(intType(), values(n, 0)) }, false},
		{"enum64", "enumerators", btf.KindEnum64, func(n int) []dt.File { return one(intType(), values(n, 1<<40)) }, false},
		{"prototype", "parameters", btf.KindFuncProto, func(n int) []dt.File {
			i := intType()
			p := params(ref(dt.TagSubroutineType, "", i), n, i)
			return one(i, p, ptr(p))
		}, false},
		{"variadic prototype", "parameters", btf.KindFuncProto, func(n int) []dt.File {
			i := intType()
			p := params(ref(dt.TagSubroutineType, "", i), n-1, i).Add(dt.N(dt.TagUnspecifiedParams))
			return one(i, p, ptr(p))
		}, false},
		{"function", "parameters", btf.KindFuncProto, func(n int) []dt.File {
			i := intType()
			return with([]dt.Symbol{dt.Func("many", fn1)}, i, params(function("many", fn1, i), n, i))
		}, false},
		{"section", "variables", btf.KindDatasec, variables, true},
	}
}

// mostVlen is how many elements the vlen of a type holds for all readers.
const mostVlen = 1<<16 - 1

// TestVlen: the vlen of a type holds 65,535 elements, of each kind. One more is an
// error that says how many of what there are; no number is ever cut.
func TestVlen(t *testing.T) {
	if testing.Short() {
		t.Skip("long types")
	}
	for i, tt := range longTypes() {
		others := []encode.Options{{Features: encode.DefaultFeatures, Dedup: encode.DedupExact},
			{Features: encode.DefaultFeatures | encode.ForceCUMerging}, {Features: encode.DefaultFeatures | encode.GlobalVar, Jobs: 4}}
		for _, opt := range []encode.Options{{Features: encode.DefaultFeatures}, others[i%len(others)]} {
			t.Run(fmt.Sprintf("%s/%x,%d", tt.name, opt.Features, opt.Dedup), func(t *testing.T) {
				x := rule{files: tt.files(mostVlen)}
				data := mustRun(t, x.write(t, t.TempDir()), opt)
				b := btftest.Parse(t, data, nil)
				if n := longest(b, tt.kind); n != mostVlen {
					t.Errorf("the longest %v has %d elements, want %d", tt.kind, n, mostVlen)
				}
				x = rule{files: tt.files(mostVlen + 1)}
				_, err := runFiles(x.write(t, t.TempDir()), opt)
				want := fmt.Sprintf("%d %s are more than the %d that the vlen of BTF holds; Linux 7.2 and libbpf 1.8", mostVlen+1, tt.what, mostVlen)
				if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), strings.TrimSuffix(tt.kind.String(), "64")) ||
					!strings.Contains(err.Error(), "many") && tt.kind != btf.KindDatasec && tt.kind != btf.KindFuncProto {
					t.Errorf("got %v, want %s", err, want)
				}
				if help := opt.Features&encode.GlobalVar != 0 && tt.extra; err != nil && strings.Contains(err.Error(), "--extra_vars") != help {
					t.Errorf("%v: extra variables are mentioned: %v", err, !help)
				}
			})
		}
	}
}

// TestLongVlen: for readers of the 24 bits of libbpf 1.8, types have up to 16,777,215
// elements, and all of them.
func TestLongVlen(t *testing.T) {
	if testing.Short() {
		t.Skip("long types")
	}
	const million = 1000000
	for i, tt := range longTypes() {
		for _, n := range []int{mostVlen + 1, 70000, million} {
			if n == million && strings.Contains(tt.name, " ") { // one of each kind
				continue
			}
			opt := encode.Options{Features: encode.DefaultFeatures, Libbpf: encode.Libbpf18, Dedup: dedupOf(n == 70000 && i%2 == 0), Jobs: 1 + i%3}
			if n == mostVlen+1 {
				opt.Features |= encode.Layout
			}
			t.Run(fmt.Sprintf("%s/%d", tt.name, n), func(t *testing.T) {
				x := rule{files: tt.files(n)}
				out, err := encode.Run(x.write(t, t.TempDir()), opt)
				if err != nil {
					t.Fatal(err)
				}
				defer out.Close()
				b := btftest.Parse(t, out.Bytes(), nil)
				if got := longest(b, tt.kind); got != uint32(n) {
					t.Errorf("the longest %v has %d elements, want %d", tt.kind, got, n)
				}
				if !out.LongVlen || out.Layout != (n == mostVlen+1) || b.Form.HeaderLen != 32 || (b.Form.Layout != nil) != out.Layout {
					t.Errorf("long vlen %v, layout %v, %+v", out.LongVlen, out.Layout, b.Form)
				}
			})
		}
	}
}

// TestMostVlen: 16,777,215 elements are the most that any release reads. One more is an
// error whatever the target is.
func TestMostVlen(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a gigabyte")
	}
	file := func(n int) string {
		// Parameters without attributes are one byte each, the code of their abbreviation.
		const plain = 4 // after the unit, the prototype and the first parameter
		rest := append([]byte{1}, bytes.Repeat([]byte{plain}, n-2)...)
		first := dt.N(dt.TagFormalParameter, dt.Attr{At: 0x3b, Form: dt.FormData1, Val: dt.Raw(rest)}) // DW_AT_decl_line
		x := rule{files: one(dt.N(dt.TagSubroutineType, first, dt.N(dt.TagFormalParameter)))}
		return x.write(t, t.TempDir())[0]
	}
	const most = 1<<24 - 1
	out, err := encode.Run([]string{file(most)}, encode.Options{Features: encode.DefaultFeatures, Libbpf: encode.Libbpf18})
	if err != nil {
		t.Fatal(err)
	}
	b, err := btf.ParseShared(out.Bytes(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := longest(b, btf.KindFuncProto); got != most {
		t.Errorf("the longest prototype has %d parameters, want %d", got, most)
	}
	out.Close()
	for _, libbpf := range []encode.Libbpf{encode.LibbpfAny, encode.Libbpf17, encode.Libbpf18} {
		const want = "16777216 parameters are more than the 16777215 that the vlen of BTF holds in any release"
		_, err := encode.Run([]string{file(most + 1)}, encode.Options{Features: encode.DefaultFeatures, Libbpf: libbpf})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "--btf_compat") {
			t.Errorf("libbpf %d: %v, want %q", libbpf, err, want)
		}
	}
}

// longest is how many elements the longest type of a kind has.
func longest(b *btf.Blob, k btf.Kind) (most uint32) {
	for id := b.FirstID; id < b.TypeCount(); id++ {
		if b.Kind(id) == k {
			most = max(most, btf.InfoVlen(b.Record(id)[1]))
		}
	}
	return most
}

// TestVlenOfExtraVariables: what a DATASEC does not hold is in another one.
func TestVlenOfExtraVariables(t *testing.T) {
	for _, n := range []int{65535, 65536, 70000} {
		i := intType()
		cu := dt.CU(i)
		for k := range n {
			cu.Root.Add(variable("v", i, dt.TextAddr+0x100000+uint64(4*k)))
		}
		data := dt.Section{Name: ".data", Flags: 3, Addr: dt.TextAddr + 0x100000, Data: make([]byte, 4*n)}
		x := rule{files: []dt.File{{Units: []*dt.Unit{cu}, Sections: []dt.Section{data}, Symbols: []dt.Symbol{dt.Object("v", ".data", data.Addr)}}}}
		out, err := encode.Run(x.write(t, t.TempDir()), encode.Options{Features: encode.DefaultFeatures, ExtraVars: true})
		if err != nil {
			t.Fatal(err)
		}
		main := btftest.Parse(t, out.Bytes(), nil)
		extra := btftest.Parse(t, out.Extra(), main)
		all := uint32(0)
		for id := extra.FirstID; id < extra.TypeCount(); id++ {
			if extra.Kind(id) == btf.KindDatasec {
				all += btf.InfoVlen(extra.Record(id)[1])
			}
		}
		if all != uint32(n) || longest(extra, btf.KindDatasec) > 65535 || out.Stats.ExtraVars != n {
			t.Errorf("%d variables: %d in DATASECs, %d in the largest, %d counted", n, all, longest(extra, btf.KindDatasec), out.Stats.ExtraVars)
		}
		out.Close()
	}
}
