package verify

import (
	"fmt"

	"github.com/btflite/btflite/btf"
)

// records judges each record by itself. It returns false if one is at fault,
// which is then c.found.
func (c *checker) records(from, to int) bool {
	for i := from; i < to; i++ {
		at := int(c.off[i])
		rule, level := "", Boot
		if c.rules.Level == Readable {
			rule = c.readable(at)
		} else {
			rule = c.record(i, at, int(c.off[i+1])-at)
		}
		if rule == "" {
			continue
		}
		if missing := c.readable(at); missing != "" {
			rule, level = missing, Readable
		}
		c.found = c.fault(c.first+uint32(i), level, rule)
		return false
	}
	return true
}

// readable is record for level Readable.
func (c *checker) readable(at int) string {
	name, info := c.word(at), c.word(at+4)
	k, vlen := btf.InfoKind(info), btf.InfoVlen(info)
	if name >= c.strEnd() && name != 0 {
		return fmt.Sprintf("name offset %d goes beyond the strings", name)
	}
	stride, m := btf.NameWords(k, vlen)
	for j := range m {
		if name := c.word(at + 4*(3+j*stride)); name >= c.strEnd() && name != 0 {
			return fmt.Sprintf("element %d: name offset %d goes beyond the strings", j, name)
		}
	}
	if btf.ThirdIsRef(k) {
		c.maxRef = max(c.maxRef, c.word(at+8))
	}
	start, stride, m := btf.RefWords(k, vlen)
	for j := range m {
		c.maxRef = max(c.maxRef, c.word(at+4*(start+j*stride)))
	}
	return ""
}

// What a record's third word is.
const (
	thirdIsSize = iota
	thirdIsZero
	thirdIsRef
)

// What name a record has.
const (
	nameAny      = iota
	nameNone     // none
	nameOptional // none or an identifier
	nameNeeded   // an identifier
	nameText     // any text, not empty
	nameSection
)

// plan is what is asked of the three words that each record begins with.
type plan struct {
	name  uint8
	third uint8
	vlen  bool // elements, or the linkage of a FUNC
	kflag bool
}

var plans = [btf.KindEnum64 + 1]plan{
	btf.KindInt:       {name: nameAny},
	btf.KindPtr:       {name: nameNone, third: thirdIsRef},
	btf.KindArray:     {name: nameNone, third: thirdIsZero},
	btf.KindStruct:    {name: nameOptional, vlen: true, kflag: true},
	btf.KindUnion:     {name: nameOptional, vlen: true, kflag: true},
	btf.KindEnum:      {name: nameOptional, vlen: true, kflag: true},
	btf.KindFwd:       {name: nameNeeded, third: thirdIsZero, kflag: true},
	btf.KindTypedef:   {name: nameNeeded, third: thirdIsRef},
	btf.KindVolatile:  {name: nameNone, third: thirdIsRef},
	btf.KindConst:     {name: nameNone, third: thirdIsRef},
	btf.KindRestrict:  {name: nameNone, third: thirdIsRef},
	btf.KindFunc:      {name: nameNeeded, third: thirdIsRef, vlen: true},
	btf.KindFuncProto: {name: nameNone, third: thirdIsRef, vlen: true},
	btf.KindVar:       {name: nameNeeded, third: thirdIsRef},
	btf.KindDatasec:   {name: nameSection, vlen: true},
	btf.KindFloat:     {name: nameAny},
	btf.KindDeclTag:   {name: nameText, third: thirdIsRef, kflag: true},
	btf.KindTypeTag:   {name: nameText, third: thirdIsRef, kflag: true},
	btf.KindEnum64:    {name: nameOptional, vlen: true, kflag: true},
}

