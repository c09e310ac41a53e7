package readme

import (
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

const module = "github.com/btflite/btflite"

// packageName is a package in ARCHITECTURE.md: a folder in backticks.
var packageName = regexp.MustCompile("`([a-z][a-z/0-9]*)`")

// TestPackagesAreNamed: ARCHITECTURE.md names every package, and its rows are in
// the order of the imports.
func TestPackagesAreNamed(t *testing.T) {
	text := testfile.Read(t, filepath.Join(root, "ARCHITECTURE.md"))
	_, table, _ := strings.Cut(string(text), "| packages |")
	table, tools, _ := strings.Cut(table, "\n\n")
	rows := map[string]int{} // of packages
	for i, line := range strings.Split(table, "\n") {
		first, _, _ := strings.Cut(strings.TrimPrefix(line, "|"), "|")
		for _, m := range packageName.FindAllStringSubmatch(first, -1) {
			if !exists(m[1]) && m[1] != "btflite" {
				t.Errorf("ARCHITECTURE.md names the package %s, which is not there", m[1])
			}
			rows[strings.Replace(m[1], "btflite", ".", 1)] = i
		}
	}
	rows["cmd/btflite"] = rows["cmd/."]
	if len(rows) < 40 {
		t.Errorf("only %d packages", len(rows))
	}
	tools, _, _ = strings.Cut(tools, "\n\n")
	for name, src := range sources(t, ".go") {
		dir := path.Dir(name)
		row, known := rows[dir]
		switch {
		case strings.HasSuffix(name, "_test.go"), strings.HasPrefix(dir, "test/"), strings.HasPrefix(dir, "bench"):
			continue
		case !known && !strings.Contains(tools, "`"+dir+"`"):
			t.Errorf("ARCHITECTURE.md does not name the package %s", dir)
		case !known:
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imp := range f.Imports {
			to, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			inner, ours := strings.CutPrefix(to, module)
			if inner = strings.TrimPrefix(inner, "/"); inner == "" {
				inner = "."
			}
			if ours && rows[inner] > row {
				t.Errorf("%s imports %s, which is in a row below it in ARCHITECTURE.md", name, inner)
			}
		}
	}
}
