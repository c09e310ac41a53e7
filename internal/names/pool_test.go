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

// TestPoolPlaces: an entry takes a word and its name with a NUL, and stays inside of a chunk
// unless it is longer than one.
func TestPoolPlaces(t *testing.T) {
	p := NewPool(nil, nil)
	defer p.Free()
	if p.has(0) {
		t.Error("an empty pool has a name")
	}
	const chunkBytes = 8 * (textChunk - entryName)
	letter := byte('a')
	for i, x := range []struct {
		size int
		want uint32 // number
	}{
		{0, 0}, {1, 2}, {7, 4}, {8, 6}, {15, 9}, {16, 12},
		{chunkBytes - 1, textChunk},      // fills a chunk
		{chunkBytes - 8, 2 * textChunk},  // too: the NUL takes the last word
		{chunkBytes - 17, 3 * textChunk}, // leaves two words
		{7, 3*textChunk + textChunk - 2}, // fills them
		{chunkBytes, 4 * textChunk},      // a word more than a chunk: two chunks
		{7, 6 * textChunk},               // no other entry is in the second one
		{chunkBytes - 9, 7 * textChunk},  // does not fit behind it
		{2*chunkBytes + 8, 8 * textChunk},
	} {
		name := bytes.Repeat([]byte{letter}, x.size)
		letter++
		k := p.number(name)
		if k != x.want || p.rank(k) != uint32(i) || p.Len() != i+1 || p.token(k) != tokPool|k {
			t.Errorf("name %d of %d bytes: number %d, want %d; rank %d, %d names, token %#x", i, x.size, k, x.want, p.rank(k), p.Len(), p.token(k))
		}
		if !bytes.Equal(p.name(k), name) || !p.has(k) {
			t.Errorf("name %d comes back as %d bytes", i, len(p.name(k)))
		}
	}
	if p.has(poolMaxWords) || p.has(poolMaxWords-1) {
		t.Error("the pool has names at its end")
	}
	n := &Table{pool: p}
	if b, ok := n.Bytes(tokPool | poolMaxWords); ok || b != nil {
		t.Errorf("a token behind the pool is %q", b)
	}
	if n.Overflow() {
		t.Error("overflow")
	}
}

// TestPoolTable: the table grows when three quarters of it are full, and at once as far as
// is expected.
func TestPoolTable(t *testing.T) {
	slots := func(p *Pool) int { return len(p.table.Load().slots) }
	p := NewPool(nil, nil)
	defer p.Free()
	for i := range 6144 {
		p.number(fmt.Appendf(nil, "name_%d", i))
	}
	if slots(p) != 1<<13 {
		t.Errorf("%d slots for 6144 names", slots(p))
	}
	if p.number([]byte("one more")); slots(p) != 1<<14 {
		t.Errorf("%d slots for 6145 names", slots(p))
	}
	for _, x := range []struct{ expected, slots int }{
		{0, 1 << 13}, {6144, 1 << 13}, {6145, 1 << 14}, {100000, 1 << 18}, {196608, 1 << 18}, {196609, 1 << 19}, {1 << 30, 1 << 19},
	} {
		p := NewPool(nil, nil)
		p.number([]byte("kept"))
		(&Table{pool: p}).Expect(x.expected)
		if slots(p) != x.slots {
			t.Errorf("%d slots for %d expected names, want %d", slots(p), x.expected, x.slots)
		}
		if p.number([]byte("kept")) != 0 || p.Len() != 1 {
			t.Errorf("%d expected names: the first one is lost", x.expected)
		}
		p.Free()
	}
}
