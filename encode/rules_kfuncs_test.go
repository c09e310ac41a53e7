package encode_test

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
)

// btfIDs is a .BTF_ids section with a set of one function, and its symbols.
func btfIDs(setFlags, flags uint32, name string) (dt.Section, []dt.Symbol) {
	const addr = 0x50000
	b := binary.LittleEndian.AppendUint32(nil, 1)
	b = binary.LittleEndian.AppendUint32(b, setFlags)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = binary.LittleEndian.AppendUint32(b, flags)
	set := dt.Object("__BTF_ID__set8__kfuncs", ".BTF_ids", addr)
	set.Size = 16
	fn := dt.Object("__BTF_ID__func__"+name+"__42", ".BTF_ids", addr+8)
	return dt.Section{Name: ".BTF_ids", Flags: 2, Addr: addr, Data: b}, []dt.Symbol{set, fn}
}

// kfuncRules: kernel functions that .BTF_ids names.
func kfuncRules() []rule {
	long := strings.Repeat("n", 127) // as much as is kept of names of parameters
	kfunc := func(setFlags, flags uint32, arena bool) []dt.File {
		i := intType()
		p := ptr(i)
		sec, syms := btfIDs(setFlags, flags, "f")
		return []dt.File{{Units: []*dt.Unit{dt.CU(i, p, function("f", fn1, p, param("a", p, 5), param("b", p, 4)))}, Sections: []dt.Section{sec}, Symbols: funcs(syms...)}}
	}
	return []rule{
		{name: "kfunc", files: kfunc(1, 0, false), want: textInt + `
			[2] PTR '(anon)' type_id=1` + textFunc(3, 2, "f", "a 2", "b 2") + `
			[5] DECL_TAG 'bpf_kfunc' type_id=4 component_idx=-1`},
		{name: "kfuncs without the number that ends their symbols", files: func() []dt.File {
			f := kfunc(1, 0, false)
			for _, name := range []string{"", "_", "_f", "f_", "f", "f_1"} {
				f[0].Symbols = append(f[0].Symbols, dt.Object("__BTF_ID__func__"+name, ".BTF_ids", 0x50000+8))
			}
			f[0].Symbols = slices.DeleteFunc(f[0].Symbols, func(s dt.Symbol) bool { return strings.HasSuffix(s.Name, "__42") })
			return f
		}(), want: textInt + `
			[2] PTR '(anon)' type_id=1` + textFunc(3, 2, "f", "a 2", "b 2")},
		{name: "kfunc that is fast", files: kfunc(1, 1<<12, false), want: textInt + `
			[2] PTR '(anon)' type_id=1` + textFunc(3, 2, "f", "a 2", "b 2") + `
			[5] DECL_TAG 'bpf_kfunc' type_id=4 component_idx=-1
			[6] DECL_TAG 'bpf_fastcall' type_id=4 component_idx=-1`},
		{name: "kfunc set without the flag", files: kfunc(0, 0, false), want: textInt + `
			[2] PTR '(anon)' type_id=1` + textFunc(3, 2, "f", "a 2", "b 2")},
		{name: "kfunc without the feature", features: encode.BasicFeatures, files: kfunc(1, 0, false), want: textInt + `
			[2] PTR '(anon)' type_id=1` + textFunc(3, 2, "f", "a 2", "b 2")},
		{name: "kfunc with arena flags", features: encode.AllFeatures, files: kfunc(1, 1<<13|1<<14|1<<15, true), want: textInt + `
			[2] PTR '(anon)' type_id=1
			[3] TYPE_TAG 'address_space(1)' type_id=1
			[4] PTR '(anon)' type_id=3` + textFunc(5, 4, "f", "a 4", "b 4") + `
			[7] DECL_TAG 'bpf_kfunc' type_id=6 component_idx=-1`},
		{name: "kfunc with arena flags without attributes", files: kfunc(1, 1<<13|1<<14, true), want: textInt + `
			[2] PTR '(anon)' type_id=1` + textFunc(3, 2, "f", "a 2", "b 2") + `
			[5] DECL_TAG 'bpf_kfunc' type_id=4 component_idx=-1`},
		{name: "cut names, repeated names and kfuncs", features: encode.AllFeatures, files: func() []dt.File {
			var us []*dt.Unit
			for k, form := range []int{dt.FormStrp, dt.FormString} {
				i := intType()
				p := ptr(i)
				u := dt.CU(i, p, function("f", fn1, p, param(long+"1", p, 5).Add(declTag(long+"t1")), param(long+"2", p, 4), declTag("bpf_kfunc"), declTag(long+"t2")),
					function([]string{"g_one", "g_two"}[k], []uint64{fn2, fn3}[k], nil, param(long+"1", i, 5), param("zz", p, 4)),
					function("zz", fn3+0x100, i, param("g_two", i, 5)))
				u.StrForm = form
				us = append(us, u)
			}
			sec, syms := btfIDs(1, 1<<12|1<<14, "f")
			return []dt.File{{RepeatStrings: true, Units: us, Sections: []dt.Section{sec}, Symbols: funcs(append(syms, dt.Func("g_one", fn2), dt.Func("g_two", fn3))...)}}
		}(), want: strings.ReplaceAll(`
			[1] INT 'int' size=4 bits_offset=0 nr_bits=32 encoding=SIGNED
			[2] PTR '(anon)' type_id=1
			[3] TYPE_TAG 'address_space(1)' type_id=1
			[4] PTR '(anon)' type_id=3
			[5] FUNC_PROTO '(anon)' ret_type_id=2 vlen=2
				'LONG' type_id=4
				'LONG' type_id=2
			[6] FUNC 'f' type_id=5 linkage=static
			[7] DECL_TAG 'LONG' type_id=6 component_idx=0
			[8] DECL_TAG 'bpf_kfunc' type_id=6 component_idx=-1
			[9] DECL_TAG 'LONG' type_id=6 component_idx=-1
			[10] DECL_TAG 'bpf_fastcall' type_id=6 component_idx=-1
			[11] FUNC_PROTO '(anon)' ret_type_id=0 vlen=2
				'LONG' type_id=1
				'zz' type_id=2
			[12] FUNC 'g_one' type_id=11 linkage=static
			[13] FUNC 'g_two' type_id=11 linkage=static
			[14] FUNC_PROTO '(anon)' ret_type_id=1 vlen=1
				'g_two' type_id=1
			[15] FUNC 'zz' type_id=14 linkage=static`, "LONG", long),
			strings: strings.ReplaceAll("int LONG1 LONG2 LONGt1 bpf_kfunc LONGt2 zz g_two address_space(1) LONG f bpf_fastcall g_one", "LONG", long)},
		{name: "kfunc with an arena flag on an int", features: encode.AllFeatures, files: func() []dt.File {
			i := intType()
			sec, syms := btfIDs(1, 1<<13, "f")
			return []dt.File{{Units: []*dt.Unit{dt.CU(i, function("a", fn2, i), function("f", fn1, i), function("zz", fn3+0x100, i))},
				Sections: []dt.Section{sec}, Symbols: funcs(append(syms, dt.Func("a", fn2))...)}}
		}(), err: "arena flag", differs: "pahole ends with status 1"},
		{name: "kfunc set without contents, as in a debug file", files: func() []dt.File {
			files := kfunc(1, 0, false)
			sec := &files[0].Sections[0]
			sec.Type, sec.Size, sec.Data = 8, uint64(len(sec.Data)), nil
			return files
		}(), err: ".BTF_ids: no contents", differs: "pahole takes what stands at that place of the file, or writes nothing with status 0"},
	}
}

// clangChanged makes f(struct two t, int z), which uses only t.b.
func clangChanged() []dt.File {
	l, i := base("long", 8, ateSigned), intType()
	two := structure("two", 16, member("a", l, 0), member("b", l, 8))
	u := &dt.Unit{Root: dt.N(dt.TagCompileUnit, dt.Name("c.c"), dt.Language(0x1d), dt.Producer("clang version 20"), i, l, two,
		function("f", fn1, i, dt.Attr{At: dt.AtCallingConvention, Val: 3}, ref(dt.TagFormalParameter, "t", two, dt.Location(0x93, 8, 0x55, 0x93, 8)), param("z", i, 4)))}
	return []dt.File{{Symbols: funcs(), Units: []*dt.Unit{u}}}
}
