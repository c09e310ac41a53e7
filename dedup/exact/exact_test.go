package exact

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/dedup/deduptest"
)

const vectors = deduptest.Vectors("../testdata/vectors")

func TestExactEqualsLibbpfOnVectors(t *testing.T) {
	want := map[string]int{"unambiguous": 75, "ambiguous": 75, "quirks": 10}
	for folder, count := range want {
		names := vectors.Names(t, folder)
		if len(names) != count {
			t.Errorf("%s: %d vectors, want %d", folder, len(names), count)
		}
		for _, name := range names {
			t.Run(name, func(t *testing.T) {
				base := vectors.Base(t, name)
				raw := vectors.Parse(t, name+".raw.btf", base)
				before := raw.Encode()
				out, m, err := DedupWithMap(raw, Options{})
				if err != nil {
					t.Fatal(err)
				}
				exp := vectors.File(t, name+".exp.btf")
				if !bytes.Equal(out.Encode(), exp) {
					t.Errorf("(-want +got)\n%s", cmp.Diff(btftest.Text(vectors.Parse(t, name+".exp.btf", base)), btftest.Text(out)))
				}
				if !bytes.Equal(raw.Encode(), before) {
					t.Error("the input was changed")
				}
				if folder == "ambiguous" {
					return // libbpf binds forwards of ambiguous names to either body
				}
				err = deduptest.Certificate(raw, m, out)
				if slips := name == "quirks/array-slack"; slips != (err != nil) {
					t.Errorf("certificate: %v, want an error: %v", err, slips)
				}
			})
		}
	}
}

