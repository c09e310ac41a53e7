package dedup

import (
	"bytes"
	"fmt"
	"maps"
	"testing"

	"github.com/btflite/btflite/btf"
)

// TestMaxWords: records that take more than the header of BTF can say are refused before there is memory
// for them.
func TestMaxWords(t *testing.T) {
	var st store
	st.init()
	defer st.free()
	if _, err := st.addWords(maxWords - len(st.words.S) + 1); err == nil {
		t.Errorf("%d bytes of types", 4*len(st.words.S))
	}
}

// TestAdd adds types that come without a unit: of equal ones there is one, but for those
// that are never merged.
func TestAdd(t *testing.T) {
	const function, variable = 1, 2
	s := NewSet(texts{"function", "variable"}, 4)
	defer s.Free()
	for _, tok := range []Name{function, variable} {
		if _, err := s.Intern(tok); err != nil {
			t.Fatal(err)
		}
	}
	record := func(k btf.Kind, name Name, vlen uint32, rest ...uint32) btf.Record {
		return append(btf.Record{name, btf.Info(k, vlen, false)}, rest...)
	}
	types := 0
	// add gets id from do, and says whether that is a new one, as want does.
	add := func(what string, want bool, do func() (uint32, error)) uint32 {
		t.Helper()
		id, err := do()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if isNew := id == uint32(types+1); isNew != want || !isNew && id > uint32(types) {
			t.Fatalf("%s: id %d of %d, want a new one: %v", what, id, types, want)
		}
		if want {
			types++
		}
		return id
	}
	ref := func(r btf.Record) func() (uint32, error) { return func() (uint32, error) { return s.AddRef(r) } }
	own := func(r btf.Record) func() (uint32, error) { return func() (uint32, error) { return s.AddOwn(r) } }
	fn := func(name Name, proto btf.Record, alone bool) func() (uint32, error) {
		return func() (uint32, error) { return s.AddFunc(name, proto, alone) }
	}

	p := add("a pointer", true, ref(record(btf.KindPtr, 0, 0, 0)))
	if again := add("it again", false, ref(record(btf.KindPtr, 0, 0, 0))); again != p {
		t.Errorf("pointer %d and %d", p, again)
	}
	c := add("a constant pointer", true, ref(record(btf.KindConst, 0, 0, p)))
	if again := add("it again", false, ref(record(btf.KindConst, 0, 0, p))); again != c {
		t.Errorf("constant pointer %d and %d", c, again)
	}
	proto := record(btf.KindFuncProto, 0, 1, p, 0, c)
	add("a function", true, func() (uint32, error) {
		id, err := s.AddRef(proto)
		if err != nil || id != uint32(types+1) {
			t.Fatalf("prototype %d, %v", id, err)
		}
		types++
		return s.AddFunc(function, proto, false)
	})
	add("it again", false, fn(function, proto, false))
	add("a function of its own", true, fn(function, proto, true))
	add("another prototype", true, ref(record(btf.KindFuncProto, 0, 0, p)))
	v := record(btf.KindVar, variable, 0, p, 1)
	add("a variable", true, own(v))
	add("it again", true, own(v))

	n := s.Finish()
	defer n.Free()
	if n.Types != types {
		t.Errorf("%d types of %d", n.Types, types)
	}
}

