package shape

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// graph says which file refers to which: g[a][b] if a uses a name of the package
// that b declares, a method or a field too.
type graph [][]bool

// references finds the references between the files of a package.
func references(fset *token.FileSet, pkg *types.Package, files []*ast.File, info *types.Info) graph {
	g := make(graph, len(files))
	index := make(map[string]int)
	for i, f := range files {
		g[i] = make([]bool, len(files))
		index[fset.Position(f.Package).Filename] = i
	}
	for id, obj := range info.Uses {
		if obj.Pkg() != pkg || !obj.Pos().IsValid() || !shared(pkg, obj) {
			continue
		}
		from, to := index[fset.Position(id.Pos()).Filename], index[fset.Position(obj.Pos()).Filename]
		if from != to {
			g[from][to] = true
		}
	}
	return g
}

// shared reports whether other files can see an object: it is declared at the top
// of the package, or it is a field or a method.
func shared(pkg *types.Package, obj types.Object) bool {
	switch o := obj.(type) {
	case *types.Var:
		return o.IsField() || o.Parent() == pkg.Scope()
	case *types.Func:
		return true
	}
	return obj.Parent() == pkg.Scope()
}

func (g graph) count() int {
	n := 0
	for _, row := range g {
		for _, to := range row {
			if to {
				n++
			}
		}
	}
	return n
}

// upward is the number of references that run upwards if the files are put into
// the order in which fewest do: users above, what they use below. The order is
// found by moving one file at a time to its best place until no move helps, from
// several starts, so it is the same in every run and may be one or two above the
// true minimum.
func (g graph) upward() int {
	best := g.count()
	for start := range len(g) {
		order := make([]int, 0, len(g))
		for i := range g {
			order = append(order, (start+i)%len(g))
		}
		for g.improve(order) {
		}
		best = min(best, g.up(order))
	}
	return best
}

// up counts the references from a file to one before it.
func (g graph) up(order []int) int {
	n := 0
	for i, from := range order {
		for _, to := range order[:i] {
			if g[from][to] {
				n++
			}
		}
	}
	return n
}

// improve moves each file to its best place and says whether any move helped.
func (g graph) improve(order []int) bool {
	moved := false
	for i := range order {
		f := order[i]
		gain, to := 0, i
		for j, sum := i-1, 0; j >= 0; j-- { // f before order[j]
			sum += g.swap(order[j], f)
			if sum > gain {
				gain, to = sum, j
			}
		}
		for j, sum := i+1, 0; j < len(order); j++ { // f behind order[j]
			sum += g.swap(f, order[j])
			if sum > gain {
				gain, to = sum, j
			}
		}
		if to != i {
			moved = true
			order = slices.Insert(slices.Delete(order, i, i+1), to, f) // in place
		}
	}
	return moved
}

// swap is how many upward references fewer there are if b, which follows a,
// comes before it.
func (g graph) swap(a, b int) int {
	n := 0
	if g[b][a] {
		n++
	}
	if g[a][b] {
		n--
	}
	return n
}

// depth is how deep statements are nested: an if, a loop, a switch, a select and
// a function literal are one level each; else if is none.
func depth(n ast.Node) int {
	deepest, level := 0, 0
	var levels []int
	elseIf := make(map[ast.Stmt]bool)
	ast.Inspect(n, func(n ast.Node) bool {
		if n == nil {
			level -= levels[len(levels)-1]
			levels = levels[:len(levels)-1]
			return true
		}
		step := 0
		switch n := n.(type) {
		case *ast.IfStmt:
			if !elseIf[n] {
				step = 1
			}
			elseIf[n.Else] = true
		case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt, *ast.FuncLit:
			step = 1
		}
		levels = append(levels, step)
		level += step
		deepest = max(deepest, level)
		return true
	})
	return deepest
}

// circular counts the references between files that also reach each other the
// other way round.
func (g graph) circular() int {
	reach := make(graph, len(g))
	for i := range g {
		reach[i] = slices.Clone(g[i])
	}
	for by := range reach { // Warshall's algorithm
		for _, row := range reach {
			for to := range row {
				row[to] = row[to] || row[by] && reach[by][to]
			}
		}
	}
	n := 0
	for from, row := range g {
		for to, refers := range row {
			if refers && reach[to][from] {
				n++
			}
		}
	}
	return n
}