// mustDedup is Dedup for BTF that can be deduplicated.
func mustDedup(t *testing.T, raw *btf.Blob, o Options) *btf.Blob {
	t.Helper()
	out, err := Dedup(raw, o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestStrictArraysKeepsPointersToDifferentArraysApart(t *testing.T) {
	raw := vectors.Parse(t, "quirks/array-slack.raw.btf", nil)
	out, m, err := DedupWithMap(raw, Options{StrictArrays: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := deduptest.Certificate(raw, m, out); err != nil {
		t.Error(err)
	}
	slack := mustDedup(t, raw, Options{})
	if len(out.Off) <= len(slack.Off) {
		t.Errorf("%d types, libbpf's slip leaves %d", len(out.Off), len(slack.Off))
	}
}

func TestLibbpfTypedefBugNeverReusesTypedefOfBase(t *testing.T) {
	base := vectors.Parse(t, "quirks/split.base.btf", nil)
	raw := vectors.Parse(t, "quirks/split-typedef-in-base.raw.btf", base)
	good := mustDedup(t, raw, Options{})
	buggy := mustDedup(t, raw, Options{LibbpfTypedefBug: true})
	if strings.Contains(btftest.Text(good), "TYPEDEF") || !strings.Contains(btftest.Text(buggy), "TYPEDEF") {
		t.Errorf("without the bug\n%swith the bug\n%s", btftest.Text(good), btftest.Text(buggy))
	}
}

func TestExactOfItsOwnOutputChangesNoType(t *testing.T) {
	for _, name := range vectors.Names(t, "unambiguous") {
		exp := vectors.Parse(t, name+".exp.btf", nil)
		out := mustDedup(t, exp, Options{})
		if btftest.Text(out) != btftest.Text(exp) {
			t.Errorf("%s: second run differs", name)
		}
	}
}

func TestKeepStringsLeavesStringsAsAccumulated(t *testing.T) {
	b := btftest.New()
	b.Str("unused")
	b.Add("int", btf.Info(btf.KindInt, 0, false), 4, 32)
	b.Add("int", btf.Info(btf.KindInt, 0, false), 4, 32)
	raw := b.Blob(t)
	for keep, want := range map[bool]string{true: "\x00unused\x00int\x00", false: "\x00int\x00"} {
		out := mustDedup(t, raw, Options{KeepStrings: keep})
		if string(out.Strings) != want || len(out.Off) != 1 {
			t.Errorf("KeepStrings %v: strings %q, %d types", keep, out.Strings, len(out.Off))
		}
	}
}

func TestExactRefusesImpossibleGraphs(t *testing.T) {
	link := func(k btf.Kind) uint32 { return btf.Info(k, 0, false) }
	tests := []struct {
		name  string
		build func(b *btftest.Builder)
		want  string
	}{
		{"loop of references", func(b *btftest.Builder) {
			b.Add("", link(btf.KindPtr), 2)
			b.Add("", link(btf.KindConst), 1)
		}, "refers to itself"},
		{"typedef of a variable", func(b *btftest.Builder) {
			for range 2 {
				b.Add("int", link(btf.KindInt), 4, 32)
				v := b.Add("v", link(btf.KindVar), 1, 0)
				b.Add("t", link(btf.KindTypedef), v)
			}
		}, "refers to VAR"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := btftest.New()
			tt.build(b)
			raw := b.Blob(t)
			if _, err := Dedup(raw, Options{}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestExactTakesVeryDeepGraphs(t *testing.T) {
	const depth = 200_000
	b := btftest.New()
	for range 2 {
		first := b.Struct("s", 8, b.Member("m", 0, 0))
		last := first
		for range depth {
			last = b.Ptr(last)
		}
		b.Typedef("t", last)
	}
	raw := b.Blob(t)
	out, m, err := DedupWithMap(raw, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Off) != depth+2 {
		t.Errorf("%d types, want %d", len(out.Off), depth+2)
	}
	if err := deduptest.Certificate(raw, m, out); err != nil {
		t.Error(err)
	}
}

func TestCertificateNamesTheViolation(t *testing.T) {
	raw := vectors.Parse(t, "quirks/proto-param-names.raw.btf", nil)
	out, m, err := DedupWithMap(raw, Options{})
	if err != nil {
		t.Fatal(err)
	}
	out.Words[out.Off[0]+2]++
	if err := deduptest.Certificate(raw, m, out); err == nil || !strings.Contains(err.Error(), "[1]") {
		t.Errorf("changed third word: error %v", err)
	}
	out.Words[out.Off[0]+2]--
	m[2] = out.TypeCount()
	if err := deduptest.Certificate(raw, m, out); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("dangling id: error %v", err)
	}
	if err := deduptest.Certificate(raw, m[1:], out); err == nil {
		t.Error("short map accepted")
	}
}

// everyKind adds a type of each kind whose records differ in shape.
func everyKind(b *btftest.Builder) {
	i := b.Int("int", 4)
	b.Enum("e", b.Value("A", 1), b.Value("B", 2))
	b.Struct("s", 8, b.Member("a", i, 0), b.Member("b", i, 32))
	p := b.Proto(i, b.Param("x", i), b.Param("y", i))
	f := b.Func("f", 1, p)
	l := b.Add("", btf.Info(btf.KindLocParam, 1, false), 4, btf.LocReg, 5)
	q := b.Add("", btf.Info(btf.KindLocProto, 2, false), 0, l, l)
	b.Add(".text", btf.Info(btf.KindLocsec, 2, false), 0, f, q, 16, f, q, 32)
	b.Array(i, i, 3)
}

// TestUnmerged: of two equal types one stays, except for VAR, DATASEC and LOCSEC, in one file and
// over a base. libbpf 1.7 does so with VAR and DATASEC, also with an empty one.
func TestUnmerged(t *testing.T) {
	kinds := func(base *btf.Blob, times int) (n map[btf.Kind]int, out *btf.Blob) {
		raw := btftest.Build(t, base, func(b *btftest.Builder) {
			for range times {
				btftest.EveryKind(b)
				b.Datasec(".bss", 0)
			}
		})
		out, m, err := DedupWithMap(raw, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := deduptest.Certificate(raw, m, out); err != nil {
			t.Error(err)
		}
		n = map[btf.Kind]int{}
		for id := out.FirstID; id < out.TypeCount(); id++ {
			n[out.Kind(id)]++
		}
		return n, out
	}
	one, base := kinds(nil, 1)
	two, _ := kinds(nil, 2)
	over, _ := kinds(base, 1)
	for k, n := range one {
		again := 0
		if unmerged.Has(k) {
			again = n
		}
		if two[k] != n+again || over[k] != again {
			t.Errorf("%s: %d types, %d of input that is there twice, %d over a base that has them", k, n, two[k], over[k])
		}
	}
}

// TestCertificateWords: the certificate refuses a survivor that differs in one word,
// whichever word it is. It accepts a definition for a forward of its name.
func TestCertificateWords(t *testing.T) {
	raw := btftest.Build(t, nil, func(b *btftest.Builder) {
		everyKind(b)
		b.Int("other", 8)
	})
	m := make([]uint32, raw.TypeCount())
	for id := range m {
		m[id] = uint32(id)
	}
	out := *raw
	out.Words = slices.Clone(raw.Words)
	if err := deduptest.Certificate(raw, m, &out); err != nil {
		t.Fatal(err)
	}
	for id := uint32(1); id < raw.TypeCount(); id++ {
		for at := range raw.Record(id) {
			w := &out.Words[raw.Off[id-1]:][:at+1][at]
			was := *w
			*w ^= 1
			if err := deduptest.Certificate(raw, m, &out); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("[%d]", id)) {
				t.Errorf("[%d] %s, another word %d: error %v", id, raw.Kind(id), at, err)
			}
			*w = was
		}
	}
	// All ids are others in the result, so that references are compared by the map.
	moved := btftest.Build(t, nil, func(b *btftest.Builder) {
		b.Int("other", 8)
		everyKind(b)
	})
	for id := range m[1:] {
		m[1+id] = uint32(1+id)%(raw.TypeCount()-1) + 1
	}
	if err := deduptest.Certificate(raw, m, moved); err != nil {
		t.Error(err)
	}
}

// TestCertificateForwards: the types that may stand for an enumeration or a forward.
func TestCertificateForwards(t *testing.T) {
	enum := func(name string, values ...int32) func(*btftest.Builder) {
		return func(b *btftest.Builder) {
			var parts []btftest.Part
			for _, v := range values {
				parts = append(parts, b.Value("A", v))
			}
			b.Enum(name, parts...)
		}
	}
	ptr := func(b *btftest.Builder) { b.Ptr(0) }
	void := func(b *btftest.Builder) { b.Const(0) }
	fwd := func(b *btftest.Builder) { b.Fwd("s") }
	fwdUnion := func(b *btftest.Builder) { b.FwdUnion("s") }
	structure := func(b *btftest.Builder) { b.Struct("s", 0) }
	union := func(b *btftest.Builder) { b.Union("s", 0) }
	for _, tt := range []struct {
		name     string
		raw, out func(*btftest.Builder)
		want     bool
	}{
		{"a definition of an enumeration", enum("e"), enum("e", 1), true},
		{"of another name", enum("e"), enum("f", 1), false},
		{"other values", enum("e", 1), enum("e", 2), false},
		{"more values", enum("e", 1), enum("e", 1, 2), false},
		{"no values", enum("e", 1), enum("e"), false},
		{"a pointer is not an enumeration", ptr, void, false},
		{"an enumeration is not a pointer", enum(""), ptr, false},
		{"struct", fwd, structure, true},
		{"union", fwdUnion, union, true},
		{"union for struct", fwd, union, false},
		{"struct for union", fwdUnion, structure, false},
		{"forward for struct", structure, fwd, false},
	} {
		raw, out := btftest.Build(t, nil, tt.raw), btftest.Build(t, nil, tt.out)
		if err := deduptest.Certificate(raw, []uint32{0, 1}, out); (err == nil) != tt.want {
			t.Errorf("%s: error %v", tt.name, err)
		}
	}
}

// TestIdenticalDepth: libbpf compares copies of a type 16 structs or prototypes
// deep; what is deeper counts as different.
func TestIdenticalDepth(t *testing.T) {
	for name, wrap := range map[string]func(b *btftest.Builder, inner uint32) uint32{
		"members":    func(b *btftest.Builder, inner uint32) uint32 { return b.Struct("s", 4, b.Member("m", inner, 0)) },
		"parameters": func(b *btftest.Builder, inner uint32) uint32 { return b.Proto(0, b.Param("p", inner)) },
		"results":    func(b *btftest.Builder, inner uint32) uint32 { return b.Proto(inner) },
	} {
		for levels, want := range map[int]bool{1: true, 15: true, 16: false, 17: false} {
			var tops [2]uint32
			raw := btftest.Build(t, nil, func(b *btftest.Builder) {
				for i := range tops {
					tops[i] = b.Ptr(b.Int("int", 4)) // two ints, which are compared as well
					for range levels {
						tops[i] = wrap(b, b.Ptr(tops[i]))
					}
				}
			})
			d, err := newState(raw, Options{})
			if err != nil {
				t.Fatal(err)
			}
			d.budget = maxSteps
			same, err := d.identical(tops[0], tops[1], maxDepth)
			if err != nil || same != want {
				t.Errorf("%s, %d levels: %v, %v, want %v", name, levels, same, err, want)
			}
		}
	}
}

// TestExactIndexOrder compares the index with lists that are really reversed.
func TestExactIndexOrder(t *testing.T) {
	x := newIndex()
	lists := map[uint64][]uint32{}
	doubles := map[uint32]bool{1: true, 4: true, 7: true, 13: true, 25: true, 49: true, 97: true, 193: true}
	for n := uint32(1); n <= 200; n++ {
		if doubles[n] {
			for _, l := range lists {
				for i, j := 0, len(l)-1; i < j; i, j = i+1, j-1 {
					l[i], l[j] = l[j], l[i]
				}
			}
		}
		key := uint64(n*7%5) % 3
		lists[key] = append([]uint32{n}, lists[key]...)
		x.insert(key, n)
		for key, want := range lists {
			i := 0
			for cur := x.first(key); cur >= 0; i++ {
				var id uint32
				id, cur = x.at(cur)
				if i >= len(want) || id != want[i] {
					t.Fatalf("after %d entries, key %d: place %d holds %d, want %v", n, key, i, id, want)
				}
			}
			if i != len(want) {
				t.Fatalf("after %d entries, key %d: %d ids, want %d", n, key, i, len(want))
			}
		}
	}
	if x.first(99) >= 0 {
		t.Error("missing key has candidates")
	}
}

func FuzzExact(f *testing.F) {
	for _, folder := range []string{"quirks", "ambiguous"} {
		for i, name := range vectors.Names(f, folder) {
			if i < 12 && vectors.Base(f, name) == nil {
				raw := vectors.Parse(f, name+".raw.btf", nil)
				f.Add(raw.Encode())
				raw.Form = btf.WithLayout()
				f.Add(raw.Encode())
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		raw, err := btf.Parse(data, nil)
		if err != nil {
			return
		}
		if len(raw.Skipped) > 0 {
			if _, _, err := DedupWithMap(raw, Options{}); err == nil {
				t.Fatal("types of unknown kinds are merged")
			}
			return
		}
		out, m, err := DedupWithMap(raw, Options{StrictArrays: true})
		if err != nil {
			return
		}
		if _, err := btf.Parse(out.Encode(), nil); err != nil {
			t.Fatalf("result does not parse: %v", err)
		}
		for id, to := range m {
			if to >= out.TypeCount() {
				t.Fatalf("[%d] became [%d] of %d", id, to, out.TypeCount())
			}
		}
	})
}
