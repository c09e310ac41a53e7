package encode

import (
	"testing"

	"github.com/btflite/btflite/internal/dwarf"
)

// TestPlaceIn: which place an expression gives.
func TestPlaceIn(t *testing.T) {
	const stackValue = 0x9f
	for _, tt := range []struct {
		name string
		expr []byte
		want Place
	}{
		{"nothing", nil, Place{}},
		{"first register", []byte{0x50}, Place{Kind: PlaceRegister}},
		{"last register", []byte{0x6f}, Place{Kind: PlaceRegister, Register: 31}},
		{"register by number", []byte{0x90, 0x80, 0x01}, Place{Kind: PlaceRegister, Register: 128}},
		{"register beyond 16 bits", []byte{0x90, 0x80, 0x80, 0x80, 0x01}, Place{Kind: PlaceRegister, Register: 1<<16 - 1}},
		{"frame base", []byte{0x91, 0x70}, Place{Kind: PlaceStack}},
		{"at the first register", []byte{0x70, 8}, Place{Kind: PlaceStack}},
		{"at the last register", []byte{0x8f, 8}, Place{Kind: PlaceStack}},
		{"at a register by number", []byte{0x92, 40, 8}, Place{Kind: PlaceStack}},
		{"first literal", []byte{0x30, stackValue}, Place{Kind: PlaceConstant}},
		{"last literal", []byte{0x4f, stackValue}, Place{Kind: PlaceConstant}},
		{"constu", []byte{0x10, 5, stackValue}, Place{Kind: PlaceConstant}},
		{"consts", []byte{0x11, 5, stackValue}, Place{Kind: PlaceConstant}},
		{"address as a value", []byte{3, 1, 2, 3, 4, 5, 6, 7, 8, stackValue}, Place{Kind: PlaceConstant}},
		{"address", []byte{3, 1, 2, 3, 4, 5, 6, 7, 8}, Place{Kind: PlaceFixed}},
		{"address that is computed", []byte{3, 1, 2, 3, 4, 5, 6, 7, 8, 0x06}, Place{Kind: PlaceCompute}},
		{"const1u", []byte{0x08, 200, stackValue}, Place{Kind: PlaceConstant}},
		{"const8s", []byte{0x0f, 1, 2, 3, 4, 5, 6, 7, 0x9f, stackValue}, Place{Kind: PlaceConstant}},
		{"value in the expression", []byte{0x9e, 2, 1, 2}, Place{Kind: PlaceConstant}},
		{"index of an address", []byte{0xa1, 5}, Place{Kind: PlaceFixed}},
		{"index of an address as a value", []byte{0xa1, 5, stackValue}, Place{Kind: PlaceConstant}},
		{"GNU index of an address as a value", []byte{0xfb, 5, stackValue}, Place{Kind: PlaceConstant}},
		{"register and offset as a value", []byte{0x75, 5, stackValue}, Place{Kind: PlaceCompute}},
		{"frame base and offset as a value", []byte{0x91, 5, stackValue}, Place{Kind: PlaceCompute}},
		{"what the stack points to", []byte{0x91, 5, 0x06}, Place{Kind: PlaceCompute}},
		{"damaged", []byte{0x91, 0x80}, Place{Kind: PlaceCompute}},
		{"constant whose last byte looks like a value", []byte{0x08, stackValue}, Place{Kind: PlaceCompute}},
		{"literal that is not a value", []byte{0x31}, Place{Kind: PlaceCompute}},
		{"entry value", []byte{0xa3, 1, 0x55, stackValue}, Place{Kind: PlaceCompute}},
		{"piece", []byte{0x93, 8}, Place{Kind: PlaceCompute}},
	} {
		if got := placeIn(tt.expr, dwarf.ExprFormat{Version: 5, AddrSize: 8}); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
