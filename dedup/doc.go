// Package dedup merges types into one deduplicated set, unit by unit.
//
// # Equal, equivalent, may be equivalent
//
// The package uses three words for how alike two types are, and no others:
//
//   - Equal: the words of both records are the same, with the same ids as
//     references. Parts of records are equal, too: names, values. equalWords,
//     equalEnum and equalNodes compare words.
//   - Equivalent: the graphs behind both types are the same. Here a forward
//     declaration (FWD) counts as any definition of its name and kind, and an
//     enumeration without values as any enumeration of its name. Types get one
//     id if and only if they are equivalent. Equal types are equivalent. match
//     stops at names and relies on the unit's other comparisons for these. walk
//     relies on nothing. Both use relate for the heads of two types, and inside
//     for their elements and references (compare.go).
//   - May be equivalent: nothing differs down to the next names. This is cheap
//     to find out, and only decides which types are compared (mayBeEquivalent,
//     mayBecome). Equal hashes say the same (anonHash, shapeHash, levelHash,
//     Unit.Shapes).
//
// Package dedup/exact has a comparison of its own, by libbpf's rules. It is the
// oracle for this one.
//
// # Units and the set
//
// The package knows BTF kinds, names, sizes and references, but no DWARF. A Unit
// is a compile unit, or a self-contained run of types of a BTF file. It is looked
// up in a Set (Resolve), committed in unit order, and forgotten. So the Set grows
// with the output, not with the input. Package dedup/exact has the batch
// algorithm, which needs all types at once; package dedup/btffile deduplicates
// finished BTF.
//
// # The streaming algorithm
//
//  1. A named struct or union is not hashed: its name leads to the known
//     definition.
//  2. Units bring the types of a header in the same order. So the look-up of a
//     node first tries a guess: the id after the last one found, which is right
//     nine times of ten, or the id in the same place of a record that fits. It
//     takes the guess only if it could find no other id (find).
//  3. One linear comparison, member by member, proves that a node is equivalent
//     to the known definition (proves). A reference to another named struct
//     counts as one to the known definition of that name, because the same unit
//     compares that one as well: names cut the graph.
//  4. If all comparisons of a unit succeed, the pairs of nodes and known types
//     are a bisimulation. The comparisons are the certificate: no node gets the
//     id of a type that it was not compared with.
//  5. Pointers, arrays, prototypes and the like are looked up by content, with
//     ids as references.
//  6. If a name has several definitions, Resolve picks the newest one that may be
//     equivalent to the node (choose), and proves it. If this fails, the nodes
//     that can reach the name are tainted. Each is compared with the known types
//     of its shape (shape.go), newest first, by walking both graphs (slow.go).
//     The other nodes keep their ids. A unit that left out types (10) is not
//     walked. If its definition cannot be a known one, it is new, and so are the
//     types that lead to it (newdefs.go).
//  7. A FWD is a type of its own until a comparison meets a definition in its
//     place; then it is forwarded to this. At the end, a FWD that is left leads
//     to the only definition of its name, if there is one and it is of the FWD's
//     kind. Then references that have become equal are merged (finish.go).
//  8. With Set.Raw nothing is merged, and package dedup/exact works on all raw
//     types together. The property tests use it as their oracle. Its memory
//     grows with the input.
//  9. Over a base (base.go) the Set starts with the base's types under their own
//     ids, so units find them like types of earlier units. If the base has a FWD
//     of a name, a unit's FWD of it stays an own type until Finish, because a
//     definition may follow. A chain of bases works like one file with the types
//     and strings of all. Restart forgets the types of one module and keeps the
//     base for the next one.
//  10. A unit may leave out runs of nodes that the Set knows by a key of their
//     content (chunk.go). If they lead to names with several definitions, or a
//     comparison fails, Commit asks for the whole unit.
//
// Resolve reads the Set for a long time. So between two nodes it lets a Commit
// write (gate.go), and then looks up again the nodes that were unknown.
//
// # Parts
//
// A Set is made of parts. Each uses the ones before it:
//
//   - index has the types (store) and finds them by content and by name; where many
//     have one name, also by what is in them (family); over a base it has the state
//     to go back to (baseState).
//   - finder finds the types of a unit's nodes in the Set, and proves the finds.
//   - placer finds new nodes that are equivalent to each other.
//   - walker does both for units in which a name has several definitions.
//   - chunkTable has the runs of nodes that units may leave out, stringTable the
//     names, and gate the lock.
//
// A Unit has the nodes and, while it is merged, their ids and states.
//
// # Memory
//
// Records, indexes and strings are arena tables of 32-bit words. A look-up waits
// for memory, not for instructions. So the fields of one id share a cache line
// (idState, idKeys), and new names, functions and symbols, which are far apart,
// are touched in blocks first (hashNames, AddAll), so that their cache misses overlap.
// The indexes are freed before the output is made, everything else once the output
// is in memory.
//
// The stable API is package btflite. What it does not use of this package may change.
package dedup
