package compactstate

import (
	"fmt"
	"testing"
)

func TestRepeatIsKeptOnce(t *testing.T) {
	s := NewStates()
	params := []Param{{1, 2}, {3, 4}}
	ann := []Annotation{{5, -1}}
	if s.Has(1, 0, 0, 7, params, ann) {
		t.Fatal("empty set has a state")
	}
	for i, want := range []bool{true, false, false} {
		if got := s.Add(1, HasAddress, 0, 7, params, ann); got != want {
			t.Errorf("add %d: kept is %v", i+1, got)
		}
		if !s.Has(1, HasAddress, 0, 7, params, ann) {
			t.Errorf("add %d: state is not there", i+1)
		}
	}
	if got, want := s.Count(), (Counts{Added: 3, Kept: 1, Entries: 1}); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	if s.Add(0, 0, 0, 0, nil, nil) || !s.Has(0, 0, 0, 0, nil, nil) {
		t.Error("entry 0 keeps states")
	}
	if !s.Has(1, HasAddress|Inconsistent, 0, 7, params, ann) {
		t.Error("Inconsistent from outside counts")
	}
}

func TestStateWithSymbolIsKeptTwice(t *testing.T) {
	for _, tt := range []struct {
		flags Flags
		sym   uint32
		kept  int
	}{{HasAddress, 3, 2}, {Reordered, 3, 2}, {Unexpected, 3, 1}, {Uncertain, 3, 1}, {HasAddress, 0, 1}} {
		s := NewStates()
		for i := range 4 {
			if has := s.Has(1, tt.flags, tt.sym, 0, nil, nil); has != (i >= tt.kept) {
				t.Errorf("%+v: after %d: Has is %v", tt, i, has)
			}
			if kept := s.Add(1, tt.flags, tt.sym, 0, nil, nil); kept != (i < tt.kept) {
				t.Errorf("%+v: add %d: kept is %v", tt, i+1, kept)
			}
		}
	}
}

// Every field takes part in the comparison, and in the hash.
func TestStatesThatDifferInOneFieldAreKept(t *testing.T) {
	type state struct {
		entry    uint32
		flags    Flags
		sym, ret uint32
		params   []Param
		ann      []Annotation
	}
	base := func() state {
		return state{1, HasAddress, 0, 7, []Param{{1, 2}, {3, 4}}, []Annotation{{5, 1}, {6, 2}}}
	}
	changes := map[string]func(*state){
		"entry":           func(s *state) { s.entry = 2 },
		"symbol":          func(s *state) { s.sym = 4 },
		"return":          func(s *state) { s.ret = 0 },
		"parameter name":  func(s *state) { s.params[1].Name = 9 },
		"parameter type":  func(s *state) { s.params[0].Type = 9 },
		"parameter order": func(s *state) { s.params[0], s.params[1] = s.params[1], s.params[0] },
		"variadic":        func(s *state) { s.params = append(s.params, Param{}) },
		"fewer":           func(s *state) { s.params = s.params[:1] },
		"none":            func(s *state) { s.params = nil },
		"tag":             func(s *state) { s.ann[0].Value = 9 },
		"component":       func(s *state) { s.ann[1].Component = -1 },
		"no tags":         func(s *state) { s.ann = nil },
		// The same words, once as parameters and once as annotations.
		"tags to parameters": func(s *state) { s.params, s.ann = append(s.params, Param{5, 1}), s.ann[1:] },
	}
	for f := Flags(1); f < Inconsistent; f <<= 1 {
		changes[fmt.Sprintf("flag %#x", f)] = func(s *state) { s.flags ^= f }
	}
	set := NewStates()
	b := base()
	set.Add(b.entry, b.flags, b.sym, b.ret, b.params, b.ann)
	h := set.hash(b.entry, b.flags, b.sym, b.ret, b.params, b.ann)
	for name, change := range changes {
		st := base()
		change(&st)
		if set.hash(st.entry, st.flags, st.sym, st.ret, st.params, st.ann) == h {
			t.Errorf("%s does not change the hash", name)
		}
		if !set.Add(st.entry, st.flags, st.sym, st.ret, st.params, st.ann) {
			t.Errorf("%s makes no difference", name)
		}
	}
	if set.Add(b.entry, b.flags, b.sym, b.ret, b.params, b.ann) {
		t.Error("base is not found any more")
	}
}

