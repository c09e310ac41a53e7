package diff

import (
	"fmt"
	"slices"

	"github.com/btflite/btflite/internal/glob"
)

// Options says what to compare. The zero value compares everything.
type Options struct {
	// Parts selects from Parts what to compare; none means all. Nameless types that a
	// compared type leads to are compared in any case.
	Parts []string
	// Names are patterns. Only a type with a name that fits one of them is compared; a
	// type without a name only if such a type leads to it. Without patterns, every name
	// fits. In a pattern "*" stands for any text, "?" for any character, "[a-z]" for one
	// of a set, "[^a-z]" for one that is not in it, and a backslash takes the special
	// meaning from the next character. The whole name has to fit, with upper and lower
	// case as they are.
	Names []string
	// ABI compares only what compiled code depends on: layouts, the types of
	// prototypes and variables, and the values of enums. An integer counts by
	// its size and encoding, whatever its name, a floating point number by name
	// and size; a typedef, const, volatile,
	// restrict or type tag as what it stands for. Only a typedef of a struct,
	// union or enum without a name stands for that name. Names of parameters,
	// declaration tags, the places of variables, and types that both sides only
	// declare do not count. Parts for which IsABI is false are not compared by
	// themselves.
	ABI bool
}

// Parts returns what Options.Parts can have, in the order of the report.
func Parts() []string { return slices.Clone(partNames[:]) }

// IsABI reports whether Options.ABI compares a part by itself. Other parts are reported
// where they are used, if at all.
func IsABI(part string) bool {
	i := slices.Index(partNames[:], part)
	return i >= 0 && abiParts>>i&1 != 0
}

const (
	allParts = uint16(1)<<noPart - 1
	abiParts = allParts &^ (1<<partInt | 1<<partFloat | 1<<partSection)
	// holders are the parts that also have types without a name.
	holders = uint16(1<<partStruct | 1<<partUnion | 1<<partEnum)
)

// filter selects what Options ask for.
type filter struct {
	abi      bool
	parts    uint16 // a bit for each
	patterns []pattern
	fits     []uint8 // by the number of a name, if there are patterns
}

type pattern struct {
	text  string // as given
	match glob.Pattern
	found bool // fits a name in one of the files themselves
}

// Values of filter.fits; 0 is not known yet.
const (
	fitsNone = 1 + iota
	fitsBase // a name that only bases had so far
	fitsOwn
)

func newFilter(o Options) (filter, error) {
	f := filter{abi: o.ABI, parts: allParts}
	if len(o.Parts) > 0 {
		f.parts = 0
	}
	for _, p := range o.Parts {
		i := slices.Index(partNames[:], p)
		if i < 0 {
			return f, fmt.Errorf("diff: unknown part %q", p)
		}
		f.parts |= 1 << i
	}
	if o.ABI {
		f.parts &= abiParts
	}
	for _, p := range o.Names {
		match, err := glob.Parse(p)
		if err != nil {
			return f, fmt.Errorf("diff: pattern %q: %w", p, err)
		}
		f.patterns = append(f.patterns, pattern{text: p, match: match})
	}
	return f, nil
}

// unmatched are the patterns that fit no name.
func (f *filter) unmatched() []string {
	var list []string
	for i := range f.patterns {
		if !f.patterns[i].found {
			list = append(list, f.patterns[i].text)
		}
	}
	return list
}

// hasNameless reports whether types without a name that nothing uses are
// compared.
func (f *filter) hasNameless() bool { return len(f.patterns) == 0 && f.parts&holders != 0 }

// hasName reports whether a name is compared. own says that it was found in one
// of the files, not in a base.
func (f *filter) hasName(n *names, name uint32, own bool) bool {
	if len(f.patterns) == 0 {
		return true
	}
	for int(name) >= len(f.fits) {
		f.fits = append(f.fits, 0)
	}
	if s := f.fits[name]; s == 0 || s == fitsBase && own {
		f.fits[name] = f.match(n.bytes(name), own)
	}
	return f.fits[name] != fitsNone
}

// match tries the patterns. Of a long name only the beginning counts, as
// everywhere.
func (f *filter) match(name []byte, own bool) uint8 {
	state := uint8(fitsNone)
	name = compared(name)
	for i := range f.patterns {
		p := &f.patterns[i]
		if len(name) == 0 || !p.match.Fits(name) {
			continue
		}
		state = fitsBase
		if own {
			state = fitsOwn
			p.found = true
		}
	}
	return state
}
