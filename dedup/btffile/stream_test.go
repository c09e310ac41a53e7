package btffile

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/dedup/deduptest"
	"github.com/btflite/btflite/dedup/exact"
)

const vectors = deduptest.Vectors("../testdata/vectors")

func TestStreamEqualsLibbpfOnUnambiguousVectors(t *testing.T) {
	for _, name := range vectors.Names(t, "unambiguous") {
		t.Run(name, func(t *testing.T) {
			raw := vectors.Parse(t, name+".raw.btf", nil)
			before := raw.Encode()
			exp := vectors.File(t, name+".exp.btf")
			out, m, err := Stream(raw)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(out.Encode(), exp) {
				t.Errorf("(-want +got)\n%s", cmp.Diff(btftest.Text(vectors.Parse(t, name+".exp.btf", nil)), btftest.Text(out)))
			}
			if err := deduptest.Certificate(raw, m, out); err != nil {
				t.Error(err)
			}
			if !bytes.Equal(raw.Encode(), before) {
				t.Error("the input was changed")
			}
		})
	}
}

func TestStreamTakesAmbiguousAndQuirkyVectors(t *testing.T) {
	differ := map[string]bool{"quirks/array-slack": true} // a slip of libbpf that exact copies
	for _, folder := range []string{"ambiguous", "quirks"} {
		same, all := 0, 0
		for _, name := range vectors.Names(t, folder) {
			if vectors.Base(t, name) != nil {
				continue
			}
			out, _, err := Stream(vectors.Parse(t, name+".raw.btf", nil))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			exp := vectors.Parse(t, name+".exp.btf", nil)
			equal := bytes.Equal(out.Encode(), exp.Encode())
			if folder == "quirks" && equal == differ[name] {
				t.Errorf("%s: (-want +got)\n%s", name, cmp.Diff(btftest.Text(exp), btftest.Text(out)))
			}
			all++
			if equal {
				same++
			}
		}
		t.Logf("%s: %d of %d identical", folder, same, all)
	}
}

// streamBoth deduplicates what build adds, in both modes, and reports
// differences.
func streamBoth(t *testing.T, bigEndian bool, build func(b *btftest.Builder)) *btf.Blob {
	t.Helper()
	b := btftest.New()
	b.BigEndian = bigEndian
	build(b)
	raw := b.Blob(t)
	want, err := exact.Dedup(raw, exact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, m, err := Stream(raw)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Encode(), want.Encode()) {
		t.Errorf("%d types, want %d: %s", len(got.Off), len(want.Off), deduptest.FirstDifference(btftest.Text(got), btftest.Text(want)))
	}
	if err := deduptest.Certificate(raw, m, got); err != nil {
		t.Error(err)
	}
	return got
}