func TestHashOfRecordIsHashOfContent(t *testing.T) {
	s := NewStates()
	params, ann := []Param{{1, 2}, {3, 4}}, []Annotation{{5, -1}}
	s.Add(3, Changed, 8, 9, params, ann)
	s.Add(3, Changed, 8, 9, params, ann) // sets recTwice on the first
	if got, want := s.hashOf(1), s.hash(3, Changed, 8, 9, params, ann); got != want {
		t.Errorf("%#x, want %#x", got, want)
	}
}

func TestRecordsCrossBlocksAndGrowTheIndex(t *testing.T) {
	s := NewStates()
	big := make([]Param, 70_000) // more than manyParams and than a block
	ann := make([]Annotation, 10)
	for i := range big {
		big[i] = Param{uint32(i), uint32(i + 1)}
	}
	add := func() (kept int) {
		for i := range uint32(5000) {
			n := int(i) % 37
			if i == 2500 {
				n = len(big)
			}
			if s.Add(i%900+1, Flags(i)&inputFlags&^HasAddress, i%5, i, big[:n], ann[:i%3]) {
				kept++
			}
			if !s.Has(i%900+1, Flags(i)&inputFlags&^HasAddress, 0, i, big[:n], ann[:i%3]) && i%5 == 0 {
				t.Fatalf("state %d is not there", i)
			}
		}
		return kept
	}
	if kept := add(); kept != 5000 {
		t.Errorf("%d kept, want 5000", kept)
	}
	add() // second copies of those with a symbol
	if kept := add(); kept != 0 {
		t.Errorf("%d kept, want 0", kept)
	}
	n := 0
	for _, head := range s.heads {
		last := ^uint32(0)
		for ref := head.last; ref != 0; ref = s.record(ref).prev {
			r := s.record(ref)
			if ref >= last || int(r.entry) != int(r.ret)%900+1 {
				t.Fatalf("record %#x after %#x: entry %d, return %d", ref, last, r.entry, r.ret)
			}
			if len(r.params)/2 != int(r.ret)%37 && r.ret != 2500 || len(r.ann)/2 != int(r.ret)%3 || r.sym != r.ret%5 {
				t.Fatalf("record %#x has %d parameters", ref, len(r.params)/2)
			}
			last = ref
			n++
		}
	}
	if n != s.Count().Kept {
		t.Errorf("%d records in chains, %d kept", n, s.Count().Kept)
	}
}

func TestAddOfRepeatDoesNotAllocate(t *testing.T) {
	s := NewStates()
	params := []Param{{1, 2}}
	s.Add(1, 0, 0, 1, params, nil)
	if n := testing.AllocsPerRun(100, func() { s.Has(1, 0, 0, 1, params, nil); s.Add(1, 0, 0, 1, params, nil) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A kernel: 190 000 states, 70 000 of them different, of 55 000 entries.
func TestKernelStatesFitInThreeMegabytes(t *testing.T) {
	s := NewStates()
	for i := range uint32(190_000) {
		k := i % 70_000
		s.Add(k%55_000*2+1, Flags(k/55_000), 0, k, []Param{{k, 1}, {k, 2}, {k, 3}}[:k%4], nil)
	}
	if c := s.Count(); c.Kept != 70_000 || c.Entries != 55_000 {
		t.Errorf("%+v", c)
	}
	if s.Bytes() > 3<<20 {
		t.Errorf("%d bytes", s.Bytes())
	}
}
