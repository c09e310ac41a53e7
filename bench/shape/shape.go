// Package shape measures the source tree: how long functions are, how large
// types are, and whether the files of a package refer to each other in one
// direction. CONTRIBUTING.md has its table.
//
// What is measured is the program: the packages of the module that its root and
// the commands below cmd are made of, without tests. Tools and tests are
// counted as packages only.
package shape

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Shape is what Measure finds.
type Shape struct {
	Files, Lines int
	LongestFile  Size
	Functions    []Size // by lines
	Depth        []Size // functions by depth of nesting
	Fields       []Size // structs by fields
	Methods      []Size // types by methods
	ReachFields  []Size // structs by what a reader can select of a value: fields, also of what is embedded
	ReachMethods []Size // types by the methods of a pointer, also of what is embedded
	Packages     []*Package
	All          int      // packages of the module, tools and tests too
	Exported     int      // names
	Undocumented []string // those without a comment, of their own or of their group
}

// Size is a number and what it is a number of.
type Size struct {
	Name string
	N    int
}

// Package is one package of the program.
type Package struct {
	Path     string   // without the module's path; "." is the root
	Imports  []string // packages of the module, likewise
	Files    int
	Refs     int // pairs of files of which one refers to the other
	Up       int // those that run upwards in the best order of the files
	Circular int // those whose target leads back to where they start
}

// listed is what go list says of a package.
type listed struct {
	Dir, ImportPath, Export string
	GoFiles, Imports        []string
	Module                  *struct{ Path string }
}

// Measure measures the module in dir.
func Measure(dir string) (*Shape, error) {
	all, err := list(dir, "./...")
	if err != nil {
		return nil, err
	}
	var roots []string
	s := new(Shape)
	module := all[0].Module.Path
	for _, p := range all {
		if len(p.GoFiles) > 0 {
			s.All++
		}
		if p.ImportPath == module && len(p.GoFiles) > 0 || strings.HasPrefix(p.ImportPath, module+"/cmd/") {
			roots = append(roots, p.ImportPath)
		}
	}
	deps, err := list(dir, append([]string{"-deps", "-export"}, roots...)...)
	if err != nil {
		return nil, err
	}
	exports := make(map[string]string)
	for _, p := range deps {
		exports[p.ImportPath] = p.Export
	}
	fset := token.NewFileSet()
	imp := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, p := range deps {
		if p.Module == nil || p.Module.Path != module {
			continue
		}
		if err := s.addPackage(fset, imp, module, p); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(s.Packages, func(a, b *Package) int { return cmp.Compare(a.Path, b.Path) })
	for _, list := range [][]Size{s.Functions, s.Depth, s.Fields, s.Methods, s.ReachFields, s.ReachMethods} {
		slices.SortStableFunc(list, func(a, b Size) int { return cmp.Or(cmp.Compare(a.N, b.N), cmp.Compare(b.Name, a.Name)) })
	}
	return s, nil
}

// list asks the go command about packages.
func list(dir string, args ...string) ([]listed, error) {
	cmd := exec.Command("go", append([]string{"list", "-pgo=off", "-json=Dir,ImportPath,Export,GoFiles,Imports,Module"}, args...)...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list in %s: %w\n%s", dir, err, &stderr)
	}
	var packages []listed
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p listed
		if err := d.Decode(&p); err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
	if len(packages) == 0 {
		return nil, fmt.Errorf("no Go packages in %s", dir)
	}
	return packages, nil
}

// addPackage reads one package and adds what it has.
func (s *Shape) addPackage(fset *token.FileSet, imp types.Importer, module string, p listed) error {
	short := func(path string) string {
		return cmp.Or(strings.TrimPrefix(strings.TrimPrefix(path, module), "/"), ".")
	}
	pkg := &Package{Path: short(p.ImportPath), Files: len(p.GoFiles)}
	for _, i := range p.Imports {
		if i == module || strings.HasPrefix(i, module+"/") {
			pkg.Imports = append(pkg.Imports, short(i))
		}
	}
	var files []*ast.File
	for _, name := range p.GoFiles {
		data, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), data, parser.ParseComments)
		if err != nil {
			return err
		}
		files = append(files, f)
		lines := bytes.Count(data, []byte("\n"))
		s.Files++
		s.Lines += lines
		if lines > s.LongestFile.N {
			s.LongestFile = Size{path.Join(pkg.Path, name), lines}
		}
	}
	info := &types.Info{Defs: make(map[*ast.Ident]types.Object), Uses: make(map[*ast.Ident]types.Object)}
	conf := types.Config{Importer: imp}
	tp, err := conf.Check(p.ImportPath, fset, files, info)
	if err != nil {
		return err
	}
	methods := make(map[string]int)
	for _, f := range files {
		s.addFunctions(fset, pkg.Path, f, methods)
		if f.Name.Name != "main" {
			s.addExported(pkg.Path, f)
		}
	}
	for name, n := range methods {
		s.Methods = append(s.Methods, Size{pkg.Path + "." + name, n})
	}
	s.addFields(pkg.Path, tp)
	refs := references(fset, tp, files, info)
	pkg.Refs, pkg.Up, pkg.Circular = refs.count(), refs.upward(), refs.circular()
	s.Packages = append(s.Packages, pkg)
	return nil
}

