package dump

import (
	"math"
	"strconv"
	"strings"

	"github.com/btflite/btflite/btf"
)

// define writes the definition of the next type in order, after the types that its parts
// need.
func (c *cWriter) define(id uint32) {
	rec := c.b.Record(id)
	if c.state[id] == written {
		return
	}
	switch rec.Kind() {
	case btf.KindStruct, btf.KindUnion:
		c.state[id] = begun
		c.memberNeeds(rec, id)
		c.defining = id
		c.structBody(id, rec, 0)
		c.text(";\n\n")
		if c.after != nil {
			c.after(c, id, id)
		}
		c.state[id] = written
	case btf.KindEnum, btf.KindEnum64:
		c.state[id] = written
		c.enumBody(id, rec, 0)
		c.text(";\n\n")
	default:
		c.need(id, 0)
	}
}

// need writes what a mention of the type id needs, inside the definition of another
// one: declarations of structs and unions, and definitions of typedefs.
func (c *cWriter) need(id, inside uint32) {
	if id == 0 || c.state[id] == written || !c.goesOn(id) {
		return
	}
	c.depth++
	defer func() { c.depth-- }()
	rec := c.b.Record(id)
	switch rec.Kind() {
	case btf.KindStruct, btf.KindUnion:
		c.needStruct(id, rec, inside)
	case btf.KindTypedef:
		c.needTypedef(id, rec)
	case btf.KindFwd:
		c.state[id] = written
		c.declare(id, rec)
	case btf.KindInt:
		c.state[id] = written
		c.number[id] = c.tags.take(rec.Name()) // though it is always written as it is
		c.defineVectorInt(rec)
	case btf.KindArray:
		elem, _, _ := rec.Array()
		c.need(elem, inside)
	case btf.KindPtr, btf.KindVolatile, btf.KindConst, btf.KindRestrict, btf.KindTypeTag:
		c.need(rec.Third(), inside)
	case btf.KindFuncProto:
		c.need(rec.Third(), inside)
		for j := range int(rec.Vlen()) {
			_, typ := rec.Param(j)
			c.need(typ, inside)
		}
	}
}

// needStruct is need for a struct or union: a declaration, or if it is written where
// it is used, what its members need.
func (c *cWriter) needStruct(id uint32, rec btf.Record, inside uint32) {
	switch {
	case rec.Name() == 0 && c.state[id] == begun:
		c.fail(errNoType, id)
	case rec.Name() == 0:
		c.state[id] = begun
		c.memberNeeds(rec, inside)
		c.state[id] = fresh
	case id != inside && !c.announced[id]:
		c.announced[id] = true
		c.declare(id, rec)
	}
}

// memberNeeds writes what the members of a struct need.
func (c *cWriter) memberNeeds(rec btf.Record, inside uint32) {
	for j := range int(rec.Vlen()) {
		_, typ, _ := rec.Member(j)
		c.need(typ, inside)
	}
}

// needTypedef is need for a typedef.
func (c *cWriter) needTypedef(id uint32, rec btf.Record) {
	begunBefore := c.state[id] == begun
	if begunBefore && c.announced[id] {
		return
	}
	if !begunBefore {
		c.state[id] = begun
		c.need(rec.Third(), id)
		c.state[id] = written
	}
	if !c.announced[id] {
		c.announced[id] = true
		c.defineTypedef(id, rec)
	}
}

// vaList is a typedef that compilers bring along.
const vaList = "__builtin_va_list"

func (c *cWriter) defineTypedef(id uint32, rec btf.Record) {
	if string(c.b.NameBytes(rec.Name())) == vaList {
		return
	}
	c.text("typedef ")
	c.defining = id
	c.declaration(rec.Third(), nameOf{id: id, isSet: true}, 0)
	c.text(";\n\n")
	if of := rec.Third(); c.after != nil && isComposite(c.b.Kind(of)) && c.b.Record(of).Name() == 0 {
		c.after(c, id, of)
	}
}

// declare writes the declaration of a struct or union.
func (c *cWriter) declare(id uint32, rec btf.Record) {
	c.text(rec.Keyword())
	c.appendTypeName(id, rec)
	c.text(";\n\n")
}

