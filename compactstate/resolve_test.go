package compactstate

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// st is a state as a literal. addr is compared with the symbols of the entry;
// an entry is given by its base name in the file added last.
type st struct {
	name   string
	addr   uint64
	flags  Flags
	ret    uint32
	params []Param
	ann    []Annotation
}

// add adds a state to s as package encode does.
func (x st) add(t *FuncTable, s *States, trueSignature bool) {
	e := t.Lookup([]byte(x.name))
	f := x.flags
	match, optimized, sym := t.Symbol(e, x.addr)
	if x.addr != 0 {
		f |= HasAddress
	}
	if match {
		f |= AddressMatches
	}
	if optimized {
		f |= OptimizedSymbol
	}
	if !trueSignature {
		sym = 0
	}
	s.Add(e, f, sym, x.ret, x.params, x.ann)
}

// render writes one choice as text.
func render(c *Choice) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s(", c.Name)
	for i, p := range c.Params {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%d:%d", p.Name, p.Type)
	}
	fmt.Fprintf(&b, ")%d", c.Ret)
	for _, a := range c.Annotations {
		fmt.Fprintf(&b, " @%d/%d", a.Value, a.Component)
	}
	if c.Kfunc {
		fmt.Fprintf(&b, " kfunc %#x", c.KfuncFlags)
	}
	return b.String()
}

// outcome runs Resolve and writes what it decided.
func outcome(t *testing.T, ft *FuncTable, s *States, d Decide) string {
	t.Helper()
	var out []string
	ft.EndLookups() // which are for what comes before
	err := s.Resolve(ft, d,
		func(c *Choice) error { out = append(out, render(c)); return nil },
		func(name []byte, r Reason) { out = append(out, fmt.Sprintf("-%s: %s", name, r)) })
	if err != nil {
		t.Error(err)
	}
	return strings.Join(out, "; ")
}

// evenMatch takes types for equal that are both even or both odd. It fails the
// test when it is asked what it must not be asked.
func evenMatch(t *testing.T) func(x, y uint32) bool {
	return func(x, y uint32) bool {
		if x == y || x == 0 || y == 0 {
			t.Errorf("types %d and %d are compared", x, y)
		}
		return x%2 == y%2
	}
}

// p makes parameters that are all named 1.
func p(types ...uint32) (params []Param) {
	for _, t := range types {
		params = append(params, Param{1, t})
	}
	return params
}

const (
	unexpected   = "-f: unexpected register usage for parameter"
	inconsistent = "-f: inconsistet prototype"
	uncertain    = "-f: uncertain parameter location"
	reordered    = "-f: reordered parameters"
	optimized    = "-f: optimized parameters"
	ambiguous    = "-f: ambiguous address"
)

