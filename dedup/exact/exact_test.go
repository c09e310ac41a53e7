package exact

import (
	"bytes"
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
				err = Certificate(raw, m, out)
				if slips := name == "quirks/array-slack"; slips != (err != nil) {
					t.Errorf("certificate: %v, want an error: %v", err, slips)
				}
			})
		}
	}
}

func TestStrictArraysKeepsPointersToDifferentArraysApart(t *testing.T) {
	raw := vectors.Parse(t, "quirks/array-slack.raw.btf", nil)
	out, m, err := DedupWithMap(raw, Options{StrictArrays: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := Certificate(raw, m, out); err != nil {
		t.Error(err)
	}
	slack, err := Dedup(raw, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Off) <= len(slack.Off) {
		t.Errorf("%d types, libbpf's slip leaves %d", len(out.Off), len(slack.Off))
	}
}

func TestLibbpfTypedefBugNeverReusesTypedefOfBase(t *testing.T) {
	base := vectors.Parse(t, "quirks/split.base.btf", nil)
	raw := vectors.Parse(t, "quirks/split-typedef-in-base.raw.btf", base)
	good, err := Dedup(raw, Options{})
	if err != nil {
		t.Fatal(err)
	}
	buggy, err := Dedup(raw, Options{LibbpfTypedefBug: true})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(btftest.Text(good), "TYPEDEF") || !strings.Contains(btftest.Text(buggy), "TYPEDEF") {
		t.Errorf("without the bug\n%swith the bug\n%s", btftest.Text(good), btftest.Text(buggy))
	}
}

func TestExactOfItsOwnOutputChangesNoType(t *testing.T) {
	for _, name := range vectors.Names(t, "unambiguous") {
		exp := vectors.Parse(t, name+".exp.btf", nil)
		out, err := Dedup(exp, Options{})
		if err != nil {
			t.Fatal(err)
		}
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
		out, err := Dedup(raw, Options{KeepStrings: keep})
		if err != nil {
			t.Fatal(err)
		}
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
	if err := Certificate(raw, m, out); err != nil {
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
	if err := Certificate(raw, m, out); err == nil || !strings.Contains(err.Error(), "[1]") {
		t.Errorf("changed third word: error %v", err)
	}
	out.Words[out.Off[0]+2]--
	m[2] = out.TypeCount()
	if err := Certificate(raw, m, out); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("dangling id: error %v", err)
	}
	if err := Certificate(raw, m[1:], out); err == nil {
		t.Error("short map accepted")
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
