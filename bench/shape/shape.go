// Package shape measures the source tree: how long functions are, how large
// types are, and whether the files of a package refer to each other in one
// direction. docs/results/shape.md has its table.
//
// What is measured is the program: the packages of the module that its root and
// the commands below cmd are made of, without tests and tools.
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

// Shape is the result of Measure.
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
}

// Size is a number and what it is a number of.
type Size struct {
	Name string
	N    int
}

// Package is one package of the program.
type Package struct {
	Path     string   // without the module's path; "." is the root
	Imports  []string // packages of the module, by such paths
	Files    int
	Refs     int // pairs of files of which one refers to the other
	Up       int // those that run upwards in the best order of the files
	Circular int // those whose target leads back to where they start
}

// listed is a package as go list prints it.
type listed struct {
	Dir, ImportPath, Export string
	GoFiles, Imports        []string
	Module                  *struct {
		Path string
		Main bool // it is in the folder
	}
}

// Measure measures the module in dir.
func Measure(dir string) (*Shape, error) {
	deps, err := list(dir)
	if err != nil {
		return nil, err
	}
	s := new(Shape)
	exports := make(map[string]string)
	for _, p := range deps {
		exports[p.ImportPath] = p.Export
	}
	fset := token.NewFileSet()
	imp := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, p := range deps {
		if p.Module == nil || !p.Module.Main || len(p.GoFiles) == 0 {
			continue
		}
		if err := s.addPackage(fset, imp, p); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(s.Packages, func(a, b *Package) int { return cmp.Compare(a.Path, b.Path) })
	for _, list := range [][]Size{s.Functions, s.Depth, s.Fields, s.Methods, s.ReachFields, s.ReachMethods} {
		slices.SortStableFunc(list, func(a, b Size) int { return cmp.Or(cmp.Compare(a.N, b.N), cmp.Compare(b.Name, a.Name)) })
	}
	return s, nil
}

// list asks the go command about the packages of the program. It takes a root without Go
// files (-e); what does not compile fails later.
func list(dir string) ([]listed, error) {
	cmd := exec.Command("go", "list", "-pgo=off", "-json=Dir,ImportPath,Export,GoFiles,Imports,Module", "-e", "-deps", "-export", ".", "./cmd/...")
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
	return packages, nil
}

// addPackage reads one package and adds what it has.
func (s *Shape) addPackage(fset *token.FileSet, imp types.Importer, p listed) error {
	module := p.Module.Path
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
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, f)
		lines := fset.File(f.Pos()).LineCount()
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
	for _, f := range files {
		s.addFunctions(fset, pkg.Path, f, info)
	}
	s.addTypes(pkg.Path, tp)
	refs := references(fset, tp, files, info)
	pkg.Refs, pkg.Up, pkg.Circular = refs.count(), refs.upward(), refs.circular()
	s.Packages = append(s.Packages, pkg)
	return nil
}

// addTypes counts the fields and methods of named types.
func (s *Shape) addTypes(pkg string, tp *types.Package) {
	add := func(list *[]Size, name string, n int) {
		if n > 0 {
			*list = append(*list, Size{pkg + "." + name, n})
		}
	}
	for _, name := range tp.Scope().Names() {
		obj, ok := tp.Scope().Lookup(name).(*types.TypeName)
		if !ok || obj.IsAlias() {
			continue
		}
		if named, ok := obj.Type().(*types.Named); ok {
			add(&s.Methods, name, named.NumMethods())
		}
		if st, ok := obj.Type().Underlying().(*types.Struct); ok {
			add(&s.Fields, name, st.NumFields())
		}
		reached := make(map[string]bool)
		reachFields(obj.Type(), tp, reached, make(map[types.Type]bool))
		add(&s.ReachFields, name, len(reached))
		add(&s.ReachMethods, name, reachMethods(obj.Type(), tp))
	}
}

// reachFields collects the names of the fields that code in package from can select through a
// struct: its own fields and the fields of embedded structs, at any depth. A name that occurs at
// several depths counts once.
func reachFields(t types.Type, from *types.Package, names map[string]bool, seen map[types.Type]bool) {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	st, ok := t.Underlying().(*types.Struct)
	if !ok || seen[st] {
		return
	}
	seen[st] = true
	for f := range st.Fields() {
		if f.Exported() || f.Pkg() == from {
			names[f.Name()] = true
		}
		if f.Embedded() {
			reachFields(f.Type(), from, names, seen)
		}
	}
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

// addFunctions measures the functions of a file.
func (s *Shape) addFunctions(fset *token.FileSet, pkg string, f *ast.File, info *types.Info) {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		name := pkg + "." + receiver(info.Defs[fn.Name]) + fn.Name.Name
		n := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1
		s.Functions = append(s.Functions, Size{name, n})
		if fn.Body != nil {
			s.Depth = append(s.Depth, Size{name, depth(fn.Body)})
		}
	}
}

// receiver is the name of the type that a method belongs to and a point, "" for a function.
func receiver(fn types.Object) string {
	recv := fn.Type().(*types.Signature).Recv()
	if recv == nil {
		return ""
	}
	t := recv.Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	return t.(*types.Named).Obj().Name() + "."
}
