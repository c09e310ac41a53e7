package callconv

import (
	"fmt"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/dwarf"
	"github.com/btflite/btflite/internal/elfabi"
)

// Types of every test environment, with the sizes of a 64-bit machine.
const (
	tVoid = iota
	tInt
	tLong
	tPtr
	tTwo      // struct two { long a, b; }
	tBig      // struct big of 24 bytes
	tTypedef  // typedef struct two
	tConst    // const struct two
	tFloat    //
	tSub      // struct sub { int a, b; long c; }
	tArray    // int[4]
	tInt128   // 16 bytes, no struct
	tVolatile // volatile struct two
	tLoop     // a typedef of itself
	tOther    // a reference out of the unit
)

// Name tokens of members.
const (
	nameA = 100 + iota
	nameB
	nameC
)

var testNodes = []dedup.Node{
	tInt - 1:      {Info: btf.Info(btf.KindInt, 0, false), Third: 4},
	tLong - 1:     {Info: btf.Info(btf.KindInt, 0, false), Third: 8},
	tPtr - 1:      {Info: btf.Info(btf.KindPtr, 0, false), Third: tBig},
	tTwo - 1:      {Info: btf.Info(btf.KindStruct, 2, false), Name: 1, Third: 16, First: 0},
	tBig - 1:      {Info: btf.Info(btf.KindStruct, 0, false), Name: 2, Third: 24},
	tTypedef - 1:  {Info: btf.Info(btf.KindTypedef, 0, false), Name: 3, Third: tTwo},
	tConst - 1:    {Info: btf.Info(btf.KindConst, 0, false), Third: tTwo},
	tFloat - 1:    {Info: btf.Info(btf.KindFloat, 0, false), Third: 4},
	tSub - 1:      {Info: btf.Info(btf.KindStruct, 3, true), Name: 4, Third: 16, First: 2},
	tArray - 1:    {Info: btf.Info(btf.KindArray, 0, false), Third: tInt, First: tInt, Aux: 4},
	tInt128 - 1:   {Info: btf.Info(btf.KindInt, 0, false), Third: 16},
	tVolatile - 1: {Info: btf.Info(btf.KindVolatile, 0, false), Third: tTwo},
	tLoop - 1:     {Info: btf.Info(btf.KindTypedef, 0, false), Third: tLoop},
}

var testMembers = []dedup.Member{
	{Name: nameA, Type: tLong, Val: 0}, {Name: nameB, Type: tLong, Val: 64},
	{Name: nameA, Type: tInt, Val: 0}, {Name: nameB, Type: tInt, Val: 32}, {Name: nameC, Type: tLong, Val: 64},
}

// prm is a parameter: its type, or 0 to leave it to the origin, and its location.
type prm struct {
	typ    uint32
	loc    []byte   // a single expression; nil for none
	list   [][]byte // a location list; nil for none
	cst    bool     // DW_AT_const_value
	origin uint32   // 1 + index of a parameter in the order of the test
}

// fun is a function.
type fun struct {
	params []prm
	flags  FuncFlags
	origin uint32 // 1 + index of a function
}

