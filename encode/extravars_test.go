package encode_test

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/test/testfile"
)

// content describes BTF independently of its ids: how often it has each type, compared to
// a depth of ten references, and the place of each variable. DATASECs count by their
// entries, because the extra variables of a section may be in another DATASEC than the
// main BTF's. VARs count once.
type content struct {
	types, places map[string]bool
}

func contentOf(b *btf.Blob) content {
	count := b.TypeCount()
	label, next := make([]uint64, count), make([]uint64, count)
	for round := range 11 {
		for id := uint32(1); id < count; id++ {
			r := slices.Clone(b.Record(id))
			if b.Kind(id) == btf.KindDatasec {
				continue
			}
			h := fnv.New64a()
			btf.EachName(r, func(off *uint32) { fmt.Fprintf(h, "%s\x00", b.Name(*off)); *off = 0 })
			btf.EachRef(r, func(to *uint32) {
				if round > 0 {
					fmt.Fprintf(h, "%x ", label[*to])
				}
				*to = 0
			})
			fmt.Fprint(h, r)
			next[id] = h.Sum64()
		}
		label, next = next, label
	}
	s := content{map[string]bool{}, map[string]bool{}}
	for id := uint32(1); id < count; id++ {
		r := b.Record(id)
		if b.Kind(id) != btf.KindDatasec {
			s.types[fmt.Sprintf("%s %s %x", b.Kind(id), b.Name(r[0]), label[id])] = true
			continue
		}
		for e := r[3:]; len(e) > 0; e = e[3:] {
			s.places[fmt.Sprintf("%s+%d %d %x", b.Name(r[0]), e[1], e[2], label[e[0]])] = true
		}
	}
	return s
}

func (s content) differs(t *testing.T, want content) {
	t.Helper()
	for _, m := range []struct {
		what      string
		got, want map[string]bool
	}{{"types", s.types, want.types}, {"variables", s.places, want.places}} {
		if !maps.Equal(m.got, m.want) {
			t.Errorf("%s: (-want +got)\n%s", m.what, cmp.Diff(m.want, m.got))
		}
	}
}

// encodeExtra encodes a file twice. The extra variables must not change the rest.
func encodeExtra(t *testing.T, path string, opt encode.Options, base *btf.Blob) (main, extra *btf.Blob) {
	t.Helper()
	want, err := encode.Run([]string{path}, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer want.Close()
	opt.ExtraVars = true
	out, err := encode.Run([]string{path}, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if !bytes.Equal(out.Bytes(), want.Bytes()) || len(want.Extra()) > 0 {
		t.Fatal("extra variables change the BTF")
	}
	main = base
	if len(out.Bytes()) > 0 {
		if main, err = btf.Parse(out.Bytes(), base); err != nil {
			t.Fatal(err)
		}
	}
	if out.Extra() == nil {
		return main, nil
	}
	if extra, err = btf.Parse(out.Extra(), main); err == nil {
		err = extra.CheckBase()
	}
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for id := extra.FirstID; id < extra.TypeCount(); id++ {
		switch extra.Kind(id) {
		case btf.KindVar:
			n++
		case btf.KindDatasec, btf.KindDeclTag:
		default:
			t.Errorf("[%d] %s is in the extra BTF", id, extra.Kind(id))
		}
	}
	if n != out.Stats.ExtraVars || out.Stats.Vars != want.Stats.Vars {
		t.Errorf("%d VARs, %+v", n, out.Stats)
	}
	own := map[string]bool{}
	for s := range strings.SplitSeq(string(bytes.TrimSuffix(extra.Strings, []byte{0})), "\x00") {
		if own[s] || bytes.Contains(main.Strings, []byte("\x00"+s+"\x00")) {
			t.Errorf("string %q is there twice", s)
		}
		own[s] = true
	}
	return main, extra
}

// TestExtraVars: main and extra BTF of what compilers wrote have together what
// pahole's feature global_var gives in one, types, tags and places.
func TestExtraVars(t *testing.T) {
	some := 0
	for _, path := range goldenFiles(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			all := btftest.Read(t, strings.TrimSuffix(path, ".elf")+".all.btf", nil)
			want := contentOf(all)
			for _, opt := range []encode.Options{
				{Features: encode.AllFeatures &^ encode.GlobalVar, Jobs: 2},
				{Features: encode.AllFeatures &^ encode.GlobalVar &^ encode.Var},
				{Features: encode.AllFeatures &^ encode.GlobalVar, Dedup: encode.DedupExact},
			} {
				main, extra := encodeExtra(t, path, opt, nil)
				if extra == nil {
					extra = main
				} else {
					some++
				}
				contentOf(extra).differs(t, want)
			}
		})
	}
	if some < 100 {
		t.Errorf("only %d have extra variables", some)
	}
}

