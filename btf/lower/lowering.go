package lower

import (
	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/verify"
)

// Options say what the BTF is for.
type Options struct {
	// Kernel is the release that has to take it. The zero value takes all that is known.
	Kernel verify.Release
	// Reader says that programs are to read it which are as old as Kernel, not kernels.
	Reader bool
	// Unions makes a UNION of an ENUM64 whose values do not fit 32 bits, so that programs that
	// ask for such a value fail. Without it, the values are cut.
	Unions bool
}

// Report lists what the result has lost and a user may miss. Replaced kinds are not in it.
type Report struct {
	Cut     []Enum // an ENUM64 with a value that does not fit 32 bits
	Renamed []Name // names that the kernel would refuse
}

// Enum is an enumeration that was replaced.
type Enum struct {
	ID    uint32
	Name  string // "" for none
	Value string // the name of the first value that does not fit
	Full  uint64 // this value
	Left  uint32 // what an ENUM has of it
	Union bool   // no value is left: it is a UNION
}

// Name is a name that was changed, of a type or of an element of it.
type Name struct {
	ID       uint32
	Old, New string
}

// lowering is one run of Lower.
type lowering struct {
	in, out *btf.Blob
	opt     Options
	report  Report

	member uint32 // the INT that is the type of members of unions; 0 until one is needed
	own    bool   // the strings of out are a copy
	added  map[string]uint32
}

// lacks tells whether the release does not take the feature. Programs that read BTF lack only
// what is in its form.
func (l *lowering) lacks(f verify.FeatureID) bool {
	return !l.opt.Kernel.Takes(f) && (!l.opt.Reader || f.Form())
}

// lacksKind tells whether the release does not take records of the kind.
func (l *lowering) lacksKind(k btf.Kind) bool {
	f, ok := verify.FeatureOf(k)
	return ok && l.lacks(f)
}

func (l *lowering) add(words ...uint32) { l.out.Words = append(l.out.Words, words...) }

// integer adds an INT of that many bytes.
func (l *lowering) integer(name, size, encoding uint32) {
	l.add(name, btf.Info(btf.KindInt, 0, false), size, encoding<<24|8*size)
}

// placeholder adds what takes the place of a type that nothing refers to: an INT of one byte,
// as libbpf has it. Its name may be anything.
func (l *lowering) placeholder(name uint32) { l.integer(name, 1, 0) }
