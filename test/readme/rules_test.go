package readme

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

const root = "../.."

// sources reads every file of the tree whose name ends so.
func sources(t *testing.T, suffixes ...string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains([]string{".git", "build", "vendor", "testdata"}, d.Name()) {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() || !slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(p, s) }) {
			return nil
		}
		data, err := os.ReadFile(p)
		name, _ := filepath.Rel(root, p)
		files[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func exists(name string) bool {
	found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(name)))
	return err == nil && len(found) > 0
}

const behaviour = "docs/pahole-behaviour.md"

var (
	ruleRow     = regexp.MustCompile(`\{name: "([^"]+)"(\s*\+)?`)
	quoted      = regexp.MustCompile("\"([^\"]+)\"|`([^`]+)`")
	testFunc    = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	numbered    = regexp.MustCompile(`(?m)^##+ (\d+(?:\.\d+)*) `)
	citation    = regexp.MustCompile(`\b([a-z]+-behaviour)\b(?:\.md)?\s*(?://\s*)?(\d+(?:\.\d+)*)?`)
	document    = regexp.MustCompile(`(?:[\w.-]+/)*[\w-]+\.md\b`)
	namedSource = regexp.MustCompile("`([\\w./*-]+\\.(?:go|sh|md|txt|pgo|json))`")
)

// heldRule is a rule of the document, by its section and its first words, and the tests
// that hold it.
type heldRule struct {
	section, words string
	tests          []string
	found          bool
}

// heldRules reads testdata/rules.txt.
func heldRules(t *testing.T) (rules []*heldRule) {
	t.Helper()
	data := testfile.Read(t, "testdata/rules.txt")
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		if test, ok := strings.CutPrefix(line, "\t"); ok && len(rules) > 0 {
			last := rules[len(rules)-1]
			last.tests = append(last.tests, test)
			continue
		}
		section, words, ok := strings.Cut(line, " ")
		if !ok {
			t.Fatalf("rules.txt:%d: neither a rule nor a test", i+1)
		}
		rules = append(rules, &heldRule{section: section, words: words})
	}
	return rules
}

// ruleLine is the first line of a rule: an element of a list.
var ruleLine = regexp.MustCompile(`(?m)^(?:- |\d+\. )(.*)$`)

// TestRulesAreHeld: each of pahole's rules has a test, each of these exists, and each row
// of the tests of rules belongs to a rule.
func TestRulesAreHeld(t *testing.T) {
	text := testfile.Read(t, filepath.Join(root, behaviour))
	held := heldRules(t)
	for _, part := range strings.Split(string(text), "\n#")[1:] {
		m := numbered.FindStringSubmatch("#" + part)
		if m == nil {
			continue
		}
		hold := func(line string) (any bool) {
			for _, r := range held {
				if r.section == m[1] && strings.HasPrefix(line, r.words) {
					r.found, any = true, true
				}
			}
			return any
		}
		for _, rule := range ruleLine.FindAllStringSubmatch(part, -1) {
			if !hold(rule[1]) {
				t.Errorf("rules.txt has no test of %s %s", m[1], rule[1])
			}
		}
		for _, line := range strings.Split(part, "\n") {
			hold(line) // a rule may be a paragraph
		}
	}
	cited := make(map[string]bool)
	for _, r := range held {
		if !r.found {
			t.Errorf("rules.txt has the rule %q in section %s, %s does not", r.words, r.section, behaviour)
		}
		if len(r.tests) == 0 {
			t.Errorf("rules.txt: no test of %s %s", r.section, r.words)
		}
		for _, name := range r.tests {
			cited[name] = true
		}
	}
	known := make(map[string]bool)
	for name, src := range sources(t, "_test.go") {
		for _, m := range testFunc.FindAllStringSubmatch(src, -1) {
			known[m[1]] = true
		}
		if dir, file := path.Split(name); dir != "encode/" || !strings.HasPrefix(file, "rules_") {
			continue
		}
		for _, m := range ruleRow.FindAllStringSubmatch(src, -1) {
			known[m[1]] = true
			if m[2] == "" && !cited[m[1]] {
				t.Errorf("%s has the rule %q, rules.txt does not", name, m[1])
			}
		}
	}
	for name := range cited {
		place := map[string]string{"quirks": "dedup/testdata/vectors/" + name + ".raw.btf", "golden": "encode/testdata/" + name + ".elf"}[path.Dir(name)]
		if !known[name] && (place == "" || !exists(place)) {
			t.Errorf("rules.txt names %q, which is not a test", name)
		}
	}
	if len(cited) < 200 {
		t.Errorf("only %d tests found", len(cited))
	}
}

