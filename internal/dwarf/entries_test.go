package dwarf

import (
	"slices"
	"testing"
)

// TestEntries: DIEs are stepped over with and without DW_AT_sibling, and what is wrong with
// one is said where it is.
func TestEntries(t *testing.T) {
	sec := append(slices.Concat(
		declare(1, TagLabel, true, at{attr: atSibling, form: FormRef1}),
		declare(2, TagStructureType, true, at{attr: atByteSize, form: FormUdata}),
		declare(3, TagBaseType, false, at{attr: atByteSize, form: FormData1})), 0)
	for _, c := range []struct {
		name  string
		data  []byte
		offs  []int // of the DIEs that Next stops at
		fault string
		off   int
	}{
		{"nothing", nil, nil, "", 0},
		{"sibling", []byte{1, 4, 9, 9, 3, 8}, []int{0, 4}, "", 0}, // no DIE has the code 9
		{"children", []byte{2, 8, 2, 8, 3, 8, 0, 0, 3, 8}, []int{0, 8}, "", 0},
		{"no zeros at the end", []byte{2, 8, 3, 8}, []int{0}, "", 0},
		{"sibling backwards", []byte{1, 1, 3, 8}, []int{0}, FaultSibling, 0},
		{"sibling beyond the unit", []byte{3, 8, 1, 99, 0}, []int{0, 2}, FaultSibling, 2},
		{"no code", []byte{3, 8, 9}, []int{0}, FaultNoCode, 2},
		{"no code among children: said of their parent", []byte{2, 8, 9}, []int{0}, FaultNoCode, 0},
		{"number cut off", []byte{3, 8, 2, 0x80}, []int{0, 2}, FaultCutOff, 2},
		{"byte cut off", []byte{3, 8, 3}, []int{0, 2}, FaultCutOff, 2},
		{"code cut off", []byte{3, 8, 0x80}, []int{0}, faultCode, 2},
	} {
		var table Abbrevs
		if err := table.Compile(sec, &Unit{Version: 5, AddrSize: 8}, Types, 0); err != nil {
			t.Fatal(err)
		}
		e := Entries{Abbrevs: &table, Vals: new(Values), Data: c.data}
		var offs []int
		for e.Next() {
			offs = append(offs, e.Off)
			e.Skip()
		}
		if !slices.Equal(offs, c.offs) || e.Fault != c.fault || e.Fault != "" && e.Off != c.off {
			t.Errorf("%s: DIEs at %v, %q at %d; want %v, %q at %d", c.name, offs, e.Fault, e.Off, c.offs, c.fault, c.off)
		}
		if e.Fault != "" && e.Next() {
			t.Errorf("%s: it goes on after the fault", c.name)
		}
	}
}

// TestStaticAddress: the start of a variable's location.
func TestStaticAddress(t *testing.T) {
	for _, c := range []struct {
		expr []byte
		want Static
		ok   bool
	}{
		{[]byte{OpAddr, 1, 2, 0, 0}, Static{Value: 0x201}, true},
		{[]byte{OpAddr, 1, 2, 0, 0, OpPlusUconst, 5}, Static{Value: 0x201, Extra: 5}, true},
		{[]byte{OpAddr, 1, 2, 0, 0, OpPlusUconst, 5, OpNop}, Static{Value: 0x201}, true}, // not the whole of it
		{[]byte{OpAddrx, 7}, Static{Indexed: true, Value: 7}, true},
		{[]byte{OpGNUAddrIndex, 7, OpPlusUconst, 5}, Static{Indexed: true, Value: 7, Extra: 5}, true},
		{[]byte{OpAddr, 1, 2, 0}, Static{}, false},
		{[]byte{OpFbreg, 1}, Static{Value: 1}, false},
		{nil, Static{}, false},
	} {
		if got, ok := StaticAddress(c.expr, ExprFormat{Version: 5, AddrSize: 4}); ok != c.ok || ok && got != c.want {
			t.Errorf("% x: %+v, %v, want %+v, %v", c.expr, got, ok, c.want, c.ok)
		}
	}
}
