package verify

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/btflite/btflite/btf"
)

// smallChunks makes workers take n types at a time, for one test.
func smallChunks(t testing.TB, n int) {
	old := chunkTypes
	chunkTypes = n
	t.Cleanup(func() { chunkTypes = old })
}

// inOrder is Check by one worker and without a proof: all types are resolved in
// the kernel's order.
func inOrder(data []byte, rules Rules) (err error, proven bool) {
	c, err := begin(data, nil, rules)
	if err != nil {
		return err, false
	}
	fault := c.withoutSizes(rules.Level)
	if fault == nil && rules.Level == Load {
		for _, n := range c.pointerSizes() {
			p := proof{links: c.links(n)}
			proven = p.proven(1)
			other := (&walk{links: p.links}).resolveAll()
			if other == nil || proven {
				return asError(other), proven
			}
			if fault == nil {
				fault = other
			}
		}
	}
	return asError(fault), proven
}

func asError(f *Fault) error {
	if f == nil {
		return nil
	}
	return f
}

// verdicts counts the verdicts of agreeInAnyOrder.
type verdicts struct{ fine, proven int }

// agreeInAnyOrder fails if the verdict depends on the number of workers, or if
// something is taken for proven that is wrong.
func (v *verdicts) agreeInAnyOrder(t *testing.T, data []byte, what string) {
	t.Helper()
	readable, _ := inOrder(data, Rules{Level: Readable})
	for _, level := range []Level{Load, Boot, Readable} {
		want, proven := inOrder(data, Rules{Level: level})
		if want == nil && level == Load {
			v.fine++
		}
		if proven {
			v.proven++
			if want != nil {
				t.Errorf("%s: proven, but %v", what, want)
			}
		}
		for _, workers := range []int{0, 2, 7} {
			_, err := Check(data, nil, Rules{Level: level, Workers: workers})
			if fmt.Sprint(err) != fmt.Sprint(want) {
				t.Errorf("%s, level %d, %d workers: %v, want %v", what, level, workers, err, want)
			}
			refused, unreadable := CheckBoth(data, nil, Rules{Level: level, Workers: workers})
			if fmt.Sprint(refused) != fmt.Sprint(want) || fmt.Sprint(unreadable) != fmt.Sprint(readable) {
				t.Errorf("%s, level %d, %d workers: %v and %v, want %v and %v",
					what, level, workers, refused, unreadable, want, readable)
			}
		}
	}
}

func TestWorkersAgreeOnRandomTypes(t *testing.T) {
	smallChunks(t, 2)
	var v verdicts
	const n = 5000
	for i := range n {
		v.agreeInAnyOrder(t, randomBlob(rand.New(rand.NewPCG(3, uint64(i)))), fmt.Sprint("blob ", i))
	}
	if v.fine < n/10 || v.fine > n*9/10 || v.proven < v.fine*3/4 {
		t.Errorf("%d of %d fine, %d proven: this tests one verdict only", v.fine, n, v.proven)
	}
}

func TestWorkersAgreeOnMutants(t *testing.T) {
	smallChunks(t, 3)
	var seeds [][]byte
	var v verdicts
	eachFile(t, func(name string, data []byte) {
		v.agreeInAnyOrder(t, data, name)
		seeds = append(seeds, data)
	})
	if v.proven < v.fine {
		t.Errorf("%d of %d files proven", v.proven, v.fine)
	}
	const n = 2000
	v = verdicts{}
	for i := range n {
		r := rand.New(rand.NewPCG(4, uint64(i)))
		v.agreeInAnyOrder(t, mutate(r, seeds[r.IntN(len(seeds))]), fmt.Sprint("mutant ", i))
	}
	if v.fine < n/10 || v.fine > n*9/10 {
		t.Errorf("%d of %d fine: this tests one verdict only", v.fine, n)
	}
}

// TestWorkersAgreeOnDepth: near the limit, the proof fails for types that are still
// right.
func TestWorkersAgreeOnDepth(t *testing.T) {
	smallChunks(t, 5)
	var v verdicts
	eachChain(func(what string, data []byte) { v.agreeInAnyOrder(t, data, what) })
	if v.proven == 0 || v.proven == v.fine {
		t.Errorf("%d of %d proven", v.proven, v.fine)
	}
}

