package kernelbtf

import (
	"encoding/binary"
	"testing"
)

// TestCountingCode: the last offset is of a number of 32 bits, those before it are of pointers, and
// the jump goes to the end.
func TestCountingCode(t *testing.T) {
	code := countingCode(5, []uint32{8, 40})
	at := func(n int) (op byte, off int16) {
		return code[n*8], int16(binary.NativeEndian.Uint16(code[n*8+2:]))
	}
	for n, want := range []struct {
		op  byte
		off int16
	}{{0x79, 0}, {0x79, 8}, {0x61, 40}, {0x62, -4}} {
		if op, off := at(n); op != want.op || off != want.off {
			t.Errorf("instruction %d: %#x, %d, want %+v", n, op, off, want)
		}
	}
	for n := range len(code) / 8 {
		if op, off := at(n); op == 0x15 && (n+1+int(off))*8 != len(code)-16 {
			t.Errorf("the jump goes to %d of %d instructions", n+1+int(off), len(code)/8)
		}
	}
}
