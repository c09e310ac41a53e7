package encode

import (
	"errors"

	"github.com/btflite/btflite/dedup"
)

// Units disagree about a type if a struct, union or enumeration has several definitions and some
// unit only declares it: the declaration fits each of them.
//
// libbpf takes the first definition that it tries. It tries them in the order of a hash
// chain, and that order is reversed whenever the table doubles. When it doubles depends
// on the number of INTs, FLOATs, forwards and enumerations of the whole file, which is
// unknown before the last unit. libbpf also compares with the types as each unit had
// them; streaming has dropped those. So the two algorithms may choose different
// definitions. No type is wrong then, but the bytes differ. A unit that both declares and
// defines a type is a reason, too (dedup.Declarations).
//
// For inputs of limited size there is a remedy: if units disagree, a second phase of the run
// reads them again, for the batch algorithm. The C library of Debian needs it: it has 251,000 raw
// types. A second phase takes as long as the first, and memory for each raw type. All kernels but the
// smallest have more raw types than the limit; those that were compared have pahole's bytes without
// it.

// maxDisagree is the largest number of raw types for which there is a second phase.
// bytesPerRaw is about how many bytes the batch algorithm needs for each.
const (
	maxDisagree = 1 << 19
	bytesPerRaw = 300
)

// disagree reports whether a second phase is needed: units disagree about a type, and the
// input is small enough for the batch algorithm. It compares with the memory limit of the
// whole run, so the answer does not depend on the number of workers. Several definitions do
// not count over a base: that would take five times as long for 16 of the 4,230 modules of
// Linux 6.12, which have pahole's bytes anyway.
func (r *run) disagree() bool {
	n := r.stats.TypesIn
	return n <= maxDisagree && (r.question.definesDeclared || r.opt.Base == nil && dedup.Disagree(r.set)) && r.limit.Check(int(n*bytesPerRaw)) == nil
}

// errDisagree ends the phase asking before its last unit.
var errDisagree = errors.New("units disagree")

// question decides when the phase asking looks whether units disagree already. If they do, they also do at the
// end, and the other units need not be read in this phase. Looking takes time in proportion to the set, so it
// happens only when the number of raw types has doubled.
type question struct {
	bytes uint64 // of .debug_info that are committed
	next  uint64 // the number of raw types at which to look again
	// definesDeclared says that a unit both declares and defines a struct or union.
	definesDeclared bool
	declarations    dedup.Declarations
}

// firstQuestion is the number of raw types at which the phase looks for the first time. An input of more bytes
// of .debug_info than smallInput has more raw types than maxDisagree: each takes 23 bytes in the C library, and 49 in
// kernels.
const (
	firstQuestion = 4096
	smallInput    = maxDisagree * 128
)

// isDue is called after the unit of u was committed. It reports whether to look now whether units disagree. It
// reports false if the whole input seems to be too large for the batch algorithm.
//
// It also sets definesDeclared, which takes 1.3 % of the time of a module. gcc makes units with a declaration and a
// definition of one type only for code that it warns about ("declared inside parameter list"), so over a base it
// looks only at clang's units.
func (q *question) isDue(r *run, u *workspace) bool {
	n := r.stats.TypesIn
	isSmall := n <= maxDisagree && r.total <= smallInput
	if isSmall && !q.definesDeclared && (r.opt.Base == nil || u.unit.Facts.Clang) {
		q.definesDeclared = q.declarations.Defined(r.set, &u.unit.Types)
	}
	q.bytes += u.size
	if n < max(q.next, firstQuestion) {
		return false
	}
	q.next = 2 * n
	return float64(n)/float64(q.bytes)*float64(r.total) <= maxDisagree/2
}
