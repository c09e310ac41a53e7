package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
)

// fault is one small change of a source file.
type fault struct {
	file     string
	line     int
	from, to int // the bytes of the file that are replaced
	old, new string
	context  string // the expression or statement around them
}

// apply returns src with the fault in it.
func (f fault) apply(src []byte) []byte {
	return slices.Concat(src[:f.from], []byte(f.new), src[f.to:])
}

// swaps lists what an operator may become. A comparison of order is turned
// round and made off by one; the others have one opposite.
var swaps = map[token.Token][]token.Token{
	token.EQL:  {token.NEQ},
	token.NEQ:  {token.EQL},
	token.LSS:  {token.LEQ, token.GEQ},
	token.LEQ:  {token.LSS, token.GTR},
	token.GTR:  {token.GEQ, token.LEQ},
	token.GEQ:  {token.GTR, token.LSS},
	token.ADD:  {token.SUB},
	token.SUB:  {token.ADD},
	token.LAND: {token.LOR},
	token.LOR:  {token.LAND},
}

var assignments = map[token.Token]token.Token{
	token.ADD_ASSIGN: token.SUB_ASSIGN,
	token.SUB_ASSIGN: token.ADD_ASSIGN,
}

// faults lists every fault that can be put into the source file name. Some of
// them do not build, such as the difference of two strings.
func faults(name string, src []byte) ([]fault, error) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	s := scan{name: name, src: src, file: fset.File(tree.Pos())}
	ast.Inspect(tree, s.visit)
	slices.SortStableFunc(s.found, func(a, b fault) int { return a.from - b.from })
	return s.found, nil
}

type scan struct {
	name  string
	src   []byte
	file  *token.File
	found []fault
}

// add notes the replacement of old at pos, inside of the node around.
func (s *scan) add(around ast.Node, pos token.Pos, old, new string) {
	from := s.file.Offset(pos)
	s.found = append(s.found, fault{
		file: s.name, line: s.file.Line(pos), from: from, to: from + len(old), old: old, new: new,
		context: string(s.src[s.file.Offset(around.Pos()):s.file.Offset(around.End())]),
	})
}

func (s *scan) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		for _, op := range swaps[n.Op] {
			s.add(n, n.OpPos, n.Op.String(), op.String())
		}
		switch n.Op {
		case token.EQL, token.NEQ:
			s.bound(n, n.X)
			s.bound(n, n.Y)
		case token.LSS, token.LEQ, token.GTR, token.GEQ:
			// A lone constant is left out: "<" made "<=" is the same fault.
			s.inner(n, n.X)
			s.inner(n, n.Y)
		}
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			s.add(n, n.OpPos, "!", "")
		}
	case *ast.AssignStmt:
		if op, ok := assignments[n.Tok]; ok {
			s.add(n, n.TokPos, n.Tok.String(), op.String())
		}
	case *ast.IndexExpr:
		s.bound(n, n.Index)
	case *ast.SliceExpr:
		s.bound(n, n.Low)
		s.bound(n, n.High)
	}
	return true
}

// inner is bound for a term of a comparison, less the term that is a constant
// by itself.
func (s *scan) inner(around ast.Node, e ast.Expr) {
	if _, lone := ast.Unparen(e).(*ast.BasicLit); !lone {
		s.bound(around, e)
	}
}

// bound makes every integer constant that e is or adds up one larger.
func (s *scan) bound(around ast.Node, e ast.Expr) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		s.bound(around, e.X)
	case *ast.BinaryExpr:
		if e.Op == token.ADD || e.Op == token.SUB || e.Op == token.MUL {
			s.bound(around, e.X)
			s.bound(around, e.Y)
		}
	case *ast.BasicLit:
		if v, err := strconv.ParseUint(e.Value, 0, 63); err == nil && e.Kind == token.INT {
			s.add(around, e.Pos(), e.Value, strconv.FormatUint(v+1, 10))
		}
	}
}
