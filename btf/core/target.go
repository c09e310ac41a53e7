package core

import (
	"slices"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// Names is the essential names of the types that programs ask for, as keys.
type Names map[string]struct{}

// Add adds the names of a program.
func (n Names) Add(p *Program) {
	for _, r := range p.Relocs {
		if r.Kind != TypeIDLocal {
			n[string(essential(r.root.Name()))] = struct{}{}
		}
	}
}

// Target has a kernel's types, for relocations of some names.
type Target struct {
	types *view.View
	// found has the types by essential name, in the order of ids.
	found map[string][]uint32
	// budget is how many comparisons there may be yet.
	budget int
}

// candidateKinds are the kinds of types that relocations can find.
const candidateKinds = 1<<btf.KindInt | 1<<btf.KindStruct | 1<<btf.KindUnion | 1<<btf.KindEnum | 1<<btf.KindEnum64 |
	1<<btf.KindFwd | 1<<btf.KindTypedef | 1<<btf.KindFloat

// NewTarget looks once at each type of b and its bases. The Target knows types of these
// names only. b must not change as long as it is in use.
func NewTarget(b *btf.Blob, names Names) *Target {
	t := &Target{types: view.New(b), found: make(map[string][]uint32, len(names)), budget: allBudget}
	var chain []*btf.Blob
	for ; b != nil; b = b.Base {
		chain = append(chain, b)
	}
	for _, b := range slices.Backward(chain) {
		for i, w := range b.Off {
			r := btf.Record(b.Words[w:])
			if candidateKinds>>(r.Kind()&63)&1 == 0 || r.Name() == 0 {
				continue
			}
			name := essential(b.NameBytes(r.Name()))
			if _, ok := names[string(name)]; ok {
				t.found[string(name)] = append(t.found[string(name)], b.FirstID+uint32(i))
			}
		}
	}
	return t
}

// candidates returns the types of the target that the local type may stand for. They are all
// from the lowest base that has some.
func (s *search) candidates() (ids []uint32) {
	local := s.x.root
	b := s.target.types.Blob()
	var first uint32 // of the blob that ids are of
	for _, id := range slices.Backward(s.target.found[string(essential(local.Name()))]) {
		if !s.spend() {
			return nil
		}
		if !sameKind(s.target.types.Type(id).Kind(), local.Kind()) {
			continue
		}
		for id < b.FirstID {
			b = b.Base
		}
		if b.FirstID != first {
			ids, first = ids[:0], b.FirstID
		}
		ids = append(ids, id)
	}
	slices.Reverse(ids)
	return ids
}

// Verdict says how the search for a relocation ended.
type Verdict uint8

const (
	Found     Verdict = iota // something fits
	Missing                  // nothing in the target fits
	Ambiguous                // several types fit, and lead to different results
	Failed                   // the result cannot be computed
)

// Result is the answer of Resolve.
type Result struct {
	Verdict Verdict
	// Why says what is missing or wrong; "" for Found.
	Why string
	// matches has the first place that fits, or every place if their results differ.
	matches []match
}

// match is the place in a target that a relocation leads to.
type match struct {
	root view.Type
	// hops are the members on the way to a field, also the ones without names.
	hops []step
	// last is the last step to the field, a member or an element, or it is the value of an enum.
	last step
	bits uint64 // offset of the field in the root type
}

// Resolve finds what the relocation is about.
func (t *Target) Resolve(x *Reloc) (r Result) {
	if x.Kind == TypeIDLocal {
		return r
	}
	t.budget += usualBudget
	budget := min(searchBudget, t.budget)
	s := search{target: t, x: x, budget: budget}
	defer func() { t.budget -= budget - max(s.budget, 0) }()
	ids := s.candidates()
	var first value
	for _, id := range ids {
		m := match{root: t.types.Type(id)}
		if s.budget <= 0 || !s.fits(&m) {
			continue
		}
		v, err := t.value(x, &m)
		if err != nil {
			return Result{Verdict: Failed, Why: err.Error()}
		}
		switch {
		case len(r.matches) == 0:
			r.matches, first = append(r.matches, m), v
		case v != first:
			r.Verdict, r.Why = Ambiguous, "several types of this name fit, with different results"
			fallthrough
		case r.Verdict == Ambiguous:
			r.matches = append(r.matches, m)
		}
	}
	switch {
	case s.budget <= 0:
		return Result{Verdict: Failed, Why: "it takes too long to compare the types"}
	case len(r.matches) > 0:
		return r
	}
	return Result{Verdict: Missing, Why: s.why(len(ids))}
}

// The comparisons of one relocation, and of all that are resolved against a target, are
// bounded. Relocations usually need some hundreds, and kernels at most a few thousand; types
// that somebody made up could need any number.
const (
	searchBudget = 1 << 20
	allBudget    = 1 << 23
	usualBudget  = 1 << 10
)

// search is the work for one relocation.
type search struct {
	target *Target
	x      *Reloc
	budget int
	// reached is how many steps of the best candidate were found.
	reached int
}

// spend counts a comparison, and tells whether there may be more.
func (s *search) spend() bool {
	s.budget--
	return s.budget > 0
}

// fits tells whether the relocation finds something in the root type of m, and fills in m.
func (s *search) fits(m *match) bool {
	switch {
	case s.x.Kind.isField():
		return s.field(m)
	case s.x.Kind.isEnumval():
		return s.enumValue(m)
	case s.x.Kind == TypeMatches:
		return s.matches(s.x.root, m.root, false, maxLevels)
	}
	return s.compatible(s.x.root, m.root, maxLevels)
}

// why says what was not found in n candidates.
func (s *search) why(n int) string {
	switch {
	case n == 0:
		return "no type of this name and kind"
	case s.x.Kind.isEnumval():
		return "no value " + string(s.x.steps[0].name())
	case s.x.Kind == TypeMatches:
		return "no type of this name matches"
	case !s.x.Kind.isField():
		return "no type of this name is compatible"
	case s.reached < len(s.x.steps) && s.x.steps[s.reached].named:
		return "no member " + string(s.x.steps[s.reached].name()) + " of a compatible type"
	}
	return "no array of so many elements"
}
