package show

import "github.com/btflite/btflite/btf/view"

// gaps knows which of the structs that were printed have gaps that no alignment explains.
// In BTF, a member of a type that BTF cannot say leaves such a gap.
type gaps struct {
	seen  map[uint32]bool
	first string // the name of the first such struct
}

// note keeps a struct if it has such a gap.
func (g *gaps) note(l *view.Layout) {
	if !l.Unexplained() || g.seen[l.Type.ID] {
		return
	}
	if g.seen == nil {
		g.seen = map[uint32]bool{}
		if g.first = string(l.Type.Name()); g.first == "" {
			g.first = "one without a name"
		}
	}
	g.seen[l.Type.ID] = true
}
