package encode_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/verify"
	"github.com/btflite/btflite/encode"
	dt "github.com/btflite/btflite/internal/dwarf/dwarftest"
	"github.com/btflite/btflite/test/testfile"
)

// Attributes that only sites of inlined functions have.
const (
	atHighPC  = 0x12
	atEntryPC = 0x52
	atRanges  = 0x55
)

// encodeInlined encodes a file with what is inlined beside the BTF. The text of both is
// in the form of bpftool.
func encodeInlined(t *testing.T, image []byte, opt encode.Options) (main, side string, out *encode.Output) {
	t.Helper()
	path := testfile.New(t, "in", image)
	out, err := encode.Run([]string{path}, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(out.Close)
	b := btftest.Parse(t, out.Bytes(), nil)
	main = btftest.Text(b)
	if len(out.Inline()) == 0 {
		return main, "", out
	}
	over := btftest.Parse(t, out.Inline(), b)
	if _, err := verify.Check(out.Inline(), b, verify.Rules{PointerSize: out.PointerSize}); err != nil {
		t.Error(err)
	}
	return main, btftest.Text(over), out
}

// inlinedFile has add(a, b), print(fmt, ...) and none() inlined in f, add in print too.
func inlinedFile(bigEndian, class32 bool) *dt.File {
	i := dt.N(dt.TagBaseType, dt.Name("int"), dt.Size(4), dt.Encoding(5))
	p := dt.N(dt.TagPointerType, dt.Type(i), dt.Size(8))
	a := dt.N(dt.TagFormalParameter, dt.Name("a"), dt.Type(i))
	b := dt.N(dt.TagFormalParameter, dt.Name("b"), dt.Type(p))
	add := dt.N(dt.TagSubprogram, dt.Name("add"), dt.Inline(), dt.Type(i), a, b)
	format := dt.N(dt.TagFormalParameter, dt.Name("fmt"), dt.Type(p))
	print := dt.N(dt.TagSubprogram, dt.Name("print"), dt.Inline(), format, dt.N(dt.TagUnspecifiedParams))
	none := dt.N(dt.TagSubprogram, dt.Name("none"), dt.Inline())
	at := func(n uint64) dt.Attr { return dt.LowPC(dt.TextAddr + n) }
	f := dt.N(dt.TagSubprogram, dt.Name("f"), at(0x10),
		// Not in the order of the function.
		dt.N(dt.TagInlinedSubroutine, dt.Origin(add), at(0x10),
			dt.N(dt.TagFormalParameter, dt.Origin(b), dt.LocationList(dt.List{{0x51}, {0x52}, {0x53}, {0x54}, {0x55}})),
			dt.N(dt.TagFormalParameter, dt.Origin(a), dt.Const(-2))),
		dt.N(dt.TagLexicalBlock,
			dt.N(dt.TagInlinedSubroutine, dt.Origin(print), at(0x20), dt.Attr{At: atEntryPC, Val: dt.Addr(dt.TextAddr + 0x24)},
				dt.N(dt.TagFormalParameter, dt.Origin(format), dt.Location(0x91, 0x70)),
				dt.N(dt.TagInlinedSubroutine, dt.Origin(add), at(0x28), // nested, one parameter missing
					dt.N(dt.TagFormalParameter, dt.Origin(a), dt.Location(0x77, 8))))),
		dt.N(dt.TagInlinedSubroutine, dt.Origin(none), at(0x30)),
		dt.N(dt.TagInlinedSubroutine, dt.Origin(none)),                // nowhere
		dt.N(dt.TagInlinedSubroutine, dt.Origin(none), at(0x5000000)), // in no section
	)
	u := dt.CU(dt.LowPC(dt.TextAddr), i, p, add, print, none, f)
	return &dt.File{Units: []*dt.Unit{u}, BigEndian: bigEndian, Class32: class32, Symbols: []dt.Symbol{dt.Func("f", dt.TextAddr+0x10)}}
}

func TestInlined(t *testing.T) {
	const want = `[5] LOC_PARAM '(anon)' size=4 flags=0x3 vlen=1 values='-0x2'
[6] LOC_PARAM '(anon)' size=8 flags=0x8 vlen=1 values='reg5'
[7] LOC_PARAM '(anon)' size=8 flags=0x39 vlen=2 values='*(fbreg - 0x10)'
[8] LOC_PARAM '(anon)' size=4 flags=0x38 vlen=2 values='*(reg7 + 0x8)'
[9] LOC_PROTO '(anon)' vlen=2
	type_id=5 value='-0x2'
	type_id=6 value='reg5'
[10] LOC_PROTO '(anon)' vlen=2
	type_id=7 value='*(fbreg - 0x10)'
	type_id=0 value=''
[11] LOC_PROTO '(anon)' vlen=2
	type_id=8 value='*(reg7 + 0x8)'
	type_id=0 value=''
[12] LOC_PROTO '(anon)' vlen=0
[13] FUNC_PROTO '(anon)' ret_type_id=1 vlen=2
	'a' type_id=1
	'b' type_id=2
[14] FUNC_PROTO '(anon)' ret_type_id=0 vlen=2
	'fmt' type_id=2
	'(anon)' type_id=0
[15] FUNC 'add' type_id=13 linkage=static
[16] FUNC 'print' type_id=14 linkage=static
[17] FUNC 'none' type_id=3 linkage=static
[18] LOCSEC 'inline.text' vlen=4
	name='add' func_type_id=15 loc_proto_type_id=9 offset=16
	name='add' func_type_id=15 loc_proto_type_id=11 offset=40
	name='print' func_type_id=16 loc_proto_type_id=10 offset=36
	name='none' func_type_id=17 loc_proto_type_id=12 offset=48
`
	for _, big := range []bool{false, true} {
		for _, class32 := range []bool{false, true} {
			image := inlinedFile(big, class32).Bytes()
			expect := want
			if class32 {
				expect = strings.ReplaceAll(want, "size=8", "size=4")
			}
			plain, side, out := encodeInlined(t, image, encode.Options{Features: encode.DefaultFeatures})
			if side != "" || out.Stats.Inline != nil {
				t.Error("inlined functions without being asked for")
			}
			main, side, out := encodeInlined(t, image, encode.Options{Features: encode.DefaultFeatures, Inline: true})
			if main != plain {
				t.Errorf("with inlined functions in a side file the BTF is\n%s, without\n%s", main, plain)
			}
			if side != expect {
				t.Errorf("big-endian %v, 32 bits %v:\n%s\nwant\n%s", big, class32, side, expect)
			}
			st := out.Stats.Inline
			if st.Sites != 4 || st.All != 3 || st.Some != 1 || st.None != 0 || st.Dropped["no address"] != 1 ||
				st.Dropped["in no section with code"] != 1 || st.Missing["not described at the site"] != 1 {
				t.Errorf("%+v", st)
			}
			for _, opt := range []encode.Options{{Jobs: 4}, {Dedup: encode.DedupExact}} {
				opt.Features, opt.Inline = encode.DefaultFeatures, true
				if _, again, _ := encodeInlined(t, image, opt); again != side {
					t.Errorf("%+v:\n%s", opt, again)
				}
			}
			into, _, _ := encodeInlined(t, image, encode.Options{Features: encode.DefaultFeatures | encode.Inline | encode.Layout})
			if into != main+side {
				t.Errorf("in one BTF:\n%s\nin a side file:\n%s", into, main+side)
			}
		}
	}
}

// TestHostileInlined: what no compiler writes ends soon, with an error or with sites left
// out.
func TestHostileInlined(t *testing.T) {
	i := func() *dt.DIE { return dt.N(dt.TagBaseType, dt.Name("int"), dt.Size(4), dt.Encoding(5)) }
	site := func(origin *dt.DIE, n uint64, parts ...any) *dt.DIE {
		return dt.N(dt.TagInlinedSubroutine, append([]any{dt.Origin(origin), dt.LowPC(dt.TextAddr + n)}, parts...)...)
	}
	file := func(parts ...any) []byte {
		f := dt.File{Units: []*dt.Unit{dt.CU(append([]any{dt.LowPC(dt.TextAddr), i()}, parts...)...)}}
		return f.Bytes()
	}
	inF := func(parts ...any) *dt.DIE {
		return dt.N(dt.TagSubprogram, append([]any{dt.Name("f"), dt.LowPC(dt.TextAddr)}, parts...)...)
	}
	for name, c := range map[string]struct {
		image func() []byte
		sites int
		drop  string
		fails string
	}{
		"origins in a circle": {func() []byte {
			a, b := dt.N(dt.TagSubprogram, dt.Name("a"), dt.Inline()), dt.N(dt.TagSubprogram, dt.Name("b"), dt.Inline())
			a.Add(dt.Origin(b))
			b.Add(dt.Origin(a))
			return file(a, b, inF(site(a, 4)))
		}, 0, "function not described or without a name", ""},
		"an origin that is a type": {func() []byte {
			typ := i()
			return file(typ, inF(site(typ, 4)))
		}, 0, "function not described or without a name", ""},
		"a parameter twice, and one of another function": {func() []byte {
			p, q := dt.N(dt.TagFormalParameter, dt.Name("p"), dt.Type(i())), dt.N(dt.TagFormalParameter, dt.Name("q"))
			typ := i()
			p.Attrs = nil
			p.Add(dt.Name("p"), dt.Type(typ))
			q.Add(dt.Type(typ))
			a, b := dt.N(dt.TagSubprogram, dt.Name("a"), dt.Inline(), p), dt.N(dt.TagSubprogram, dt.Name("b"), dt.Inline(), q)
			at := func(d *dt.DIE) *dt.DIE { return dt.N(dt.TagFormalParameter, dt.Origin(d), dt.Location(0x50)) }
			return file(typ, a, b, inF(site(a, 4, at(p), at(p), at(q))))
		}, 1, "", ""},
		"ranges that run backwards": {func() []byte {
			a := dt.N(dt.TagSubprogram, dt.Name("a"), dt.Inline())
			return file(a, inF(site(a, 8, dt.Attr{At: atHighPC, Val: dt.Addr(dt.TextAddr)})))
		}, 1, "", ""},
		"ranges that are nowhere": {func() []byte {
			a := dt.N(dt.TagSubprogram, dt.Name("a"), dt.Inline())
			return file(a, inF(dt.N(dt.TagInlinedSubroutine, dt.Origin(a), dt.Attr{At: atRanges, Form: dt.FormSecOffset, Val: 1 << 30})))
		}, 0, "no address", ""},
		"name that is not an identifier": {func() []byte {
			a := dt.N(dt.TagSubprogram, dt.Name("a<int>"), dt.Inline())
			return file(a, inF(site(a, 8)))
		}, 0, "name that is not an identifier", ""},
		"a hundred thousand sites": {func() []byte {
			a := dt.N(dt.TagSubprogram, dt.Name("a"), dt.Inline())
			f := inF()
			for n := range uint64(100_000) {
				f.Add(site(a, n%0x10000))
			}
			return file(a, f)
		}, 100_000, "", ""},
		"too deep": {func() []byte {
			a := dt.N(dt.TagSubprogram, dt.Name("a"), dt.Inline())
			f := inF()
			for in, n := f, 0; n < 3000; n++ {
				next := site(a, 8)
				in.Add(next)
				in = next
			}
			return file(a, f)
		}, 0, "", "DIE tree too deep"},
	} {
		t.Run(name, func(t *testing.T) {
			path := testfile.New(t, "in", c.image())
			began := time.Now()
			out, err := encode.Run([]string{path}, encode.Options{Features: encode.DefaultFeatures, Inline: true})
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("%v", took)
			}
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) || strings.Contains(fmt.Sprint(err), "\n") {
					t.Errorf("error %v, want %q", err, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			if st := out.Stats.Inline; st.Sites != c.sites || c.drop != "" && st.Dropped[c.drop] != 1 {
				t.Errorf("%+v", st)
			}
		})
	}
}
