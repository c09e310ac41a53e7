package encode

import "testing"

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
		{"literal that is not a value", []byte{0x31}, Place{Kind: PlaceCompute}},
		{"entry value", []byte{0xa3, 1, 0x55, stackValue}, Place{Kind: PlaceCompute}},
		{"piece", []byte{0x93, 8}, Place{Kind: PlaceCompute}},
	} {
		if got := placeIn(tt.expr); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
