package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/btflite/btflite/btf/btftest"
	"github.com/btflite/btflite/btf/diff"
	"github.com/btflite/btflite/test/testfile"
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

// TestDiffPairs compares pairs of small programs; see scripts/diff.sh.
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
		golden(t, filepath.Join("..", diffDir, name, "diff.md"),
			strings.ReplaceAll(runDiffOf(t, status, "--format=markdown", a, b), diffDir+"/", ""))
		abi := status
		if name == "compilers" || name == "tags" { // one source by gcc and clang; tags only
			abi = exitOK
		}
		golden(t, filepath.Join("..", diffDir, name, "abi.txt"), runDiffOf(t, abi, "--abi", a, b))
		text := strings.ReplaceAll(runDiffOf(t, status, "--format=json", a, b), diffDir+"/", "")
		if again := strings.ReplaceAll(runDiffOf(t, status, "--json", a, b), diffDir+"/", ""); again != text {
			t.Errorf("%s: --json and --format=json differ", name)
		}
		golden(t, filepath.Join("..", diffDir, name, "diff.json"), text)
		var report struct {
			Version     int
			A, B        string
			Differences []diff.Difference
			Summary     diff.Summary
			Same        bool
		}
		if err := json.Unmarshal([]byte(text), &report); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		counts := diff.Summary{}
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
		{"-q " + a + " " + b, 1, ""},
		{"--quiet --json " + a + " " + a, 0, ""},
		{"-q --name=nobody " + a + " " + b, 0, ""},
		{"--abi --summary " + a + " " + b, 1, "function: 1 added, 1 removed, 6 changed\n"},
		{"--ints --no-summary " + a + " " + b, 1, `+ int long unsigned int: size 8, encoding (none), bits 64
+ int unsigned int: size 4, encoding (none), bits 32
`},
		{"--ints " + a + " " + b, 1, `+ int long unsigned int: size 8, encoding (none), bits 64
+ int unsigned int: size 4, encoding (none), bits 32

2 differences:
    int: 2 added
`},
		{"--functions --name=remo* " + a + " " + b, 1, `- function removed: int removed(void)

1 difference:
    function: 1 removed
`},
		{"--name=remo* --name=[a-b]* --format=markdown " + a + " " + b, 1, "# BTF of `prototype/a.btf` and `prototype/b.btf`\n\n" +
			"## Functions\n\n- added `function added`: `int added(char (*table)[4])`\n- removed `function removed`: `int removed(void)`\n\n" +
			"## Summary\n\n2 differences\n\n| | added | removed |\n|---|--:|--:|\n| function | 1 | 1 |\n"},
		{"--summary --format=markdown " + a + " " + b, 1, "# BTF of `prototype/a.btf` and `prototype/b.btf`\n\n" +
			"## Summary\n\n11 differences\n\n| | added | removed | changed |\n|---|--:|--:|--:|\n| int | 2 | 0 | 0 |\n| function | 1 | 1 | 7 |\n"},
		{"--no-summary --ints --format=markdown " + a + " " + b, 1, "# BTF of `prototype/a.btf` and `prototype/b.btf`\n\n" +
			"## Integers\n\n- added `int long unsigned int`: `size 8, encoding (none), bits 64`\n- added `int unsigned int`: `size 4, encoding (none), bits 32`\n"},
		{"--format=markdown " + a + " " + a, 0, ""},
		{"--format=json --no-summary --structs " + a + " " + b, 0, `{"version":1,"a":"prototype/a.btf","b":"prototype/b.btf",
"differences":[],
"same":true}
`},
		{"--structs --unions --enums --typedefs --variables --sections " + a + " " + b, 0, ""},
		{"--json " + a + " " + a, 0, `{"version":1,"a":"prototype/a.btf","b":"prototype/a.btf",
"differences":[],
"summary":{},"same":true}
`},
		{"--functions pointee/a.btf pointee/b.btf", 0, ""},
		{"--functions definitions/a.btf definitions/b.btf", 1, "+ function three: int three(void)\n\n1 difference:\n    function: 1 added\n"},
	} {
		if got := runDiffOf(t, c.status, strings.Fields(c.args)...); got != c.want {
			t.Errorf("%s: (-want +got)\n%s", c.args, cmp.Diff(c.want, got))
		}
	}
}

