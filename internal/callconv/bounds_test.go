package callconv

import (
	"bytes"
	"slices"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/elfabi"
)

// TestCondense: the expressions of a list that can decide are kept, each after its
// length. The first keeps its place.
func TestCondense(t *testing.T) {
	long := func(n int) []byte { // n bytes: a register, DW_OP_nop, and that it is a value
		x := bytes.Repeat([]byte{0x96}, n)
		x[0], x[1], x[n-1] = 0x75, 0, 0x9f
		return x
	}
	for _, tt := range []struct {
		name  string
		exprs [][]byte
		want  []byte
		kept  bool
	}{
		{"nothing", nil, nil, true},
		{"register", [][]byte{reg(5)}, []byte{1, 0x55}, true},
		{"nothing new in the second", [][]byte{reg(5), xEntry}, []byte{1, 0x55}, true},
		{"the first says nothing", [][]byte{xEmpty, xEntry}, []byte{0, 4, 0xa3, 1, 0x55, 0x9f}, true},
		{"the middle says nothing", [][]byte{xLit, xStack, xEntry}, []byte{2, 0x31, 0x9f, 4, 0xa3, 1, 0x55, 0x9f}, true},
		{"for a type of two registers alone", [][]byte{reg(5), xHigh}, []byte{1, 0x55, 5, 0x93, 8, 0x55, 0x93, 8}, true},
		{"for a type of one register alone", [][]byte{xHigh}, []byte{5, 0x93, 8, 0x55, 0x93, 8}, true},
		{"nothing behind what is broken", [][]byte{reg(5), xBad, xHigh}, []byte{1, 0x55}, true},
		{"the longest", [][]byte{long(255)}, append([]byte{255}, long(255)...), true},
		{"too long", [][]byte{long(256)}, nil, false},
		{"too long, and says nothing", [][]byte{xEmpty, long(256)}, []byte{0}, true},
	} {
		got, kept := Condense([]byte{7}, tt.exprs, dwarf.ExprFormat{Version: 5, AddrSize: 8})
		if want := append([]byte{7}, tt.want...); kept != tt.kept || !bytes.Equal(got, want) {
			t.Errorf("%s: % x, %v, not % x, %v", tt.name, got, kept, want, tt.kept)
		}
	}
}

// TestEntriesThatEnd: expressions that are cut off count as far as they go.
func TestEntriesThatEnd(t *testing.T) {
	for _, tt := range []struct {
		name    string
		entries []byte
		want    string
	}{
		{"all there", []byte{1, 0x54}, "unexpected [4!]"},
		{"the second is cut off", []byte{0, 4, 0xa3, 1, 0x55}, "optimized [?]"},
		{"a length alone", []byte{4}, "optimized [?]"},
		{"none", nil, "optimized [?]"},
	} {
		e := buildEnv(elfabi.EMX8664, 5, []fun{{params: []prm{{typ: tInt}}}})
		p := &e.Params[0]
		p.Flags |= ParamHasLoc
		p.LocKind, p.LocOff, p.LocLen = LocEntries, 1, uint32(len(tt.entries))
		e.Entries = append([]byte{0xff}, tt.entries...)
		e.Analyze()
		if got := describe(e, 0); got != tt.want {
			t.Errorf("%s: %q, not %q", tt.name, got, tt.want)
		}
	}
}

// TestLocation: the first expression, and all of them, of each kind of location.
func TestLocation(t *testing.T) {
	for _, tt := range []struct {
		name    string
		version uint16
		prm     prm
		change  func(*Param)
		all     [][]byte
		list    bool
	}{
		{"expression", 5, prm{loc: xEntry}, nil, [][]byte{xEntry}, false},
		{"expression beyond the unit", 5, prm{loc: xEntry}, func(p *Param) { p.LocLen++ }, nil, false},
		{"list", 5, prm{list: [][]byte{reg(5), xEntry}}, nil, [][]byte{reg(5), xEntry}, true},
		{"list of DWARF 4", 4, prm{list: [][]byte{reg(5), xEntry}}, nil, [][]byte{reg(5), xEntry}, true},
		{"list at the end of its section", 5, prm{list: [][]byte{reg(5)}}, func(p *Param) { p.LocOff += 6 }, nil, true},
		{"empty list", 5, prm{list: [][]byte{}}, nil, nil, true},
		{"none", 5, prm{}, nil, nil, false},
		{"bad", 5, prm{}, func(p *Param) { p.LocKind = LocBad }, nil, false},
	} {
		e := buildEnv(elfabi.EMX8664, tt.version, []fun{{params: []prm{tt.prm}}})
		p := &e.Params[0]
		if tt.change != nil {
			tt.change(p)
		}
		var all [][]byte
		e.Expressions(p, func(x []byte) { all = append(all, bytes.Clone(x)) })
		if !slices.EqualFunc(all, tt.all, bytes.Equal) {
			t.Errorf("%s: expressions % x, not % x", tt.name, all, tt.all)
		}
		first, list, ok := e.Location(0, p)
		if list != tt.list || ok != (len(tt.all) > 0) || ok && !bytes.Equal(first, tt.all[0]) {
			t.Errorf("%s: location % x, list %v, %v", tt.name, first, list, ok)
		}
	}
}

