package unitrecord

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/callconv"
	"github.com/btflite/btflite/internal/names"
	"github.com/btflite/btflite/internal/unit"
)

// TestBoundsOfNodes: a number that is one too large for the nodes of a unit is damage, wherever a record
// has it. The largest one is not.
func TestBoundsOfNodes(t *testing.T) {
	nodes := []dedup.Ref{11, 12, 13}
	for n, bad := range map[byte]bool{0: false, 2: false, 3: true, 4: true} {
		x, common := refReader{nodes: nodes}, column{b: []byte{n}}
		if x.begin(&common); common.bad != bad || !bad && x.common[0] != nodes[n] {
			t.Errorf("node %d of %d is common: damage %v, %v", n, len(nodes), common.bad, x.common)
		}
		for k := range 2 { // the first of the common ones, and the one behind the last
			c := column{b: []byte{refCommon + byte(k)}}
			if r := x.read(&c, 0); c.bad != (k >= len(x.common)) || !c.bad && r != x.common[k] {
				t.Errorf("common node %d of %d: damage %v, %d", k, len(x.common), c.bad, r)
			}
		}
		for _, code := range [][]byte{{byte(near(0, int(n)))}, {refHigh, n}, {refFar, n}} {
			c := column{b: code}
			if r := x.read(&c, 0); c.bad != bad || !bad && r != nodes[n] {
				t.Errorf("%x leads to node %d of %d: damage %v, %d", code, n, len(nodes), c.bad, r)
			}
		}
		var r Reader
		var u unit.Unit
		for range nodes {
			u.Types.Nodes.Append(dedup.Node{Info: btf.Info(btf.KindTypedef, 0, false)})
		}
		r.cols[colAnnot].b, r.cols[colName].b = []byte{byte(zigzag(int64(n))), 0}, []byte{0}
		if r.tags(&u, &unit.Input{Options: unit.Options{DeclTag: true}}, 1); r.bad != bad || !bad && u.Tags.S[0].Node != uint32(n) {
			t.Errorf("a tag of node %d of %d: damage %v, %v", n, len(nodes), r.bad, u.Tags.S)
		}
	}
}

// TestFirstFarNode: the nearest node that is not near counts as far, so that it gets a short code if
// three references lead to it.
func TestFirstFarNode(t *testing.T) {
	for _, x := range []struct {
		to, uses int
		common   bool
	}{{31, 3, false}, {32, 3, true}, {32, 2, false}, {33, 3, true}} {
		var u unit.Unit
		u.Types.Nodes.Append(dedup.Node{Info: btf.Info(btf.KindStruct, uint32(x.uses), false)})
		for range x.to {
			u.Types.Nodes.Append(dedup.Node{Info: btf.Info(btf.KindTypedef, 0, false)})
		}
		for range x.uses {
			u.Types.Members.Append(dedup.Member{Type: dedup.Ref(x.to + 1)})
		}
		var w refWriter
		var c columns
		if w.begin(&c, &u); (w.code[x.to] != 0) != x.common {
			t.Errorf("node %d with %d references from node 0: code %#x", x.to, x.uses, w.code[x.to])
		}
	}
}

// TestReferenceCodes: references are read as they were written, on both sides of each number at which
// the code changes, and if there are more common nodes than codes for them.
func TestReferenceCodes(t *testing.T) {
	var u unit.Unit
	const nodes = 3 * ((refFar - refHigh) << 8) / 2
	for range nodes {
		u.Types.Nodes.Append(dedup.Node{Info: btf.Info(btf.KindTypedef, 0, false)})
	}
	// All nodes from 1000 on lead to the first ones, which are far from them and so become common.
	for i := range nodes - 1000 {
		u.Types.Nodes.S[1000+i].Third = dedup.Ref(1 + i%(2*(refHigh-refCommon)))
	}
	var w refWriter
	var c columns
	w.begin(&c, &u)
	x := refReader{nodes: make([]dedup.Ref, nodes)}
	for i := range x.nodes {
		x.nodes[i] = dedup.Ref(i + 1)
	}
	common := column{b: c[colCommon]}
	if x.begin(&common); common.bad || len(x.common) != refHigh-refCommon {
		t.Fatalf("%d common nodes, damage %v", len(x.common), common.bad)
	}
	const high = (refFar - refHigh) << 8
	for _, i := range []int{0, 500, high, nodes - 1} {
		for _, to := range []int{0, 1, 31, 32, 33, 255, 256, 468, 499, 500, 532, high - 1, high, high + 1, high + 255, high + 256, nodes - 1} {
			c[colRef] = nil
			w.write(&c, i, dedup.Ref(to+1), colRef)
			read := column{b: c[colRef]}
			if r := x.read(&read, i); read.bad || read.left() != 0 || r != dedup.Ref(to+1) {
				t.Errorf("from node %d to node %d, written as %x: %d, damage %v", i, to, c[colRef], r-1, read.bad)
			}
		}
	}
}