// TestExtraVarsAlone: over a base that has all types, BTF without types stands
// between it and the variables, for which it makes no difference.
func TestExtraVarsAlone(t *testing.T) {
	base := btftest.Read(t, "testdata/golden/x86-gcc5.all.btf", nil)
	b := newBase(t, base)
	defer b.Free()
	main, extra := encodeExtra(t, "testdata/golden/x86-gcc5.elf", encode.Options{Features: encode.AllFeatures &^ encode.Var &^ encode.GlobalVar, Base: b}, base)
	if main.Base != base || len(main.Off) != 0 || extra == nil || extra.Base != main {
		t.Fatal("no BTF without types stands between the base and the variables")
	}
	if main.Sum() != base.Sum() {
		t.Error("its checksum is not the checksum of the base")
	}
	contentOf(extra).differs(t, contentOf(base))
}

// TestExtraVarsOverBase is TestExtraVars for modules, over a base and a chain.
func TestExtraVarsOverBase(t *testing.T) {
	const dir = "../testdata/split/"
	for _, target := range []string{"x86", "s390x"} {
		var base *btf.Blob
		for _, name := range []string{"base", "module", "upper"} {
			for _, opt := range []encode.Options{{Features: encode.DefaultFeatures}, {Features: encode.DefaultFeatures, Dedup: encode.DedupExact},
				{Features: encode.DefaultFeatures &^ encode.Var, Libbpf: encode.Libbpf17}} {
				all := opt
				all.Features |= encode.GlobalVar
				if base != nil {
					b := newBase(t, base)
					defer b.Free()
					opt.Base, all.Base = b, b
				}
				out, err := encode.Run([]string{dir + target + "." + name + ".o"}, all)
				if err != nil {
					t.Fatal(err)
				}
				want := btftest.Parse(t, out.Bytes(), base)
				out.Close()
				main, extra := encodeExtra(t, dir+target+"."+name+".o", opt, base)
				if extra == nil {
					extra = main
				}
				contentOf(extra).differs(t, contentOf(want))
			}
			base = btftest.Read(t, dir+target+"."+name+".btf", base)
		}
	}
}

