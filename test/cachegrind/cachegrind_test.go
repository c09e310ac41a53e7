package cachegrind

import "testing"

func TestSum(t *testing.T) {
	const file = `desc: I1 cache: default
cmd: ./x
events: Ir
fl=/src/x.go
fn=main.main
12 100
13 20
fn=runtime.mallocgc
7 1000
fn=example.org/x.(*T).f
1 3
summary: 1123
`
	if n, err := sum([]byte(file)); n != 123 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	for _, bad := range []string{"", "fn=runtime.main\n1 2\n", "fn=main.main\n1 x\n"} {
		if n, err := sum([]byte(bad)); err == nil {
			t.Errorf("%q: %d without an error", bad, n)
		}
	}
}
