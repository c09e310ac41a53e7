package show

import "github.com/btflite/btflite/btf/view"

// Gaps knows which of the structs that were printed have gaps that no alignment explains.
// In BTF, a member of a type that BTF cannot say leaves such a gap.
type Gaps struct {
	seen  map[uint32]bool
	First string // the name of the first such struct
}

// Structs is how many structs there are.
func (g *Gaps) Structs() int { return len(g.seen) }

// note keeps a struct if it has such a gap.
func (g *Gaps) note(l *view.Layout) {
	if !l.Unexplained() || g.seen[l.Type.ID] {
		return
	}
	if g.seen == nil {
		g.seen = map[uint32]bool{}
		if g.First = string(l.Type.Name()); g.First == "" {
			g.First = "one without a name"
		}
	}
	g.seen[l.Type.ID] = true
}
