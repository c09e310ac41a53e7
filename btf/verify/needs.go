package verify

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/btflite/btflite/btf"
)

// This file finds features of BTF that older kernels refuse. The other files have judged the BTF by
// the rules of the newest kernel already, so each record is looked at by itself.

// Names matter to these.
const nameFeatures = 1<<LongName | 1<<DottedName | 1<<SectionName

// nobody in needs means that no type needs the feature.
const nobody = math.MaxUint32

// needs has the first type that needs each feature. It is 0 for a need of the blob as a whole.
type needs [NumFeatures]uint32

func noNeeds() (n needs) {
	for f := range n {
		n[f] = nobody
	}
	return n
}

func (n *needs) add(f FeatureID, id uint32) { n[f] = min(n[f], id) }

func (n *needs) merge(m *needs) {
	for f, id := range m {
		n.add(FeatureID(f), id)
	}
}

// finder looks for the types that need features.
type finder struct {
	input
	rules Rules
	asked set
	needs needs
}

// find finds the first type for each feature that rules ask for.
func (x *input) find(asked set, rules Rules) *finder {
	if rules.Loaded {
		asked &^= byLoader
	}
	f := &finder{input: *x, rules: rules, asked: asked, needs: noNeeds()}
	if asked != 0 {
		f.all()
	}
	return f
}

// lackingFeature finds the first type that needs a feature that the release does
// not take.
func (x *input) lackingFeature(rules Rules) *Fault {
	asked := lacking(rules.Kernel)
	if rules.Reader {
		asked &= forms
	}
	f := x.find(asked, rules)
	worst, first := NumFeatures, uint32(nobody)
	for ft := NumFeatures; ft > 0; { // backwards: of several, what needs the newest release
		ft--
		if id := f.needs[ft]; f.asked.has(ft) && id < first {
			worst, first = ft, id
		}
	}
	if worst == NumFeatures {
		return nil
	}
	return f.fault(worst, first)
}

// fault says that a type, or the blob as a whole, needs a feature.
func (f *finder) fault(ft FeatureID, id uint32) *Fault {
	needed := &features[ft]
	fault := &Fault{Level: Boot}
	if id != 0 {
		fault = f.input.fault(id, Boot, "")
	}
	fault.Needs = needed.Since
	fault.Rule = needed.needs(f.rules.Kernel)
	if needed.Kind == btf.KindVoid {
		fault.Rule = f.nameWith(ft, id) + needed.What + " " + fault.Rule
	} else {
		fault.bare = true
	}
	return fault
}

// oldest returns the release from which on all releases take the BTF, and the need that decides it.
// The need is nil if the oldest known release takes the BTF.
func (x *input) oldest(rules Rules) (Release, *Fault) {
	f := x.find(1<<NumFeatures-1, rules)
	since, worst := Oldest, NumFeatures
	for i, id := range f.needs {
		if ft := &features[i]; f.asked.has(FeatureID(i)) && id != nobody && since.before(ft.Since) {
			since, worst = ft.Since, FeatureID(i)
		}
	}
	if worst == NumFeatures {
		return since, nil
	}
	return since, f.fault(worst, f.needs[worst])
}

// all looks at the blob as a whole and at all records.
func (f *finder) all() {
	if f.laterHeader {
		f.needs.add(LayoutSection, 0)
	}
	if f.base != nil {
		f.needs.add(SplitBTF, 0)
		if f.rules.Distilled {
			f.needs.add(DistilledBase, 0)
		}
	}
	if f.strEnd() > 1<<16 {
		f.needs.add(ManyNames, 0)
	}
	if f.count() > 1<<16 && len(f.kinds) > 0 {
		f.needs.add(ManyTypes, max(f.first, 1<<16))
	}
	each, _ := inChunks(len(f.kinds), f.rules.Workers, f.ended, f, (*finder).some)
	for _, w := range each {
		f.needs.merge(&w.needs)
	}
}

