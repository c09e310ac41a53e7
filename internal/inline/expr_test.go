package inline

import (
	"encoding/binary"
	"testing"

	"github.com/btflite/btflite/internal/dwarf"
)

// DWARF operations, by the standard's numbers.
const (
	lit0, lit5, reg3, reg5, breg7, fbreg = 0x30, 0x35, 0x53, 0x55, 0x77, 0x91
	stackValue, piece, deref, derefSize  = 0x9f, 0x93, 0x06, 0x94
	plus, minus, and, plusUconst         = 0x22, 0x1c, 0x1a, 0x23
	const1s, const4u, constu, address    = 0x09, 0x0c, 0x10, 0x03
	regx, bregx, entryValue, gnuEntry    = 0x90, 0x92, 0xa3, 0xf3
	implicitValue, implicitPtr           = 0x9e, 0xa0
	convert, mul, dup, callCFA           = 0xa8, 0x1e, 0x12, 0x9c
)

// envs returns a 64-bit little-endian, a 64-bit big-endian and a 32-bit machine.
func envs() [3]Env {
	return [3]Env{
		{Format: dwarf.ExprFormat{Version: 5, AddrSize: 8}, Base: 0x1000},
		{Format: dwarf.ExprFormat{Version: 5, AddrSize: 8, BigEndian: true}, Base: 0x1000},
		{Format: dwarf.ExprFormat{Version: 5, AddrSize: 4}, Base: 0x1000},
	}
}