// TestLocationOfRecord: the first expression that a unit record has kept.
func TestLocationOfRecord(t *testing.T) {
	for _, x := range []struct {
		name    string
		entries []byte
		want    []byte // nil: none can be told
		list    bool
	}{
		{"one", []byte{1, 0x55}, []byte{0x55}, false},
		{"two", []byte{1, 0x55, 2, 0x91, 0}, []byte{0x55}, true},
		{"the first decides nothing", []byte{0, 1, 0x55}, nil, true},
		{"cut off", []byte{2, 0x55}, nil, true},
		{"none", nil, nil, true},
	} {
		e := buildEnv(elfabi.EMX8664, 5, []fun{{params: []prm{{}}}})
		p := &e.Params[0]
		p.LocKind, p.LocOff, p.LocLen = LocEntries, 3, uint32(len(x.entries))
		e.Entries = append([]byte{1, 2, 3}, x.entries...)
		expr, list, ok := e.Location(0, p)
		if ok != (x.want != nil) || list != x.list || ok && !bytes.Equal(expr, x.want) {
			t.Errorf("%s: % x, list %v, %v", x.name, expr, list, ok)
		}
	}
	e := buildEnv(elfabi.EMX8664, 5, []fun{{params: []prm{{}}}})
	e.Params[0].LocKind, e.Params[0].LocOff, e.Params[0].LocLen = LocEntries, 1<<31, 1<<31
	if _, _, ok := e.Location(0, &e.Params[0]); ok {
		t.Error("a location beyond the record is told")
	}
}

// TestFormats: each function is read in the DWARF format of its own unit, from
// the section that this version has its lists in.
func TestFormats(t *testing.T) {
	four, five := [][]byte{reg(4)}, [][]byte{reg(5)}
	funs := make([]fun, 6)
	for i := range funs {
		funs[i].params = []prm{{typ: tInt}}
	}
	e := buildEnv(elfabi.EMX8664, 5, funs)
	for i := range e.Params {
		e.Params[i].LocKind = LocList
		e.Params[i].Flags |= ParamHasLoc
	}
	e.Lists.Both = [2][]byte{appendList4(nil, four, 8, false), appendList5(nil, five)}
	// The unit between 2 and 4 has no functions.
	e.Formats = []FormatRun{{First: 0, Version: 4}, {First: 2, Version: 3}, {First: 2, Version: 5}, {First: 4, Version: 4}, {First: 5, Version: 5, Dwarf64: true}}
	e.Analyze()
	for i, want := range []string{"unexpected [4!]", "unexpected [4!]", "[5]", "[5]", "unexpected [4!]", "[5]"} {
		if got := describe(e, i); got != want {
			t.Errorf("function %d: %q, not %q", i, got, want)
		}
		if x, _, _ := e.Location(uint32(i), &e.Params[i]); len(x) != 1 || describe(e, i) != want {
			t.Errorf("function %d: location % x", i, x)
		}
	}
	if !e.Format.Dwarf64 {
		t.Error("the last function's unit is one of 64-bit DWARF")
	}
}

// TestOriginBehindAnotherFunction: the origin of a parameter is looked for in
// the origin of its function first. The last function before it may be a nested one.
func TestOriginBehindAnotherFunction(t *testing.T) {
	e := buildEnv(elfabi.EMX8664, 5, []fun{
		{params: []prm{{typ: tInt}, {typ: tLong}}}, {},
		{origin: 1, params: []prm{{origin: 2, loc: reg(4)}, {origin: 1, loc: reg(5)}}},
	})
	// Function 1, which has no parameters, is nested in function 0.
	e.Params[0].Off, e.Params[1].Off = 2500, 2600
	e.Params[2].Origin, e.Params[3].Origin = 2600, 2500
	e.Link()
	e.Analyze()
	if got, want := describe(e, 0)+describe(e, 2), "[5][4]reordered unexpected [4!][5!]"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
	if e.Params[2].Type != tLong || e.Params[3].Type != tInt {
		t.Errorf("types %d and %d", e.Params[2].Type, e.Params[3].Type)
	}
}

// TestLayoutBounds: a type that contains itself is followed as far as the bounds say.
func TestLayoutBounds(t *testing.T) {
	types := Types{AddrSize: 8, Members: []dedup.Member{{Type: 1}, {Type: 2}, {Type: 2}}, Nodes: []dedup.Node{
		{Info: btf.Info(btf.KindStruct, 1, false), Third: 8},
		{Info: btf.Info(btf.KindStruct, 2, false), Third: 8, First: 1},
	}}
	for r, want := range []int{1: maxNesting, 2: maxVisits} {
		budget := maxVisits
		if size, align := types.layout(dedup.Ref(r), maxNesting, &budget); r != 0 && (size != 8 || align != 0 || maxVisits-budget != want) {
			t.Errorf("type %d: size %d, alignment %d, %d visits, not %d", r, size, align, maxVisits-budget, want)
		}
	}
}
