package callconv

import (
	"testing"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/dedup"
	"github.com/btflite/btflite/internal/elfabi"
)

// Member types of TestPacked; the struct itself is type pkSelf.
const (
	pkChar = iota + 1
	pkShort
	pkInt
	pkLong
	pkPtr
	pkInner  // struct { char c; int x; } packed, 5 bytes
	pkChars  // char[3]
	pkTypdef // typedef long
	pkUnion  // union { int a; short b; }
	pkFlex   // int[]
	pkLoop   // struct that contains itself twice
	pkSelf
)

type pkMember struct {
	typ  uint32
	bit  uint32
	bits uint32
}

func packedEnv(size uint32, ms []pkMember) *Functions {
	e := &Functions{Machine: elfabi.EMX8664, Types: Types{AddrSize: 8}}
	info := func(k btf.Kind, n uint32) uint32 { return btf.Info(k, n, false) }
	e.Types.Members = []dedup.Member{
		{Type: pkChar}, {Type: pkInt, Val: 8}, // inner
		{Type: pkInt}, {Type: pkShort}, // union
		{Type: pkLoop}, {Type: pkLoop}, // loop
	}
	e.Types.Nodes = []dedup.Node{
		pkChar - 1:   {Info: info(btf.KindInt, 0), Third: 1},
		pkShort - 1:  {Info: info(btf.KindInt, 0), Third: 2},
		pkInt - 1:    {Info: info(btf.KindEnum, 0), Third: 4},
		pkLong - 1:   {Info: info(btf.KindInt, 0), Third: 8},
		pkPtr - 1:    {Info: info(btf.KindPtr, 0)},
		pkInner - 1:  {Info: info(btf.KindStruct, 2), Third: 5, First: 0},
		pkChars - 1:  {Info: info(btf.KindArray, 0), Third: pkChar, Aux: 3},
		pkTypdef - 1: {Info: info(btf.KindTypedef, 0), Third: pkLong},
		pkUnion - 1:  {Info: info(btf.KindUnion, 2), Third: 4, First: 2},
		pkFlex - 1:   {Info: info(btf.KindArray, 0), Third: pkInt},
		pkLoop - 1:   {Info: info(btf.KindStruct, 2), Third: 8, First: 4},
		pkSelf - 1:   {Info: info(btf.KindStruct, uint32(len(ms))), Name: 9, Third: size, First: uint32(len(e.Types.Members))},
	}
	kflag := false
	for _, m := range ms {
		kflag = kflag || m.bits != 0
		e.Types.Members = append(e.Types.Members, dedup.Member{Type: m.typ, Val: m.bit | m.bits<<24})
	}
	e.Types.Nodes[pkSelf-1].Info = btf.Info(btf.KindStruct, uint32(len(ms)), kflag)
	return e
}

