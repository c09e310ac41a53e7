package names

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
)

// TestPool: equal names have one number, whoever asks first, and the number
// leads back to the name.
func TestPool(t *testing.T) {
	p := NewPool(nil, nil)
	defer p.Free()
	const names, workers = 5000, 4
	name := func(i int) []byte {
		if i%1000 == 999 { // some that end chunks early, some longer than a chunk
			return bytes.Repeat([]byte{byte('a' + i%7)}, 4*textChunk+i*200)
		}
		return fmt.Appendf(nil, "name_%d", i)
	}
	var got [workers][names]uint32
	var wg sync.WaitGroup
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range names {
				k := (i*(w+1) + w*977) % names
				got[w][k] = p.number(name(k)) + 1
				if b := p.name(got[w][k] - 1); !bytes.Equal(b, name(k)) {
					t.Errorf("name %d comes back as %d bytes", k, len(b))
				}
			}
		}()
	}
	wg.Wait()
	seen := map[uint32]int{}
	for i := range names {
		k := got[0][i]
		for w := range workers {
			if got[w][i] != 0 && k != 0 && got[w][i] != k {
				t.Fatalf("name %d has numbers %d and %d", i, k, got[w][i])
			}
		}
		if j, ok := seen[k]; ok && k != 0 {
			t.Fatalf("names %d and %d have number %d", i, j, k)
		}
		seen[k] = i
	}
	if p.Overflow() {
		t.Error("overflow")
	}
	if k := p.number(nil); len(p.name(k)) != 0 {
		t.Error("the empty name does not come back")
	}
}

// TestPoolFull: names beyond the limit are noticed.
func TestPoolFull(t *testing.T) {
	p := NewPool(nil, nil)
	defer p.Free()
	k := p.number([]byte("kept"))
	p.end = poolMaxWords - textChunk - entryName - 1
	if p.number([]byte("fits")); p.Overflow() {
		t.Fatal("overflow too early")
	}
	if p.number([]byte("does not fit")); !p.Overflow() {
		t.Error("no overflow")
	}
	if p.number([]byte("kept")) != k {
		t.Error("a name that has a number lost it")
	}
}

// TestPoolExpect: names keep their numbers and texts whatever is expected, when some are there
// already, and when it is said again or was too little.
func TestPoolExpect(t *testing.T) {
	for _, expected := range [][]int{{0}, {100}, {1 << 17}, {1 << 16, 1 << 18}, {1 << 17, 10, 1 << 18}} {
		p := NewPool(nil, nil)
		var numbers []uint32
		more := func() {
			for range 60000 {
				numbers = append(numbers, p.number(fmt.Appendf(nil, "a_name_of_some_length_%d", len(numbers))))
			}
		}
		more()
		for _, n := range expected {
			p.expect(n)
			more()
		}
		for i, k := range numbers {
			name := fmt.Appendf(nil, "a_name_of_some_length_%d", i)
			if !bytes.Equal(p.name(k), name) || p.number(name) != k || p.rank(k) != uint32(i) {
				t.Fatalf("expected %v: name %d is %q, number %d, was %d, rank %d", expected, i, p.name(k), p.number(name), k, p.rank(k))
			}
		}
		p.Free()
	}
}
