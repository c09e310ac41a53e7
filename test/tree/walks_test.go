package tree

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"testing"
)

// boundedOtherwise are the functions that follow references of types in a loop that has a bound
// of its own, with what it is.
var boundedOtherwise = map[string]string{
	"btf/ctype.declare":        "counts the types that it looks at",
	"btf/dump.declaration":     "ends at maxDepth links",
	"encode.match":             "the set has no types that lead back to themselves without a name (dedup.ErrChain)",
	"dedup.reference":          "counts its steps",
	"dedup/exact.identical":    "has a budget",
	"internal/callconv.layout": "has a depth and a budget",
	"internal/unit.voidTypes":  "visits each node once",
}

// TestWalksAreBounded: Parse takes types that refer to themselves, so a loop that follows their
// references is one over a number of steps, as that of btf.Blob.Behind.
func TestWalksAreBounded(t *testing.T) {
	seen := map[string]bool{}
	parsed(t, func(name string, fset *token.FileSet, f *ast.File) {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				loop, ok := n.(*ast.ForStmt)
				if !ok || !followsReferences(loop) {
					return true
				}
				where := path.Dir(name) + "." + fn.Name.Name
				seen[where] = true
				if boundedOtherwise[where] == "" {
					t.Errorf("%v: the loop follows references of types without a bound: see btf.Blob.Behind", fset.Position(loop.Pos()))
				}
				return true
			})
		}
	})
	for where := range boundedOtherwise {
		if !seen[where] {
			t.Errorf("%s has no such loop any more", where)
		}
	}
}

// references are the methods that give what a type refers to, and lookups those that give the
// type of an id.
var (
	references = []string{"Third", "Target", "TargetID", "Array", "Elem"}
	lookups    = []string{"Record", "Head", "Type"}
)

// followsReferences reports whether a loop assigns a reference of a type to a variable that it
// begins its next turn with. Ranges inside end by themselves.
func followsReferences(loop *ast.ForStmt) (yes bool) {
	ast.Inspect(loop, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt, *ast.FuncLit:
			return false
		case *ast.AssignStmt:
			if n.Tok == token.ASSIGN && slices.ContainsFunc(n.Rhs, isReference) {
				yes = true
			}
		}
		return true
	})
	return yes
}

// isReference reports whether an expression is a call of one of references, the third word of a
// record, or the type that one of these leads to.
func isReference(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.CallExpr:
		s, ok := e.Fun.(*ast.SelectorExpr)
		return ok && (slices.Contains(references, s.Sel.Name) || slices.Contains(lookups, s.Sel.Name) && slices.ContainsFunc(e.Args, isReference))
	case *ast.SelectorExpr:
		return e.Sel.Name == "third" || e.Sel.Name == "Third"
	case *ast.IndexExpr:
		i, ok := e.Index.(*ast.BasicLit)
		return ok && i.Value == "2"
	}
	return false
}