// some looks at some records.
func (f *finder) some(from, to int) bool {
	for i := from; i < to; i++ {
		for s := f.recordNeeds(i); s != 0; s &= s - 1 {
			f.needs.add(FeatureID(bits.TrailingZeros32(uint32(s))), f.first+uint32(i))
		}
	}
	return true
}

// recordNeeds lists the features that the i-th own type needs.
func (f *finder) recordNeeds(i int) (s set) {
	at := int(f.off[i])
	info, third := f.word(at+4), f.word(at+8)
	k, vlen, kflag := btf.InfoKind(info), btf.InfoVlen(info), btf.InfoKflag(info)
	if kf := kindFeature[k]; kf != NumFeatures {
		s.add(kf, true)
	}
	s.add(LongVlen, vlen > maxOldVlen)
	switch k {
	case btf.KindEnum:
		s.add(EnumSize, third != 4)
		s.add(SignedEnum, kflag)
	case btf.KindFunc:
		s.add(GlobalFunc, vlen == 1)
	case btf.KindDatasec:
		s.add(EmptySection, vlen == 0)
	case btf.KindDeclTag, btf.KindTypeTag:
		s.add(Attribute, kflag)
	case btf.KindConst, btf.KindVolatile, btf.KindRestrict, btf.KindTypedef:
		s.add(TagBehindModifier, third < f.count() && f.kind(third) == btf.KindTypeTag)
	}
	if f.asked&nameFeatures != 0 {
		f.eachName(f.first+uint32(i), func(_ int, n set) bool {
			s |= n
			return true
		})
	}
	return s
}

// eachName calls fn with the needs of each name of a type, as long as fn returns true:
// first the type's own name (element -1), then its elements'. It leaves out names that
// need nothing.
func (f *finder) eachName(id uint32, fn func(element int, s set) bool) {
	at := int(f.off[id-f.first])
	info := f.word(at + 4)
	k := btf.InfoKind(info)
	switch plans[k].name {
	case nameOptional, nameNeeded:
		s := f.nameNeeds(f.word(at))
		if k == btf.KindVar {
			s &^= 1 << DottedName
		}
		if s != 0 && !fn(-1, s) {
			return
		}
	case nameSection:
		if s := f.sectionNeeds(f.word(at)); s != 0 && !fn(-1, s) {
			return
		}
	}
	if k == btf.KindFuncProto && f.rules.Level != Load {
		return // these are not checked
	}
	stride, n := btf.NameWords(k, btf.InfoVlen(info))
	for j := range n {
		if s := f.nameNeeds(f.word(at + 4*(3+j*stride))); s != 0 && !fn(j, s) {
			return
		}
	}
}

// nameNeeds lists the features that an identifier needs.
func (f *finder) nameNeeds(off uint32) (s set) {
	if off == 0 || off >= f.strEnd() {
		return 0
	}
	for i, b := range f.from(off) {
		switch {
		case b == 0:
			return s
		case i == maxOldName:
			return s | 1<<LongName
		case b == '.':
			s |= 1 << DottedName
		}
	}
	return s
}

// sectionNeeds lists the features that the name of a DATASEC needs.
func (f *finder) sectionNeeds(off uint32) set {
	s := f.nameNeeds(off) &^ (1 << DottedName)
	name := f.from(off)
	if f.rules.Loaded && len(name) > 0 && name[0] == '?' {
		name = name[1:] // libbpf replaces it
	}
	if !isIdentifier(name) {
		s |= 1 << SectionName
	}
	return s
}

// nameWith says which element of a type has the name that needs f: "" for the
// type itself, and for features that are not about names.
func (f *finder) nameWith(ft FeatureID, id uint32) (where string) {
	if id == 0 || set(nameFeatures)>>ft&1 == 0 {
		return ""
	}
	f.eachName(id, func(element int, s set) bool {
		if !s.has(ft) {
			return true
		}
		if element >= 0 {
			at := int(f.off[id-f.first])
			stride, _ := btf.NameWords(f.kind(id), btf.InfoVlen(f.word(at+4)))
			where = fmt.Sprintf("element %d %s: ", element, quote(string(f.name(f.word(at+4*(3+element*stride))))))
		}
		return false
	})
	return where
}