// TestDiffPage: the page shows the differences with the files' names, and the status is
// the same as for text.
func TestDiffPage(t *testing.T) {
	a, b := diffDir+"/member-inserted/a.btf", diffDir+"/member-inserted/b.btf"
	text := runDiffOf(t, exitFailure, "--structs", a, b)
	name := strings.Fields(text)[2] // "~ struct NAME: …"
	html := runDiffOf(t, exitFailure, "--format=html", a, b)
	for _, want := range []string{"<!doctype html>", `"sides":["` + a + `","` + b + `"]`, `"` + strings.TrimSuffix(name, ":") + `"`, "1 new"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if html := runDiffOf(t, 0, "--format=html", a, a); !strings.Contains(html, `"list":[]`) {
		t.Error("a file differs from itself")
	}
	if html := runDiffOf(t, 0, "--format=html", "--functions", a, b); !strings.Contains(html, `"list":[]`) {
		t.Error("--functions shows structs")
	}
	if quiet := runDiffOf(t, exitFailure, "-q", "--format=html", a, b); quiet != "" {
		t.Errorf("-q prints %q", quiet)
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

// TestDiffErrors: no answer is status 2, with a line on standard error. A wrong command
// line is status 64, as everywhere.
func TestDiffErrors(t *testing.T) {
	t.Chdir(diffDir)
	for args, want := range map[string]string{
		"":                                            "btflite: diff takes two files\nTry 'btflite diff --help' for more information.\n",
		"tags/a.btf":                                  "btflite: diff takes two files\nTry 'btflite diff --help' for more information.\n",
		"tags/a.btf tags/b.btf tags/b.btf":            "btflite: diff takes two files\nTry 'btflite diff --help' for more information.\n",
		"tags/a.btf none":                             "btflite: none: cannot open: no such file or directory\n",
		"tags/a.btf tags/a.c":                         "btflite: tags/a.c: it is neither an ELF file nor BTF, and begins with 23 64\n",
		"--btf_base=none tags/a.btf tags/b.btf":       "btflite: none: cannot open: no such file or directory\n",
		"--name= tags/a.btf tags/b.btf":               "btflite: option '--name': empty pattern\nTry 'btflite diff --help' for more information.\n",
		"--name=[a tags/a.btf tags/b.btf":             "btflite: option '--name': '[a' is not a valid pattern: a bracket is open, or nothing follows a backslash\nTry 'btflite diff --help' for more information.\n",
		"--format=xml tags/a.btf tags/b.btf":          "btflite: option '--format': unknown value 'xml'; use text or json or markdown or html\nTry 'btflite diff --help' for more information.\n",
		"--json --format=text tags/a.btf tags/b.btf":  "btflite: --json and --format=text exclude each other\nTry 'btflite diff --help' for more information.\n",
		"--summary --format=html tags/a.btf none":     "btflite: --summary and --format=html exclude each other\nTry 'btflite diff --help' for more information.\n",
		"--summary --no-summary tags/a.btf none":      "btflite: --summary and --no-summary exclude each other\nTry 'btflite diff --help' for more information.\n",
		"--abi --structs --ints tags/a.btf none":      "btflite: --abi compares no ints by themselves: leave out --ints\nTry 'btflite diff --help' for more information.\n",
		"--btf_base_b= tags/a.btf tags/b.btf":         "btflite: option '--btf_base_b': empty file name\nTry 'btflite diff --help' for more information.\n",
		"--sumary tags/a.btf tags/b.btf":              "btflite: unrecognized option '--sumary'; did you mean --summary?\nTry 'btflite diff --help' for more information.\n",
		"--btf_base=tags/a.btf tags/a.btf tags/b.btf": "btflite: tags/a.btf: btf: it is whole by itself, not split from the base tags/a.btf; leave --btf_base out\n",
	} {
		var stdout, stderr bytes.Buffer
		status := newCLI(&stdout, &stderr, os.LookupEnv).run(append([]string{"diff"}, strings.Fields(args)...))
		wanted := exitTrouble
		if strings.Contains(want, "\nTry ") {
			wanted = exitUsage
		}
		if status != wanted || stdout.Len() > 0 || stderr.String() != want {
			t.Errorf("%q: status %d, %q, %q; want %q", args, status, &stdout, &stderr, want)
		}
	}
}

// TestDiffUnmatched: standard error says that a pattern fits nothing.
func TestDiffUnmatched(t *testing.T) {
	t.Chdir(diffDir)
	for args, want := range map[string]string{
		"--name=nobody":                             "btflite: note: --name=nobody fits no name in these files\n",
		"--name=nobody --name=node --name=x*":       "btflite: note: --name=nobody fits no name in these files\nbtflite: note: --name=x* fits no name in these files\n",
		"--name=node --functions --ints":            "btflite: note: --name=node fits no name of functions, ints in these files\n",
		"--name=node --structs --summary":           "",
		"--name=nobody --format=json --typedefs":    "btflite: note: --name=nobody fits no name of typedefs in these files\n",
		"--name=c\x1b --functions --no-summary":     "btflite: note: --name=c\\x1b fits no name of functions in these files\n",
		"--name=call --name=node --name=* --unions": "btflite: note: --name=call fits no name of unions in these files\nbtflite: note: --name=node fits no name of unions in these files\nbtflite: note: --name=* fits no name of unions in these files\n",
	} {
		var stdout, stderr bytes.Buffer
		status := newCLI(&stdout, &stderr, os.LookupEnv).run(append(append([]string{"diff"}, strings.Fields(args)...), "tags/a.btf", "tags/b.btf"))
		if status == exitTrouble || stderr.String() != want {
			t.Errorf("%q: status %d, %q; want %q", args, status, &stderr, want)
		}
	}
}

// TestDiffMarkdown: nothing in a file is taken for markup.
func TestDiffMarkdown(t *testing.T) {
	set := func(size uint32) string {
		b := btftest.New()
		for _, name := range []string{"a|b", "`", "x``y", "*a*", "<b>", "line\nbreak", "\x1b[31m", " ", "# a"} {
			b.Struct(name, size)
		}
		return testfile.New(t, "a`b|c", b.Encode(false))
	}
	a, b := set(4), set(8)
	text := runDiffOf(t, exitFailure, "--format=markdown", "--no-summary", a, b)
	text = strings.NewReplacer(filepath.Dir(a), "A", filepath.Dir(b), "B").Replace(text)
	want := "# BTF of ``A/a`b|c`` and ``B/a`b|c``\n\n## Structs\n\n"
	for _, name := range []string{"`struct \\x1b[31m`", "`struct  `", "`struct # a`", "`struct *a*`", "`struct <b>`", "`` struct ` ``", "`struct a|b`", "`struct line\\nbreak`", "```struct x``y```"} {
		want += "- changed " + name + ": `size 4 -> 8`\n"
	}
	if text != want {
		t.Errorf("(-want +got)\n%s", cmp.Diff(want, text))
	}
}
