// Package diff compares two sets of BTF types and says what an observer of
// the program would see changed: structs, unions, enums, typedefs, base types,
// functions, variables and their sections, with their tags.
//
// What counts is what the types say, not how they are stored. Type ids, the
// order of types, strings and the index types of arrays play no part, nor do
// repeated definitions that say the same. A name stands for what it names: a
// struct that changes is one difference, and what points to it or holds it is
// none by that (but a member, or an array in it, that gets another size is).
// Several definitions of one name are compared as a set. A type without a name
// belongs to what uses it; enums, structs and unions that nothing uses are
// compared by their contents. Pointers, arrays, qualifiers and prototypes that
// nothing uses are not compared, nor are declaration tags of types that cannot
// have any.
//
// How it works: options.go says what is compared. side.go reads one of the two,
// names.go its names. ids.go gives
// what records refer to numbers that mean the same on both sides; with those
// contents.go makes the contents of records comparable, and table.go holds each
// content once. What only one side has is left over: pair.go groups it by name
// and finds pairs (join.go those of members), explain.go says how a pair differs
// and describe.go what stands alone, ctype.go writes types as C does; text.go and
// summary.go are for people, markdown.go for web pages.
//
// The work is n log n in the size of the two inputs, and what is told of types
// without a name is bounded by it. Nothing here recurses deeper than maxNesting.
package diff

import "github.com/btflite/btflite/btf"

// Change says how something differs in the second set.
type Change string

const (
	Added    Change = "added"    // only in the second set
	Removed  Change = "removed"  // only in the first set
	Changed  Change = "changed"  // in both, with other contents
	Moved    Change = "moved"    // a variable that only has another offset in its section
	Defined  Change = "defined"  // only forward declarations in the first set, a definition in the second
	Declared Change = "declared" // the reverse
)

// Difference is one difference: between the two sets, or, as a detail of
// another one, between two definitions.
type Difference struct {
	// Part is what differs. Between sets: "struct", "union", "enum", "typedef",
	// "int", "float", "function", "variable" or "section". In details: "member",
	// "value" or "parameter", which have details of their own, or a property:
	// "size" and "offset" in bytes, "bit_offset" and "bits" (width) in bits,
	// "position" of a parameter from 0, "value", "members" and "values" (how
	// many), "type", "returns" and "prototype" in C, "kind", "signed",
	// "encoding", "linkage", "section", "name", "tag", "defined" (false for a
	// forward declaration). "content" stands for what is too deep to be told.
	Part string `json:"part"`
	// Name is "" for what has none. Names are cut at 1,024 bytes.
	Name   string `json:"name,omitempty"`
	Change Change `json:"change"`
	// Definitions is how many different definitions of the name the two sets
	// have, if one of them has more than one.
	Definitions []int `json:"definitions,omitempty"`
	// Before and After are what a property was and is: a string, a bool, an
	// int64 or a uint64, nil where there is none.
	Before  any          `json:"before,omitempty"`
	After   any          `json:"after,omitempty"`
	Details []Difference `json:"details,omitempty"`
}

// Compare reports how b differs from a, in an order that depends only on the
// differences: first what has a name, by part, then by name, at the end types
// without one. Of split BTF only the own types are compared: one that the base
// of the other side has in the same form is no difference. An error of report
// ends the comparison and is returned; other errors are those of o. a and b are
// only read, and what is reported belongs to the caller.
//
// Returned are the patterns of o.Names that fit no name of the parts that are
// compared, in neither file.
func Compare(a, b *btf.Blob, o Options, report func(*Difference) error) (unmatched []string, err error) {
	c, err := newComparison(a, b, o)
	if err != nil {
		return nil, err
	}
	c.identify()
	c.define()
	return c.filter.unmatched(), c.report(report)
}

// comparison is one run of Compare.
type comparison struct {
	filter filter
	names  names
	groups groups
	table  table
	sides  [2]*side // a, b
	// budget is how many members, values and parameters of types without a name
	// may still be told: such a type may be used in many places.
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
		c.sides[i] = newSide(blob, i, c)
	}
	c.budget = 4 * words
	c.table.init(types, words+words/3) // contents of members have a word more
	return c, nil
}