// TestIsInline: a function with anything that a run of inline functions has no room for is not in one.
func TestIsInline(t *testing.T) {
	const off, paramOff = 10, 12
	for what, change := range map[string]func(fn *callconv.Func, p *callconv.Param, wanted *offsets){
		"nothing":                func(*callconv.Func, *callconv.Param, *offsets) {},
		"a reference to it":      func(_ *callconv.Func, _ *callconv.Param, w *offsets) { *w = offsets{off} },
		"an address":             func(fn *callconv.Func, _ *callconv.Param, _ *offsets) { fn.LowPC = 1 },
		"an origin":              func(fn *callconv.Func, _ *callconv.Param, _ *offsets) { fn.Origin = 1 },
		"a specification":        func(fn *callconv.Func, _ *callconv.Param, _ *offsets) { fn.Spec = 1 },
		"an annotation":          func(fn *callconv.Func, _ *callconv.Param, _ *offsets) { fn.NAn = 1 },
		"no body":                func(fn *callconv.Func, _ *callconv.Param, _ *offsets) { fn.Flags |= callconv.FuncDeclaration },
		"a parameter, no type":   func(_ *callconv.Func, p *callconv.Param, _ *offsets) { p.HasType = false },
		"a parameter's origin":   func(_ *callconv.Func, p *callconv.Param, _ *offsets) { p.Origin = 1 },
		"a parameter's constant": func(_ *callconv.Func, p *callconv.Param, _ *offsets) { p.Flags |= callconv.ParamHasConst },
		"a parameter's place":    func(_ *callconv.Func, p *callconv.Param, _ *offsets) { p.Flags |= callconv.ParamHasLoc },
		"a reference to one":     func(_ *callconv.Func, _ *callconv.Param, w *offsets) { *w = offsets{paramOff} },
	} {
		fn, params, wanted := callconv.Func{Off: off}, []callconv.Param{{Off: paramOff - 1, HasType: true}, {Off: paramOff, HasType: true}}, offsets(nil)
		change(&fn, &params[1], &wanted)
		if is := isInline(&fn, params, wanted); is != (what == "nothing") {
			t.Errorf("%s: %v", what, is)
		}
	}
}

// TestParametersInAll: a unit whose functions have fewer parameters than it says is damaged.
func TestParametersInAll(t *testing.T) {
	table := new(names.Table)
	table.Use(names.NewPool(nil, nil))
	defer table.FreePool()
	for params, bad := range map[int]bool{0: false, 1: true} {
		r := Reader{names: nameReader{names: NewNames(table)}}
		var u unit.Unit
		if r.funcs(&u, &unit.Input{}, 0, params, true); r.bad != bad {
			t.Errorf("no function and %d parameters: damage %v", params, r.bad)
		}
	}
}

// TestBoundsOfNames: the number of a new name that is one too large is damage.
func TestBoundsOfNames(t *testing.T) {
	for k, bad := range []bool{false, false, true, true} {
		r := nameReader{known: []freshName{freshAt(3).found(30), freshAt(4).found(40)}}
		if name := r.token(k); r.bad != bad || !bad && name != r.known[k].token() {
			t.Errorf("name %d of 2: %d, damage %v", k, name, r.bad)
		}
	}
}

// TestBoundsOfBases: the number of a base that is one too large has no address.
func TestBoundsOfBases(t *testing.T) {
	for _, size := range []int{4, 8} {
		b := bases{words: make([]byte, 2*size), size: size}
		b.words[size] = 7
		for i, want := range []uint64{0, 7} {
			if v, ok := b.at(uint64(i)); !ok || v != want {
				t.Errorf("base %d of 2, of %d bytes: %d, %v", i, size, v, ok)
			}
		}
		for i := range 2 {
			if v, ok := b.at(2 + uint64(i)); ok {
				t.Errorf("base %d of 2, of %d bytes: %d", 2+i, size, v)
			}
		}
	}
}

