package pairs

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestPairs runs random cases.
func TestPairs(t *testing.T) {
	if *oneCase != "" {
		t.Skip("-case is given")
	}
	if pahole == "" {
		t.Log("no pahole 1.32 (BTFLITE_PAHOLE): only what must hold without it is tested")
	}
	t.Logf("%d cases of -seed=%d", *count, *seed)
	tree, there := treeFiles(), installed()
	var next, shrunk atomic.Int64
	var mu sync.Mutex
	ran, refused, explained := 0, 0, map[string]int{}
	var group sync.WaitGroup
	for range *workers {
		group.Go(func() {
			for {
				n := next.Add(1) - 1
				if n >= int64(*count) {
					return
				}
				bad := 0
				c := newDrawer(*seed, uint64(n)).draw(tree, there, &bad)
				found, err := judgeTrial(c)
				if err != nil {
					t.Errorf("case %d: %s: %v", n, c, err)
					continue
				}
				var new []finding
				for _, f := range found {
					if k := explain(c, f); k == nil {
						new = append(new, f)
					} else {
						mu.Lock()
						if explained[k.name]++; explained[k.name] == 1 {
							t.Logf("known, %s: %s", k.name, c)
						}
						mu.Unlock()
					}
				}
				if len(new) > 0 {
					if shrunk.Add(1) <= int64(*shrinks) {
						c, new = shrink(c, new)
					}
					t.Error(failure(n, c, new))
				}
				mu.Lock()
				refused += bad
				if ran++; ran%500 == 0 {
					t.Logf("%d cases", ran)
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	t.Logf("%d kinds of files, %d more that compilers refuse; known differences: %v", len(kinds.made)-refused, refused, explained)
}

// failure says what a case has found and how to see it again.
func failure(n int64, c *trial, found []finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "case %d: again: go test ./test/pairs -case='%s'\n", n, c)
	for _, f := range found {
		fmt.Fprintf(&b, "\t%s: %s\n\t\tstatus %d: %s\n", f.rule, f.text, f.our.status, firstLines(f.our.stderr))
	}
	return b.String()
}

func firstLines(s string) string {
	return fmt.Sprintf("%.400s", strings.ReplaceAll(strings.TrimSpace(s), "\n", " | "))
}

// shrink takes parts of the case away as long as the first finding remains.
func shrink(c *trial, found []finding) (*trial, []finding) {
	rule := found[0].rule
	for tries := 0; tries < 200; {
		smaller := false
		for _, less := range c.without() {
			tries++
			again, err := judgeTrial(less)
			if err != nil {
				continue
			}
			again = slices.DeleteFunc(again, func(f finding) bool { return explain(less, f) != nil })
			if slices.ContainsFunc(again, func(f finding) bool { return f.rule == rule }) {
				c, found, smaller = less, again, true
				break
			}
		}
		if !smaller {
			break
		}
	}
	return c, found
}

// TestCase runs the cases of -case.
func TestCase(t *testing.T) {
	if *oneCase == "" {
		t.Skip("for -case='FILE… -- OPTION…'")
	}
	for text := range strings.SplitSeq(*oneCase, ";") {
		c, err := parseTrial(text)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(c.String(), func(t *testing.T) {
			found, err := judgeTrial(c)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range found {
				if k := explain(c, f); k != nil {
					t.Logf("%s: known: %s: %s", f.rule, k.name, f.text)
					continue
				}
				t.Errorf("%s: %s\n\tstatus %d: %s\n\tpahole: status %d: %s", f.rule, f.text, f.our.status, f.our.stderr, f.pahole.status, firstLines(f.pahole.stderr))
			}
		})
	}
}
