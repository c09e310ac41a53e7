package diff

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/btftest"
)

// TestMatch: each is in one pair, the best first, then by order.
func TestMatch(t *testing.T) {
	f := func(list ...feature) []feature { return list }
	for i, c := range []struct {
		a, b [][]feature
		want [][2]int
	}{
		{nil, nil, nil},
		{[][]feature{f(1)}, [][]feature{f(2)}, nil},
		{[][]feature{f(1), f(1, 2)}, [][]feature{f(1, 2), f(1)}, [][2]int{{1, 0}, {0, 1}}},
		{[][]feature{f(1), f(1)}, [][]feature{f(1), f(1)}, [][2]int{{0, 0}, {1, 1}}},
		{[][]feature{f(1, 2, 3)}, [][]feature{f(1), f(1, 2), f(3)}, [][2]int{{0, 1}}},
		{[][]feature{f(1), f(2), f(1, 2)}, [][]feature{f(1, 2)}, [][2]int{{2, 0}}},
		{[][]feature{f(1, 1, 1), f(1, 2)}, [][]feature{f(1, 2)}, [][2]int{{1, 0}}},
	} {
		if got := match(c.a, c.b); !slices.Equal(got, c.want) {
			t.Errorf("%d: %v, want %v", i, got, c.want)
		}
	}
	// Of many with one feature, the first maxOwners are looked at.
	var many [][]feature
	for range maxOwners + 1 {
		many = append(many, f(1))
	}
	if got := match(many, many); len(got) != maxOwners {
		t.Errorf("%d pairs", len(got))
	}
}

// TestJoin: pairs of equal keys.
func TestJoin(t *testing.T) {
	for i, c := range []struct {
		before, after []uint32
		want          []int
	}{
		{nil, nil, []int{}},
		{[]uint32{1, 2, 3}, []uint32{1, 2, 3}, []int{0, 1, 2}},
		{[]uint32{1, 2, 3}, []uint32{3, 2, 1}, []int{2, 1, 0}},
		{[]uint32{0, 2, 0}, []uint32{0, 0, 2}, []int{-1, 2, -1}},
		{[]uint32{5, 5, 6}, []uint32{6, 5}, []int{1, -1, 0}},
		{[]uint32{5, 6}, []uint32{6, 5, 5}, []int{1, 0}},
		{[]uint32{1, 4, 2}, []uint32{1, 2, 3}, []int{0, -1, 1}},
	} {
		j := join(c.before, c.after)
		if !slices.Equal(j.after, c.want) {
			t.Errorf("%d: %v, want %v", i, j.after, c.want)
		}
		for x, y := range j.after {
			if y >= 0 && j.before[y] != x {
				t.Errorf("%d: %v, %v", i, j.after, j.before)
			}
		}
	}
	// add keeps what is there.
	j := join([]uint32{1, 0, 0}, []uint32{1, 0, 0})
	j.add(join([]uint32{7, 8, 9}, []uint32{8, 7, 9}))
	if !slices.Equal(j.after, []int{0, -1, 2}) || !slices.Equal(j.before, []int{0, -1, 2}) {
		t.Errorf("%v, %v", j.after, j.before)
	}
	first := join([]uint32{0}, []uint32{0})
	if first.add(join([]uint32{7}, []uint32{7})); first.after[0] != 0 || first.before[0] != 0 {
		t.Errorf("%v, %v", first.after, first.before)
	}
	before, after := j.free()
	if !slices.Equal(before, []int{1}) || !slices.Equal(after, []int{1}) {
		t.Errorf("%v, %v", before, after)
	}
	var order []string
	k := join([]uint32{1, 2, 3, 4}, []uint32{9, 3, 1, 8})
	k.inOrder(func(x, y int) { order = append(order, fmt.Sprint(x, y)) })
	if want := []string{"-1 0", "1 -1", "2 1", "0 2", "-1 3", "3 -1"}; !slices.Equal(order, want) {
		t.Errorf("%q, want %q", order, want)
	}
}