// buildEnv makes an environment of the given functions. DIE offsets are ascending, as in
// a unit: a function's is 1000*(1+index), and its parameters' follow.
func buildEnv(machine uint16, version uint16, funs []fun) *Functions {
	e := &Functions{Machine: machine, Format: dwarf.ExprFormat{Version: version}, Types: Types{Nodes: testNodes, Members: testMembers, AddrSize: 8}}
	switch machine {
	case elfabi.EMARM, 3:
		e.Types.AddrSize = 4
	}
	e.Format.AddrSize, e.Format.BigEndian = uint8(e.Types.AddrSize), machine == elfabi.EMS390
	e.Exprs = []byte{0xff}
	var offs []uint32
	for i, f := range funs {
		for j := range f.params {
			offs = append(offs, uint32(1000*(i+1)+j+1))
		}
	}
	for i, f := range funs {
		r := Func{Off: uint32(1000 * (i + 1)), Name: uint32(i + 1), First: uint32(len(e.Params)), N: uint32(len(f.params)), Flags: f.flags}
		if f.origin != 0 {
			r.Origin, r.Name = 1000*f.origin, 0
		}
		for _, p := range f.params {
			q := Param{Off: offs[len(e.Params)], Name: uint32(10 + len(e.Params)), Type: p.typ, HasType: p.typ != 0, Reg: -1}
			if p.origin != 0 {
				q.Origin = offs[p.origin-1]
			}
			if p.cst {
				q.Flags |= ParamHasConst
			}
			switch {
			case p.loc != nil:
				q.Flags |= ParamHasLoc
				q.LocKind, q.LocOff, q.LocLen = LocExpr, uint32(len(e.Exprs)), uint32(len(p.loc))
				e.Exprs = append(e.Exprs, p.loc...)
			case p.list != nil:
				q.Flags |= ParamHasLoc
				q.LocKind = LocList
				q.LocOff = uint32(len(e.Lists.Data))
				if version >= 5 {
					e.Lists.Data = appendList5(e.Lists.Data, p.list)
				} else {
					e.Lists.Data = appendList4(e.Lists.Data, p.list, e.Types.AddrSize, e.Format.BigEndian)
				}
			}
			e.Params = append(e.Params, q)
		}
		e.Funcs = append(e.Funcs, r)
		e.Order = append(e.Order, uint32(i))
	}
	return e
}

func appendList5(b []byte, list [][]byte) []byte {
	for i, x := range list {
		b = append(b, 4, byte(i), byte(i+1), byte(len(x))) // DW_LLE_offset_pair
		b = append(b, x...)
	}
	return append(b, 0)
}

func appendList4(b []byte, list [][]byte, addrSize int, bigEndian bool) []byte {
	num := func(v, n int) {
		for k := range n {
			s := k
			if bigEndian {
				s = n - 1 - k
			}
			b = append(b, byte(v>>(8*min(s, 7))))
		}
	}
	for i, x := range list {
		num(i, addrSize)
		num(i+1, addrSize)
		num(len(x), 2)
		b = append(b, x...)
	}
	return append(b, make([]byte, 2*addrSize)...)
}

// describe writes a function's flags, then each parameter as
// [register][?=optimized !=unexpected #=constant s=on stack m=in memory].
func describe(e *Functions, i int) string {
	f := &e.Funcs[i]
	var w strings.Builder
	for _, x := range []struct {
		bit  FuncFlags
		name string
	}{{FuncReordered, "reordered "}, {FuncUnexpectedReg, "unexpected "}, {FuncOptimizedParams, "optimized "}, {FuncChanged, "changed "}} {
		if f.Flags&x.bit != 0 {
			w.WriteString(x.name)
		}
	}
	for _, p := range e.paramsOf(f) {
		w.WriteByte('[')
		if p.Reg >= 0 {
			fmt.Fprintf(&w, "%d", p.Reg)
		}
		for _, x := range []struct {
			bit ParamFlags
			c   byte
		}{{ParamOptimized, '?'}, {ParamUnexpected, '!'}, {ParamConstant, '#'}, {ParamOnStack, 's'}, {ParamInMemory, 'm'}} {
			if p.Flags&x.bit != 0 {
				w.WriteByte(x.c)
			}
		}
		if p.Member != 0 {
			fmt.Fprintf(&w, " member %d type %d", e.Types.Members[p.Member-1].Name-nameA, p.Type)
		}
		w.WriteByte(']')
	}
	return w.String()
}

// Expressions.
var (
	xEmpty = []byte{}
	xStack = []byte{0x91, 0x10}          // fbreg 16
	xLit   = []byte{0x31, 0x9f}          // lit1, stack_value
	xEntry = []byte{0xa3, 1, 0x55, 0x9f} // entry_value(reg5), stack_value
	xGNU   = []byte{0xf3, 1, 0x55, 0x9f} // GNU_entry_value(reg5), stack_value
	xBoth  = []byte{0x55, 0x93, 8, 0x54, 0x93, 8}
	xHigh  = []byte{0x93, 8, 0x55, 0x93, 8} // only the second half, in reg5
	xBad   = []byte{0x55, 0x01}
)

func reg(n int) []byte { return []byte{0x50 + byte(n)} }

