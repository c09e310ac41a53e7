package tree

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"testing"
)

var (
	fileLine = regexp.MustCompile(`(?m)^\s+\w+\.go\s`) // a line of a list of files
	fileName = regexp.MustCompile(`\w+\.go\b`)
)

// TestFileLists: a package comment with a list of the package's files has all of them.
func TestFileLists(t *testing.T) {
	files := map[string][]string{} // by folder
	lists := map[string][]string{} // by folder: the names in the package comment
	parsed(t, func(name string, _ *token.FileSet, f *ast.File) {
		dir, file := path.Split(name)
		files[dir] = append(files[dir], file)
		if doc := f.Doc.Text(); len(fileLine.FindAllString(doc, 2)) == 2 {
			lists[dir] = fileName.FindAllString(doc, -1)
		}
	})
	delete(lists, "cmd/btflite/") // has a file for each command, and lists the main ones
	for dir, names := range lists {
		for _, file := range files[dir] {
			if !slices.Contains(names, file) {
				t.Errorf("the package comment in %s does not list %s", dir, file)
			}
		}
	}
}
