package btf

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

// chainFiles are the levels of testdata/split, root first.
func chainFiles(t testing.TB, target string) [][]byte {
	t.Helper()
	var levels [][]byte
	for _, name := range []string{"base", "module", "upper"} {
		levels = append(levels, testfile.Read(t, "../testdata/split/"+target+"."+name+".btf"))
	}
	return levels
}

// parseChain reads levels, each over the one before.
func parseChain(levels ...[]byte) (b *Blob, err error) {
	for _, data := range levels {
		if b, err = Parse(data, b); err == nil {
			err = b.CheckBase()
		}
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}

// checkChain calls the methods of b for every id and name of all levels.
func checkChain(t testing.TB, b *Blob) {
	if b.Record(0) != nil || b.Record(b.TypeCount()) != nil || b.NameBytes(b.StrEnd()) != nil {
		t.Fatal("something is there beyond the ends")
	}
	for id := uint32(1); id < b.TypeCount(); id++ {
		r := b.Record(id)
		if len(r) != 3+ExtraWords(b.Kind(id), InfoVlen(r[1])) {
			t.Fatalf("[%d]: record of %d words", id, len(r))
		}
		EachRef(r, func(to *uint32) {
			if *to != 0 && b.Record(*to) == nil {
				t.Fatalf("[%d] refers to [%d]", id, *to)
			}
		})
		EachName(r, func(off *uint32) {
			if bytes.IndexByte(b.NameBytes(*off), 0) >= 0 {
				t.Fatalf("[%d]: name with NUL", id)
			}
		})
	}
}

func TestChain(t *testing.T) {
	for _, target := range []string{"x86", "s390x"} {
		b, err := parseChain(chainFiles(t, target)...)
		if err != nil {
			t.Fatal(err)
		}
		checkChain(t, b)
		// Names of each level, from the top.
		for _, name := range []string{"thing", "mine", "upper"} {
			found := false
			for id := uint32(1); id < b.TypeCount(); id++ {
				found = found || b.Kind(id) == KindStruct && b.Name(b.Record(id)[0]) == name
			}
			if !found {
				t.Errorf("%s: no struct %s", target, name)
			}
		}
	}
}

func TestCheckBaseRefuses(t *testing.T) {
	x86, s390x := chainFiles(t, "x86"), chainFiles(t, "s390x")
	base := MustParse(t, x86[0], nil)
	// A base that is larger than the right one: all ids and names exist.
	other := NewBuilder(false, nil)
	other.Str("x")
	for id := uint32(1); id < base.TypeCount(); id++ {
		other.Add("", Info(KindFuncProto, 0, false), 0)
		other.Str(strings.Repeat("y", int(id)+9))
	}
	larger := MustBlob(t, other)
	// The right base with padded strings, as in the section of a linked kernel.
	padded := *base
	padded.Strings = append(slices.Clone(base.Strings), make([]byte, 400)...)
	for _, c := range []struct {
		name   string
		levels [][]byte
		want   string
	}{
		{"padded", [][]byte{padded.Encode(), x86[1]}, "is between the strings of the base"},
		{"the base is missing", x86[1:], "strings: offset 0 is not the empty string"},
		{"a level is missing", [][]byte{x86[0], x86[2]}, "out of range"},
		{"twice the base", [][]byte{x86[0], x86[0]}, "whole by itself"},
		{"byte order", [][]byte{x86[0], s390x[1]}, "byte order differs from the base's"},
		{"another base", [][]byte{larger.Encode(), x86[1]}, "is inside a string of the base"},
	} {
		b, err := parseChain(c.levels...)
		if err == nil || b != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

// FuzzChain reads three levels. BTF that is accepted has no invalid reference.
func FuzzChain(f *testing.F) {
	for _, target := range []string{"x86", "s390x"} {
		l := chainFiles(f, target)
		f.Add(l[0], l[1], l[2])
		f.Add(l[0], l[2], l[1])
		f.Add(l[0], l[0], l[1])
		root, err := Parse(l[0], nil)
		if err != nil {
			f.Fatal(err)
		}
		root.Form = WithLayout()
		f.Add(root.Encode(), l[1], l[2])
	}
	f.Fuzz(func(t *testing.T, root, middle, top []byte) {
		b, err := parseChain(root, middle, top)
		if err != nil {
			return
		}
		checkChain(t, b)
	})
}
