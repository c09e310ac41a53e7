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
// How it works: options.go says what is compared, part.go what parts there are.
// side.go reads one of the two, names.go its names. ids.go gives what records refer
// to numbers that mean the same on both sides; with those contents.go makes the
// contents of records comparable, and table.go holds each content once. What only
// one side has is left over: pair.go groups it by name and finds pairs (match.go by
// what they have in common, join.go those of members), explain.go says how a pair
// differs and describe.go what stands alone, ctype.go writes types as C does;
// text.go and summary.go are for people, markdown.go for web pages.
//
// The work is n log n in the size of the two inputs, and what is told of types
// without a name is bounded by it. Nothing here recurses deeper than maxNesting.
//
// The stable API is package btflite. What it does not use of this package may change.
package diff

import "github.com/btflite/btflite/btf"

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