// TestStreamTakesRecordsAsTheyCome has what the random inputs do not have.
func TestStreamTakesRecordsAsTheyCome(t *testing.T) {
	info := func(k btf.Kind, vlen uint32) uint32 { return btf.Info(k, vlen, false) }
	enum := func(b *btftest.Builder, name string, size uint32, values ...string) uint32 {
		var w []uint32
		for i, v := range values {
			w = append(w, b.Str(v), uint32(i))
		}
		return b.Add(name, info(btf.KindEnum, uint32(len(values))), size, w...)
	}
	tests := map[string]func(b *btftest.Builder){
		"nothing": func(b *btftest.Builder) {},
		"anonymous enumerations without values": func(b *btftest.Builder) {
			enum(b, "", 4)
			enum(b, "", 4, "A")
			enum(b, "", 4)
		},
		"forward enumerations of several sizes": func(b *btftest.Builder) {
			for _, size := range []uint32{4, 8, 1} {
				b.Add("", info(btf.KindPtr, 0), enum(b, "e", size))
			}
			b.Add("e", info(btf.KindEnum64, 0), 8)
			enum(b, "e", 4, "A")
		},
		"forward enumeration after its definition": func(b *btftest.Builder) {
			enum(b, "e", 4, "A")
			b.Add("", info(btf.KindPtr, 0), enum(b, "e", 4))
		},
		"variable and section in the middle of a run": func(b *btftest.Builder) {
			for at := range 2 {
				first := b.Add("", info(btf.KindPtr, 0), uint32(5*at+5))
				v := b.Add("v", info(btf.KindVar, 0), first, 1)
				b.Add(".data", info(btf.KindDatasec, 1), 1<<20, v, 4, 8)
				b.Add("tag", info(btf.KindDeclTag, 0), v, 0xffffffff)
				b.Add("s", info(btf.KindStruct, 1), 8, b.Str("p"), first, 0)
			}
		},
		"section in a run of its own": func(b *btftest.Builder) {
			v := b.Add("v", info(btf.KindVar, 0), 0, 1)
			b.Add(".data", info(btf.KindDatasec, 1), 1<<20, v, 4, 8)
			b.Add(".bss", info(btf.KindDatasec, 0), 1<<30)
		},
		"recursive typedef": func(b *btftest.Builder) {
			for at := range uint32(3) {
				b.Add("", info(btf.KindPtr, 0), 2*at+2)
				b.Add("t", info(btf.KindTypedef, 0), 2*at+1)
			}
		},
		"forward and definition in one unit": func(b *btftest.Builder) {
			for range 2 {
				f := b.Add("x", info(btf.KindFwd, 0), 0)
				p := b.Add("", info(btf.KindPtr, 0), f)
				b.Add("y", info(btf.KindStruct, 1), 8, b.Str("p"), p, 0)
				x := b.Add("x", info(btf.KindStruct, 0), 0)
				q := b.Add("", info(btf.KindPtr, 0), x)
				b.Add("z", info(btf.KindStruct, 1), 8, b.Str("p"), q, 0)
			}
		},
		"forward first, definition in the unit that meets it": func(b *btftest.Builder) {
			f := b.Add("x", info(btf.KindFwd, 0), 0)
			p := b.Add("", info(btf.KindPtr, 0), f)
			b.Add("y", info(btf.KindStruct, 1), 8, b.Str("p"), p, 0)
			x := b.Add("x", info(btf.KindStruct, 0), 0)
			q := b.Add("", info(btf.KindPtr, 0), x)
			b.Add("y", info(btf.KindStruct, 1), 8, b.Str("p"), q, 0)
		},
		"names that share the end of a string": func(b *btftest.Builder) {
			n := b.Str("abc")
			s := b.Add("abc", info(btf.KindStruct, 1), 4, n+1, 0, 0)
			b.Add("bc", info(btf.KindTypedef, 0), s)
			b.Add("s", info(btf.KindStruct, 1), 4, n+3, s, 0)
			b.Add("s", info(btf.KindStruct, 1), 4, 0, s, 0)
		},
		"pointers with names": func(b *btftest.Builder) {
			b.Add("p", info(btf.KindPtr, 0), 0)
			b.Add("", info(btf.KindPtr, 0), 0)
			b.Add("q", info(btf.KindConst, 0), 0)
			b.Add("", info(btf.KindConst, 1), 0)
		},
		"chain of 100000 pointers to later types": func(b *btftest.Builder) {
			for id := range uint32(100_000) {
				b.Add("", info(btf.KindPtr, 0), id+2)
			}
			b.Add("s", info(btf.KindStruct, 1), 4, 0, 1, 0)
		},
		"chain of 100000 pointers to earlier types": func(b *btftest.Builder) {
			for id := range uint32(100_000) {
				b.Add("", info(btf.KindPtr, 0), id)
			}
			b.Add("s", info(btf.KindStruct, 1), 4, 0, 100_000, 0)
		},
		"struct of 100000 members": func(b *btftest.Builder) {
			for range 2 {
				var m []uint32
				for i := range uint32(100_000) {
					m = append(m, 0, 0, i)
				}
				b.Add("s", info(btf.KindStruct, 100_000), 4, m...)
			}
		},
	}
	for name, build := range tests {
		t.Run(name, func(t *testing.T) {
			for _, big := range []bool{false, true} {
				if out := streamBoth(t, big, build); out.BigEndian != big {
					t.Errorf("big endian %v became %v", big, out.BigEndian)
				}
			}
		})
	}
}