// record applies the rules that need nothing but the record, which is that of the
// i-th own type and has n bytes at at. It returns what is wrong, or "".
func (c *checker) record(i, at, n int) string {
	name, info, third := c.word(at), c.word(at+4), c.word(at+8)
	k, vlen := btf.InfoKind(info), btf.InfoVlen(info)
	p := &plans[k]
	if name >= c.strEnd() && name != 0 {
		return fmt.Sprintf("name offset %d goes beyond the strings", name)
	}
	if vlen != 0 && !p.vlen {
		return fmt.Sprintf("vlen %d, must be 0", vlen)
	}
	if info>>31 != 0 && !p.kflag {
		return "kind_flag must not be set"
	}
	switch p.third {
	case thirdIsRef:
		c.maxRef = max(c.maxRef, third)
	case thirdIsZero:
		if third != 0 {
			return fmt.Sprintf("third word is %d, must be 0", third)
		}
	}
	if !c.nameFits(p.name, name) {
		return c.nameRule(p.name, name)
	}
	body := at + 12
	switch k {
	case btf.KindInt:
		return intRule(third, c.word(body))
	case btf.KindArray:
		elem, index := c.word(body), c.word(body+4)
		if elem == 0 || index == 0 {
			return "element or index type is void"
		}
		c.maxRef = max(c.maxRef, elem, index)
	case btf.KindStruct, btf.KindUnion:
		return c.members(body, at+n, k == btf.KindUnion, info>>31 != 0, third)
	case btf.KindEnum:
		return c.enumerators(body, at+n, 8, third)
	case btf.KindEnum64:
		return c.enumerators(body, at+n, 12, third)
	case btf.KindFunc:
		if vlen > 1 && !c.loadedExtern(vlen) {
			return fmt.Sprintf("linkage %d, must be static or global", vlen)
		}
	case btf.KindFuncProto:
		return c.parameters(i, body, at+n)
	case btf.KindVar:
		linkage := c.word(body)
		if c.loadedExtern(linkage) {
			break
		}
		if third == 0 {
			return "type is void"
		}
		if linkage > 1 {
			return fmt.Sprintf("linkage %d, must be static or global", linkage)
		}
	case btf.KindDatasec:
		if c.rules.Loaded {
			return c.loadedSection(body, at+n, third, name)
		}
		return c.sectionEntries(body, at+n, third)
	case btf.KindFloat:
		switch third {
		case 2, 4, 8, 12, 16:
		default:
			return fmt.Sprintf("size %d of a FLOAT", third)
		}
	case btf.KindDeclTag:
		if idx := int32(c.word(body)); idx < -1 {
			return fmt.Sprintf("component index %d", idx)
		}
	}
	return ""
}

// nameFits reports whether the name at a string offset that exists is of the
// wanted class.
func (c *checker) nameFits(class uint8, off uint32) bool {
	switch class {
	case nameNone:
		return off == 0
	case nameOptional:
		return off == 0 || c.identifier(off)
	case nameNeeded:
		return off != 0 && c.identifier(off)
	case nameText:
		return off != 0 && len(c.from(off)) > 0 && c.from(off)[0] != 0
	case nameSection:
		return off != 0 && isSectionName(c.from(off))
	}
	return true
}

// nameRule says why a name is not of the wanted class.
func (c *checker) nameRule(class uint8, off uint32) string {
	s := c.name(off)
	switch {
	case class == nameNone:
		return "has a name, must have none"
	case len(s) == 0:
		return "has no name, must have one"
	case len(s) > maxName:
		return fmt.Sprintf("name of %d bytes, at most %d are allowed", len(s), maxName)
	case class == nameSection:
		return "name is no section name"
	}
	return "name is no C identifier"
}

func intRule(size, data uint32) string {
	encoding, offset, nr := data>>24&0xf, data>>16&0xff, data&0xff
	switch {
	case data>>28 != 0:
		return fmt.Sprintf("unknown bits in the data word %#x", data)
	case nr+offset > 128:
		return fmt.Sprintf("bits %d+%d, at most 128 are allowed", offset, nr)
	case (nr+offset+7)/8 > size:
		return fmt.Sprintf("bits %d+%d do not fit its %d bytes", offset, nr, size)
	case encoding != 0 && encoding != 1 && encoding != 2 && encoding != 4:
		return fmt.Sprintf("encoding %d", encoding)
	}
	return ""
}

func (c *checker) members(at, end int, union, kflag bool, size uint32) string {
	last := uint32(0)
	for i := 0; at < end; i, at = i+1, at+12 {
		name, typ, off := c.word(at), c.word(at+4), c.word(at+8)
		if name >= c.strEnd() && name != 0 {
			return fmt.Sprintf("member %d: name offset %d goes beyond the strings", i, name)
		}
		if !c.nameFits(nameOptional, name) {
			return c.element("member", i, name) + c.nameRule(nameOptional, name)
		}
		if typ == 0 {
			return c.element("member", i, name) + "type is void"
		}
		c.maxRef = max(c.maxRef, typ)
		if kflag {
			off &= 0xffffff
		}
		switch {
		case union && off != 0:
			return c.element("member", i, name) + fmt.Sprintf("bit offset %d in a union", off)
		case off < last:
			return c.element("member", i, name) + fmt.Sprintf("bit offset %d behind a member at %d", off, last)
		case (uint64(off)+7)/8 > uint64(size):
			return c.element("member", i, name) + fmt.Sprintf("bit offset %d in %d bytes", off, size)
		}
		last = off
	}
	return ""
}

