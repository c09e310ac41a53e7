package tree

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
	"testing"
)

// written are the functions that make bytes of BTF, or that write bytes which may be BTF, and
// why no BTF leaves the program or the library there that nobody has checked. Package
// internal/finish checks: Work.Output, Work.DistilBase and Work.Merged.
var written = map[string]string{
	"btf/chain.go Sum":                        "for a checksum",
	"cmd/btflite/dedupcmd.go run":             "goes to writeMerged",
	"cmd/btflite/flattencmd.go run":           "Work.Merged checks it",
	"cmd/btflite/flattencmd.go batch":         "read again at once",
	"dedup/btffile/flatten.go Batch":          "flattencmd.go checks it with Work.Merged",
	"cmd/btflite/mincmd.go makeNeeds":         "Work.Merged checks it",
	"cmd/btflite/mincmd.go allKernels":        "a report",
	"cmd/btflite/sortcmd.go run":              "goes to writeMerged",
	"cmd/btflite/lowercmd.go write":           "Work.Merged checks it",
	"cmd/btflite/lowercmd.go replace":         "Work.Merged checks the base; write has checked what is over it",
	"cmd/btflite/lowercmd.go loweredSection":  "of write and replace",
	"cmd/btflite/finish.go writeMerged":       "Work.Merged checks it",
	"cmd/btflite/finish.go sideWriter":        "of an Encoded, which Work.Output has checked",
	"cmd/btflite/finish.go bytesSection":      "of an Encoded, or what Work.DistilBase returns",
	"cmd/btflite/fullcirclecmd.go keepC":      "C",
	"encode/tail.go exact":                    "goes to Work.Output",
	"internal/job/job.go Copied":              "Work.Merged checks it",
	"internal/finish/check.go Merged":         "an input, to be judged",
	"internal/finish/finish.go finish":        "Work.check follows",
	"internal/finish/finish.go DistilBase":    "Work.check follows",
	"internal/finish/rewrite.go rewritten":    "Work.check follows in Work.finish",
	"btf/verify/releasetest/examples.go over": "for tests",
}

// TestWrittenIsChecked: whoever adds a place where BTF becomes bytes says who checks it.
func TestWrittenIsChecked(t *testing.T) {
	found := map[string]bool{}
	goSources(t, func(name string, data []byte) {
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "bench/") || strings.HasPrefix(name, "test/") || path.Base(path.Dir(name)) == "btftest" {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, data, 0)
		if err != nil {
			t.Error(err)
			return
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Name.Name == "WriteBytes" {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || !makesBTF(call) {
					return true
				}
				if place := name + " " + fn.Name.Name; !found[place] {
					found[place] = true
					if written[place] == "" {
						t.Errorf("%s: the table written does not say who checks the BTF that is made or written there", place)
					}
				}
				return true
			})
		}
	})
	for place := range written {
		if !found[place] {
			t.Errorf("the table written has %s, which makes no BTF", place)
		}
	}
}

// makesBTF reports whether a call is blob.Encode() or finish.WriteBytes(data).
func makesBTF(call *ast.CallExpr) bool {
	name := ""
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		name = f.Sel.Name
	case *ast.Ident:
		name = f.Name
	}
	return name == "WriteBytes" || name == "Encode" && len(call.Args) == 0
}
