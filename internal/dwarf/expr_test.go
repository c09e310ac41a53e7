package dwarf

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

var (
	le64 = ExprFormat{Version: 5, AddrSize: 8}
	be32 = ExprFormat{Version: 4, AddrSize: 4, BigEndian: true}
)

// dumpExpr writes one word per operation: code, operands, block.
func dumpExpr(b []byte, f ExprFormat) string {
	var w strings.Builder
	x := NewExpr(b, f)
	var op ExprOp
	for x.Next(&op) {
		fmt.Fprintf(&w, "%02x(%d,%d", op.Code, int64(op.A), int64(op.B))
		if op.Block != nil {
			fmt.Fprintf(&w, ",%x", op.Block)
		}
		w.WriteString(") ")
	}
	if x.Bad() {
		fmt.Fprintf(&w, "bad at %d", x.Offset())
	}
	return strings.TrimSpace(w.String())
}

func TestExprOperands(t *testing.T) {
	dwarf2 := ExprFormat{Version: 2, AddrSize: 8}
	dwarf64 := ExprFormat{Version: 5, AddrSize: 4, Dwarf64: true}
	tests := []struct {
		name string
		f    ExprFormat
		in   []byte
		want string
	}{
		{"empty", le64, nil, ""},
		{"reg5", le64, []byte{0x55}, "55(0,0)"},
		{"pieces", le64, []byte{0x55, 0x93, 8, 0x54, 0x93, 0x80, 1}, "55(0,0) 93(8,0) 54(0,0) 93(128,0)"},
		{"breg5 -8, stack_value", le64, []byte{0x75, 0x78, 0x9f}, "75(-8,0) 9f(0,0)"},
		{"addr of 8 bytes", le64, []byte{0x03, 1, 0, 0, 0, 0, 0, 0, 0}, "03(1,0)"},
		{"addr of 4 bytes, big-endian", be32, []byte{0x03, 0, 0, 0, 1}, "03(1,0)"},
		{"const2s, big-endian", be32, []byte{0x0b, 0xff, 0xfe}, "0b(-2,0)"},
		{"const1u is not signed", le64, []byte{0x08, 0xff}, "08(255,0)"},
		{"const8s", le64, []byte{0x0f, 0xfe, 255, 255, 255, 255, 255, 255, 255}, "0f(-2,0)"},
		{"bregx", le64, []byte{0x92, 33, 0x7f}, "92(33,-1)"},
		{"bit_piece", le64, []byte{0x9d, 3, 4}, "9d(3,4)"},
		{"implicit_value", le64, []byte{0x9e, 2, 7, 8}, "9e(2,0,0708)"},
		{"entry_value", le64, []byte{0xa3, 1, 0x55, 0x9f}, "a3(1,0,55) 9f(0,0)"},
		{"GNU entry_value", le64, []byte{0xf3, 1, 0x55}, "f3(1,0,55)"},
		{"const_type", le64, []byte{0xa4, 0x30, 2, 1, 2}, "a4(48,2,0102)"},
		{"GNU regval_type, convert", le64, []byte{0xf5, 17, 0x30, 0xf7, 0x40}, "f5(17,48) f7(64,0)"},
		{"implicit_pointer", le64, []byte{0xa0, 1, 0, 0, 0, 0x7f}, "a0(1,-1)"},
		{"implicit_pointer of DWARF 2 has an address", dwarf2, []byte{0xf2, 1, 0, 0, 0, 0, 0, 0, 0, 2}, "f2(1,2)"},
		{"implicit_pointer of 64-bit DWARF", dwarf64, []byte{0xa0, 1, 0, 0, 0, 0, 0, 0, 0, 2}, "a0(1,2)"},
		{"GNU_parameter_ref", le64, []byte{0xfa, 9, 0, 0, 0}, "fa(9,0)"},
		{"GNU_variable_value", le64, []byte{0xfd, 9, 0, 0, 0}, "fd(9,0)"},
		{"unknown operation ends", le64, []byte{0x55, 0x01, 0x54}, "55(0,0) bad at 1"},
		{"operand cut off", le64, []byte{0x55, 0x75}, "55(0,0) bad at 1"},
		{"second operand cut off", le64, []byte{0x92, 1}, "bad at 0"},
		{"LEB128 without end", le64, []byte{0x10, 0x80, 0x80}, "bad at 0"},
		{"block beyond the end", le64, []byte{0xa3, 2, 0x55}, "bad at 0"},
		{"huge block", le64, []byte{0xa3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0x55}, "bad at 0"},
		{"address cut off", be32, []byte{0x03, 0, 0, 0}, "bad at 0"},
	}
	for _, tt := range tests {
		if got := dumpExpr(tt.in, tt.f); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Every operation that the standard defines is known, and nothing else.
func TestExprKnownOperations(t *testing.T) {
	known := 0
	for c := range opShapes {
		if opShapes[c][0] != argUnknown {
			known++
		}
	}
	// addr, deref; 08-2f; lit, reg, breg; 90-a9; GNU e0, f0, f2-f7, f9-fd.
	if want := 2 + 0x28 + 96 + 0x1a + 1 + 1 + 6 + 5; known != want {
		t.Errorf("%d operations are known, want %d", known, want)
	}
}

func TestExprDoesNotAllocate(t *testing.T) {
	in := []byte{0xa3, 1, 0x55, 0x9f, 0x93, 8, 0x75, 0, 0x93, 8}
	if n := testing.AllocsPerRun(100, func() {
		x := NewExpr(in, le64)
		var op ExprOp
		for x.Next(&op) {
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzExpr(f *testing.F) {
	f.Add([]byte{0xa3, 1, 0x55, 0x9f}, uint8(0))
	f.Add([]byte{0xa0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, uint8(7))
	f.Fuzz(func(t *testing.T, b []byte, mode uint8) {
		e := ExprFormat{Version: 2 + uint16(mode&3), AddrSize: 1 << (mode >> 2 & 3), Dwarf64: mode&16 != 0, BigEndian: mode&32 != 0}
		x := NewExpr(b, e)
		var op ExprOp
		for at := 0; x.Next(&op); at = x.Offset() {
			if x.Offset() <= at || x.Offset() > len(b) {
				t.Fatalf("offset %d after %d of %d", x.Offset(), at, len(b))
			}
			if !bytes.Contains(b, op.Block) {
				t.Fatal("block is not part of the expression")
			}
		}
		if x.Bad() == (x.Offset() == len(b)) {
			t.Fatalf("bad %v at %d of %d", x.Bad(), x.Offset(), len(b))
		}
	})
}
