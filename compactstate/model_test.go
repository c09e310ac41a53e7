package compactstate

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"
)

// The naive model: all states are kept, repeats included, with pointers, maps
// and strings, and the rules are applied one after another as they read.

type modelSymbol struct {
	full  string
	value uint64
}

type modelEntry struct {
	name    string
	symbols []modelSymbol
	ambig   bool
}

type modelState struct {
	st
	entry                                          *modelEntry
	match, optSymbol                               bool
	sym                                            string
	unexpected, inconsistent, uncertain, reordered bool
}

// modelFile builds the entries of a file.
func modelFile(syms []sym) map[string]*modelEntry {
	m := make(map[string]*modelEntry)
	var names []string
	for _, s := range syms {
		base, tail, dotted := strings.Cut(s.name, ".")
		if dotted && (strings.Contains("."+tail, ".cold") || strings.Contains("."+tail, ".part")) {
			continue
		}
		if m[base] == nil {
			m[base] = &modelEntry{name: base}
			names = append(names, base)
		}
		m[base].symbols = append(m[base].symbols, modelSymbol{s.name, s.value})
	}
	sort.Strings(names)
	for i, n := range names {
		var acc uint64
		for _, s := range m[n].symbols {
			if acc != 0 && acc != s.value {
				m[n].ambig = i != len(names)-1
			}
			acc = s.value
		}
	}
	return m
}

// modelSave makes the saved state of a DIE.
func modelSave(e *modelEntry, x st, ts bool) *modelState {
	m := &modelState{st: x, entry: e}
	for _, s := range e.symbols {
		if s.value != x.addr {
			continue
		}
		m.match = true
		_, tail, dotted := strings.Cut(s.full, ".")
		if x.addr != 0 && dotted {
			if m.sym == "" && ts {
				m.sym = s.full
			}
			if strings.Contains("."+tail, ".isra") || strings.Contains("."+tail, ".constprop") {
				m.optSymbol = true
			}
		}
	}
	m.unexpected, m.uncertain, m.reordered = x.flags&Unexpected != 0, x.flags&Uncertain != 0, x.flags&Reordered != 0
	return m
}

func modelMatch(x, y uint32) bool { return x%2 == y%2 }

func modelSame(a, b *modelState) bool {
	same := func(x, y uint32) bool {
		return x == y || x != 0 && y != 0 && modelMatch(x, y)
	}
	if len(a.params) != len(b.params) || !same(a.ret, b.ret) {
		return false
	}
	for i := range a.params {
		if !same(a.params[i].Type, b.params[i].Type) {
			return false
		}
	}
	return true
}

// modelResolve decides about all states.
func modelResolve(states []*modelState, ts, cf bool) string {
	sort.SliceStable(states, func(i, j int) bool {
		a, b := states[i], states[j]
		if a.entry.name != b.entry.name {
			return a.entry.name < b.entry.name
		}
		return a.addr != 0 && b.addr == 0
	})
	var out []string
	for len(states) > 0 {
		n := 1
		for n < len(states) && states[n].entry == states[0].entry {
			n++
		}
		out = append(out, modelGroup(states[:n], ts, cf))
		states = states[n:]
	}
	return strings.Join(out, "; ")
}

func modelGroup(g []*modelState, ts, cf bool) string {
	a := g[0]
	for _, b := range g[1:] {
		or := func(x, y *bool) { *x = *x || *y; *y = *x }
		or(&a.unexpected, &b.unexpected)
		or(&a.inconsistent, &b.inconsistent)
		or(&a.uncertain, &b.uncertain)
		or(&a.reordered, &b.reordered)
		if !a.unexpected && !a.inconsistent && !a.reordered && !(ts && a.addr != 0 && b.addr == 0) && !modelSame(a, b) {
			a.inconsistent, b.inconsistent = true, true
		}
	}
	if ts {
		for _, s := range g {
			if s.sym != "" && !s.unexpected && !s.uncertain {
				return modelRender(s, s.sym)
			}
		}
	}
	skip := func(s *modelState) bool {
		return !ts && s.flags&OptimizedParms != 0 && (s.flags&Changed != 0 || s.optSymbol)
	}
	var canon *modelState
	if len(g) == 1 {
		canon = a
	}
	for _, s := range g {
		if canon == nil && s.match && !skip(s) {
			canon = s
		}
	}
	for _, s := range g {
		if canon == nil && s.match {
			canon = s
		}
	}
	if canon == nil {
		canon = a
	}
	why := ""
	if a.unexpected {
		why = "unexpected register usage for parameter"
	}
	if cf && a.inconsistent {
		why = "inconsistet prototype"
	}
	if a.uncertain {
		why = "uncertain parameter location"
	}
	if a.reordered {
		why = "reordered parameters"
	}
	if skip(canon) {
		why = "optimized parameters"
	}
	if a.entry.ambig {
		why = "ambiguous address"
	}
	if why != "" {
		return fmt.Sprintf("-%s: %s", a.entry.name, why)
	}
	return modelRender(canon, a.entry.name)
}

