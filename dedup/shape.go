package dedup

// shapeHash hashes operand y, a struct, union or typedef, down to the next names (levelHash).
// Types with different hashes are not equivalent, so most of them need no walk: in Rust, one unit
// has hundreds of types called Some.
func (wk *walker) shapeHash(u *Unit, y uint32) uint32 {
	if name, _ := wk.find.head(u, y); name == 0 && y >= idLocal && u.shapes != nil {
		return u.shapes[y&^idLocal]<<1 | 1 // never compared with a hash of a type of the Set: see tryKnown
	}
	d := digest{find: wk.find, unit: u, steps: hashSteps, shape: true}
	return d.of(y, 1) | 1
}

// knownShape returns shapeHash of a type of the Set. It computes each hash once:
// names and sizes of types do not change.
func (wk *walker) knownShape(u *Unit, id uint32) uint32 {
	if int(id) >= len(wk.shapes.S) {
		wk.shapes.Resize(len(wk.find.index.types.ids.S))
	}
	if wk.shapes.S[id] == 0 {
		wk.shapes.S[id] = wk.shapeHash(u, id)
	}
	return wk.shapes.S[id]
}