// TestBoundsOfPlaces: the number of a parameter's location list that is one too large is damage.
func TestBoundsOfPlaces(t *testing.T) {
	for n, bad := range map[byte]bool{0: false, 1: false, 2: true, 3: true} {
		r := Reader{spans: []span{{off: 10, n: 1}, {off: 20, n: 2}}}
		var u unit.Unit
		r.cols[colParam].b, r.cols[colPlace].b, r.cols[colName].b = []byte{paramLoc}, []byte{n}, []byte{0}
		if r.param(&u, 0, 0); r.bad != bad || !bad && u.Params.S[0].LocOff != r.spans[n].off {
			t.Errorf("location list %d of 2: damage %v, %v", n, r.bad, u.Params.S)
		}
	}
}

// TestEndsOfRuns: functions that end before their run of inline functions does, or behind it, are damage.
// Nobody sees that in a run that is not read.
func TestEndsOfRuns(t *testing.T) {
	const flags, name, params = 0, 0, 0 // of a function without a name and without parameters
	one := []byte{flags, name, params}
	for _, x := range []struct {
		what  string
		count int
		body  []byte
		bad   bool
	}{
		{"one function", 1, one, false},
		{"two functions", 2, slices.Concat(one, one), false},
		{"a byte more", 1, append(slices.Clone(one), 0), true},
		{"a byte less", 1, one[:len(one)-1], true},
		{"a function more", 1, slices.Concat(one, one), true},
		{"a function less", 2, one, true},
		{"nothing", 1, nil, true},
	} {
		for _, read := range []bool{true, false} {
			var r Reader
			var u unit.Unit
			r.inline.runs = []run{{count: x.count, body: column{b: x.body}, read: read}}
			if r.inlineFuncs(&u, x.count, 1); r.bad != (x.bad && read) {
				t.Errorf("%s, read %v: damage %v", x.what, read, r.bad)
			}
			if functions := len(u.Funcs.S); read && functions != x.count || !read && functions != 0 {
				t.Errorf("%s, read %v: %d functions", x.what, read, functions)
			}
		}
	}
}

// TestFresh: new names are counted between names of all codes, so that a reader asks for as many at once.
func TestFresh(t *testing.T) {
	codes := []byte{nameFresh, 0, nameNear, nameHigh, nameFresh, nameFresh, nameHigh + 1, 0, nameFar, 0x80 | nameFresh, nameFresh, nameFresh, 0}
	for n, want := range []int{0, 1, 1, 1, 1, 2, 2, 2, 3, 3} {
		if got := fresh(column{b: codes}, n); got != want {
			t.Errorf("%d of the first %d names are new, want %d", got, n, want)
		}
	}
}

// TestNameTable: when the table grows, it keeps the facts about all names, even about the lowest
// tokens.
func TestNameTable(t *testing.T) {
	var names nameTable
	names.reset()
	const n = 1 << 15 // four times the slots at the start
	for token := dedup.Name(1); token <= n; token++ {
		names.at(token).number = int32(token)
	}
	if names.used != n {
		t.Errorf("%d names are counted, %d are right", names.used, n)
	}
	for token := dedup.Name(1); token <= n; token++ {
		if x := names.at(token); x.number != int32(token) {
			t.Fatalf("name %d has number %d", token, x.number)
		}
	}
}

// TestJudged: a run is dull if it was read and none of its functions has a symbol. Functions that do
// not belong to the run may come between its functions.
func TestJudged(t *testing.T) {
	var r Reader
	var u unit.Unit
	add := func(key uint64, read bool, entries ...uint32) {
		r.inline.runs = append(r.inline.runs, run{key: key, read: read, first: len(u.Funcs.S), count: len(entries)})
		for _, e := range entries {
			u.Funcs.Append(callconv.Func{Off: 2, Entry: 7})
			u.Funcs.Append(callconv.Func{Off: 3, Entry: e})
		}
	}
	add(1, true, 0, 0)
	add(2, true, 0, 9)
	add(3, true, 9, 0)
	add(4, false, 0)
	add(5, true, 0)
	n := Names{dull: make([]atomic.Uint64, dullSlots)}
	r.Judged(&u, &n)
	for key, dull := range map[uint64]bool{1: true, 2: false, 3: false, 4: false, 5: true} {
		if n.isDull(key) != dull {
			t.Errorf("run %d is dull: %t", key, !dull)
		}
	}
}