func TestPlace(t *testing.T) {
	const neg8 = ^uint64(7)
	word := func(p Place, env *Env) Place { // of what was on the stack
		p.Width = env.Format.AddrSize
		return p
	}
	le, be := 0, 1
	for _, c := range []struct {
		name string
		expr []byte
		want Place
		only int // index of envs + 1; 0 for all but those with addresses
	}{
		{"nothing", nil, missing(OptimizedOut), 0},
		{"register", []byte{reg5}, Place{Kind: Register, Reg: 5}, 0},
		{"regx", []byte{regx, 0x85, 0x01}, Place{Kind: Register, Reg: 0x85}, 0},
		{"regx that is the frame base", []byte{regx, 0xff, 0xff, 0xff, 0xff, 0x0f}, missing(Computed), 0},
		{"memory", []byte{breg7, 8}, Place{Kind: Memory, Reg: 7, Value: 8}, 0},
		{"memory below", []byte{breg7, 0x78}, Place{Kind: Memory, Reg: 7, Value: neg8}, 0},
		{"memory by bregx", []byte{bregx, 40, 8}, Place{Kind: Memory, Reg: 40, Value: 8}, 0},
		{"frame base", []byte{fbreg, 0x78}, Place{Kind: Memory, Reg: FrameBase, Value: neg8}, 0},
		{"memory at a sum", []byte{breg7, 8, plusUconst, 8}, Place{Kind: Memory, Reg: 7, Value: 16}, 0},
		{"memory at a difference", []byte{breg7, 8, lit5, minus}, Place{Kind: Memory, Reg: 7, Value: 3}, 0},
		{"constant that is not a value", []byte{lit5}, missing(FixedMemory), 0},
		{"twice in memory", []byte{breg7, 0, deref}, missing(Computed), 0},
		{"two registers", []byte{breg7, 0, breg7, 0, plus, stackValue}, missing(Computed), 0},
		{"product", []byte{breg7, 0, lit5, mul, stackValue}, missing(Computed), 0},
		{"typed", []byte{breg7, 0, convert, 1, stackValue}, missing(Typed), 0},
		{"frame address", []byte{callCFA}, missing(Computed), 0},
		{"rest on the stack", []byte{lit5, lit5, stackValue}, missing(Computed), 0},
		{"nothing on the stack", []byte{stackValue}, missing(BadExpression), 0},
		{"sum of nothing", []byte{plus}, missing(BadExpression), 0},
		{"cut off", []byte{const4u, 1, 2}, missing(BadExpression), 0},
		{"unknown operation", []byte{0x01}, missing(BadExpression), 0},
		{"behind a register", []byte{reg5, lit5}, missing(Computed), 0},
		{"implicit pointer", []byte{implicitPtr, 1, 0, 0, 0, 0}, missing(ImplicitPtr), 0},
		{"before the call", []byte{entryValue, 1, reg5, stackValue}, missing(EntryValue), 0},
		{"before the call, GNU", []byte{gnuEntry, 1, reg5, stackValue}, missing(EntryValue), 0},
		{"one piece", []byte{reg5, piece, 4}, Place{Kind: Register, Reg: 5, Width: 4, Exact: true}, 0},
		{"piece that is nowhere", []byte{piece, 4, reg5, piece, 4}, missing(InPieces), 0},
		{"last piece that is nowhere", []byte{reg5, piece, 4, piece, 4}, missing(InPieces), 0},
		{"pieces of memory", []byte{breg7, 0, piece, 8, breg7, 16, piece, 8}, missing(InPieces), 0},
		{"behind the last piece", []byte{reg5, piece, 8, reg3}, missing(InPieces), 0},
		{"empty piece", []byte{reg5, piece, 0}, missing(InPieces), 0},
		{"largest piece", []byte{reg5, piece, 16}, Place{Kind: Register, Reg: 5, Width: 16, Exact: true}, 0},
		{"piece larger than any parameter", []byte{reg5, piece, 17}, missing(InPieces), 0},

		{"constant", []byte{lit5, stackValue}, Place{Kind: Const, Value: 5, Width: 8}, le + 1},
		{"signed constant", []byte{const1s, 0xff, stackValue}, Place{Kind: Const, Value: ^uint64(0), Width: 8}, le + 1},
		{"register and offset", []byte{breg7, 8, stackValue}, Place{Kind: Sum, Reg: 7, Value: 8, Width: 8}, le + 1},
		{"register by breg", []byte{breg7, 0, stackValue}, Place{Kind: Register, Reg: 7, Width: 8}, le + 1},
		{"frame base and offset", []byte{fbreg, 0, stackValue}, Place{Kind: Sum, Reg: FrameBase, Width: 8}, le + 1},
		{"what is in memory", []byte{breg7, 8, deref, stackValue}, Place{Kind: Memory, Reg: 7, Value: 8, Width: 8}, le + 1},
		{"four bytes in memory", []byte{breg7, 8, derefSize, 4, stackValue}, Place{Kind: Memory, Reg: 7, Value: 8, Width: 4}, le + 1},
		{"four bytes in memory, big-endian", []byte{breg7, 8, derefSize, 4, stackValue}, Place{Kind: Memory, Reg: 7, Value: 8, Width: 4, Exact: true}, be + 1},
		{"low bytes of memory, big-endian", []byte{breg7, 8, deref, const4u, 0, 0, 0xff, 0xff, and, stackValue}, missing(Computed), be + 1},
		{"low bytes", []byte{breg7, 0, const4u, 0xff, 0xff, 0, 0, and, stackValue}, Place{Kind: Register, Reg: 7, Width: 2}, le + 1},
		{"some bits", []byte{breg7, 0, const4u, 0xf0, 0, 0, 0, and, stackValue}, missing(Computed), le + 1},
		{"memory at low bytes", []byte{breg7, 0, const4u, 0xff, 0xff, 0, 0, and}, missing(Computed), le + 1},
		{"pair", []byte{reg5, piece, 8, reg3, piece, 8}, Place{Kind: Pair, Reg: 5, Reg2: 3, Width: 16, Exact: true}, le + 1},
		{"shorter pair", []byte{reg5, piece, 8, reg3, piece, 4}, Place{Kind: Pair, Reg: 5, Reg2: 3, Width: 12, Exact: true}, le + 1},
		{"shorter pair, big-endian", []byte{reg5, piece, 8, reg3, piece, 4}, missing(InPieces), be + 1},
		{"pair of halves", []byte{reg5, piece, 4, reg3, piece, 4}, missing(InPieces), le + 1},
		{"pair of words", []byte{reg5, piece, 4, reg3, piece, 4}, Place{Kind: Pair, Reg: 5, Reg2: 3, Width: 8, Exact: true}, 3},
		{"three pieces", []byte{reg5, piece, 8, reg3, piece, 8, reg5, piece, 8}, missing(InPieces), le + 1},
		{"constants", []byte{lit5, stackValue, piece, 4, lit0, stackValue, piece, 4}, Place{Kind: Const, Value: 5, Width: 8, Exact: true}, 3},
		{"constants, big-endian", []byte{lit0, stackValue, piece, 4, lit5, stackValue, piece, 4}, Place{Kind: Const, Value: 5, Width: 8, Exact: true}, be + 1},
		{"bytes", []byte{implicitValue, 2, 1, 2}, Place{Kind: Const, Value: 0x201, Width: 2, Exact: true}, le + 1},
		{"bytes, big-endian", []byte{implicitValue, 2, 1, 2}, Place{Kind: Const, Value: 0x102, Width: 2, Exact: true}, be + 1},
		{"many bytes", append([]byte{implicitValue, 16}, make([]byte, 16)...), missing(Computed), le + 1},
		{"address", []byte{address, 0, 0x20, 0, 0, 0, 0, 0, 0, stackValue}, Place{Kind: Address, Value: 0x1000, Width: 8}, le + 1},
		{"address below the program", []byte{address, 8, 0, 0, 0, 0, 0, 0, 0, stackValue}, Place{Kind: Const, Value: 8, Width: 8}, le + 1},
		{"memory at an address", []byte{address, 0, 0x20, 0, 0, 0, 0, 0, 0}, missing(FixedMemory), le + 1},
	} {
		for i, env := range envs() {
			if c.only != 0 && c.only != i+1 {
				continue
			}
			if got := env.Place(c.expr); got != c.want {
				t.Errorf("%s, env %d: %+v, want %+v", c.name, i, got, c.want)
			}
		}
	}
	for _, env := range envs() {
		if got, want := env.Place([]byte{lit5, stackValue}), word(Place{Kind: Const, Value: 5}, &env); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		env.AtEntry = true
		if got, want := env.Place([]byte{entryValue, 1, reg5, stackValue}), word(Place{Kind: Register, Reg: 5}, &env); got != want {
			t.Errorf("where the function is entered: %+v, want %+v", got, want)
		}
		if got := env.Place([]byte{entryValue, 2, breg7, 0, stackValue}); got.Why != EntryValue {
			t.Errorf("memory where the function is entered: %+v", got)
		}
		env.Relocatable = true
		if got := env.Place(append(append([]byte{address}, make([]byte, env.Format.AddrSize)...), stackValue)); got.Why != NoBase {
			t.Errorf("address of a relocatable file: %+v", got)
		}
	}
}

