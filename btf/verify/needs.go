package verify

import (
	"fmt"
	"math"

	"github.com/btflite/btflite/btf"
)

// What BTF has that older kernels refuse. That it is right by the rules of the
// newest one is judged elsewhere; here each record is looked at by itself, for
// the features in checker.asked.

// Names matter to these.
const nameFeatures = 1<<longName | 1<<dottedName | 1<<sectionName

// nobody is in needs where no type needs a feature.
const nobody = math.MaxUint32

// needs is, by feature, the first type that needs it; 0 for what is no type's.
type needs [numFeatures]uint32

func noNeeds() (n needs) {
	for f := range n {
		n[f] = nobody
	}
	return n
}

func (n *needs) add(f feature, id uint32) { n[f] = min(n[f], id) }

func (n *needs) merge(m *needs) {
	for f, id := range m {
		n.add(feature(f), id)
	}
}

// lackingFeature finds the first type that needs a feature that the release does
// not take.
func (c *checker) lackingFeature() *Fault {
	c.asked = lacking(c.rules.Kernel)
	if c.rules.Loaded {
		c.asked &^= byLoader
	}
	if c.asked == 0 {
		return nil
	}
	c.findNeeds()
	worst, first := numFeatures, uint32(nobody)
	for f := numFeatures; f > 0; { // backwards: of several, what needs the newest release
		f--
		if id := c.needs[f]; c.asked.has(f) && id < first {
			worst, first = f, id
		}
	}
	if worst == numFeatures {
		return nil
	}
	return c.needFault(worst, first)
}

// needFault says that a type, or the blob as a whole, needs a feature.
func (c *checker) needFault(f feature, id uint32) *Fault {
	ft := &features[f]
	fault := &Fault{Level: Boot}
	if id != 0 {
		fault = c.fault(id, Boot, "")
	}
	fault.Needs = ft.Since
	fault.Rule = ft.needs(c.rules.Kernel)
	if ft.Kind == btf.KindVoid {
		fault.Rule = c.nameWith(f, id) + ft.What + " " + fault.Rule
	} else {
		fault.bare = true
	}
	return fault
}

// oldest is the release from which on all take it, and what decides that; nil
// for the oldest release known.
func (c *checker) oldest() (Release, *Fault) {
	c.asked = 1<<numFeatures - 1
	if c.rules.Loaded {
		c.asked &^= byLoader
	}
	c.findNeeds()
	since, worst := Oldest, numFeatures
	for f, id := range c.needs {
		if ft := &features[f]; c.asked.has(feature(f)) && id != nobody && since.before(ft.Since) {
			since, worst = ft.Since, feature(f)
		}
	}
	if worst == numFeatures {
		return since, nil
	}
	return since, c.needFault(worst, c.needs[worst])
}

// findNeeds sets c.needs for the features asked for.
func (c *checker) findNeeds() {
	c.needs = noNeeds()
	if c.laterHeader {
		c.needs.add(layoutSection, 0)
	}
	if c.base != nil {
		c.needs.add(splitBTF, 0)
		if c.rules.Distilled {
			c.needs.add(distilledBase, 0)
		}
	}
	if c.strEnd() > 1<<16 {
		c.needs.add(manyNames, 0)
	}
	if c.count() > 1<<16 && len(c.kinds) > 0 {
		c.needs.add(manyTypes, max(c.first, 1<<16))
	}
	c.inChunks((*checker).recordNeeds)
}

// recordNeeds looks at some records.
func (c *checker) recordNeeds(from, to int) bool {
	for i := from; i < to; i++ {
		at, id := int(c.off[i]), c.first+uint32(i)
		info, third := c.word(at+4), c.word(at+8)
		k, vlen, kflag := btf.InfoKind(info), btf.InfoVlen(info), btf.InfoKflag(info)
		if f := kindFeature[k]; f != numFeatures {
			c.needs.add(f, id)
		}
		if vlen > maxOldVlen {
			c.needs.add(longVlen, id)
		}
		switch k {
		case btf.KindEnum:
			if third != 4 {
				c.needs.add(enumSize, id)
			}
			if kflag {
				c.needs.add(signedEnum, id)
			}
		case btf.KindFunc:
			if vlen == 1 {
				c.needs.add(globalFunc, id)
			}
		case btf.KindDatasec:
			if vlen == 0 {
				c.needs.add(emptySection, id)
			}
		case btf.KindDeclTag, btf.KindTypeTag:
			if kflag {
				c.needs.add(attribute, id)
			}
		case btf.KindConst, btf.KindVolatile, btf.KindRestrict, btf.KindTypedef:
			if third < c.count() && c.kind(third) == btf.KindTypeTag {
				c.needs.add(tagBehindModifier, id)
			}
		}
		if c.asked&nameFeatures != 0 {
			c.eachName(id, func(_ int, s set) bool {
				for f := longName; f <= sectionName; f++ {
					if s.has(f) {
						c.needs.add(f, id)
					}
				}
				return true
			})
		}
	}
	return true
}

// eachName calls fn with what the names of a type need, as long as fn returns
// true: that of the type itself, -1, and those of its elements. Names that need
// nothing are left out.
func (c *checker) eachName(id uint32, fn func(element int, s set) bool) {
	at := int(c.off[id-c.first])
	info := c.word(at + 4)
	k := btf.InfoKind(info)
	switch plans[k].name {
	case nameOptional, nameNeeded:
		s := c.nameNeeds(c.word(at))
		if k == btf.KindVar {
			s &^= 1 << dottedName
		}
		if s != 0 && !fn(-1, s) {
			return
		}
	case nameSection:
		if s := c.sectionNeeds(c.word(at)); s != 0 && !fn(-1, s) {
			return
		}
	}
	if k == btf.KindFuncProto && c.rules.Level != Load {
		return // nobody looks at these
	}
	stride, n := btf.NameWords(k, btf.InfoVlen(info))
	for j := range n {
		if s := c.nameNeeds(c.word(at + 4*(3+j*stride))); s != 0 && !fn(j, s) {
			return
		}
	}
}

// nameNeeds is what an identifier needs.
func (c *checker) nameNeeds(off uint32) (s set) {
	if off == 0 || off >= c.strEnd() {
		return 0
	}
	for i, b := range c.from(off) {
		switch {
		case b == 0:
			return s
		case i == maxOldName:
			return s | 1<<longName
		case b == '.':
			s |= 1 << dottedName
		}
	}
	return s
}

// sectionNeeds is what the name of a DATASEC needs.
func (c *checker) sectionNeeds(off uint32) set {
	s := c.nameNeeds(off) &^ (1 << dottedName)
	name := c.from(off)
	if c.rules.Loaded && len(name) > 0 && name[0] == '?' {
		name = name[1:] // libbpf replaces it
	}
	if !isIdentifier(name) {
		s |= 1 << sectionName
	}
	return s
}

// nameWith says which element of a type has the name that needs f: "" for the
// type itself, and for features that are not about names.
func (c *checker) nameWith(f feature, id uint32) (where string) {
	if id == 0 || set(nameFeatures)>>f&1 == 0 {
		return ""
	}
	c.eachName(id, func(element int, s set) bool {
		if !s.has(f) {
			return true
		}
		if element >= 0 {
			at := int(c.off[id-c.first])
			stride, _ := btf.NameWords(c.kind(id), btf.InfoVlen(c.word(at+4)))
			where = fmt.Sprintf("element %d %s: ", element, quote(string(c.name(c.word(at+4*(3+element*stride))))))
		}
		return false
	})
	return where
}