// The rules of one group. The file has f at 0x10 and, in the table's second
// version, further symbols. Options are combinations of "ts" (true signature)
// and "cf" (consistent function).
func TestDecisionAboutOneFunction(t *testing.T) {
	f10 := []sym{{"f", 0x10}, {"z", 0}}
	isra := []sym{{"f.isra.0", 0x20}, {"z", 0}}
	both := []sym{{"f", 0x10}, {"f.isra.0", 0x20}, {"z", 0}}
	ret := func(r uint32, addr uint64) st { return st{addr: addr, ret: r} }
	for _, tt := range []struct {
		name   string
		syms   []sym
		opt    string
		states []st
		want   string
	}{
		// Comparison of prototypes.
		{"single", f10, "cf", []st{{ret: 2, params: []Param{{1, 2}, {3, 4}}}}, "f(1:2 3:4)2"},
		{"annotations", f10, "cf", []st{{ann: []Annotation{{7, -1}, {8, 2}}}}, "f()0 @7/-1 @8/2"},
		{"same return", f10, "cf", []st{ret(2, 0), ret(4, 0)}, "f()2"},
		{"other return", f10, "cf", []st{ret(2, 0), ret(3, 0)}, inconsistent},
		{"void and type", f10, "cf", []st{ret(0, 0), ret(2, 0)}, inconsistent},
		{"type and void", f10, "cf", []st{ret(2, 0), ret(0, 0)}, inconsistent},
		{"same parameters", f10, "cf", []st{{params: p(2, 3)}, {params: p(4, 5)}}, "f(1:2 1:3)0"},
		{"other parameter", f10, "cf", []st{{params: p(2, 3)}, {params: p(4, 4)}}, inconsistent},
		{"void parameter", f10, "cf", []st{{params: p(2, 0)}, {params: p(2, 2)}}, inconsistent},
		{"variadic", f10, "cf", []st{{params: []Param{{1, 2}, {}}}, {params: []Param{{9, 2}, {}}}}, "f(1:2 0:0)0"},
		{"other count", f10, "cf", []st{{params: p(2)}, {params: p(2, 2)}}, inconsistent},
		{"other names", f10, "cf", []st{{params: p(2)}, {params: []Param{{9, 2}}}}, "f(1:2)0"},
		{"other annotations", f10, "cf", []st{{ret: 2}, {ret: 2, ann: []Annotation{{7, -1}}}}, "f()2"},
		{"third against first", f10, "cf", []st{ret(2, 0), ret(4, 0), ret(3, 0)}, inconsistent},
		{"inconsistent without option", f10, "", []st{ret(2, 0), ret(3, 0)}, "f()2"},
		{"no comparison with unexpected", f10, "cf", []st{{ret: 2, flags: Unexpected}, {ret: 3}}, unexpected},
		{"no comparison with reordered", f10, "cf", []st{{ret: 2}, {ret: 3, flags: Reordered}}, reordered},
		{"comparison with uncertain", f10, "cf", []st{{ret: 2}, {ret: 3, flags: Uncertain}, {ret: 2, flags: Unexpected}}, uncertain},

		// States with an address come first.
		{"address first", f10, "cf", []st{ret(2, 0), ret(4, 0x99)}, "f()4"},
		{"address first, stable", f10, "cf", []st{ret(2, 0), ret(4, 0x99), ret(6, 0), ret(8, 0x98)}, "f()4"},
		{"true signature: address-less prototype does not count", f10, "cf ts", []st{ret(3, 0), ret(2, 0x10)}, "f()2"},
		{"the same without", f10, "cf", []st{ret(3, 0), ret(2, 0x10)}, inconsistent},
		{"true signature: two address-less", f10, "cf ts", []st{ret(3, 0), ret(2, 0)}, inconsistent},
		{"true signature: two with address", f10, "cf ts", []st{ret(3, 0x10), ret(2, 0x11)}, inconsistent},
		{"true signature: flags of address-less count", f10, "cf ts", []st{{ret: 3, flags: Reordered}, ret(2, 0x10)}, reordered},

		// The canonical state.
		{"matching address", f10, "", []st{ret(2, 0x99), ret(4, 0x10)}, "f()4"},
		{"first matching address", f10, "", []st{ret(2, 0x10), ret(4, 0x10)}, "f()2"},
		{"no matching address", f10, "", []st{ret(2, 0x99), ret(4, 0x98)}, "f()2"},
		{"no address equals value 0", []sym{{"f", 0}, {"z", 0}}, "", []st{ret(2, 0), ret(4, 0x99)}, "f()2"},
		{"matching and not optimized", f10, "", []st{{ret: 2, addr: 0x10, flags: OptimizedParms | Changed}, ret(4, 0x10)}, "f()4"},
		{"matching, all optimized", f10, "", []st{ret(6, 0x99), {ret: 2, addr: 0x10, flags: OptimizedParms | Changed}}, optimized},
		{"optimized but not matching", f10, "", []st{{ret: 2, addr: 0x98, flags: OptimizedParms | Changed}, ret(4, 0x10)}, "f()4"},

		// Reasons.
		{"optimized parameters alone", f10, "", []st{{ret: 2, addr: 0x10, flags: OptimizedParms}}, "f()2"},
		{"changed alone", f10, "", []st{{ret: 2, addr: 0x10, flags: Changed}}, "f()2"},
		{"optimized and changed", f10, "", []st{{addr: 0x10, flags: OptimizedParms | Changed}}, optimized},
		{"optimized and symbol", isra, "", []st{{addr: 0x20, flags: OptimizedParms}}, optimized},
		{"symbol alone", isra, "", []st{{addr: 0x20}}, "f()0"},
		{"true signature: optimized is no reason", f10, "ts", []st{{addr: 0x10, flags: OptimizedParms | Changed}}, "f()0"},
		{"unexpected in a later state", f10, "", []st{{addr: 0x10}, {flags: Unexpected}}, unexpected},
		{"uncertain in a later state", f10, "", []st{{addr: 0x10}, {flags: Uncertain}}, uncertain},
		{"uncertain beats unexpected", f10, "", []st{{flags: Unexpected | Uncertain}}, uncertain},
		{"uncertain beats inconsistent", f10, "cf", []st{ret(2, 0), ret(3, 0), {ret: 2, flags: Uncertain}}, uncertain},
		{"reordered beats uncertain", f10, "", []st{{flags: Reordered | Uncertain}}, reordered},
		{"optimized beats reordered", f10, "", []st{{addr: 0x10, flags: Reordered | OptimizedParms | Changed}}, optimized},
		{"ambiguous", both, "", []st{{addr: 0x10}}, ambiguous},
		{"ambiguous beats all", both, "cf", []st{{addr: 0x20, flags: Unexpected | Uncertain | Reordered | OptimizedParms}}, ambiguous},

		// True signatures.
		{"true signature", both, "ts", []st{ret(2, 0), ret(4, 0x10), ret(6, 0x20)}, "f.isra.0()6"},
		{"true signature: other defects do not count", both, "ts cf", []st{ret(2, 0x10), {ret: 5, addr: 0x20, flags: Reordered | OptimizedParms | Changed}}, "f.isra.0()5"},
		{"true signature: unexpected", isra, "ts", []st{{addr: 0x20, flags: Unexpected}}, unexpected},
		{"true signature: unexpected before", isra, "ts", []st{{addr: 0x99, flags: Unexpected}, {addr: 0x20}}, unexpected},
		{"true signature: uncertain after, symbol first", isra, "ts", []st{{addr: 0x20}, {flags: Uncertain}}, uncertain},
		{"true signature: uncertain after, symbol second", isra, "ts", []st{ret(2, 0x99), ret(4, 0x20), {flags: Uncertain}}, "f.isra.0()4"},
		{"true signature: a repeat saves the first state", isra, "ts", []st{{addr: 0x20}, {addr: 0x20}, {flags: Uncertain}}, "f.isra.0()0"},
		{"true signature: a late repeat does not", isra, "ts", []st{{addr: 0x20}, {addr: 0x99, flags: Uncertain}, {addr: 0x20}}, uncertain},
	} {
		ft, s := tableOf(tt.syms...), NewStates()
		d := Decide{
			TrueSignature:  strings.Contains(tt.opt, "ts"),
			ConsistentFunc: strings.Contains(tt.opt, "cf"),
			Match:          evenMatch(t),
		}
		for _, x := range tt.states {
			x.name = "f"
			x.add(ft, s, d.TrueSignature)
		}
		if got := outcome(t, ft, s, d); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

func TestFunctionsComeInByteOrderOfBaseNames(t *testing.T) {
	names := []string{"b", "a", "same_prefix_2", "same_prefix_10", "same_pre", "A", "_x", "same_prefix", "é", "b1", "unused"}
	var syms []sym
	for i, n := range names {
		syms = append(syms, sym{n, uint64(i + 1)})
	}
	ft, s := tableOf(syms...), NewStates()
	for _, n := range names[:len(names)-1] {
		st{name: n}.add(ft, s, false)
	}
	want := "A()0; _x()0; a()0; b()0; b1()0; same_pre()0; same_prefix()0; same_prefix_10()0; same_prefix_2()0; é()0"
	for range 2 { // Resolve changes nothing
		if got := outcome(t, ft, s, Decide{}); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// Seen with pahole 1.32 on two relocatable files that each have a function f
// with an inlined and a real instance.
func TestSameNameInSeveralFiles(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files [][]st
		want  string
	}{
		{"addressed states of all files first", [][]st{
			{{name: "f", ret: 1}, {name: "f", ret: 2, addr: 9}, {name: "g"}},
			{{name: "f", ret: 3}, {name: "f", ret: 4, addr: 9}, {name: "e"}},
		}, "e()0; f()2; f()4; f()1; f()3; g()0"},
		{"consecutive states of one file form one group", [][]st{
			{{name: "f", ret: 1}, {name: "f", ret: 2, addr: 9}},
			{{name: "f", ret: 3}},
		}, "-f: inconsistet prototype; f()3"},
		{"no addresses", [][]st{{{name: "f", ret: 1}}, {{name: "f", ret: 1}}}, "f()1; f()1"},
	} {
		ft, s := NewFuncTable(0, nil, nil), NewStates()
		for _, file := range tt.files {
			addFile(ft, sym{"e", 1}, sym{"f", 1}, sym{"g", 1})
			for _, x := range file {
				x.add(ft, s, false)
			}
		}
		if got := outcome(t, ft, s, Decide{ConsistentFunc: true, Match: evenMatch(t)}); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

func TestKfuncIsReportedExceptForTrueSignatures(t *testing.T) {
	ft, s := tableOf(sym{"f", 1}, sym{"g.isra.0", 2}, sym{"h", 3}), NewStates()
	ft.SetKfunc(ft.Lookup([]byte("f")), 1<<12)
	ft.SetKfunc(ft.Lookup([]byte("g")), 1)
	for _, x := range []st{{name: "f", addr: 1}, {name: "g", addr: 2}, {name: "h", addr: 3}} {
		x.add(ft, s, true)
	}
	if got, want := outcome(t, ft, s, Decide{TrueSignature: true}), "f()0 kfunc 0x1000; g.isra.0()0; h()0"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := outcome(t, ft, s, Decide{}), "f()0 kfunc 0x1000; g()0 kfunc 0x1; h()0"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestMismatchTellsTheFirstDifference(t *testing.T) {
	ft, s := tableOf(sym{"count", 1}, sym{"none", 2}, sym{"param", 3}, sym{"result", 4}), NewStates()
	for _, x := range []st{
		{name: "count", params: p(2)}, {name: "count", params: p(2, 4)}, {name: "count", params: p(2, 4)},
		{name: "none", ret: 2, params: p(2)}, {name: "none", ret: 4, params: p(4)},
		{name: "param", params: p(2, 4, 6)}, {name: "param", params: p(2, 5, 7)}, {name: "param", ret: 1},
		{name: "result", ret: 2, params: p(2)}, {name: "result", ret: 3, params: p(3)},
	} {
		x.add(ft, s, false)
	}
	var got []string
	d := Decide{Match: evenMatch(t), Mismatch: func(entry uint32, what int, a, b []uint32) {
		got = append(got, fmt.Sprint(string(ft.Name(entry)), what, len(a)/2, len(b)/2))
	}}
	places := map[uint32]bool{}
	err := s.Resolve(ft, d, func(c *Choice) error {
		if places[c.Place] {
			t.Errorf("%s: a place of another function", c.Name)
		}
		places[c.Place] = true
		return nil
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = "count-1 1 2|param2 3 3|result0 1 1"
	if g := strings.Join(got, "|"); g != want {
		t.Errorf("got %s, want %s", g, want)
	}
	for _, e := range []string{"count", "result"} {
		entry := ft.Lookup([]byte(e))
		x := st{name: e, ret: 9}
		x.add(ft, s, false)
		if place := s.Place(entry); place == 0 || places[place] {
			t.Errorf("%s: place %d of a new state", e, place)
		}
	}
}

func TestErrorOfEmitEndsResolve(t *testing.T) {
	ft, s := tableOf(sym{"a", 1}, sym{"b", 2}, sym{"c", 3}), NewStates()
	for _, x := range []st{{name: "a", flags: Reordered}, {name: "b"}, {name: "c"}} {
		x.add(ft, s, false)
	}
	stop := errors.New("stop")
	calls := 0
	err := s.Resolve(ft, Decide{}, func(c *Choice) error {
		calls++
		if !bytes.Equal(c.Name, []byte("b")) {
			t.Errorf("%s is emitted", c.Name)
		}
		return stop
	}, nil)
	if err != stop || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

func TestReasonTexts(t *testing.T) {
	want := []string{"unexpected register usage for parameter", "inconsistet prototype", "uncertain parameter location",
		"reordered parameters", "optimized parameters", "ambiguous address"}
	if len(want) != int(NumReasons) {
		t.Fatalf("%d reasons", NumReasons)
	}
	for i, text := range want {
		if got := Reason(i).String(); got != text {
			t.Errorf("%d: %q, want %q", i, got, text)
		}
	}
	if got := NumReasons.String(); got != "unknown reason" {
		t.Errorf("%q", got)
	}
}

// TestPieces: a name that several files have is in one piece, and no entry is lost.
func TestPieces(t *testing.T) {
	ft, s := NewFuncTable(0, nil, nil), NewStates()
	for file := range 7 {
		syms := []sym{{"a", 1}, {"m", 2}, {fmt.Sprint("own", file), 3}}
		if file < 2 {
			syms = append(syms, sym{"z", 4})
		}
		addFile(ft, syms...)
		for _, x := range syms {
			st{name: x.name}.add(ft, s, false)
		}
	}
	order := s.sorted(ft)
	for n := range len(order) + 2 {
		cut := pieces(ft, order, n)
		if len(cut) != max(n, 1) {
			t.Errorf("%d pieces, want %d", len(cut), n)
		}
		var all []sortKey
		last := ""
		for _, piece := range cut {
			if len(piece) > 0 {
				if first := string(ft.Name(piece[0].entry)); len(all) > 0 && first == last {
					t.Errorf("%d pieces: %s is in two of them", n, first)
				}
				last = string(ft.Name(piece[len(piece)-1].entry))
			}
			all = append(all, piece...)
		}
		if !slices.Equal(all, order) {
			t.Errorf("%d pieces are not what was cut", n)
		}
	}
	if two := pieces(ft, order, 2); len(two[0]) != 14 { // all of a and m: the half would be in m
		t.Errorf("pieces of %d and %d entries", len(two[0]), len(two[1]))
	}
}

// Several goroutines decide as one does.
func TestWorkersDecideAlike(t *testing.T) {
	const n = 5 * minParallel
	var strtab []byte
	ft := NewFuncTable(n, nil, nil)
	offs := make([]uint32, n)
	for i := range offs {
		offs[i] = uint32(len(strtab))
		strtab = append(strtab, fmt.Sprintf("function_%d", i*7919%n)...)
		strtab = append(strtab, 0)
	}
	ft.BeginFile(strtab)
	for i, off := range offs {
		ft.Add(off, uint64(16+i))
	}
	ft.Seal()
	s := NewStates()
	for e := uint32(1); e <= n; e++ {
		s.Add(e, HasAddress|AddressMatches, 0, e%5, p(e%3, e%4), nil)
		if e%3 == 0 {
			s.Add(e, Reordered, 0, e%7, p(e%3, 2), nil)
		}
	}
	d := Decide{ConsistentFunc: true, Match: evenMatch(t)}
	want := outcome(t, ft, s, d)
	for d.Workers = 2; d.Workers <= 5; d.Workers++ {
		if got := outcome(t, ft, s, d); got != want {
			t.Errorf("%d workers decide otherwise than one", d.Workers)
		}
	}
}
