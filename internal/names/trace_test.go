package names

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/btflite/btflite/dedup"
)

// TestNameTrace: a name gets the token that the pool has for its text, whether
// it was expected or not, and an order that comes again is followed to its end.
func TestNameTrace(t *testing.T) {
	texts := []string{"name", "names", "nama", "Name", strings.Repeat("z", 8*textChunk+1)}
	for n := 4; n < 70; n++ { // each also with another byte, at many places
		s := strings.Repeat("x", n)
		texts = append(texts, s)
		for i := 0; i < n; i += 1 + n/9 {
			texts = append(texts, s[:i]+"y"+s[i+1:])
		}
	}
	var str []byte
	var places [2][]uint32 // 1 + offset; all names are there twice
	for k := range places {
		for _, s := range texts {
			places[k] = append(places[k], uint32(len(str))+1)
			str = append(append(str, s...), 0)
		}
	}
	s := &Text{Table: new(Table), Data: str, ByText: true}
	s.Use(NewPool(nil, nil))
	defer s.FreePool()
	var read Reader
	defer read.Free()
	r := rand.New(rand.NewPCG(1, 2))
	members := func(order []int) []dedup.Member {
		m := make([]dedup.Member, len(order))
		for i, k := range order {
			m[i].Name = places[r.IntN(2)][k]
		}
		return m
	}
	check := func(order []int, m []dedup.Member) {
		t.Helper()
		for i, k := range order {
			if b := s.Text(m[i].Name); string(b) != texts[k] {
				t.Fatalf("%.70q has the token of %.70q", texts[k], b)
			}
		}
	}
	order := make([]int, 20)
	first := []dedup.Member{{}, {Name: tokInline | 'a'}, {Name: places[0][0]}}
	settle(s, &read, first)
	if first[0].Name != 0 || first[1].Name != tokInline|'a' {
		t.Errorf("something else than a place becomes %v", first)
	}
	for range 2 * traceLen / len(order) { // the ring is full, twice
		for i := range order {
			order[i] = r.IntN(len(texts))
			if i > 0 && r.IntN(4) > 0 {
				order[i] = (order[i-1] + 1) % len(texts)
			}
		}
		m := members(order)
		settle(s, &read, m)
		check(order, m)
	}
	// Two orders, then the first one again: one look-up leads back to it. The
	// last name stands at the end of the section, where nothing is expected.
	order = r.Perm(len(texts) - 1)
	settle(s, &read, members(order))
	settle(s, &read, members(r.Perm(len(texts)-1)))
	settle(s, &read, members(order))
	m := members(order)
	s.textToken(&read, m[0].Name-1)
	for i := range m[1:] {
		c, ok := read.order.one(s.pool, str, m[1+i].Name-1)
		if !ok {
			t.Errorf("name %d was not expected", i+1)
		}
		m[1+i].Name = c
	}
	check(order[1:], m[1:])
}

// TestTraceAt: a name is compared in full, with its NUL, and only where the section has all
// bytes that are compared.
func TestTraceAt(t *testing.T) {
	p := NewPool(nil, nil)
	defer p.Free()
	for _, size := range []int{4, 6, 7, 8, 14, 15, 16, 22, 23, 24, 25, 30, 31, 32, 50} {
		name := strings.Repeat("n", size)
		k := p.number([]byte(name))
		tr := trace{}
		tr.ring()
		tr.note(k, p.rank(k), size)
		element := tr.read.S[0]
		if tr.end != 1 || tr.next != 0 || tr.last.S[p.rank(k)] != 1 {
			t.Errorf("%d bytes: end %d, next %d, last %d", size, tr.end, tr.next, tr.last.S[p.rank(k)])
		}
		room := max(size+1, maskWords)
		str := append([]byte("xy"+name), make([]byte, room-size)...)
		head, ok := p.isAt(element, str, 2)
		if !ok || uint32(head) != p.token(k) || uint32(head>>32) != p.rank(k) {
			t.Errorf("%d bytes: %#x, %v", size, head, ok)
		}
		if _, ok := p.isAt(element, str[:len(str)-1], 2); ok {
			t.Errorf("%d bytes are compared with a section that ends before", size)
		}
		for at := 2; at <= 2+size; at++ { // and the NUL
			str[at]++
			if _, ok := p.isAt(element, str, 2); ok {
				t.Errorf("%d bytes: another byte %d makes no difference", size, at-2)
			}
			str[at]--
		}
		if room > size+1 {
			str[2+size+1] = 'z'
			if _, ok := p.isAt(element, str, 2); !ok {
				t.Errorf("%d bytes: a byte behind the NUL makes a difference", size)
			}
		}
		tr.free()
	}
}

// TestTraceOrder: after a name comes the one that followed it last time, also where the
// ring begins again; a name that another reader gave a rank is not followed.
func TestTraceOrder(t *testing.T) {
	texts := []string{"aaaa", "bbbb", "cccc", "dddd"}
	str := []byte(strings.Join(texts, "\x00") + strings.Repeat("\x00", maskWords))
	s := &Text{Table: new(Table), Data: str, ByText: true}
	s.Use(NewPool(nil, nil))
	defer s.FreePool()
	for _, start := range []uint32{0, 1, traceLen - 6, traceLen - 5, traceLen - 3, traceLen - 2, traceLen - 1} {
		var r Reader
		r.order.ring()
		r.order.end, r.order.next = start, start
		for range 2 {
			for i := range texts {
				s.textToken(&r, uint32(5*i))
			}
		}
		if want := (start + 8) % traceLen; r.order.end != want {
			t.Errorf("from %d: the ring ends at %d, want %d", start, r.order.end, want)
		}
		// The names were read as 0 1 2 3 0 1 2 3: behind 0 comes 1.
		s.textToken(&r, 0)
		var last dedup.Name
		for _, off := range []uint32{5, 10, 15} {
			var ok bool
			if last, ok = r.order.one(s.pool, str, off); !ok {
				t.Errorf("from %d: the name at %d was not expected", start, off)
			}
		}
		if want := (start + 12) % traceLen; r.order.end != want || r.order.last.S[s.pool.rank(last&^tokPool)] != (start+11)%traceLen+1 {
			t.Errorf("from %d: after names that were expected the ring ends at %d, want %d", start, r.order.end, want)
		}
		s.textToken(&r, 0)
		if _, ok := r.order.one(s.pool, str, 5); !ok || r.order.end != (start+14)%traceLen {
			t.Errorf("from %d: one name: %v, the ring ends at %d", start, ok, r.order.end)
		}
		// Ranks that the reader has no place for.
		r.order.last.Resize(1)
		if _, ok := r.order.one(s.pool, str, 10); ok {
			t.Error("a name of an unknown rank is followed")
		}
		r.Free()
		if r.order.end != 0 || r.order.next != 0 || len(r.order.read.S) != 0 {
			t.Error("something is left of an order that was freed")
		}
	}
}

// settle replaces the names of m by their tokens.
func settle(s *Text, r *Reader, m []dedup.Member) {
	for i := range m {
		m[i].Name = s.Settle(r, m[i].Name)
	}
}
