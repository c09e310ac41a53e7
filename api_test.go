package btflite_test

import (
	"bytes"
	"flag"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btflite/btflite/test/testfile"
)

var update = flag.Bool("update", false, "rewrite the golden files of testdata")

// TestAPI: the exported API of the package is what testdata/api.txt says, so that a
// change of it is seen. go test -run API . -update writes the file again.
func TestAPI(t *testing.T) {
	const golden = "testdata/api.txt"
	got := exported(t)
	if *update {
		testfile.Write(t, golden, got)
	}
	if want := testfile.Read(t, golden); !bytes.Equal(got, want) {
		t.Errorf("the API is not that of %s; it is\n%s", golden, got)
	}
}

// exported is the API as text: declarations without bodies and comments.
func exported(t *testing.T) []byte {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	p, err := doc.NewFromFiles(fset, files, "github.com/btflite/btflite")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	print := func(n ast.Node) {
		if err := printer.Fprint(&out, fset, n); err != nil {
			t.Fatal(err)
		}
		out.WriteString("\n")
	}
	values := func(list []*doc.Value) {
		for _, v := range list {
			print(v.Decl)
		}
	}
	functions := func(list []*doc.Func) {
		for _, f := range list {
			print(f.Decl)
		}
	}
	values(p.Consts)
	values(p.Vars)
	functions(p.Funcs)
	for _, x := range p.Types {
		print(x.Decl)
		values(x.Consts)
		values(x.Vars)
		functions(x.Funcs)
		functions(x.Methods)
	}
	return out.Bytes()
}
