package btf

import "testing"

// TestBehind: modifiers are followed to what they modify, and a way without an end leads to void.
func TestBehind(t *testing.T) {
	b := NewBuilder(false, nil)
	add := func(k Kind, to uint32) uint32 { return b.Add("", Info(k, 0, false), to) }
	num := b.Add("int", Info(KindInt, 0, false), 4, 32)
	constant := add(KindConst, num)
	array := b.Add("", Info(KindArray, 0, false), 0, constant, num, 2)
	pointer := add(KindPtr, array)
	name := b.Add("t", Info(KindTypedef, 0, false), pointer)
	tag := b.Add("tag", Info(KindTypeTag, 0, false), name)
	void := add(KindVolatile, 0)
	itself := add(KindRestrict, void+1)
	other := add(KindConst, itself+2)
	add(KindVolatile, other)
	long := add(KindConst, num)
	for range MaxDepth - 1 {
		long = add(KindConst, long)
	}
	blob := MustBlob(t, b)
	all := Modifiers | Typedefs | Arrays | Pointers
	for _, tt := range []struct {
		id      uint32
		through Kinds
		want    uint32
	}{
		{num, all, num}, {constant, Modifiers, num}, {constant, Typedefs, constant}, {array, Arrays, constant}, {array, Arrays | Modifiers, num},
		{tag, Modifiers, name}, {tag, Modifiers | Typedefs, pointer}, {tag, all, num}, {void, Modifiers, 0}, {0, all, 0}, {1 << 30, all, 0},
		{itself, Modifiers, 0}, {other, Modifiers, 0}, {other, 1 << KindConst, other + 1}, {long - 1, Modifiers, num}, {long, Modifiers, 0},
	} {
		if got := blob.Behind(tt.id, tt.through); got != tt.want {
			t.Errorf("[%d] through %#x: [%d], want [%d]", tt.id, tt.through, got, tt.want)
		}
	}
	if Modifiers.Has(KindPtr) || !Modifiers.Has(KindTypeTag) || Kinds(1).Has(64) {
		t.Error("a set has other kinds than its own")
	}
}
