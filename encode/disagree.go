package encode

import "github.com/btflite/btflite/dedup"

// Units that disagree about a type.
//
// Where a struct or union has several definitions, a unit that only declares it fits each of
// them. libbpf takes the first one that it tries, and the order in which it tries them turns
// round whenever its hash table doubles. The table counts all INTs, FLOATs, forwards
// and enumerations of the file, which nobody who merges unit by unit knows before the last
// unit. It also compares with the types as each unit had them, which are gone here.
// So the two may choose different definitions. No type is wrong then, but the bytes differ.
//
// Small inputs can afford both: if units disagree, a second phase of the run reads them once
// more, for the batch algorithm. Kernels are far above the limit; those that were compared
// have pahole's bytes without it.

// maxDisagree is the largest number of raw types for which there is a second phase, and
// bytesPerRaw about what the batch algorithm takes for each.
const (
	maxDisagree = 1 << 16
	bytesPerRaw = 300
)

// disagree says whether there is to be a second phase: units disagree about a type, and the
// batch algorithm can take as many. With the memory that all runs have, that
// depends on the types alone, and not on how many workers merged them.
func (r *run) disagree() bool {
	n := r.stats.TypesIn
	return n <= maxDisagree && dedup.Disagree(r.set) && r.limit.Check(int(n*bytesPerRaw)) == nil
}