func TestParameterRegisters(t *testing.T) {
	tests := []struct {
		name    string
		machine uint16
		params  []prm
		want    string
	}{
		{"x86-64 order", elfabi.EMX8664, []prm{{typ: tInt, loc: reg(5)}, {typ: tInt, loc: reg(4)}, {typ: tInt, loc: reg(1)}, {typ: tInt, loc: reg(2)}, {typ: tInt, loc: reg(8)}, {typ: tInt, loc: reg(9)}}, "[5][4][1][2][8][9]"},
		{"arm64 order", elfabi.EMAArch64, []prm{{typ: tInt, loc: reg(0)}, {typ: tInt, loc: reg(1)}}, "[0][1]"},
		{"s390 order", elfabi.EMS390, []prm{{typ: tInt, loc: reg(2)}, {typ: tInt, loc: reg(3)}}, "[2][3]"},
		{"wrong register", elfabi.EMX8664, []prm{{typ: tInt, loc: reg(4)}}, "unexpected [4!]"},
		{"swapped", elfabi.EMX8664, []prm{{typ: tInt, loc: reg(4)}, {typ: tInt, loc: reg(5)}}, "unexpected [4!][5!]"},
		{"wrong register beside a struct", elfabi.EMX8664, []prm{{typ: tInt, loc: reg(4)}, {typ: tTwo, loc: xBoth}}, "[4!][5!]"},
		{"wrong register beside a const struct", elfabi.EMX8664, []prm{{typ: tInt, loc: reg(4)}, {typ: tConst, loc: xBoth}}, "[4!][5!]"},
		{"wrong register beside a volatile struct", elfabi.EMX8664, []prm{{typ: tInt, loc: reg(4)}, {typ: tVolatile, loc: xBoth}}, "unexpected [4!][5!]"},
		{"wrong register beside a pointer to struct", elfabi.EMX8664, []prm{{typ: tInt, loc: reg(4)}, {typ: tPtr, loc: reg(4)}}, "unexpected [4!][4]"},
		{"float in xmm0", elfabi.EMX8664, []prm{{typ: tFloat, loc: reg(17)}, {typ: tInt, loc: reg(5)}}, "unexpected [17!][5!]"},
		{"struct in two registers", elfabi.EMX8664, []prm{{typ: tTwo, loc: xBoth}, {typ: tInt, loc: reg(1)}}, "[5][1]"},
		{"typedef of a struct in two registers", elfabi.EMX8664, []prm{{typ: tTypedef, loc: xBoth}, {typ: tInt, loc: reg(1)}}, "[5][1]"},
		{"one register on s390 whatever the size", elfabi.EMS390, []prm{{typ: tTwo, loc: reg(2)}, {typ: tInt, loc: reg(3)}}, "[2m][3]"},
		{"long of two words on arm", elfabi.EMARM, []prm{{typ: tLong, loc: reg(0)}, {typ: tInt, loc: reg(2)}}, "[0][2]"},
		{"aligned long on arm", elfabi.EMARM, []prm{{typ: tInt, loc: reg(0)}, {typ: tLong, loc: []byte{0x52, 0x93, 4, 0x53, 0x93, 4}}}, "unexpected [0][2!]"},
		{"in memory takes one slot", elfabi.EMX8664, []prm{{typ: tBig, loc: xStack}, {typ: tInt, loc: reg(4)}}, "optimized [?sm][4]"},
		{"array has the size of its element", elfabi.EMX8664, []prm{{typ: tArray, loc: reg(5)}, {typ: tInt, loc: reg(4)}}, "[5][4]"},
		{"endless type", elfabi.EMX8664, []prm{{typ: tLoop, loc: reg(5)}, {typ: tOther, loc: reg(4)}, {typ: tVoid, loc: reg(1)}}, "[5][4][1]"},
		{"type of another unit", elfabi.EMX8664, []prm{{typ: dedup.Extern | 1, loc: reg(5)}}, "[5]"},
		{"no location still takes its register", elfabi.EMX8664, []prm{{typ: tInt}, {typ: tInt, loc: reg(4)}}, "optimized [][4]"},
		{"constant value", elfabi.EMX8664, []prm{{typ: tInt, cst: true}, {typ: tInt, loc: reg(4)}}, "optimized [?][4]"},
		{"empty location", elfabi.EMX8664, []prm{{typ: tInt, loc: xEmpty}, {typ: tInt, loc: reg(4)}}, "optimized [?][4]"},
		{"seventh is on the stack", elfabi.EMX8664, []prm{{typ: tInt, loc: reg(5)}, {typ: tTwo, loc: []byte{0x54, 0x93, 8, 0x51, 0x93, 8}}, {typ: tInt, loc: reg(2)}, {typ: tInt, loc: reg(8)}, {typ: tInt, loc: reg(9)}, {typ: tInt, loc: xStack}}, "[5][4][2][8][9][s]"},
		{"i386 has no registers", 3, []prm{{typ: tInt, loc: xStack}, {typ: tInt, loc: reg(0)}, {typ: tInt, loc: xEmpty}}, "[s][0][]"},
		{"mips registers are not checked", elfabi.EMMIPS, []prm{{typ: tInt, loc: reg(30)}, {typ: tInt, loc: xEmpty}}, "optimized [30][?]"},
		{"riscv registers are not checked", elfabi.EMRISCV, []prm{{typ: tInt, loc: reg(3)}}, "[3]"},
	}
	for _, tt := range tests {
		e := buildEnv(tt.machine, 4, []fun{{params: tt.params}})
		e.Link()
		e.Analyze()
		if got := describe(e, 0); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestParameterLocations(t *testing.T) {
	tests := []struct {
		name string
		typ  uint32
		list [][]byte
		want string // of the first parameter
	}{
		{"register at first", tInt, [][]byte{reg(5), reg(3)}, "[5]"},
		{"register later", tInt, [][]byte{xEmpty, reg(5)}, "[?]"},
		{"empty entries count", tInt, [][]byte{xEmpty, xEntry}, "[5]"},
		{"entry value later", tInt, [][]byte{xLit, xEntry}, "[5#]"},
		{"GNU entry value", tInt, [][]byte{xLit, reg(3), xGNU}, "[5#]"},
		{"first register sticks", tInt, [][]byte{reg(3), xEntry}, "[3!]"},
		{"register read as a value", tInt, [][]byte{{0x75, 0, 0x9f}}, "[5]"},
		{"memory at a register", tInt, [][]byte{{0x75, 0}}, "[?]"},
		{"calculated from a register", tInt, [][]byte{{0x75, 0, 0x31, 0x22, 0x9f}}, "[5]"},
		{"calculated from a register, later", tInt, [][]byte{xEmpty, {0x75, 0, 0x31, 0x22, 0x9f}}, "[?]"},
		{"entry value of a calculation", tInt, [][]byte{{0xa3, 2, 0x75, 0, 0x9f}}, "[?]"},
		{"calculated from an entry value", tInt, [][]byte{{0xa3, 1, 0x55, 0x31, 0x22, 0x9f}}, "[?]"},
		{"constant", tInt, [][]byte{{0x10, 9, 0x9f}}, "[?#]"},
		{"constant with more behind it", tInt, [][]byte{{0x30, 0x9f, 0x93, 4}}, "[?#]"},
		{"constant later", tInt, [][]byte{xEmpty, xLit}, "[?]"},
		{"on the stack", tInt, [][]byte{xStack}, "[?s]"},
		{"on the stack later", tInt, [][]byte{reg(5), xStack}, "[5]"},
		{"floating-point register", tInt, [][]byte{{0x90, 33}}, "[?]"},
		{"broken expression ends the list", tInt, [][]byte{xBad, xEntry}, "[?]"},
		{"piece of a small value", tInt, [][]byte{{0x55, 0x93, 4}}, "[5]"},
		{"pieces", tTwo, [][]byte{xBoth}, "[5]"},
		{"pieces later", tTwo, [][]byte{xEmpty, xBoth}, "[5]"},
		{"register in the second half", tTwo, [][]byte{xHigh}, "[5]"},
		{"whole two-register value as one register", tTwo, [][]byte{reg(5)}, "[5]"},
		{"two-register value calculated", tTwo, [][]byte{{0x75, 0, 0x9f, 0x93, 8}}, "[?]"},
		{"first register of the machine", tInt, [][]byte{reg(0)}, "[0!]"},
		{"last register of the machine", tInt, [][]byte{reg(31)}, "[31!]"},
		{"first register, as a value", tInt, [][]byte{{0x70, 0, 0x9f}}, "[0!]"},
		{"last register, as a value", tInt, [][]byte{{0x8f, 0, 0x9f}}, "[31!]"},
		{"calculated from the first register", tInt, [][]byte{{0x70, 0, 0x31, 0x22, 0x9f}}, "[0!]"},
		{"calculated from the last register", tInt, [][]byte{{0x8f, 0, 0x31, 0x22, 0x9f}}, "[31!]"},
		{"entry value of the first register", tInt, [][]byte{{0xa3, 1, 0x50, 0x9f}}, "[0!]"},
		{"entry value of the last register", tInt, [][]byte{{0xa3, 1, 0x6f, 0x9f}}, "[31!]"},
		{"entry value of a literal", tInt, [][]byte{{0xa3, 1, 0x4f, 0x9f}}, "[?]"},
		{"piece of the last register", tInt, [][]byte{{0x6f, 0x93, 4}}, "[31!]"},
		{"pieces of the last registers", tTwo, [][]byte{{0x6f, 0x93, 8, 0x6e, 0x93, 8}}, "[31!]"},
		{"the middle literal", tInt, [][]byte{{0x4f, 0x9f}}, "[?#]"},
		{"constant of two registers with more behind it", tTwo, [][]byte{{0x4f, 0x9f, 0x93, 8}}, "[?#]"},
	}
	for _, tt := range tests {
		for version := uint16(2); version <= 5; version++ {
			for _, bigEndian := range []bool{false, true} {
				list := func(e *Functions, p *Param) {
					p.LocKind, p.LocOff = LocList, 3
					e.Lists.Data = appendList4(make([]byte, 3), tt.list, 8, bigEndian)
					if version == 5 {
						e.Lists.Data = appendList5(make([]byte, 3), tt.list)
					}
				}
				condensed := func(e *Functions, p *Param) {
					kept, ok := Condense(make([]byte, 3), tt.list, e.Format)
					if !ok {
						t.Errorf("%s: not kept", tt.name)
					}
					p.LocKind, p.LocOff, p.LocLen = LocEntries, 3, uint32(len(kept)-3)
					e.Entries = kept
				}
				for _, locate := range []func(*Functions, *Param){list, condensed} {
					e := buildEnv(elfabi.EMX8664, version, []fun{{params: []prm{{typ: tt.typ}}}})
					e.Format.BigEndian = bigEndian
					e.Params[0].Flags |= ParamHasLoc
					locate(e, &e.Params[0])
					e.Link()
					e.Analyze()
					got := describe(e, 0)
					if got = got[strings.IndexByte(got, '['):]; got != tt.want {
						t.Errorf("%s, DWARF %d, big-endian %v, kind %d: got %q, want %q", tt.name, version, bigEndian, e.Params[0].LocKind, got, tt.want)
					}
				}
			}
		}
	}
}

// What cannot be read counts as present and empty.
func TestUnreadableLocations(t *testing.T) {
	for _, p := range []Param{
		{LocKind: LocBad},
		{LocKind: LocExpr, LocOff: 1 << 31, LocLen: 1 << 31},
		{LocKind: LocExpr, LocOff: 0, LocLen: 2},
		{LocKind: LocEntries, LocOff: 0, LocLen: 2},
		{LocKind: LocEntries, LocOff: 1 << 31, LocLen: 1 << 31},
		{LocKind: LocList, LocOff: 1 << 31},
		{LocKind: LocList, LocOff: 0},
		{LocKind: 77},
	} {
		e := buildEnv(elfabi.EMX8664, 5, []fun{{params: []prm{{typ: tInt}}}})
		p.Type, p.HasType, p.Reg, p.Flags = tInt, true, -1, ParamHasLoc
		e.Params[0] = p
		e.Lists.Data = []byte{4, 0x80}
		e.Analyze()
		if got, want := describe(e, 0), "optimized [?]"; got != want {
			t.Errorf("kind %d offset %d: got %q, want %q", p.LocKind, p.LocOff, got, want)
		}
	}
	e := buildEnv(elfabi.EMX8664, 5, []fun{{}})
	e.Funcs[0].First, e.Funcs[0].N = 1<<32-1, 1<<32-1
	e.Funcs[0].Origin = 1000
	e.Link()
	e.Analyze()
	if e.Uncertain(&e.Funcs[0]) || e.Funcs[0].Flags != 0 {
		t.Error("parameters beyond the table count")
	}
}

func TestConcreteFunctions(t *testing.T) {
	abstract := fun{params: []prm{{typ: tInt}, {typ: tLong}}, flags: FuncInline | FuncHasType}
	tests := []struct {
		name             string
		funs             []fun
		abstract, actual string
	}{
		{"in order", []fun{abstract, {origin: 1, params: []prm{{origin: 1, loc: reg(5)}, {origin: 2, loc: reg(4)}}}}, "[5][4]", "[5][4]"},
		{"reordered", []fun{abstract, {origin: 1, params: []prm{{origin: 2, loc: reg(4)}, {origin: 1, loc: reg(5)}}}}, "[5][4]", "reordered unexpected [4!][5!]"},
		{"abstract one last", []fun{{origin: 2, params: []prm{{origin: 3, loc: reg(5)}, {origin: 4, loc: reg(4)}}}, abstract}, "[5][4]", "[5][4]"},
		{"size is the size of the origin's type", []fun{{params: []prm{{typ: tInt128}, {typ: tInt}}}, {origin: 1, params: []prm{{typ: tLong, origin: 1, loc: reg(5)}, {origin: 2, loc: reg(1)}}}}, "optimized [][1]", "[5][1]"},
		{"own type keeps it apart", []fun{abstract, {origin: 1, params: []prm{{typ: tInt, origin: 2, loc: reg(5)}, {typ: tInt, origin: 1, loc: reg(4)}}}}, "optimized [][]", "[5][4]"},
		{"constant propagated", []fun{abstract, {origin: 1, params: []prm{{origin: 1, cst: true}, {origin: 2, loc: reg(5)}}}}, "unexpected optimized [?][5!]", "unexpected optimized [?][5!]"},
		{"register and flags of different copies", []fun{abstract,
			{origin: 1, params: []prm{{origin: 1, loc: reg(5)}, {origin: 2, loc: reg(3)}}},
			{origin: 1, params: []prm{{origin: 1}, {origin: 2, loc: reg(4)}}}}, "[5][4]", "unexpected [5][3!]"},
		{"origin outside of the unit", []fun{abstract, {origin: 7, params: []prm{{origin: 1, loc: reg(5)}, {origin: 2, loc: reg(4)}}}}, "[5][4]", "[5][4]"},
	}
	for _, tt := range tests {
		e := buildEnv(elfabi.EMX8664, 5, tt.funs)
		e.Link()
		e.Analyze()
		a, c := 0, 1
		if tt.funs[0].origin != 0 {
			a, c = 1, 0
		}
		got := describe(e, a)
		if got != tt.abstract || describe(e, c) != tt.actual {
			t.Errorf("%s: got %q and %q, want %q and %q", tt.name, got, describe(e, c), tt.abstract, tt.actual)
		}
	}
}

// Functions that do not matter still pass on what is known of them.
func TestFunctionsLeftOut(t *testing.T) {
	e := buildEnv(elfabi.EMX8664, 5, []fun{
		{params: []prm{{typ: tInt}}},
		{origin: 1, params: []prm{{origin: 1, loc: reg(4)}}},
		{params: []prm{{typ: tInt, loc: reg(4)}}},
	})
	e.Only = func(i uint32) bool { return i == 0 }
	e.Link()
	e.Analyze()
	if got, want := describe(e, 0)+describe(e, 1)+describe(e, 2), "unexpected [4!][4][]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestClangSignatures(t *testing.T) {
	lit := []byte{0x30, 0x9f}
	tests := []struct {
		name        string
		flags       FuncFlags
		params      []prm
		plain, true string // without and with true signatures
	}{
		{"unchanged", 0, []prm{{typ: tInt, loc: reg(5)}, {typ: tInt, loc: reg(4)}}, "[5][4]", ""},
		{"unchanged, wrong register", 0, []prm{{typ: tInt, loc: reg(4)}}, "unexpected [4!]", ""},
		{"unchanged, not described", 0, []prm{{typ: tInt, loc: xEmpty}, {typ: tInt, loc: reg(4)}}, "[][4]", ""},
		{"unchanged, second register of two", 0, []prm{{typ: tInt128, loc: reg(4)}, {typ: tInt, loc: reg(1)}}, "[4][1]", ""},
		{"unchanged, in memory", 0, []prm{{typ: tBig, loc: xStack}, {typ: tInt, loc: reg(5)}}, "[sm][5]", ""},
		{"changed, parameter gone", FuncNoCall, []prm{{typ: tInt}, {typ: tInt, loc: reg(5)}},
			"unexpected optimized changed [][5!]", "optimized changed [?][5]"},
		{"changed, constant", FuncNoCall, []prm{{typ: tInt, loc: lit}, {typ: tInt, loc: reg(5)}},
			"unexpected optimized changed [?#][5!]", "optimized changed [?#][5]"},
		{"changed, not described but there", FuncNoCall, []prm{{typ: tInt}, {typ: tInt, loc: reg(4)}},
			"optimized changed [][4]", "optimized changed [][4]"},
		{"changed, on the stack", FuncNoCall, []prm{{typ: tInt, loc: xStack}, {typ: tInt, loc: reg(4)}},
			"optimized changed [?s][4]", "unexpected changed [!s][4]"},
		{"changed, in memory", FuncNoCall, []prm{{typ: tBig, loc: xStack}, {typ: tInt, loc: reg(5)}},
			"optimized changed [?sm][5!]", "changed [sm][5]"},
		{"changed, only the second member", FuncNoCall, []prm{{typ: tTwo, loc: xHigh}, {typ: tInt, loc: reg(4)}},
			"changed [5][4!]", "changed [5 member 1 type 2][4]"},
		{"changed, only the first member, typedef", FuncNoCall, []prm{{typ: tTypedef, loc: []byte{0x55, 0x93, 8}}, {typ: tInt, loc: reg(4)}},
			"changed [5][4!]", "changed [5 member 0 type 2][4]"},
		{"changed, member within the first half", FuncNoCall, []prm{{typ: tSub, loc: []byte{0x93, 4, 0x55, 0x93, 4}}, {typ: tInt, loc: reg(4)}},
			"changed [5][4!]", "changed [5 member 1 type 1][4]"},
		{"changed, one member but both registers", FuncNoCall, []prm{{typ: tTwo, loc: xHigh}, {typ: tInt, loc: reg(1)}},
			"changed [5][1]", "changed [5][1]"},
		{"changed, both members", FuncNoCall, []prm{{typ: tTwo, loc: xBoth}, {typ: tInt, loc: reg(1)}},
			"changed [5][1]", "changed [5][1]"},
		{"changed, members in different entries", FuncNoCall, []prm{{typ: tTwo, list: [][]byte{{0x55, 0x93, 8}, xHigh}}, {typ: tInt, loc: reg(1)}},
			"changed [5][1]", "changed [5][1]"},
		{"changed, no struct", FuncNoCall, []prm{{typ: tInt128, loc: xHigh}, {typ: tInt, loc: reg(1)}},
			"changed [5][1]", "changed [5][1]"},
		{"changed, wrong register keeps the name", FuncNoCall, []prm{{typ: tTwo, loc: []byte{0x93, 8, 0x51, 0x93, 8}}, {typ: tInt, loc: reg(4)}},
			"changed [1!][4!]", "changed [1! member 1 type 4][4!]"},
		{"changed, seventh on the stack", FuncNoCall, []prm{{typ: tInt, loc: reg(5)}, {typ: tTwo, loc: []byte{0x54, 0x93, 8, 0x51, 0x93, 8}}, {typ: tInt, loc: reg(2)}, {typ: tInt, loc: reg(8)}, {typ: tInt, loc: reg(9)}, {typ: tInt, loc: xStack}, {typ: tInt, loc: xStack}},
			"changed [5][4][2][8][9][s][s]", "changed [5][4][2][8][9][s][s]"},
		{"inlined functions are not changed", FuncNoCall | FuncInline, []prm{{typ: tInt, loc: xEmpty}}, "[]", ""},
	}
	for _, tt := range tests {
		for _, trueSignature := range []bool{false, true} {
			e := buildEnv(elfabi.EMX8664, 5, []fun{{params: tt.params, flags: tt.flags}})
			e.Clang, e.TrueSignature = true, trueSignature
			e.Link()
			e.Analyze()
			want := tt.plain
			if trueSignature && tt.true != "" {
				want = tt.true
			}
			if got := describe(e, 0); got != want {
				t.Errorf("%s, true signatures %v: got %q, want %q", tt.name, trueSignature, got, want)
			}
		}
	}
}

// A concrete function is changed if its origin says so; its own attribute does
// not count, and its parameters never become members.
func TestClangChangedThroughOrigin(t *testing.T) {
	for _, tt := range []struct {
		abstract, concrete FuncFlags
		want               string
	}{
		{FuncInline | FuncNoCall, 0, "optimized changed [?#][5][4!]"},
		{FuncInline, FuncNoCall, "[#][5!][4!]"},
		{FuncInline, 0, "[#][5!][4!]"},
	} {
		e := buildEnv(elfabi.EMX8664, 5, []fun{
			{flags: tt.abstract, params: []prm{{typ: tInt}, {typ: tTwo}, {typ: tInt}}},
			{flags: tt.concrete, origin: 1, params: []prm{{origin: 1, loc: xLit}, {origin: 2, loc: xHigh}, {origin: 3, loc: reg(4)}}},
		})
		e.Clang, e.TrueSignature = true, true
		e.Link()
		e.Analyze()
		if got := describe(e, 1); got != tt.want {
			t.Errorf("abstract %#x concrete %#x: got %q, want %q", tt.abstract, tt.concrete, got, tt.want)
		}
	}
}

func TestLink(t *testing.T) {
	e := buildEnv(elfabi.EMX8664, 5, []fun{
		{params: []prm{{typ: tInt}, {typ: tLong}}},
		{origin: 1, params: []prm{{origin: 2}, {origin: 1}, {typ: tPtr, origin: 1}, {origin: 1}}},
		{}, {origin: 1}, {origin: 2},
	})
	e.Params[5].Origin = 7777 // no such DIE
	e.Funcs[0].Type = tInt
	e.Funcs[0].Flags = FuncHasType
	e.Funcs[2].Name, e.Funcs[2].Spec = 0, 1000
	e.Funcs[3].Flags = FuncHasType // void of its own
	e.Link()
	for i, want := range []struct{ name, typ uint32 }{{1, tInt}, {1, tInt}, {1, tVoid}, {1, tVoid}, {1, tInt}} {
		if f := e.Funcs[i]; f.Name != want.name || f.Type != want.typ {
			t.Errorf("function %d: name %d type %d, want %d and %d", i, f.Name, f.Type, want.name, want.typ)
		}
	}
	for j, want := range []struct{ name, typ uint32 }{{11, tLong}, {10, tInt}, {14, tPtr}, {15, tVoid}} {
		if p := e.Params[2+j]; p.Name != want.name || p.Type != want.typ {
			t.Errorf("parameter %d: name %d type %d, want %d and %d", j, p.Name, p.Type, want.name, want.typ)
		}
	}
}

func TestParametersDoNotAllocate(t *testing.T) {
	list := [][]byte{reg(5), xEntry}
	e := buildEnv(elfabi.EMX8664, 5, []fun{
		{params: []prm{{typ: tInt}, {typ: tTwo}}},
		{origin: 1, params: []prm{{origin: 2, list: list}, {origin: 1, list: list}}},
	})
	if n := testing.AllocsPerRun(50, func() {
		e.Link()
		e.Analyze()
		e.Uncertain(&e.Funcs[1])
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
