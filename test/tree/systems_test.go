package tree

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

// released matches the list of systems for which scripts/release.sh makes programs.
var released = regexp.MustCompile(`SYSTEMS:-([^}]+)`)

// TestSystems: the program has no type errors on any machine of Linux that Go knows, on the other systems of a
// release, and on Windows. The system's structures have other types on each: a device number of MIPS has 32 bits. Nor have
// the tests, where an int has 32 bits. Only types are checked, because to compile for all of them takes ten
// minutes.
func TestSystems(t *testing.T) {
	if testing.Short() {
		t.Skip("a second for each system")
	}
	known, err := exec.Command("go", "tool", "dist", "list").Output()
	if err != nil {
		t.Fatal(err)
	}
	list := released.FindSubmatch(testfile.Read(t, "scripts/release.sh"))
	if list == nil {
		t.Fatal("scripts/release.sh has no list of systems")
	}
	systems := append(strings.Fields(string(list[1])), "windows/amd64")
	for _, system := range strings.Fields(string(known)) {
		if strings.HasPrefix(system, "linux/") && !slices.Contains(systems, system) {
			systems = append(systems, system)
		}
	}
	for _, system := range systems {
		t.Run(system, func(t *testing.T) {
			t.Parallel()
			for _, err := range typeErrors(t, system) {
				t.Error(err)
			}
		})
	}
}

// listed has the fields that go list prints about a package.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct{ Main bool }
}

// typeErrors checks the program for a system, and returns the errors of this module. For one system it
// checks all packages with their tests.
func typeErrors(t *testing.T, system string) (found []error) {
	goos, goarch, _ := strings.Cut(system, "/")
	packages := []string{"./cmd/btflite"}
	if system == "linux/386" {
		packages = []string{"-test", "./..."}
	}
	cmd := exec.Command("go", append([]string{"list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Module"}, packages...)...)
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	checked := map[string]*types.Package{"unsafe": types.Unsafe}
	files := token.NewFileSet()
	for list := json.NewDecoder(bytes.NewReader(out)); list.More(); { // a package comes after those that it imports
		var p listed
		if err := list.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") { // the go command writes main of a test
			continue
		}
		var parsed []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, f)
		}
		own := p.Module != nil && p.Module.Main
		check := types.Config{
			Importer:         imported{checked, p.ImportMap},
			Sizes:            types.SizesFor(runtime.Compiler, goarch),
			IgnoreFuncBodies: !own,
			Error: func(err error) {
				if own {
					found = append(found, err)
				}
			},
		}
		checked[p.ImportPath], _ = check.Check(p.ImportPath, files, parsed, nil)
	}
	return found
}

// imported finds packages that are checked already, by the paths that a package imports.
type imported struct {
	checked map[string]*types.Package
	paths   map[string]string // other paths than those in the source: vendored packages
}

// Import implements types.Importer.
func (i imported) Import(path string) (*types.Package, error) {
	if other, ok := i.paths[path]; ok {
		path = other
	}
	if p := i.checked[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s is not checked yet", path)
}