// element names the i-th element of a record.
func (c *checker) element(what string, i int, name uint32) string {
	s := c.name(name)
	if len(s) == 0 {
		return fmt.Sprintf("%s %d: ", what, i)
	}
	return fmt.Sprintf("%s %d %s: ", what, i, quote(string(s)))
}

func (c *checker) enumerators(at, end, stride int, size uint32) string {
	if size != 1 && size != 2 && size != 4 && size != 8 {
		return fmt.Sprintf("size %d of an enumeration", size)
	}
	for i := 0; at < end; i, at = i+1, at+stride {
		name := c.word(at)
		if name >= c.strEnd() {
			return fmt.Sprintf("value %d: name offset %d goes beyond the strings", i, name)
		}
		if !c.nameFits(nameNeeded, name) {
			return c.element("value", i, name) + c.nameRule(nameNeeded, name)
		}
	}
	return ""
}

// parameters collects references and notes if a name is missing: everything else
// about parameters is a matter of level Load, but for names that lie beyond the
// strings.
func (c *checker) parameters(proto, at, end int) string {
	for i := 0; at < end; i, at = i+1, at+8 {
		name, typ := c.word(at), c.word(at+4)
		if name >= c.strEnd() && name != 0 {
			return fmt.Sprintf("parameter %d: name offset %d goes beyond the strings", i, name)
		}
		if name == 0 && typ != 0 {
			c.state[proto] = unnamed
		}
		c.maxRef = max(c.maxRef, typ)
	}
	return ""
}

func (c *checker) sectionEntries(at, end int, size uint32) string {
	if size == 0 {
		return "size 0"
	}
	next := uint64(0)
	for i := 0; at < end; i, at = i+1, at+12 {
		e := entry{c.word(at), c.word(at + 4), c.word(at + 8)}
		c.maxRef = max(c.maxRef, e.id)
		if e.id == 0 {
			return fmt.Sprintf("entry %d: type is void", i)
		}
		if rule := e.rule(i, next, size); rule != "" {
			return rule
		}
		next = uint64(e.off) + uint64(e.size)
	}
	return ""
}

// entry is one of a DATASEC.
type entry struct{ id, off, size uint32 }

// overlap is what Fault.Overlaps looks for.
const overlap = "overlaps the entry before it"

// rule says what is wrong with the i-th entry of a section of size bytes, if the
// one before it ends at next.
func (e *entry) rule(i int, next uint64, size uint32) string {
	off, n := uint64(e.off), uint64(e.size)
	switch {
	case off < next:
		return fmt.Sprintf("entry %d: offset %d %s, which ends at %d", i, off, overlap, next)
	case n == 0:
		return fmt.Sprintf("entry %d: size 0", i)
	case off+n > uint64(size):
		return fmt.Sprintf("entry %d: %d+%d in a section of %d bytes", i, off, n, size)
	}
	return ""
}

// dangling finds the first type with a reference to a type that does not exist.
func (c *checker) dangling() *Fault {
	count := c.count()
	if c.maxRef < count {
		return nil
	}
	for i, at := range c.off[:len(c.kinds)] {
		info := c.word(int(at) + 4)
		k, vlen := btf.InfoKind(info), btf.InfoVlen(info)
		bad := func(ref uint32) *Fault {
			return c.fault(c.first+uint32(i), Readable, fmt.Sprintf("refers to type [%d], which does not exist", ref))
		}
		if ref := c.word(int(at) + 8); btf.ThirdIsRef(k) && ref >= count {
			return bad(ref)
		}
		start, stride, n := btf.RefWords(k, vlen)
		for j := range n {
			if ref := c.word(int(at) + 4*(start+j*stride)); ref >= count {
				return bad(ref)
			}
		}
	}
	return nil
}

// chains bounds runs of modifiers at boot: from a modifier, at most maxDepth
// of them may follow one another; the count stops where the chain enters
// types that have been passed before.
func (c *checker) chains() *Fault {
	passed := c.first - 1
	for i, k := range c.kinds {
		if !isModifier(k) {
			continue
		}
		id := c.first + uint32(i)
		t := c.word(int(c.off[i]) + 8)
		for n := 1; t > passed && isModifier(c.kind(t)); n++ {
			if n == maxDepth {
				return c.fault(id, Boot, fmt.Sprintf("more than %d modifiers and typedefs in a row", maxDepth))
			}
			t = c.get(t, 2)
		}
		passed = id
	}
	return nil
}