func modelRender(s *modelState, name string) string {
	return render(&Choice{Name: []byte(name), Ret: s.ret, Params: s.params, Annotations: s.ann})
}

// Random inputs with many repeats: leaving repeats out changes no outcome.
func TestOutcomeEqualsThatOfNaiveModel(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	tails := []string{"", "", ".isra.0", ".constprop.1", ".llvm.2", ".part.3"}
	names := []string{"f", "g", "longer_name_1", "longer_name_2"}
	rare := func(f Flags, n int) Flags {
		if rnd.IntN(n) == 0 {
			return f
		}
		return 0
	}
	dropped, second := 0, 0
	for round := range 20_000 {
		ts, cf := rnd.IntN(2) == 0, rnd.IntN(4) != 0
		defects := 2 + rnd.IntN(20)
		ft, s := NewFuncTable(0, nil, nil), NewStates()
		var all []*modelState
		for range 1 + rnd.IntN(2) {
			var syms []sym
			for range 1 + rnd.IntN(8) {
				syms = append(syms, sym{names[rnd.IntN(len(names))] + tails[rnd.IntN(len(tails))], uint64(rnd.IntN(4))})
			}
			addFile(ft, syms...)
			entries := modelFile(syms)
			var file []st
			states := 12
			if rnd.IntN(8) == 0 {
				states = 10 * maxChain // entries with many
			}
			for range 1 + rnd.IntN(states) {
				x := st{
					name: names[rnd.IntN(len(names))], addr: uint64(rnd.IntN(4)), ret: uint32(rnd.IntN(3)),
					flags: rare(Unexpected, defects) | rare(Uncertain, defects) | rare(Reordered, defects) |
						rare(OptimizedParms, 3) | rare(Changed, 4),
				}
				if rnd.IntN(4) == 0 {
					x.params = []Param{{uint32(rnd.IntN(2)), uint32(2 * rnd.IntN(2))}}
				}
				if rnd.IntN(6) == 0 {
					x.ann = []Annotation{{uint32(rnd.IntN(2)), -1}}
				}
				if len(file) > 0 && rnd.IntN(2) == 0 { // a repeat
					x = file[rnd.IntN(len(file))]
				}
				e := entries[x.name]
				if (e != nil) != (ft.Lookup([]byte(x.name)) != 0) {
					t.Fatalf("round %d: entry %s: model has %v", round, x.name, e)
				}
				if e == nil {
					continue
				}
				file = append(file, x)
				x.add(ft, s, ts)
				all = append(all, modelSave(e, x, ts))
			}
		}
		c := s.Count()
		dropped += c.Added - c.Kept
		if hasSecond(s) {
			second++
		}
		want := modelResolve(all, ts, cf)
		if got := outcome(t, ft, s, Decide{TrueSignature: ts, ConsistentFunc: cf, Match: modelMatch}); got != want {
			t.Fatalf("round %d:\ngot  %s\nwant %s", round, got, want)
		}
	}
	if dropped < 20_000 || second < 100 {
		t.Errorf("too few repeats to tell: %d left out, %d inputs with second copies", dropped, second)
	}
}

// hasSecond reports whether s keeps two copies of a state.
func hasSecond(s *States) bool {
	for _, h := range s.heads {
		for ref := h.last; ref != 0; ref = s.record(ref).prev {
			if s.record(ref).flags&recTwice != 0 {
				return true
			}
		}
	}
	return false
}
