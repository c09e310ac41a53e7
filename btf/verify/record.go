package verify

import (
	"fmt"

	"github.com/btflite/btflite/btf"
)

// recordCheck judges each record by its own words and names. It follows no reference, but notes the
// highest id that a record refers to.
type recordCheck struct {
	input
	level  Level
	loaded bool    // see Rules.Loaded
	state  []uint8 // by own type; set for FUNC_PROTOs

	maxRef uint32
	found  *Fault // the first
}

// all judges all records. It returns the first that is at fault.
func (c *recordCheck) all(workers int) *Fault {
	each, _ := inChunks(len(c.kinds), workers, c.ended, c, (*recordCheck).some)
	for _, w := range each {
		c.maxRef = max(c.maxRef, w.maxRef)
		if w.found != nil && (c.found == nil || w.found.ID < c.found.ID) {
			c.found = w.found
		}
	}
	return c.found
}

// some judges records. It returns false if one is at fault.
func (c *recordCheck) some(from, to int) bool {
	for i := from; i < to; i++ {
		at := int(c.off[i])
		rule, level := "", Boot
		if c.level == Readable {
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
func (c *recordCheck) readable(at int) string {
	name, info := c.word(at), c.word(at+4)
	k, vlen := btf.InfoKind(info), btf.InfoVlen(info)
	if name >= c.strEnd() && name != 0 {
		return fmt.Sprintf("name offset %d goes beyond the strings", name)
	}
	stride, m := btf.NameWords(k, vlen)
	for j := range m {
		if c.endedAt(j, askElements) {
			return ""
		}
		if name := c.word(at + 4*(3+j*stride)); name >= c.strEnd() && name != 0 {
			return fmt.Sprintf("element %d: name offset %d goes beyond the strings", j, name)
		}
	}
	eachRef(&c.sections, at, func(ref uint32) { c.maxRef = max(c.maxRef, ref) })
	return ""
}

// What a record's third word is.
const (
	thirdIsSize = iota
	thirdIsZero
	thirdIsRef
)

// plan has the rules for the three words that each record begins with.
type plan struct {
	name  uint8
	third uint8
	vlen  bool // elements, or the linkage of a FUNC
	kflag bool
}

var plans = [btf.NumKinds]plan{
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
	btf.KindLocParam:  {name: nameNone, vlen: true},
	btf.KindLocProto:  {name: nameNone, third: thirdIsZero, vlen: true},
	btf.KindLocsec:    {name: nameSection, third: thirdIsZero, vlen: true},
}

// record applies the rules that need only the record: the i-th own type, n bytes at at.
// It returns the broken rule, or "".
func (c *recordCheck) record(i, at, n int) string {
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
		if vlen > 1 && !(c.loaded && vlen == linkageExtern) {
			return fmt.Sprintf("linkage %d, must be static or global", vlen)
		}
	case btf.KindFuncProto:
		return c.parameters(i, body, at+n)
	case btf.KindVar:
		linkage := c.word(body)
		if c.loaded && linkage == linkageExtern {
			break
		}
		if third == 0 {
			return "type is void"
		}
		if linkage > 1 {
			return fmt.Sprintf("linkage %d, must be static or global", linkage)
		}
	case btf.KindDatasec:
		var rule string
		var ref uint32
		if c.loaded {
			ref, rule = c.loadedSection(body, at+n, third, name)
		} else {
			ref, rule = c.section(body, at+n, third)
		}
		c.maxRef = max(c.maxRef, ref)
		return rule
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
	case btf.KindLocParam:
		return locParam(third, c.word(body), vlen)
	case btf.KindLocProto, btf.KindLocsec:
		return c.locations(k, body, at+n)
	}
	return ""
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

func (c *recordCheck) members(at, end int, union, kflag bool, size uint32) string {
	last := uint32(0)
	for i := 0; at < end && !c.endedAt(i, askElements); i, at = i+1, at+12 {
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

func (c *recordCheck) enumerators(at, end, stride int, size uint32) string {
	if size != 1 && size != 2 && size != 4 && size != 8 {
		return fmt.Sprintf("size %d of an enumeration", size)
	}
	for i := 0; at < end && !c.endedAt(i, askElements); i, at = i+1, at+stride {
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

// parameters collects references. It checks that the names of parameters are inside the string
// section, and notes if a parameter has no name. All other rules about parameters belong to level
// Load.
func (c *recordCheck) parameters(proto, at, end int) string {
	for i := 0; at < end && !c.endedAt(i, askElements); i, at = i+1, at+8 {
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