// TestCitations: comments cite documents and sections that the tree has, and
// call pahole by its name.
func TestCitations(t *testing.T) {
	text := testfile.Read(t, filepath.Join(root, behaviour))
	sections := make(map[string]bool)
	for _, m := range numbered.FindAllStringSubmatch(string(text), -1) {
		if sections[m[1]] {
			t.Errorf("%s has section %s twice", behaviour, m[1])
		}
		sections[m[1]] = true
	}
	n := 0
	for name, src := range sources(t, ".go", ".md", ".sh", "Makefile") {
		for _, m := range citation.FindAllStringSubmatch(src, -1) {
			switch {
			case m[1] != "pahole-behaviour":
				t.Errorf("%s cites %s, which is not in the tree", name, m[1])
			case m[2] != "" && !sections[m[2]]:
				t.Errorf("%s cites section %s of %s, which it does not have", name, m[2], behaviour)
			case m[2] != "":
				n++
			}
		}
		if name == "test/readme/rules_test.go" || name == "test/readme/links_test.go" {
			continue // their examples
		}
		for _, doc := range document.FindAllString(src, -1) {
			if !exists(doc) && !exists(path.Join(path.Dir(name), doc)) && !exists("docs/"+doc) && strings.HasSuffix(name, ".go") && path.Dir(doc) != "." {
				t.Errorf("%s names %s, which is not in the tree", name, doc)
			}
		}
		if text := strings.ReplaceAll(strings.ToLower(src), "\n// ", " "); strings.Contains(text, "reference encoder") || strings.Contains(text, "the peer ") {
			t.Errorf("%s has another word for pahole", name)
		}
	}
	if n < 10 {
		t.Errorf("only %d citations found", n)
	}
}

// shapeTable is the table of the shape of the tree, which also names files of an
// older one.
var shapeTable = regexp.MustCompile(`(?s)<!-- shape: .*<!-- end of shape -->`)

// TestNamedFiles: files that the guides to the source name are there.
func TestNamedFiles(t *testing.T) {
	for _, doc := range []string{"ARCHITECTURE.md", "CONTRIBUTING.md"} {
		text := testfile.Read(t, filepath.Join(root, doc))
		names := namedSource.FindAllStringSubmatch(shapeTable.ReplaceAllString(string(text), ""), -1)
		for _, m := range names {
			if !exists(m[1]) {
				t.Errorf("%s names %s, which is not there", doc, m[1])
			}
		}
		if len(names) < 5 {
			t.Errorf("%s: only %d names of files found", doc, len(names))
		}
	}
}

// stop is a step of a walk through the source in ARCHITECTURE.md: a file, and
// functions that it has.
var stop = regexp.MustCompile("(?m)^\\d\\. `([\\w./]+\\.go)`: ((?:`\\w+`(?:, | and )?)+)")

func TestStops(t *testing.T) {
	text := testfile.Read(t, filepath.Join(root, "ARCHITECTURE.md"))
	stops := stop.FindAllStringSubmatch(string(text), -1)
	if len(stops) < 30 {
		t.Errorf("%d stops", len(stops))
	}
	for _, m := range stops {
		src, err := os.ReadFile(filepath.Join(root, m[1]))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, q := range quoted.FindAllStringSubmatch(m[2], -1) {
			if !regexp.MustCompile(`(?m)^(func (\([^)]*\) )?|type )` + q[2] + `\b`).Match(src) {
				t.Errorf("%s has no %s", m[1], q[2])
			}
		}
	}
}
