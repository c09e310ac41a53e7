package main

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

// TestFaults: each row lists every fault of one expression.
func TestFaults(t *testing.T) {
	for _, row := range []struct {
		expr string
		want []string
	}{
		{"a == b", []string{"a != b"}},
		{"a < b", []string{"a <= b", "a >= b"}},
		{"a >= 4", []string{"a > 4", "a < 4"}},
		{"a == 4", []string{"a != 4", "a == 5"}},
		{"a+0x10 > b", []string{"a-0x10 > b", "a+17 > b", "a+0x10 >= b", "a+0x10 <= b"}},
		{"a && b", []string{"a || b"}},
		{"!a", []string{"a"}},
		{"a[1:n-2]", []string{"a[2:n-2]", "a[1:n+2]", "a[1:n-3]"}},
		{"a[f(1)]", nil},
		{"a * 2", nil},
	} {
		const head = "package p\n\nvar v = "
		src := []byte(head + row.expr + "\n")
		found, err := faults("p.go", src)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range found {
			got = append(got, strings.TrimSpace(string(f.apply(src))[len(head):]))
			if f.line != 3 || f.context == "" {
				t.Errorf("%s: line %d, context %q", row.expr, f.line, f.context)
			}
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: faults %q, not %q", row.expr, got, row.want)
		}
	}
}

// TestRun: tests that fail or hang notice a fault, a fault that does not build
// is none, and a comparison that no test looks at lives on.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module p\n",
		"p.go": `package p

func Tested(a, b int) bool { return a == b }

func Untested(a, b int) bool { return a != b }

func Hangs(a bool) { for !a {} }

func Text(a string) string { return a + "." }
`,
		"p_test.go": `package p

import "testing"

func Test(t *testing.T) {
	if !Tested(1, 1) { t.Error("1 is not 1") }
	Hangs(true)
	Text("")
}
`,
	} {
		testfile.Write(t, filepath.Join(dir, name), text)
	}
	t.Chdir(dir)
	t.Setenv("GOWORK", "off")
	for workers := 1; workers <= 2; workers++ {
		var out bytes.Buffer
		if _, err := run(&out, ".", suiteOf(".", "", "", false), "", 0, 1, workers, 2e9); err != nil {
			t.Fatal(err)
		}
		const want = `p.go:5: "!=" becomes "==" in a != b
.: of 3 faults 2 were noticed, 1 live on; 1 more did not build; 4 possible faults
`
		if out.String() != want {
			t.Errorf("%d workers: %s, not %s", workers, out.String(), want)
		}
	}
	testfile.Write(t, "p_test.go", "package p\n\nimport \"testing\"\n\nfunc Test(t *testing.T) { t.Fatal() }\n")
	if _, err := run(new(bytes.Buffer), ".", suiteOf(".", "", "", false), "", 0, 1, 1, 0); err == nil {
		t.Error("tests that fail by themselves are no measure, and there is no error")
	}
}

// TestBy: the tests of another package judge, in turn, and with -short.
func TestBy(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":     "module p\n",
		"inner/p.go": "package inner\n\nfunc Same(a, b int) bool { return a == b }\n",
		"user_test.go": `package p

import (
	"p/inner"
	"testing"
)

func TestSame(t *testing.T) {
	if !inner.Same(1, 1) { t.Error("1 is not 1") }
}

func TestLong(t *testing.T) {
	if !testing.Short() { t.Error("not short") }
}

func TestNothing(t *testing.T) {}
`,
	} {
		name = filepath.Join(dir, name)
		testfile.Write(t, name, text)
	}
	t.Chdir(dir)
	t.Setenv("GOWORK", "off")
	for _, row := range []struct {
		by, only string
		noticed  bool
	}{
		{"", "", false},
		{".", "", true},
		{".:Nothing", "", false},
		{".", "Nothing", false},
		{"./inner,.:Same", "Nothing", true},
		{".:Nothing,.:Same|Long", "", true},
	} {
		var out bytes.Buffer
		if _, err := run(&out, "./inner", suiteOf("./inner", row.by, row.only, true), "", 0, 1, 1, 0); err != nil {
			t.Fatal(err)
		}
		want := "of 1 faults 0 were noticed, 1 live on"
		if row.noticed {
			want = "of 1 faults 1 were noticed, 0 live on"
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("-by %q -run %q: %s, not %s", row.by, row.only, out.String(), want)
		}
	}
	if _, err := run(new(bytes.Buffer), "./inner", suiteOf("./inner", ".", "", false), "", 0, 1, 1, 0); err == nil {
		t.Error("without -short the tests fail by themselves, and there is no error")
	}
}

// TestReport: a row takes the place of an older one of the same sample, and the
// rest of the file stays.
func TestReport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mutants.md")
	const head = "text\n\n" + reportBegin + "| package |\n|---|\n"
	const tail = reportEnd + "\nmore\n"
	testfile.Write(t, path, head+tail)
	for _, s := range []sample{{pkg: "./b", seed: 1, tried: 8, noticed: 5, possible: 9}, {pkg: "./a", tests: "./b", seed: 1, tried: 2},
		{pkg: "./b", seed: 1, tried: 8, noticed: 7, possible: 9}, {pkg: "./b", seed: 2}, {pkg: "./c", tests: "./b:One|Two", seed: 1}} {
		if err := s.write(path); err != nil {
			t.Fatal(err)
		}
	}
	got := testfile.Read(t, path)
	want := head + "| a | ./b | 1 | 2 | 0 | 0 |\n| b | its own | 1 | 8 | 7 | 9 |\n| b | its own | 2 | 0 | 0 | 0 |\n| c | ./b:One\\|Two | 1 | 0 | 0 | 0 |\n" + tail
	if string(got) != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if (&sample{}).write(filepath.Join(t.TempDir(), "none")) == nil {
		t.Error("no error without a table")
	}
}