// TestEndlessExpressions: none takes long, however it is nested.
func TestEndlessExpressions(t *testing.T) {
	env := envs()[0]
	env.AtEntry = true
	long := make([]byte, 1<<20)
	for i := range long {
		long[i] = 0x96 // nop
	}
	if got := env.Place(long); got.Why != Computed {
		t.Errorf("%+v", got)
	}
	nested := []byte{reg5}
	for len(nested) < 1<<16 {
		nested = append(binary.AppendUvarint([]byte{entryValue}, uint64(len(nested))), nested...)
	}
	if got := env.Place(nested); got.Kind != Missing {
		t.Errorf("%+v", got)
	}
}

// TestRecord: the record for a place, by the size of the parameter.
func TestRecord(t *testing.T) {
	for _, c := range []struct {
		p      Place
		size   uint32
		signed bool
		flags  uint32
		values []uint32
		why    Reason
	}{
		{Place{Kind: Const, Value: 5}, 4, false, 2, []uint32{5}, 0},
		{Place{Kind: Const, Value: ^uint64(0)}, 4, true, 3, []uint32{0xffffffff}, 0},
		{Place{Kind: Const, Value: ^uint64(0)}, 1, true, 3, []uint32{0xff}, 0},
		{Place{Kind: Const, Value: 1<<40 | 5}, 8, false, 2, []uint32{5, 1 << 8}, 0},
		{Place{Kind: Const, Value: 5}, 16, false, 0, nil, WrongSize},
		{Place{Kind: Const, Value: 5, Width: 4}, 8, false, 0, nil, WrongSize},
		{Place{Kind: Const, Value: 5, Width: 4, Exact: true}, 2, false, 0, nil, WrongSize},
		{Place{Kind: Address, Value: 5}, 8, true, 6, []uint32{5, 0}, 0},
		{Place{Kind: Register, Reg: 3}, 4, true, 8, []uint32{3}, 0},
		{Place{Kind: Register, Reg: 3}, 0, true, 0, nil, WrongSize},
		{Place{Kind: Register, Reg: 3}, 17, true, 0, nil, WrongSize},
		{Place{Kind: Pair, Reg: 3, Reg2: 4, Width: 16, Exact: true}, 16, false, 8, []uint32{3, 4}, 0},
		{Place{Kind: Pair, Reg: 3, Reg2: 4, Width: 16, Exact: true}, 8, false, 0, nil, WrongSize},
		{Place{Kind: Memory, Reg: 3}, 4, false, 0x18, []uint32{3}, 0},
		{Place{Kind: Memory, Reg: 3, Value: 16}, 4, false, 0x38, []uint32{3, 16}, 0},
		{Place{Kind: Memory, Reg: 3, Value: ^uint64(15)}, 4, false, 0x39, []uint32{3, 0xfffffff0}, 0},
		{Place{Kind: Sum, Reg: 3, Value: 1 << 31}, 8, false, 0x28, []uint32{3, 1 << 31, 0}, 0},
		{Place{Kind: Sum, Reg: 3, Value: ^uint64(1 << 31)}, 8, false, 0x29, []uint32{3, 0x7fffffff, 0xffffffff}, 0},
		{Place{Kind: Sum, Reg: FrameBase}, 8, false, 0x28, []uint32{FrameBase, 0}, 0},
		{missing(NotHere), 8, false, 0, nil, NotHere},
	} {
		flags, values, why := c.p.record(nil, c.size, c.signed)
		same := len(values) == len(c.values)
		for i := range values {
			same = same && values[i] == c.values[i]
		}
		if flags != c.flags || !same || why != c.why {
			t.Errorf("%+v of %d bytes: flags %#x, %#x, %v; want %#x, %#x, %v", c.p, c.size, flags, values, why, c.flags, c.values, c.why)
		}
	}
}
