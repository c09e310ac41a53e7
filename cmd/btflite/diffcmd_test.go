package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/btfdiff"
)

const diffDir = "../../testdata/diff"

// runDiffOf runs "btflite diff" and returns its output.
func runDiffOf(t *testing.T, status int, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	got := newCLI(&stdout, &stderr, os.LookupEnv).run(append([]string{"diff"}, args...))
	if got != status || stderr.Len() > 0 {
		t.Errorf("%q: status %d, want %d; %s", args, got, status, &stderr)
	}
	return stdout.String()
}

// TestDiffPairs: what is said of pairs of small programs; see scripts/diff.sh.
func TestDiffPairs(t *testing.T) {
	pairs, err := filepath.Glob(diffDir + "/*/a.btf")
	if err != nil || len(pairs) < 10 {
		t.Fatalf("%d pairs, %v", len(pairs), err)
	}
	for _, a := range pairs {
		dir := filepath.Dir(a)
		b := filepath.Join(dir, "b.btf")
		name := filepath.Base(dir)
		status := exitFailure
		if name == "renumbered" {
			status = exitOK
		}
		golden(t, filepath.Join("..", diffDir, name, "diff.txt"), runDiffOf(t, status, a, b))
		text := strings.ReplaceAll(runDiffOf(t, status, "--json", a, b), diffDir+"/", "")
		golden(t, filepath.Join("..", diffDir, name, "diff.json"), text)
		var report struct {
			Version     int
			A, B        string
			Differences []btfdiff.Difference
			Summary     btfdiff.Summary
			Same        bool
		}
		if err := json.Unmarshal([]byte(text), &report); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		counts := btfdiff.Summary{}
		for i := range report.Differences {
			counts.Add(&report.Differences[i])
		}
		if report.Version != 1 || report.A != name+"/a.btf" || report.Same != (status == exitOK) ||
			strings.Join(counts.Lines(), "\n") != strings.Join(report.Summary.Lines(), "\n") {
			t.Errorf("%s: the report says %+v", name, report)
		}
		for _, same := range []string{a, b} {
			if text := runDiffOf(t, exitOK, same, same); text != "" {
				t.Errorf("%s differs from itself: %s", same, text)
			}
		}
	}
}

// TestDiffOptions: --summary, --functions and what is said of equal files.
func TestDiffOptions(t *testing.T) {
	t.Chdir(diffDir)
	a, b := "prototype/a.btf", "prototype/b.btf"
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"--summary " + a + " " + b, 1, "int: 2 added\nfunction: 1 added, 1 removed, 7 changed\n"},
		{"--summary --functions " + a + " " + b, 1, "function: 1 added, 1 removed, 7 changed\n"},
		{"--json --summary --functions " + a + " " + b, 1, `{"version":1,"a":"prototype/a.btf","b":"prototype/b.btf",
"summary":{"function":{"added":1,"changed":7,"removed":1}},"same":false}
`},
		{"--summary " + a + " " + a, 0, ""},
		{"--json " + a + " " + a, 0, `{"version":1,"a":"prototype/a.btf","b":"prototype/a.btf",
"differences":[],
"summary":{},"same":true}
`},
		{"--functions pointee/a.btf pointee/b.btf", 0, ""},
		{"--functions definitions/a.btf definitions/b.btf", 1, "+ function three: int three(void)\n"},
	} {
		if got := runDiffOf(t, c.status, strings.Fields(c.args)...); got != c.want {
			t.Errorf("%s:\n%swant\n%s", c.args, got, c.want)
		}
	}
}

// TestDiffBases: modules over a base, over one each, and with their own.
func TestDiffBases(t *testing.T) {
	t.Chdir("../../testdata/split")
	// The module repeats typedefs of its base (see --btf_compat), its distilled
	// form holds copies of what it needs of the base: no differences.
	dir := t.TempDir()
	encode := func(features string) string {
		out := filepath.Join(dir, features)
		c, _, stderr := testCLI(t)
		if status := c.run([]string{"-J", "--btf_features=" + features, "--btf_base=x86.base.btf",
			"--btf_encode_detached=" + out, "x86.module.o"}); status != exitOK {
			t.Fatal(stderr)
		}
		return out
	}
	again, plain := encode("default"), encode("float")
	for _, args := range [][]string{
		{"--btf_base=x86.base.btf", "x86.module.btf", again},
		{"--btf_base=x86.base.btf", "--btf_base=x86.module.btf", "x86.upper.btf", "x86.upper.btf"},
		{"--btf_base=x86.base-btf.o.xz", again, "x86.module.btf"},
		{"--btf_base=x86.base.btf", "--btf_base_b=x86.distilled.base.btf", again, "x86.distilled.btf"},
	} {
		if text := runDiffOf(t, exitOK, args...); text != "" {
			t.Errorf("%q: %s", args, text)
		}
	}
	text := runDiffOf(t, exitFailure, "--btf_base=x86.base.btf", plain, again)
	golden(t, filepath.Join("..", "..", "..", "cmd", "btflite", "testdata", "diff-split.txt"), text)
}

// TestDiffErrors: no answer is status 2, with a line on standard error.
func TestDiffErrors(t *testing.T) {
	t.Chdir(diffDir)
	for args, want := range map[string]string{
		"":                                            "btflite: diff takes two files\nTry 'btflite --help' for more information.\n",
		"tags/a.btf":                                  "btflite: diff takes two files\nTry 'btflite --help' for more information.\n",
		"tags/a.btf tags/b.btf tags/b.btf":            "btflite: diff takes two files\nTry 'btflite --help' for more information.\n",
		"tags/a.btf none":                             "btflite: none: cannot open: no such file or directory\n",
		"tags/a.btf tags/a.c":                         "btflite: tags/a.c: btf: header: bad magic 0x2364 at offset 0\n",
		"--btf_base=none tags/a.btf tags/b.btf":       "btflite: none: cannot open: no such file or directory\n",
		"--btf_base_b= tags/a.btf tags/b.btf":         "btflite: option '--btf_base_b': empty file name\nTry 'btflite --help' for more information.\n",
		"--sumary tags/a.btf tags/b.btf":              "btflite: unrecognized option '--sumary'; did you mean --summary?\nTry 'btflite --help' for more information.\n",
		"--btf_base=tags/a.btf tags/a.btf tags/b.btf": "btflite: tags/a.btf: btf: it is whole by itself, not split from the base\n",
	} {
		var stdout, stderr bytes.Buffer
		status := newCLI(&stdout, &stderr, os.LookupEnv).run(append([]string{"diff"}, strings.Fields(args)...))
		if status != exitTrouble || stdout.Len() > 0 || stderr.String() != want {
			t.Errorf("%q: status %d, %q, %q; want %q", args, status, &stdout, &stderr, want)
		}
	}
}
