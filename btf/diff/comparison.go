package diff

import "github.com/btflite/btflite/btf"

// comparison is one run of Compare.
type comparison struct {
	shared
	sides [2]*side // a, b
	// budget is how many members, values and parameters of types without a name
	// may still be told: such a type may be used in many places. A text of one, which
	// takes longer than a name, counts as one for each textCost bytes.
	budget int
}

func newComparison(a, b *btf.Blob, o Options) (c *comparison, err error) {
	c = new(comparison)
	if c.filter, err = newFilter(o); err != nil {
		return nil, err
	}
	c.names.init()
	words, types := 0, 0
	for i, blob := range []*btf.Blob{a, b} {
		for l := blob; l != nil; l = l.Base {
			words += len(l.Words)
		}
		types += int(blob.TypeCount())
		c.sides[i] = newSide(blob, i, &c.shared)
	}
	c.budget = words
	c.table.init(types, words+words/3) // contents of members have a word more
	return c, nil
}