func TestStreamRefusesLoopsOfReferences(t *testing.T) {
	for _, kinds := range [][]btf.Kind{{btf.KindPtr}, {btf.KindPtr, btf.KindConst}, {btf.KindVolatile, btf.KindPtr, btf.KindRestrict}} {
		b := btftest.New()
		for i, k := range kinds {
			b.Add("", btf.Info(k, 0, false), uint32((i+1)%len(kinds)+1))
		}
		raw := b.Blob(t)
		if _, _, err := Stream(raw); err == nil || !strings.Contains(err.Error(), "refers to itself") {
			t.Errorf("%v: error %v", kinds, err)
		}
	}
}

// TestStreamMergesOnlyWhatIsEqualInEveryWord changes one word of a copy at a
// time: the copy must then stay.
func TestStreamMergesOnlyWhatIsEqualInEveryWord(t *testing.T) {
	const (
		intID, longID, proto, proto2, variable, variable2, own = 1, 2, 3, 4, 5, 6, 7
	)
	type record struct {
		name        string
		info, third uint32
		extra       []uint32
	}
	// Extra words that are names are 1 here, or 2 when changed.
	records := []record{
		{"n", btf.Info(btf.KindInt, 0, false), 2, []uint32{16}},
		{"n", btf.Info(btf.KindFloat, 0, false), 8, nil},
		{"", btf.Info(btf.KindPtr, 0, false), intID, nil},
		{"", btf.Info(btf.KindConst, 0, false), intID, nil},
		{"", btf.Info(btf.KindVolatile, 0, false), intID, nil},
		{"", btf.Info(btf.KindRestrict, 0, false), intID, nil},
		{"n", btf.Info(btf.KindTypedef, 0, false), intID, nil},
		{"n", btf.Info(btf.KindTypeTag, 0, false), intID, nil},
		{"", btf.Info(btf.KindArray, 0, false), 0, []uint32{intID, intID, 5}},
		{"n", btf.Info(btf.KindStruct, 2, false), 8, []uint32{1, intID, 0, 1, intID, 32}},
		{"", btf.Info(btf.KindStruct, 2, false), 8, []uint32{1, intID, 0, 1, intID, 32}},
		{"n", btf.Info(btf.KindUnion, 2, true), 8, []uint32{1, intID, 0, 1, intID, 0}},
		{"", btf.Info(btf.KindUnion, 1, true), 8, []uint32{1, intID, 0}},
		{"n", btf.Info(btf.KindEnum, 2, false), 4, []uint32{1, 0, 1, 1}},
		{"", btf.Info(btf.KindEnum, 2, false), 4, []uint32{1, 0, 1, 1}},
		{"n", btf.Info(btf.KindEnum64, 1, false), 8, []uint32{1, 0, 7}},
		{"", btf.Info(btf.KindEnum64, 1, false), 8, []uint32{1, 0, 7}},
		{"n", btf.Info(btf.KindFwd, 0, false), 0, nil},
		{"", btf.Info(btf.KindFuncProto, 2, false), intID, []uint32{1, intID, 1, intID}},
		{"n", btf.Info(btf.KindFunc, 1, false), proto, nil},
		{"n", btf.Info(btf.KindDeclTag, 0, false), variable, []uint32{2}},
		{"n", btf.Info(btf.KindVar, 0, false), intID, []uint32{1}},
		{"n", btf.Info(btf.KindDatasec, 1, false), 64, []uint32{variable, 0, 8}},
	}
	swap := map[uint32]uint32{intID: longID, proto: proto2, variable: variable2}
	for _, r := range records {
		k, vlen := btf.InfoKind(r.info), btf.InfoVlen(r.info)
		refStart, refStride, refs := btf.RefWords(k, vlen)
		nameStride, names := btf.NameWords(k, vlen)
		// types counts the types that stay when word is changed in the copy.
		types := func(word int) int {
			b := btftest.New()
			b.Add("int", btf.Info(btf.KindInt, 0, false), 4, 32)
			b.Add("long", btf.Info(btf.KindInt, 0, false), 8, 64)
			b.Proto(0)
			b.Proto(longID)
			b.Var("v", 0, btftest.Static)
			b.Var("w", 0, btftest.Static)
			for _, word := range []int{-1, word} {
				name, info, third := r.name, r.info, r.third
				w := append([]uint32(nil), r.extra...)
				for i := range names {
					w[nameStride*i] = b.Str("field")
				}
				isRef := func(i int) bool {
					return i == 2 && btf.ThirdIsRef(k) || i >= refStart && i < refStart+refs*refStride && (i-refStart)%refStride == 0
				}
				switch {
				case word < 0:
				case word == 0:
					name = "other"
				case word == 1:
					info ^= 1 << 31
				case word == 2 && isRef(2):
					third = swap[third]
				case word == 2:
					third++
				case isRef(word):
					w[word-3] = swap[w[word-3]]
				case word < 3+names*nameStride && (word-3)%nameStride == 0:
					w[word-3] = b.Str("other field")
				case word < 3+len(w):
					w[word-3]++
				case word == 3+len(w): // the vlen
					if k == btf.KindFunc {
						info--
					} else {
						info++
						w = append(w, b.Str("one more"), 0, 0)
						w = w[:btf.ExtraWords(k, vlen+1)]
					}
				}
				b.Add(name, info, third, w...)
			}
			raw := b.Blob(t)
			out, _, err := Stream(raw)
			if err != nil {
				t.Fatal(err)
			}
			return len(out.Off)
		}
		base := own
		if k == btf.KindVar || k == btf.KindDatasec {
			base++ // never merged
		}
		if n := types(-1); n != base {
			t.Errorf("%s: %d types with an equal copy, want %d", k, n, base)
		}
		end := 3 + len(r.extra)
		if k == btf.KindFunc || names > 0 {
			end++
		}
		for word := range end {
			if n := types(word); n != own+1 {
				t.Errorf("%s '%s': %d types after word %d of the copy was changed, want %d", k, r.name, n, word, own+1)
			}
		}
	}
}

