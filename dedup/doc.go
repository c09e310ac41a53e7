// Package dedup merges types into one deduplicated set, unit by unit.
//
// # Equal, equivalent, may be equivalent
//
// The package uses three words for how alike two types are, and no others:
//
//   - Equal: the words of both records are the same, with the same ids as
//     references, or of a part of them: equal names, equal enumerations. It is
//     decided by comparing words (equalWords, equalEnum, equalNodes).
//   - Equivalent: from both, the same can be reached in the same places. A
//     forward declaration counts as any definition of its name and kind, and an
//     enumeration without values as any of its name. Types that are equivalent
//     get one id; types that are not never do. Equal types are equivalent. It is
//     decided by match, which stops at names and relies on the unit's other
//     comparisons for what they mean, and by walk, which relies on nothing. For
//     both, relate compares the heads of two types, and inside the rest
//     (compare.go).
//   - May be equivalent: nothing speaks against it down to the next names. It
//     costs less to find out, and decides only which types are compared
//     (mayBeEquivalent, mayBecome; two hashes that are the same: anonHash,
//     shapeHash, or Unit.Shapes in their place).
//
// Package dedup/exact has a comparison of its own, by libbpf's rules, and is
// the oracle for this one.
//
// # Units and the set
//
// The package knows BTF kinds, names, sizes and references; it never sees a DWARF
// constant. A Unit (one compile unit, or one self-contained run of types of a
// BTF file) is resolved against a Set, committed in unit order and then
// forgotten; the Set's size follows the output, not the input. The batch
// algorithm, which needs all types at once, is in package dedup/exact; package
// dedup/btffile deduplicates finished BTF.
//
// # The streaming algorithm
//
//  1. A named struct or union is not hashed: its name says which known
//     definition it must be.
//  2. Units bring the types of a header in the order in which they got their
//     ids. So before a look-up the id behind the last one is tried (it is right
//     nine times of ten), or the one in the same place of the record that fits.
//     A guess is taken only if the look-up could give nothing else.
//  3. One linear comparison, member by member, proves that both are equivalent
//     (proves). A reference to another named struct counts as one to the known
//     definition of that name, which is compared as part of the same unit: names
//     cut the graph.
//  4. If all comparisons of a unit succeed, the pairing of nodes is a
//     bisimulation. The comparisons are the certificate: no node gets an id
//     whose content was not compared with it.
//  5. Pointers, arrays, prototypes and the like are looked up by content, with
//     ids in place of references.
//  6. Where a name has several definitions, Resolve picks the newest one that
//     this one may be equivalent to (choose) and proves it as well. If a comparison
//     fails, the nodes that can reach the name are tainted: they are tried
//     against known types of their shape (shape.go), newest first, by walking
//     both graphs (slow.go). The other nodes keep their ids.
//  7. A forward declaration is a type of its own until a comparison meets a
//     definition in its place; then it leads there. At the end, a forward that
//     is left and whose name has exactly one owner, of its kind, is settled too
//     (finish.go), and references that have become equal are merged.
//  8. With Set.Raw nothing is merged, and package dedup/exact works on all raw
//     types together. It is the oracle of the property tests, and its memory
//     follows the input.
//  9. Over a base (base.go) the set starts with the base's types under their own
//     ids, so that units find them like types of earlier units. A forward
//     of a name that the base has a forward of stays an own type until Finish,
//     since a body may turn up. A chain of bases is numbered through and works
//     like one file with the types and strings of all. Restart forgets the types
//     of one module and keeps the base for the next one.
//  10. A unit may leave out runs of nodes that the set knows by a key of their
//     content (chunk.go). Where what was left out leads to names with several
//     definitions, or a comparison fails, Commit asks for the whole unit.
//
// Resolve reads the set for long, so between two nodes it lets a Commit add to the
// set (gate.go), and looks up again what was unknown.
//
// # Parts
//
// A Set is made of parts, each of which uses those before it:
//
//   - index has the types (store) and finds them by content and by name; over a
//     base it also has what it must remember of that (baseState).
//   - finder finds out which types of the Set the nodes of a unit are, and proves it.
//   - placer finds out which of the new nodes are equivalent.
//   - walker does both for units in which a name has several definitions.
//   - chunkTable has the runs of nodes that units may leave out, stringTable the
//     names, and gate the lock.
//
// A Unit has the nodes and, while it is merged, what is known of them.
//
// # Memory
//
// Records, indexes and strings are arena tables of 32-bit words. What is asked
// for of one id lies together (idState, idKeys), because a look-up waits for memory,
// not for instructions. New names, functions and symbols are far apart in
// memory: they are touched in blocks first (Ahead, AddAll), so that the cache
// misses overlap. The indexes are freed before the output is made, the rest
// once that is in memory.
//
// The stable API is package btflite. What it does not use of this package may change.
package dedup