// structBody writes a struct or union with its members.
func (c *cWriter) structBody(id uint32, rec btf.Record, indent int) {
	isStruct := rec.Kind() == btf.KindStruct
	packed := (isStruct || c.strict) && c.isPacked(id, rec)
	c.text(strings.TrimSpace(rec.Keyword()))
	if rec.Name() != 0 {
		c.text(" ")
		c.appendTypeName(id, rec)
	}
	c.text(" {")
	at, inBits := uint64(0), false
	for j := range int(rec.Vlen()) {
		name, typ, off, bits := rec.Field(j)
		align := uint32(1)
		if !packed && (bits == 0 || !c.strict) { // a bit-field goes where there is room
			align = c.align(typ)
		}
		if isStruct {
			c.fill(at, uint64(off), align, inBits && bits != 0, indent+1)
		}
		c.line(indent + 1)
		c.declaration(typ, named(name), indent+1)
		at = uint64(off) + uint64(bits)
		if inBits = bits != 0; inBits {
			c.buf = strconv.AppendUint(append(c.buf, ": "...), uint64(bits), 10)
		} else {
			at = uint64(off) + 8*c.size(typ)
		}
		c.text(";")
		if c.keepUp(); c.to.Err != nil {
			return
		}
	}
	if isStruct {
		align := uint32(1)
		if !packed {
			align = c.align(id)
		}
		c.fill(at, 8*uint64(rec.Third()), align, false, indent+1)
	} else if c.strict && !c.again {
		c.fillUnion(rec, indent+1)
	}
	if rec.Vlen() > 0 || rec.Third() > 0 {
		c.line(indent)
	}
	c.text("}")
	if packed {
		c.text(" __attribute__((packed))")
	}
	if a := unionAlign(c, rec); a > 1 {
		c.text(" __attribute__((aligned(")
		c.buf = append(strconv.AppendUint(c.buf, uint64(a), 10), ")))"...)
	}
}

func (c *cWriter) enumBody(id uint32, rec btf.Record, indent int) {
	c.text("enum")
	if rec.Name() != 0 {
		c.text(" ")
		c.appendTypeName(id, rec)
	}
	if rec.Vlen() == 0 {
		return
	}
	c.text(" {")
	signed, small := btf.InfoKflag(rec.Info()), true
	for j := range int(rec.Vlen()) {
		name, v := rec.Enumerator(j)
		c.line(indent + 1)
		c.appendTaken(name, c.idents.take(name))
		c.text(" = ")
		if signed && c.strict && v == 1<<63 { // without its sign, it is too large a number
			c.text("-9223372036854775807LL - 1")
		} else {
			c.buf = append(appendValue(c.buf, rec, v), valueSuffix(rec)...)
		}
		c.text(",")
		small = small && (rec.Kind() == btf.KindEnum || v <= math.MaxUint32)
		if c.keepUp(); c.to.Err != nil {
			return
		}
	}
	c.line(indent)
	c.text("}")
	// The size that a compiler would not choose by itself.
	switch {
	case c.again && rec.Third() < 4 && leastSize(rec) == rec.Third(): // a mode would bring a number along
		c.text(" __attribute__((packed))")
	case rec.Third() == 1:
		c.text(" __attribute__((mode(byte)))")
	case rec.Third() == 2 && c.strict:
		c.text(" __attribute__((mode(HI)))")
	case rec.Third() == 8 && c.strict && isNarrow(rec): // a word may have 4 bytes
		c.text(" __attribute__((mode(DI)))")
	case rec.Third() == 8 && small && !c.strict && c.pointerSize == 8: // the size of a word
		c.text(" __attribute__((mode(word)))")
	}
}

// isNarrow reports whether a compiler would give an ENUM or ENUM64 at most 4 bytes. It does so if an
// int can hold all of its values, or if an unsigned int can.
func isNarrow(rec btf.Record) bool {
	signed := btf.InfoKflag(rec.Info())
	low, high := int64(0), uint64(0)
	for j := range int(rec.Vlen()) {
		if _, v := rec.Enumerator(j); signed && int64(v) < 0 {
			low = min(low, int64(v))
		} else {
			high = max(high, v)
		}
	}
	return low == 0 && high <= math.MaxUint32 || low >= math.MinInt32 && high <= math.MaxInt32
}

// leastSize is how many bytes the values of an ENUM need at the least.
func leastSize(rec btf.Record) uint32 {
	low, high := int64(0), int64(0)
	for j := range int(rec.Vlen()) {
		_, v := rec.Enumerator(j)
		low, high = min(low, int64(v)), max(high, int64(v))
	}
	for size := uint32(1); size < 4; size *= 2 {
		if low >= -1<<(8*size-1) && (high < 1<<(8*size-1) || low == 0 && high < 1<<(8*size)) {
			return size
		}
	}
	return 4
}

// vectorInt spells a type of C for the names that compilers for Arm give to parts of
// vectors, "" for other names.
func vectorInt(name []byte) string {
	switch string(name) {
	case "__Poly8_t":
		return "unsigned char"
	case "__Poly16_t":
		return "unsigned short"
	case "__Poly64_t":
		return "unsigned long long"
	case "__Poly128_t":
		return "unsigned __int128"
	}
	return ""
}

// defineVectorInt makes the name of such a type known to other compilers.
func (c *cWriter) defineVectorInt(rec btf.Record) {
	name := c.b.NameBytes(rec.Name())
	if len(name) < 2 || name[1] != '_' {
		return
	}
	if is := vectorInt(name); is != "" {
		c.text("typedef " + is + " " + string(name) + ";\n\n")
	}
}