func FuzzStream(f *testing.F) {
	for _, folder := range []string{"quirks", "ambiguous", "unambiguous"} {
		for i, name := range vectors.Names(f, folder) {
			if i < 12 && vectors.Base(f, name) == nil {
				raw := vectors.Parse(f, name+".raw.btf", nil)
				f.Add(raw.Encode())
				raw.Form = btf.WithLayout()
				f.Add(raw.Encode())
			}
		}
	}
	for seed := range uint64(8) {
		opt := deduptest.Options{Names: 4, Units: 3, Ambiguous: seed%2 == 0, Mixed: seed%4 < 2, Loops: true}
		raw, _ := deduptest.NewUniverse(seed, opt).Build(f, seed > 5)
		f.Add(raw.Encode())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		raw, err := btf.Parse(data, nil)
		if err != nil || len(data) > 1<<16 {
			return
		}
		if raw, err = raw.WithoutSkipped(); err != nil {
			return
		}
		watch := time.AfterFunc(20*time.Second, func() { panic("endless, or as good as") })
		defer watch.Stop()
		out, m, err := Stream(raw)
		if (out == nil) == (err == nil) {
			t.Fatalf("result %v with error %v", out, err)
		}
		if err != nil {
			return
		}
		for id, to := range m {
			if to >= out.TypeCount() {
				t.Fatalf("[%d] became [%d] of %d", id, to, out.TypeCount())
			}
		}
		parsed, err := btf.Parse(out.Encode(), nil)
		if err != nil {
			t.Fatalf("result does not parse: %v", err)
		}
		again, _, err := Stream(parsed)
		if err != nil {
			t.Fatalf("second run: %v", err)
		}
		if len(again.Off) > len(out.Off) {
			t.Fatalf("%d types became %d", len(out.Off), len(again.Off))
		}
	})
}
