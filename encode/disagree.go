package encode

import (
	"errors"

	"github.com/btflite/btflite/dedup"
)

// Units that disagree about a type.
//
// Where a struct or union has several definitions, a unit that only declares it fits each of
// them. libbpf takes the first one that it tries, and the order in which it tries them turns
// round whenever its hash table doubles. The table counts all INTs, FLOATs, forwards
// and enumerations of the file, which nobody who merges unit by unit knows before the last
// unit. It also compares with the types as each unit had them, which are gone here.
// So the two may choose different definitions. No type is wrong then, but the bytes differ.
//
// Small inputs can afford both: when the units are done, the run starts again with the batch
// algorithm. Kernels are far above the limit; those that were compared have pahole's bytes
// without it.

// maxDisagree is the largest number of raw types for which the run starts again. The
// batch algorithm takes some 300 bytes for each.
const maxDisagree = 1 << 16

// errDisagree says that the run is to start again with the batch algorithm.
var errDisagree = errors.New("units disagree about a type")

// disagree says whether the run is to start again. What it says depends on the
// types alone, and not on how many workers merged them.
func (r *run) disagree() bool {
	return r.opt.Dedup == DedupAuto && r.opt.Base == nil && !r.trial.exact && !r.trial.stream &&
		r.stats.TypesIn <= maxDisagree && dedup.Disagree(r.set)
}