func TestPacked(t *testing.T) {
	tests := []struct {
		name string
		size uint32
		ms   []pkMember
		want bool
	}{
		{"empty", 0, nil, false},
		{"aligned", 16, []pkMember{{pkLong, 0, 0}, {pkLong, 64, 0}}, false},
		{"misplaced member", 9, []pkMember{{pkChar, 0, 0}, {pkLong, 8, 0}}, true},
		{"misplaced member behind a typedef", 9, []pkMember{{pkChar, 0, 0}, {pkTypdef, 8, 0}}, true},
		{"misplaced pointer", 12, []pkMember{{pkInt, 0, 0}, {pkPtr, 32, 0}}, true},
		{"size no multiple of the alignment", 5, []pkMember{{pkInt, 0, 0}, {pkChar, 32, 0}}, true},
		{"only bytes", 3, []pkMember{{pkChar, 0, 0}, {pkShort - 1, 8, 0}, {pkChar, 16, 0}}, false},
		{"hole", 16, []pkMember{{pkChar, 0, 0}, {pkLong, 64, 0}}, false},
		{"hole and misplaced member", 14, []pkMember{{pkChar, 0, 0}, {pkLong, 48, 0}}, false},
		{"bit-field that reaches into the next unit", 10, []pkMember{{pkLong, 0, 38}, {pkLong, 38, 29}, {pkChar, 72, 0}}, true},
		{"hole behind such units", 18, []pkMember{{pkLong, 0, 38}, {pkLong, 38, 29}, {pkChar, 136, 0}}, false},
		{"unit of a short bit-field inside a longer one", 9, []pkMember{{pkLong, 0, 22}, {pkShort, 22, 15}, {pkChar, 64, 0}}, true},
		{"end inside the unit of an earlier bit-field", 5, []pkMember{{pkLong, 3, 8}, {pkShort, 13, 10}}, true},
		{"padding", 16, []pkMember{{pkLong, 0, 0}, {pkInt, 64, 0}}, false},
		{"array of bytes", 3, []pkMember{{pkChars, 0, 0}}, false},
		{"union is as aligned as its members", 5, []pkMember{{pkChar, 0, 0}, {pkUnion, 8, 0}}, true},
		{"struct is as aligned as its members", 8, []pkMember{{pkChars, 0, 0}, {pkInner, 24, 0}}, true},
		{"flexible array", 1, []pkMember{{pkChar, 0, 0}, {pkFlex, 8, 0}}, true},
		{"bits before a member of their unit", 4, []pkMember{{pkInt, 0, 3}, {pkChar, 8, 0}, {pkShort, 16, 0}}, false},
		{"bits end a struct", 8, []pkMember{{pkInt, 0, 0}, {pkInt, 32, 3}}, false},
		{"bits of a byte end a struct", 8, []pkMember{{pkInt, 0, 0}, {pkChar, 32, 3}}, false},
		{"skipped storage unit", 6, []pkMember{{pkChar, 0, 0}, {pkInt, 32, 3}, {pkChar, 40, 0}}, false},
		{"bits in a unit that began earlier", 8, []pkMember{{pkChar, 0, 0}, {pkInt, 8, 5}, {pkInt, 32, 0}}, false},
		{"odd size with bits", 7, []pkMember{{pkInt, 0, 20}, {pkInt, 20, 12}, {pkChars, 32, 0}}, true},
		{"contains itself", 8, []pkMember{{pkLoop, 0, 0}}, false},
		{"type without a node", 8, []pkMember{{99, 0, 0}}, false},
	}
	for _, tt := range tests {
		e := packedEnv(tt.size, tt.ms)
		if got := e.Types.packed(pkSelf, &e.Types.Nodes[pkSelf-1]); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestUncertainLocation(t *testing.T) {
	packed := []pkMember{{pkChar, 0, 0}, {pkLong, 8, 0}}
	for _, tt := range []struct {
		name    string
		machine uint16
		n       int // parameters before the struct
		change  func(e *Functions)
		want    bool
	}{
		{"seventh", elfabi.EMX8664, 6, nil, true},
		{"sixth", elfabi.EMX8664, 5, nil, false},
		{"seventh on s390", elfabi.EMS390, 6, nil, true},
		{"ninth on arm64", elfabi.EMAArch64, 8, nil, true},
		{"eighth on arm64", elfabi.EMAArch64, 7, nil, false},
		{"first on i386", 3, 0, nil, true},
		{"not packed", elfabi.EMX8664, 6, func(e *Functions) { e.Types.Nodes[pkSelf-1].Third = 16 }, false},
		{"without a name", elfabi.EMX8664, 6, func(e *Functions) { e.Types.Nodes[pkSelf-1].Name = 0 }, false},
		{"union", elfabi.EMX8664, 6, func(e *Functions) { e.Types.Nodes[pkSelf-1].Info = btf.Info(btf.KindUnion, 2, false) }, false},
		{"behind a typedef", elfabi.EMX8664, 6, func(e *Functions) {
			e.Types.Nodes = append(e.Types.Nodes, dedup.Node{Info: btf.Info(btf.KindTypedef, 0, false), Third: pkSelf})
			e.Params[6].Type = pkSelf + 1
		}, false},
	} {
		e := packedEnv(9, packed)
		e.Machine = tt.machine
		for range tt.n {
			e.Params = append(e.Params, Param{Type: pkInt})
		}
		e.Params = append(e.Params, Param{Type: pkSelf})
		e.Funcs = []Func{{N: uint32(len(e.Params))}}
		if tt.change != nil {
			tt.change(e)
		}
		if got := e.Uncertain(&e.Funcs[0]); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}
