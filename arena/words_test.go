package arena

import (
	"encoding/binary"
	"slices"
	"testing"
)

func TestWords(t *testing.T) {
	var v Vec[byte]
	defer v.Free()
	b := v.Extend(16)
	for i, x := range []uint32{1, 0xfffefdfc, 3} {
		binary.NativeEndian.PutUint32(b[4*i:], x)
	}
	if w, ok := Words(b[:12]); !ok || !slices.Equal(w, []uint32{1, 0xfffefdfc, 3}) {
		t.Errorf("%x, %v", w, ok)
	}
	if w, ok := Words(b[4:11]); !ok || !slices.Equal(w, []uint32{0xfffefdfc}) {
		t.Errorf("seven bytes: %x, %v", w, ok)
	}
	if w, ok := Words(nil); !ok || len(w) != 0 {
		t.Errorf("no bytes: %x, %v", w, ok)
	}
	for i := 1; i < 4; i++ {
		if _, ok := Words(b[i:]); ok {
			t.Errorf("words at %d", i)
		}
	}
}

func TestBytes(t *testing.T) {
	w := []uint64{0x0102030405060708, 1}
	b := Bytes(w)
	if len(b) != 16 || binary.NativeEndian.Uint64(b) != w[0] || binary.NativeEndian.Uint64(b[8:]) != 1 {
		t.Errorf("%x", b)
	}
	if b[8] = 2; w[1] == 1 {
		t.Error("a copy")
	}
	if len(Bytes(nil)) != 0 {
		t.Error("bytes without words")
	}
}
