package tree

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// goroutines lists the files that start goroutines, and why each does not leave
// that to internal/workers. All of them catch panics or hand them on.
var goroutines = map[string]string{
	"internal/workers/workers.go": "their home",
	"mmapelf/stream.go":           "a compressed section is expanded while others read it",
	"encode/input.go":             "symbols are read while units are",
	"encode/pipeline.go":          "workers take units until none is left, with a state of their own",
	"cmd/btflite/progress.go":     "a clock beside the run",
	"cmd/btflite/memorywatch.go":  "a look at the memory in use, again and again",
	"cmd/btflite/signals.go":      "signals come at any time",
	"test/mutants/main.go":        "test runs beside each other",
	"test/torture/main.go":        "encoder runs beside each other",
	"test/torture/several.go":     "encoder runs beside each other",
}

// programs are the folders whose code may print.
var programs = []string{"cmd/", "bench", "test/", "scripts/", "docs/"}

// parsed calls fn with the syntax of every file but tests.
func parsed(t *testing.T, fn func(name string, fset *token.FileSet, f *ast.File)) {
	t.Helper()
	goSources(t, func(name string, data []byte) {
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, data, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			return
		}
		fn(name, fset, f)
	})
}

// TestGoroutines: a goroutine that panics ends the program unless someone
// catches it, so the places that start one are few and known.
func TestGoroutines(t *testing.T) {
	seen := map[string]bool{}
	parsed(t, func(name string, fset *token.FileSet, f *ast.File) {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr: // sync.WaitGroup and errgroup.Group
				if s, ok := n.Fun.(*ast.SelectorExpr); !ok || s.Sel.Name != "Go" {
					return true
				}
			case *ast.GoStmt:
			default:
				return true
			}
			seen[name] = true
			if goroutines[name] == "" {
				t.Errorf("%s: goroutines are for internal/workers", fset.Position(n.Pos()))
			}
			return true
		})
	})
	for name := range goroutines {
		if !seen[name] {
			t.Errorf("%s starts no goroutine: take it out of the list", name)
		}
	}
}

// TestPrinting: packages return what they have to say; programs print it.
func TestPrinting(t *testing.T) {
	parsed(t, func(name string, fset *token.FileSet, f *ast.File) {
		for _, p := range programs {
			if strings.HasPrefix(name, p) {
				return
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			what := ""
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok {
					what = x.Name + "." + n.Sel.Name
				}
			case *ast.CallExpr:
				if x, ok := n.Fun.(*ast.Ident); ok {
					what = x.Name
				}
			}
			switch {
			case what == "os.Stdout", what == "os.Stderr", what == "os.Exit", what == "print", what == "println",
				strings.HasPrefix(what, "fmt.Print"), strings.HasPrefix(what, "log."):
				t.Errorf("%s: %s is for programs", fset.Position(n.Pos()), what)
			}
			return true
		})
	})
}

// interfaces are methods that the standard library asks for: their names say all.
var interfaces = []string{"Error", "Unwrap", "String"}

// TestDocumented: every exported name of a package has a comment, of its own or,
// for constants and variables, of the group that it stands in. Builders for
// tests (dwarftest) have a line for each attribute and need none.
func TestDocumented(t *testing.T) {
	packages := map[string]bool{} // folder: has a package comment
	parsed(t, func(name string, fset *token.FileSet, f *ast.File) {
		packages[path.Dir(name)] = packages[path.Dir(name)] || f.Doc != nil
		if f.Name.Name == "main" || strings.HasSuffix(f.Name.Name, "test") {
			return
		}
		check := func(id *ast.Ident, docs ...*ast.CommentGroup) {
			if !id.IsExported() {
				return
			}
			for _, d := range docs {
				if d != nil {
					return
				}
			}
			t.Errorf("%s: %s has no comment", fset.Position(id.Pos()), id.Name)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil || receiver(d).IsExported() && !slices.Contains(interfaces, d.Name.Name) {
					check(d.Name, d.Doc)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						check(s.Name, s.Doc, s.Comment, d.Doc)
					case *ast.ValueSpec:
						for _, id := range s.Names {
							check(id, s.Doc, s.Comment, d.Doc)
						}
					}
				}
			}
		}
	})
	for dir, ok := range packages {
		if !ok {
			t.Errorf("package %s has no comment", dir)
		}
	}
}

// notPromised ends the comment of every package but the library that others could import.
const notPromised = "The stable API is package btflite. What it does not use of this package may change.\n"

// TestNotPromised: testdata/api.txt holds the API of the library only, so the other packages
// that can be imported say that they may change.
func TestNotPromised(t *testing.T) {
	says := map[string]bool{}
	parsed(t, func(name string, fset *token.FileSet, f *ast.File) {
		dir := path.Dir(name)
		parts := strings.Split(dir, "/")
		if dir == "." || f.Name.Name == "main" || strings.HasSuffix(f.Name.Name, "test") || parts[0] == "bench" || parts[0] == "test" || slices.Contains(parts, "internal") {
			return
		}
		says[dir] = says[dir] || strings.HasSuffix(f.Doc.Text(), notPromised)
	})
	for dir, ok := range says {
		if !ok {
			t.Errorf("the comment of package %s does not end with %q", dir, notPromised)
		}
	}
}

// receiver is the name of the type that a method belongs to.
func receiver(d *ast.FuncDecl) *ast.Ident {
	e := d.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x
		default:
			return ast.NewIdent("_")
		}
	}
}
