package arena

import "testing"

// TestBlock: what is carved is zero, lies apart, and does not grow into what comes behind;
// what there is no room for is on the heap.
func TestBlock(t *testing.T) {
	for _, bytes := range []int{0, 100, 5 << 20} {
		var b Block
		b.Populate(bytes, nil)
		words := Carve[uint32](&b, 1001)
		chars := Carve[uint8](&b, 13)
		pairs := Carve[[2]uint64](&b, 3<<18/16)
		for i := range words {
			if words[i] != 0 {
				t.Fatalf("%d bytes: word %d is %x", bytes, i, words[i])
			}
			words[i] = 0xffffffff
		}
		more := append(words, 7)
		for i := range chars {
			if chars[i] != 0 {
				t.Fatalf("%d bytes: byte %d is %x", bytes, i, chars[i])
			}
			chars[i] = 1
		}
		for i := range pairs {
			if pairs[i] != [2]uint64{} {
				t.Fatalf("%d bytes: pair %d is %x", bytes, i, pairs[i])
			}
		}
		if more[1001] != 7 || words[1000] != 0xffffffff {
			t.Fatalf("%d bytes: words are %x and %x", bytes, words[1000], more[1001])
		}
		b.Free()
		if b.Room() != 0 {
			t.Fatalf("%d bytes: room for %d after Free", bytes, b.Room())
		}
	}
}

func TestBlockRefusesPointers(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Fatal("a part of a type with pointers was carved")
		}
	}()
	var b Block
	defer b.Free()
	b.Populate(1<<10, nil)
	Carve[*int](&b, 1)
}
