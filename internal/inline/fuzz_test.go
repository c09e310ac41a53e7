package inline

import (
	"testing"

	"github.com/btflite/btflite/internal/dwarf"
)

// FuzzPlace: whatever an expression is, its place is a record that kernels take, or there
// is a reason why it has none.
func FuzzPlace(f *testing.F) {
	for _, seed := range [][]byte{
		{reg5}, {lit5, stackValue}, {breg7, 8}, {breg7, 8, stackValue}, {fbreg, 0x78}, {reg5, piece, 8, reg3, piece, 8},
		{entryValue, 1, reg5, stackValue}, {breg7, 8, deref, stackValue}, {implicitValue, 2, 1, 2},
		{address, 0, 0x20, 0, 0, 0, 0, 0, 0, stackValue}, {breg7, 0, const4u, 0xff, 0xff, 0, 0, and, stackValue},
	} {
		f.Add(seed, uint8(4), uint8(0))
		f.Add(seed, uint8(8), uint8(7))
	}
	f.Fuzz(func(t *testing.T, expr []byte, size, how uint8) {
		env := Env{Format: dwarf.ExprFormat{Version: 5, AddrSize: 8, BigEndian: how&1 != 0}, AtEntry: how&2 != 0, Base: 1 << 12}
		if how&4 != 0 {
			env.Format.AddrSize = 4
		}
		p := env.Place(expr)
		if (p.Kind == Missing) != (p.Why != NoPlace) {
			t.Fatalf("%+v", p)
		}
		flags, v, why := p.record(nil, uint32(size), how&8 != 0)
		if why != NoPlace {
			if why.String() == "" || len(v) > 0 {
				t.Fatalf("%v, %#x", why, v)
			}
			return
		}
		n := len(v)
		ok := size >= 1 && size <= 16
		switch flags &^ flagSigned {
		case flagConst, flagConst | flagAddr:
			ok = ok && size <= 8 && n == 1+int(size-1)/4
		case flagReg:
			ok = ok && (n == 1 || n == 2) && flags&flagSigned == 0 && v[0] != FrameBase
		case flagReg | flagDeref:
			ok = ok && n == 1 && flags&flagSigned == 0
		case flagReg | flagOffset, flagReg | flagDeref | flagOffset:
			ok = ok && (n == 2 || n == 3)
		default:
			ok = false
		}
		if !ok {
			t.Fatalf("%+v of %d bytes: flags %#x, %#x", p, size, flags, v)
		}
	})
}