// TestLoneFuncs: AddLoneFunc makes the output that AddFunc makes, in one piece or in several. The last
// prototype is so long that the last but one piece reaches the end of the types.
func TestLoneFuncs(t *testing.T) {
	const pointers, funcs, longest = 120, 60_000, 500_000
	fill := func(add func(s *Set, name Name, proto btf.Record) error) *Set {
		names := make(texts, funcs)
		for i := range names {
			names[i] = fmt.Sprint("function_", i)
		}
		s := NewSet(names, 0)
		last := uint32(0)
		for range pointers {
			id, err := s.AddRef(btf.MakeRecord(0, btf.Info(btf.KindPtr, 0, false), last))
			if err != nil {
				t.Fatal(err)
			}
			last = id
		}
		for i := range uint32(funcs) {
			if i%1000 == 999 { // a type that the output lacks
				id, err := s.AddOwn(btf.MakeRecord(0, btf.Info(btf.KindVar, 0, false), 1, 0))
				if err != nil {
					t.Fatal(err)
				}
				s.Forward(id, 1)
			}
			name, err := s.InternText(Name(i)+1, []byte(names[i]), TextHash([]byte(names[i])))
			if err != nil {
				t.Fatal(err)
			}
			proto := btf.MakeRecord(0, btf.Info(btf.KindFuncProto, 2, false), 0, 0, 1+i/2%pointers, 0, 1+i/pointers%pointers)
			if i == funcs-1 {
				proto = btf.MakeRecord(0, btf.Info(btf.KindFuncProto, longest, false), 0, make([]uint32, 2*longest)...)
			}
			if err := add(s, name, proto); err != nil {
				t.Fatal(err)
			}
		}
		return s
	}
	put := func(s *Set, jobs int, bigEndian bool) (*Numbering, []byte) {
		n := s.Finish()
		b := make([]byte, n.TypeBytes)
		n.PutTypes(b, bigEndian, jobs)
		return n, b
	}
	want := fill(func(s *Set, name Name, proto btf.Record) error { _, err := s.AddFunc(name, proto, true); return err })
	defer want.Free()
	got := fill(func(s *Set, name Name, proto btf.Record) error {
		AheadRecords(s, []uint32{RecordHash(proto)}) // changes nothing
		return s.AddLoneFunc(name, proto, RecordHash(proto))
	})
	defer got.Free()
	for _, bigEndian := range []bool{false, true} {
		n, a := put(want, 1, bigEndian)
		for jobs := 1; jobs <= 4; jobs++ {
			m, b := put(got, jobs, bigEndian)
			if m.Types != n.Types || m.End() != n.End() || !bytes.Equal(a, b) {
				t.Errorf("big-endian %v, %d jobs: %d types in %d bytes, want %d in %d", bigEndian, jobs, m.Types, len(b), n.Types, len(a))
			}
			if len(a) < 3*minPiece {
				t.Errorf("%d bytes are one piece", len(a))
			}
			m.Free()
		}
		n.Free()
	}
	if a, b := want.Strings(), got.Strings(); !bytes.Equal(a, b) {
		t.Error("other strings")
	}
}

// aliased notes the aliases of texts.
type aliased struct {
	texts
	alias map[Name]Name
}

func (x aliased) Alias(t, c Name) { x.alias[t] = c }

// TestPlaceTokens: InternText gives a new text the token of its place, and a known one the token
// that it has. Other tokens of the text become aliases.
func TestPlaceTokens(t *testing.T) {
	names := aliased{texts{"known", "new", "known", "new", "last"}, map[Name]Name{}}
	s := NewSet(names, 0)
	defer s.Free()
	intern := func(tok, want Name) {
		t.Helper()
		text := names.texts[tok-1]
		if got, err := s.InternText(tok, []byte(text), TextHash([]byte(text))); err != nil || got != want {
			t.Errorf("%q: token %#x, %v, want %#x", text, got, err, want)
		}
	}
	if tok, err := s.Intern(1); err != nil || tok != 1 {
		t.Fatalf("token %d, %v", tok, err)
	}
	intern(1, 1)
	intern(2, PlaceToken+7)
	intern(2, PlaceToken+7)
	intern(3, 1)
	if tok, err := s.Intern(4); err != nil || tok != PlaceToken+7 {
		t.Errorf("token %#x, %v", tok, err)
	}
	intern(5, PlaceToken+11)
	if tok, err := s.Intern(PlaceToken + 7); err != nil || tok != PlaceToken+7 {
		t.Errorf("token %#x, %v", tok, err)
	}
	if want := map[Name]Name{2: PlaceToken + 7, 3: 1, 4: PlaceToken + 7}; !maps.Equal(names.alias, want) {
		t.Errorf("aliases %#x, want %#x", names.alias, want)
	}
	if got := string(s.Strings()); got != "\x00known\x00new\x00last\x00" {
		t.Errorf("strings %q", got)
	}
	m := s.MoreStrings()
	defer m.Free()
	if off, err := m.Offset(PlaceToken + 11); err != nil || off != 11 {
		t.Errorf("offset %d, %v", off, err)
	}
}
