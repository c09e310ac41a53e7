package arena

import "testing"

func TestLimit(t *testing.T) {
	defer SetLimit(0, nil)
	used := uint64(0)
	SetLimit(4<<20, func() uint64 { return used })
	var v, small Vec[byte]
	defer v.Free()
	defer small.Free()
	v.Resize(1 << 20)
	used = 2 << 20
	v.Grow(2 << 20) // 3 MiB while it is copied
	v.Resize(2 << 20)
	used = 3 << 20
	small.Resize(checkBytes - 1)
	small.Grow(checkBytes)
	func() {
		defer func() {
			if e, ok := recover().(Exhausted); !ok || e.Limit != 4<<20 || e.Used != used {
				t.Errorf("%v", e)
			}
		}()
		v.Grow(4 << 20)
		t.Error("grown beyond the limit")
	}()
	if len(v.S) != 2<<20 || v.S[1<<20] != 0 {
		t.Error("the Vec has not kept its elements")
	}
	SetLimit(0, nil)
	v.Grow(4 << 20)
}
