package dedup

import (
	"testing"

	"github.com/btflite/btflite/btf"
)

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
