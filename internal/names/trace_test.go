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
	s.textTokens(&read, first)
	if first[0].Name != 0 || first[1].Name != tokInline|'a' {
		t.Errorf("what is no place becomes %v", first)
	}
	for range 2 * traceLen / len(order) { // the ring is full, twice
		for i := range order {
			order[i] = r.IntN(len(texts))
			if i > 0 && r.IntN(4) > 0 {
				order[i] = (order[i-1] + 1) % len(texts)
			}
		}
		m := members(order)
		s.textTokens(&read, m)
		check(order, m)
	}
	// Two orders, then the first one again: one look-up leads back to it. The
	// last name stands at the end of the section, where nothing is expected.
	order = r.Perm(len(texts) - 1)
	s.textTokens(&read, members(order))
	s.textTokens(&read, members(r.Perm(len(texts)-1)))
	s.textTokens(&read, members(order))
	m := members(order)
	s.textToken(&read, m[0].Name)
	if n := read.order.follow(s.pool, str, m[1:]); n != len(m)-1 {
		t.Errorf("%d of %d names were expected", n, len(m)-1)
	}
	check(order[1:], m[1:])
	// So it is with names one by one.
	m = members(order)
	s.textToken(&read, m[0].Name)
	for i := range m[1:] {
		c, ok := read.order.one(s.pool, str, m[1+i].Name-1)
		if !ok {
			t.Errorf("name %d was not expected", i+1)
		}
		m[1+i].Name = c
	}
	check(order[1:], m[1:])
}