// addFields counts the fields of named structs.
func (s *Shape) addFields(pkg string, tp *types.Package) {
	for _, name := range tp.Scope().Names() {
		obj, ok := tp.Scope().Lookup(name).(*types.TypeName)
		if !ok || obj.IsAlias() {
			continue
		}
		st, ok := obj.Type().Underlying().(*types.Struct)
		if ok {
			s.Fields = append(s.Fields, Size{pkg + "." + name, st.NumFields()})
		}
		if n := reachFields(st, tp); n > 0 {
			s.ReachFields = append(s.ReachFields, Size{pkg + "." + name, n})
		}
		if n := reachMethods(obj.Type(), tp); n > 0 {
			s.ReachMethods = append(s.ReachMethods, Size{pkg + "." + name, n})
		}
	}
}

// reachFields counts the fields that code in package from can select through a struct: its own
// fields and the fields of embedded structs, at any depth. A name that occurs at several
// depths counts once. For nil the count is 0.
func reachFields(st *types.Struct, from *types.Package) int {
	names := make(map[string]bool)
	seen := make(map[*types.Struct]bool)
	for level := []*types.Struct{st}; len(level) > 0; {
		var next []*types.Struct
		for _, st := range level {
			if st == nil || seen[st] {
				continue
			}
			seen[st] = true
			for f := range st.Fields() {
				if f.Exported() || f.Pkg() == from {
					names[f.Name()] = true
				}
				if f.Embedded() {
					t := f.Type()
					if p, ok := t.Underlying().(*types.Pointer); ok {
						t = p.Elem()
					}
					inner, _ := t.Underlying().(*types.Struct)
					next = append(next, inner)
				}
			}
		}
		level = next
	}
	return len(names)
}

// reachMethods counts the methods that package from can call of a value that has an address.
func reachMethods(t types.Type, from *types.Package) (n int) {
	if types.IsInterface(t) {
		return 0
	}
	for m := range types.NewMethodSet(types.NewPointer(t)).Methods() {
		if f := m.Obj(); f.Exported() || f.Pkg() == from {
			n++
		}
	}
	return n
}

// addFunctions measures the functions of a file and counts methods.
func (s *Shape) addFunctions(fset *token.FileSet, pkg string, f *ast.File, methods map[string]int) {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		name := pkg + "." + fn.Name.Name
		if r := receiver(fn); r != "" {
			methods[r]++
			name = pkg + "." + r + "." + fn.Name.Name
		}
		n := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1
		s.Functions = append(s.Functions, Size{name, n})
		if fn.Body != nil {
			s.Depth = append(s.Depth, Size{name, depth(fn.Body)})
		}
	}
}

// receiver is the name of the type that a method belongs to.
func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return ""
	}
	for t := fn.Recv.List[0].Type; ; {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// addExported counts the exported names of a file and those with a comment of
// their own or of their group.
func (s *Shape) addExported(pkg string, f *ast.File) {
	count := func(name *ast.Ident, docs ...*ast.CommentGroup) {
		if !name.IsExported() {
			return
		}
		s.Exported++
		if slices.ContainsFunc(docs, func(d *ast.CommentGroup) bool { return d != nil }) {
			return
		}
		s.Undocumented = append(s.Undocumented, pkg+"."+name.Name)
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if r := receiver(d); r == "" || ast.IsExported(r) {
				count(d.Name, d.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					count(spec.Name, d.Doc, spec.Doc, spec.Comment)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						count(name, d.Doc, spec.Doc, spec.Comment)
					}
				}
			}
		}
	}
}
