// Package diff compares two sets of BTF types and reports the changes that a reader
// of the source would see: in structs, unions, enums, typedefs, base types,
// functions, variables and their sections, with their tags.
//
// It compares types, not their storage. Type ids, the order of types, strings, the
// index types of arrays and repeated equal definitions do not count. A type is known
// by its name: a struct that changes is one difference, and pointers to it and
// structs around it count as unchanged (except a member, or an array in it, that gets
// another size). Several definitions of one name are compared as a set. A type
// without a name belongs to its users; nameless enums, structs and unions without a
// user are compared by their contents. Pointers, arrays, qualifiers and prototypes
// without a user are not compared, nor are declaration tags of types that cannot have
// any.
//
// How it works: options.go chooses what to compare, difference.go lists the parts and
// counts differences. side.go reads one file, names.go its names. ids.go gives types
// numbers that mean the same on both sides; with them contents.go makes records
// comparable, and table.go stores each content once. Contents of one side only are left
// over: pair.go groups them by name and finds pairs, join.go finds them among members.
// explain.go says how a pair differs, describe.go describes types without a partner.
// text.go writes for people, markdown.go for web pages.
//
// The work is n log n in the size of the two inputs, and what is told of types
// without a name is bounded by it. Nothing here recurses deeper than maxNesting.
//
// The stable API is package btflite. What it does not use of this package may change.
package diff

import "github.com/btflite/btflite/btf"

// Compare reports how b differs from a, in an order that depends only on the
// differences: named types by part, then by name, and nameless types at the end. Of
// split BTF only the own types are compared; if the base of the other side has an
// equal type, that is not a difference. An error of report ends the comparison and is
// returned. Other errors come from o. a and b are only read, and reported differences
// belong to the caller.
//
// unmatched has the patterns of o.Names that match no name in either file, among the
// parts that are compared.
func Compare(a, b *btf.Blob, o Options, report func(*Difference) error) (unmatched []string, err error) {
	c, err := newComparison(a, b, o)
	if err != nil {
		return nil, err
	}
	c.identify()
	c.define()
	return c.filter.unmatched(), c.report(report)
}