// TestNames: every offset in the strings, at the beginning of one or within, has
// the name that it stands for, and equal names have one number.
func TestNames(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	set := func() *btf.Blob {
		return build(t, func(b *btftest.Builder) {
			for range 3000 {
				name := fmt.Sprint("n", r.IntN(100000))
				b.Add(name[:1+r.IntN(len(name))], defInfo, 0)
			}
			b.Add(strings.Repeat("l", maxCompared+10), defInfo, 0)
			b.Add("last", defInfo, 0)
		})
	}
	a, b := set(), set()
	c := compare(t, a, b, Options{})
	numbers := map[string]uint32{}
	for _, i := range r.Perm(len(a.Strings) + len(b.Strings)) {
		s := c.sides[0]
		off := uint32(i)
		if i >= len(a.Strings) {
			s, off = c.sides[1], uint32(i-len(a.Strings))
		}
		name := s.Name(off)
		n := s.name(off)
		if string(c.names.bytes(n)) != name {
			t.Fatalf("offset %d: %q, want %q", off, c.names.bytes(n), name)
		}
		if old, ok := numbers[name]; ok && old != n {
			t.Fatalf("%q has the numbers %d and %d", name, old, n)
		}
		numbers[name] = n
	}
	if len(numbers) != len(c.names.list) {
		t.Errorf("%d names, %d numbers", len(numbers), len(c.names.list))
	}
	if s := c.sides[0]; s.name(s.StrEnd()) != 0 || s.name(s.StrEnd()+1) != 0 || s.name(0) != 0 {
		t.Error("an offset beyond the end has a name")
	}
}

// TestTable: equal contents are one node.
func TestTable(t *testing.T) {
	var tab table
	tab.init(4, 4)
	r := rand.New(rand.NewPCG(7, 7))
	nodes := map[string]uint32{}
	for range 20000 {
		content := make([]uint32, r.IntN(4))
		for i := range content {
			content[i] = uint32(r.IntN(30))
		}
		n := tab.intern(content)
		if !slices.Equal(tab.content(n), content) {
			t.Fatalf("%v is %v", content, tab.content(n))
		}
		key := fmt.Sprint(content)
		if old, ok := nodes[key]; ok && old != n {
			t.Fatalf("%v is %d and %d", content, old, n)
		}
		nodes[key] = n
	}
	if len(nodes) != len(tab.nodes) || len(tab.slots) < 2*len(tab.nodes) {
		t.Errorf("%d contents, %d nodes, %d slots", len(nodes), len(tab.nodes), len(tab.slots))
	}
}

// TestSummary: counts as text and as a table.
func TestSummary(t *testing.T) {
	s := Summary{}
	if s.Total() != 0 || s.Lines() != nil || s.Markdown() != nil {
		t.Errorf("%d, %q, %q", s.Total(), s.Lines(), s.Markdown())
	}
	for _, d := range []Difference{{Part: "union", Change: Moved}, {Part: "struct", Change: Added}, {Part: "struct", Change: Declared}, {Part: "struct", Change: Added}} {
		s.Add(&d)
	}
	if got := strings.Join(s.Lines(), "\n"); got != "struct: 2 added, 1 declared\nunion: 1 moved" || s.Total() != 4 {
		t.Errorf("%d: %s", s.Total(), got)
	}
	want := "| | added | moved | declared |\n|---|--:|--:|--:|\n| struct | 2 | 0 | 1 |\n| union | 0 | 1 | 0 |"
	if got := strings.Join(s.Markdown(), "\n"); got != want {
		t.Errorf("(-want +got)\n%s", cmp.Diff(want, got))
	}
	s = Summary{"struct": {Added: 1234}}
	if got := strings.Join(append(s.Lines(), s.Markdown()...), "\n"); strings.Count(got, "1,234") != 2 {
		t.Errorf("numbers have no separators: %s", got)
	}
}

// TestStringSection: the index has a bit for each string, at its beginning.
func TestStringSection(t *testing.T) {
	var text []byte
	var starts []int
	r := rand.New(rand.NewPCG(8, 8))
	for range 500 {
		starts = append(starts, len(text))
		text = append(text, strings.Repeat("x", r.IntN(20))+"\x00"...)
	}
	s := newStringSection(&btf.Blob{Strings: text})
	var got []int
	for i := range 64 * len(s.firsts) {
		if s.firsts[i/64]>>(i%64)&1 != 0 {
			got = append(got, i)
		}
	}
	if !slices.Equal(got, starts) || len(s.numbers) != len(starts) || len(s.firsts) != len(text)/64+1 {
		t.Errorf("%d strings, %d numbers, %d words", len(got), len(s.numbers), len(s.firsts))
	}
}