func TestWorkersAgreeOnInvalidCases(t *testing.T) {
	smallChunks(t, 1)
	var v verdicts
	for _, c := range invalidCases {
		v.agreeInAnyOrder(t, invalidBlob(c.add, false), c.what)
	}
	for _, c := range selftestCases {
		v.agreeInAnyOrder(t, selftestBlob(c.add, true), c.name)
	}
}

// TestEveryChunkIsJudged: a fault is found wherever it is, and the first of two.
func TestEveryChunkIsJudged(t *testing.T) {
	smallChunks(t, 4)
	faults := map[string]func(b *blob){
		"name is not a C identifier": func(b *blob) { b.add("a b", btf.KindStruct, 0, false, 0) },
		"element type [2] has no":    func(b *blob) { b.add("", btf.KindArray, 0, false, 0, tProto, tInt, 1) },
		"ends at bit 40, behind":     func(b *blob) { b.add("s", btf.KindStruct, 1, false, 4, 0, tInt, 8) },
		"parameter 0: type is void":  func(b *blob) { b.add("", btf.KindFuncProto, 2, false, 0, 0, 0, 0, tInt) },
		"refers to type [999]":       func(b *blob) { b.add("", btf.KindPtr, 0, false, 999) },
		"is part of itself":          func(b *blob) { members(b, 8, 0, b.N+1, 0) },
		"modifiers and typedefs in":  func(b *blob) { b.add("", btf.KindConst, 0, false, b.N+1) },
	}
	const n = 30
	for want, fault := range faults {
		for at := range n {
			b := start()
			for i := range n {
				if i == at || i == n-1 {
					fault(b)
				} else {
					b.add("e", btf.KindEnum, 1, false, 4, b.Str("E"), uint32(i))
				}
			}
			where := fmt.Sprintf("BTF type [%d] ", 4+at)
			for workers := range 4 {
				_, err := Check(b.Encode(false), nil, Rules{Workers: workers})
				if got := fmt.Sprint(err); !strings.HasPrefix(got, where) || !strings.Contains(got, want) {
					t.Fatalf("%d workers: %v, want %s%s", workers, err, where, want)
				}
			}
		}
	}
}

// TestWorkersProve: several workers prove what one proves, so that the slower walk in the
// kernel's order is not needed.
func TestWorkersProve(t *testing.T) {
	smallChunks(t, 2)
	seen := 0
	eachFile(t, func(name string, data []byte) {
		c, err := begin(data, nil, Rules{Level: Load})
		if err != nil {
			return
		}
		for _, size := range c.pointerSizes() {
			one, several := proof{links: c.links(size)}, proof{links: c.links(size)}
			if got, want := several.proven(3), one.proven(1); got != want {
				t.Errorf("%s, pointers of %d bytes: 3 workers prove it: %t, one: %t", name, size, got, want)
			} else if want {
				seen++
			}
		}
	})
	if seen == 0 {
		t.Error("nothing was proven")
	}
}

// TestFindIdentifiers: the verdict on a block of strings holds for each string alone.
func TestFindIdentifiers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	legal, odd := 0, 0
	for i := range 3000 {
		alphabets := []string{"abcXYZ_019", "azAZ_09", "ab.", "a b", "a\xe4\xd7\x80", "@[`{/:^\x01"}
		var s []byte
		if i%2 == 0 {
			s = append(s, 0)
		}
		for range r.IntN(12) {
			n := []int{r.IntN(4), r.IntN(30), r.IntN(200), 505 + r.IntN(16)}[min(r.IntN(4), r.IntN(12))]
			for range n {
				a := alphabets[0]
				if r.IntN(300) == 0 {
					a = alphabets[r.IntN(len(alphabets))]
				}
				s = append(s, a[r.IntN(len(a))])
			}
			s = append(s, 0)
		}
		c := texts{own: s}
		c.findIdentifiers()
		for i := range s {
			begins := i == 0 || s[i-1] == 0
			want := begins && isIdentifier(s[i:])
			if got := c.idents[i/64]>>(i%64)&1 != 0; got != want {
				t.Fatalf("%q: at %d: %v, want %v", s, i, got, want)
			}
			if want {
				legal++
			} else if begins && s[i] != 0 {
				odd++
			}
		}
	}
	if legal < 5000 || odd < 500 {
		t.Errorf("%d legal, %d others", legal, odd)
	}
}
