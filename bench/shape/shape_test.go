package shape

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

// tree is a small module: its program is cmd/x and what that imports.
var tree = map[string]string{
	"go.mod": "module example.org/x\n\ngo 1.26\n",
	"cmd/x/main.go": `package main

import "example.org/x/a"

func main() { a.Run() }
`,
	"tool/main.go": "package main\n\nfunc main() {}\n",
	"a/run.go": `// Package a is documented.
package a

import "example.org/x/b"

// Run is documented.
func Run() {
	s := state{n: b.One}
	for s.n < 3 {
		if s.n == 1 {
			s.step()
		} else if s.n == 2 {
			func() { s.n++ }()
		}
	}
}
`,
	"a/state.go": `package a

type state struct{ n, unused int }

func (s *state) step() { s.n += helper() }
func (s state) Plain() int { return s.n }

type part struct{ n, m int }

func (*part) rest() {}

type whole struct {
	state
	*part
	own int
}
`,
	"a/helper.go": `package a

func helper() int {
	if new(state).n > 0 {
		Run()
	}
	return 1
}

type Bare int
`,
	"a/a_test.go": "package a\n\nfunc helperOfTests() {}\n",
	"b/b.go": `package b

// Constants of a group.
const (
	One = 1
	Two = 2
)
`,
}

func TestMeasure(t *testing.T) {
	dir := t.TempDir()
	for name, text := range tree {
		path := filepath.Join(dir, filepath.FromSlash(name))
		testfile.Write(t, path, text)
	}
	s, err := Measure(dir)
	if err != nil {
		t.Fatal(err)
	}
	if s.Files != 5 || len(s.Packages) != 3 || s.LongestFile != (Size{"a/run.go", 16}) {
		t.Errorf("%d files, %d packages, longest %v", s.Files, len(s.Packages), s.LongestFile)
	}
	if got := s.Functions[len(s.Functions)-1]; len(s.Functions) != 6 || got != (Size{"a.Run", 10}) {
		t.Errorf("%d functions, longest %v", len(s.Functions), got)
	}
	if got := s.Depth[len(s.Depth)-1]; got != (Size{"a.Run", 3}) {
		t.Errorf("deepest: %v", got)
	}
	if !slices.Equal(s.Fields, []Size{{"a.state", 2}, {"a.part", 2}, {"a.whole", 3}}) || !slices.Equal(s.Methods, []Size{{"a.part", 1}, {"a.state", 2}}) {
		t.Errorf("fields %v, methods %v", s.Fields, s.Methods)
	}
	// whole: its own three, n and unused of state, m of part; and all methods.
	if !slices.Equal(s.ReachFields, []Size{{"a.state", 2}, {"a.part", 2}, {"a.whole", 6}}) ||
		!slices.Equal(s.ReachMethods, []Size{{"a.part", 1}, {"a.state", 2}, {"a.whole", 3}}) {
		t.Errorf("reach: fields %v, methods %v", s.ReachFields, s.ReachMethods)
	}
	// run refers to state, state to helper, and helper to both.
	a := s.Packages[0]
	if a.Path != "a" || !slices.Equal(a.Imports, []string{"b"}) || a.Refs != 4 || a.Up != 1 || a.Circular != 4 {
		t.Errorf("package a: %+v", a)
	}
	table, err := Table(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"| | " + dir + " |",
		"| packages of the program, imports between them | 3, 2 |",
		"| longest functions | `a.Run` 10, `a.helper` 6, `a.part.rest` 1, `a.state.Plain` 1, `a.state.step` 1 |",
		"| references between files of a package, upward, circular | 4, 25 %, 100 % |",
	} {
		if !strings.Contains(table, line+"\n") {
			t.Errorf("no line %q in\n%s", line, table)
		}
	}
}

// TestUpward: the order that is found is the best one, where that is known.
func TestUpward(t *testing.T) {
	for text, want := range map[string]int{
		"":               0,
		"01 12 23 02":    0,
		"10 21 32":       0, // the other way round
		"01 12 20":       1,
		"01 10 12 21":    2,
		"01 12 23 30 31": 1,
		"01 12 20 34 43": 2,
		"03 13 23 30":    1,
		"40 30 20 10 04": 1,
		"01 23 45 50 12": 0,
	} {
		g := make(graph, 6)
		for i := range g {
			g[i] = make([]bool, 6)
		}
		for _, pair := range strings.Fields(text) {
			g[pair[0]-'0'][pair[1]-'0'] = true
		}
		if got := g.upward(); got != want {
			t.Errorf("%q: %d upward, want %d", text, got, want)
		}
	}
}