// TestExtraVarsOddities: a variable of type void ends the main ones of its unit,
// without force, but no extra one; what overlaps is in a DATASEC of its own; one
// that two units describe is there once; a name that is none in C is an error.
func TestExtraVarsOddities(t *testing.T) {
	const data, pc = 0x60000, dt.PercpuAddr
	file := func(units ...*dt.Unit) []byte {
		f := dt.File{Units: units, Symbols: funcs(dt.Func("f", fn1)),
			Sections: []dt.Section{dt.Percpu(), {Name: ".data", Flags: 3, Addr: data, Data: make([]byte, 256)}}}
		return f.Bytes()
	}
	path := filepath.Join(t.TempDir(), "input")
	for _, features := range []encode.Features{encode.BasicFeatures, encode.BasicFeatures | encode.ForceCUMerging} {
		i, i2 := intType(), intType()
		image := file(dt.CU(i, variable("nothing", nil, data+4), variable("percpu", i, pc+4), variable("a", i, data+8),
			variable("alias", i, data+10), variable("void_percpu", nil, pc+8), variable("left_out", i, pc+12), variable("b", i, data+12)),
			dt.CU(i2, variable("a", i2, data+8), typedef("t", i2)))
		testfile.Write(t, path, image)
		main, extra := encodeExtra(t, path, encode.Options{Features: features}, nil)
		text := btftest.Text(extra)
		first := extra.FirstID
		want := fmt.Sprintf("[%d] VAR 'a' type_id=1, linkage=global\n[%d] VAR 'alias' type_id=1, linkage=global\n[%d] VAR 'b' type_id=1, linkage=global\n"+
			"[%d] DATASEC '.data' size=16 vlen=2\n\ttype_id=%d offset=8 size=4 (VAR 'a')\n\ttype_id=%d offset=12 size=4 (VAR 'b')\n"+
			"[%d] DATASEC '.data' size=14 vlen=1\n\ttype_id=%d offset=10 size=4 (VAR 'alias')\n",
			first, first+1, first+2, first+3, first, first+2, first+4, first+1)
		if text != want {
			t.Errorf("(-want +got)\n%s", cmp.Diff(want, text))
		}
		if n := strings.Count(string(main.Strings), "percpu"); n != 2 { // VAR and DATASEC
			t.Errorf("%d percpu names in the main BTF", n)
		}
	}
	i := intType()
	testfile.Write(t, path, file(dt.CU(i, variable("not-c", i, data+8))))
	for features, want := range map[encode.Features]string{encode.BasicFeatures: "is not valid in BTF", encode.DefaultFeatures: ""} {
		out, err := encode.Run([]string{path}, encode.Options{Features: features, ExtraVars: true})
		if want == "" {
			if err != nil || out.Extra() != nil {
				t.Errorf("%v: a variable without a legal name", err)
			}
			out.Close()
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
}

// FuzzExtraVars encodes files of any content with and without extra variables:
// whatever is written, the main BTF is the same, and the rest fits it.
func FuzzExtraVars(f *testing.F) {
	for _, p := range []string{"x86-tags.elf", "x86-clang5.elf", "s390x-gcc2.elf", "x86-gcc5-dwz.elf", "x86-gcc5-lto.elf", "x86-clang5-o.elf"} {
		b, err := os.ReadFile(filepath.Join("testdata/golden", p))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, byte(0))
		f.Add(b, byte(1))
	}
	sets := []encode.Features{encode.DefaultFeatures, encode.BasicFeatures &^ encode.Var, encode.DefaultFeatures | encode.ForceCUMerging}
	path := filepath.Join(f.TempDir(), "input")
	f.Fuzz(func(t *testing.T, image []byte, set byte) {
		testfile.Write(t, path, image)
		opt := encode.Options{Features: sets[int(set)%len(sets)], ExtraVars: true}
		var extra []byte
		main, crash, err := noPanic(func() ([]byte, error) {
			out, err := encode.Run([]string{path}, opt)
			if err != nil {
				return nil, err
			}
			defer out.Close()
			extra = bytes.Clone(out.Extra())
			return bytes.Clone(out.Bytes()), nil
		})
		if crash != nil {
			t.Fatalf("panic: %v", crash)
		}
		if err != nil {
			return
		}
		opt.ExtraVars = false
		want, err := runFiles([]string{path}, opt)
		if err != nil || !bytes.Equal(main, want) {
			t.Fatalf("%d bytes, without extra variables %d, %v", len(main), len(want), err)
		}
		if len(extra) == 0 {
			return
		}
		b, err := btf.Parse(main, nil)
		if err == nil {
			if b, err = btf.Parse(extra, b); err == nil {
				err = b.CheckBase()
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}
