package verify

import (
	"fmt"

	"github.com/btflite/btflite/btf"
)

// References, as BPF_BTF_LOAD follows them.
//
// Types are resolved in the order of their ids. Resolving a type means to walk
// down what it refers to, deepest first, and to check it on the way back, when
// the sizes of its parts are known. How far down depends on where the walk
// began. From an array, struct or union it goes through what is held by value:
// a pointer ends it. From a pointer it goes through pointers and modifiers:
// what they lead to ends it. From anything else it goes on until one of these
// decides. A type is resolved once, whichever way; a walk that meets a type
// that it is inside of has found a loop, and one of more than maxDepth types is
// refused.
//
// Types of a base count as resolved.

// mode says what ends a walk.
type mode uint8

const (
	undecided mode = iota
	byValue
	byPointer
	settled // there is no walk: all types count as resolved (proof.go)
)

// States of a type.
const (
	untouched = iota
	inside    // the walk is at or below it
	resolved
	unnamed // of FUNC_PROTOs, which have no other: a parameter has no name
)

const ruleLoop = "is part of itself"

// frame is a type on the way down.
type frame struct {
	id   uint32
	next uint32 // element, or step, to go on with
	down uint32 // in a proof: types on the longest way down, so far
}

func isModifier(k btf.Kind) bool {
	switch k {
	case btf.KindTypedef, btf.KindConst, btf.KindVolatile, btf.KindRestrict, btf.KindTypeTag:
		return true
	}
	return false
}

// Sets of kinds, a bit for each.
const (
	modifiers = 1<<btf.KindTypedef | 1<<btf.KindConst | 1<<btf.KindVolatile | 1<<btf.KindRestrict | 1<<btf.KindTypeTag
	records   = 1<<btf.KindStruct | 1<<btf.KindUnion
	nests     = records | 1<<btf.KindArray
	// sources are never referred to by types of data.
	sources = 1<<btf.KindVar | 1<<btf.KindDatasec | 1<<btf.KindDeclTag
	// resolvable types refer to others.
	resolvable = modifiers | records | sources | 1<<btf.KindPtr | 1<<btf.KindArray | 1<<btf.KindFunc
	// ownSize types have their size in the record.
	ownSize = records | 1<<btf.KindInt | 1<<btf.KindEnum | 1<<btf.KindEnum64 | 1<<btf.KindFloat
	sized   = ownSize | 1<<btf.KindPtr | 1<<btf.KindArray
)

// descend is what a walk goes through, by mode.
var descend = [...]uint32{
	undecided: resolvable,
	byValue:   modifiers | nests,
	byPointer: modifiers | 1<<btf.KindPtr,
	settled:   0,
}

func in(set uint32, k btf.Kind) bool { return set>>(k&31)&1 != 0 }

// resolveAll resolves all types. The sizes of those that have them in the record
// are known.
func (c *checker) resolveAll() *Fault {
	c.mode = undecided
	clear(c.final)
	for i, k := range c.kinds {
		id := c.first + uint32(i)
		if in(resolvable, k) {
			if c.state[i] == untouched {
				if fault := c.resolve(id); fault != nil {
					return fault
				}
			}
		} else if k == btf.KindFuncProto {
			if fault := c.prototype(id); fault != nil {
				return fault
			}
		}
	}
	return nil
}

// resolve walks down from one type.
func (c *checker) resolve(id uint32) *Fault {
	c.depth, c.mode = 0, undecided
	if rule := c.push(id); rule != "" {
		return c.fault(id, Load, rule)
	}
	for c.depth > 0 {
		f := &c.stack[c.depth-1]
		id := f.id
		down, rule := c.step(f)
		if rule == "" && down != 0 {
			rule = c.push(down)
			if rule == "" {
				continue
			}
		}
		if rule != "" {
			return c.fault(id, Load, rule)
		}
		c.enterSize(id - c.first)
		c.state[id-c.first] = resolved
		c.depth--
	}
	return nil
}

// push enters a type to be resolved before those above it.
func (c *checker) push(id uint32) string {
	i := id - c.first
	if c.state[i] == inside {
		return ruleLoop + fmt.Sprintf(", through type [%d]", id)
	}
	if c.depth == maxDepth {
		return fmt.Sprintf("types nested more than %d deep", maxDepth)
	}
	c.state[i] = inside
	c.stack[c.depth] = frame{id: id}
	c.depth++
	if c.mode == undecided {
		switch k := c.kinds[i]; {
		case k == btf.KindPtr:
			c.mode = byPointer
		case in(nests, k):
			c.mode = byValue
		}
	}
	return ""
}

// pending reports whether a referent must be walked down first, and which type
// that is: the referent, or what modifiers before it led to and is still open.
func (c *checker) pending(id uint32) uint32 {
	for id >= c.first {
		i := id - c.first
		k := c.kinds[i]
		if !in(descend[c.mode], k) {
			return 0
		}
		if c.state[i] != resolved {
			return id
		}
		if !in(modifiers, k) {
			return 0
		}
		id = c.final[i] & idMask
	}
	return 0
}

// enterSize enters what users of a type that has been checked need to know.
func (c *checker) enterSize(i uint32) {
	at := int(c.off[i])
	switch k := c.kinds[i]; {
	case in(modifiers, k):
		c.final[i], _ = c.behind(c.word(at + 8))
	case k == btf.KindVar:
		_, c.size[i] = c.behind(c.word(at + 8))
	case k == btf.KindArray:
		_, size := c.behind(c.word(at + 12))
		c.size[i] = size * c.word(at+20)
	}
}

// step goes on with the type on top of the stack. It returns a type to resolve
// first, or 0 when the type is done, or what is wrong.
func (c *checker) step(f *frame) (down uint32, rule string) {
	at := int(c.off[f.id-c.first])
	info, third := c.word(at+4), c.word(at+8)
	k := btf.InfoKind(info)
	switch k {
	case btf.KindStruct, btf.KindUnion:
		return c.stepMembers(f, at, info, third)
	case btf.KindArray:
		return c.stepArray(f, at)
	case btf.KindDatasec:
		if c.mode != settled {
			c.mode = undecided
		}
		return c.stepSection(f, at, btf.InfoVlen(info))
	}
	if k == btf.KindFunc {
		return 0, c.function(third, c.loadedExtern(btf.InfoVlen(info)))
	}
	if third != 0 {
		if down := c.pending(third); down != 0 {
			return down, ""
		}
	}
	switch k {
	case btf.KindVar:
		if c.loadedExtern(c.word(at + 12)) {
			return 0, ""
		}
		if final, _ := c.behind(third); !in(sized, c.kind(final)) || in(sources, c.kind(third)) {
			return 0, "its type has no size"
		}
		return 0, ""
	case btf.KindDeclTag:
		return 0, c.tagged(at, third)
	}
	return 0, c.referent(third)
}

// behind is the type behind modifiers and its size, for a type that needs no
// further walk. The size is 0 for types without one.
func (c *checker) behind(id uint32) (final, size uint32) {
	if id >= c.first && in(modifiers, c.kinds[id-c.first]) {
		id = c.final[id-c.first] & idMask
	}
	if id < c.first {
		return c.behindBase(id)
	}
	return id, c.size[id-c.first]
}

// behindBase is behind for types of the base. They are taken as they are, but
// a chain too deep for a kernel ends without a size.
func (c *checker) behindBase(id uint32) (final, size uint32) {
	total := uint64(1)
	for range maxDepth {
		if id == 0 {
			return final, 0
		}
		r := c.base.Record(id)
		k, third := btf.InfoKind(r[1]), r[2]
		if in(modifiers, k) {
			id = third
			continue
		}
		if final == 0 {
			final = id
		}
		switch {
		case k == btf.KindArray:
			total = min(total*uint64(r[5]), 1<<32-1)
			id = r[3]
			continue
		case k == btf.KindPtr:
			third = c.ptrSize
		case !in(ownSize, k):
			third = 0
		}
		return final, uint32(min(total*uint64(third), 1<<32-1))
	}
	return final, 0
}

// referent checks what a pointer or modifier leads to.
func (c *checker) referent(id uint32) string {
	if id == 0 {
		return ""
	}
	k := c.kind(id)
	final, _ := c.behind(id)
	// A kernel lets a FUNC pass that has been resolved before.
	open := final >= c.first && c.kind(final) == btf.KindFunc && (c.mode == settled || c.state[final-c.first] != resolved)
	if in(sources, k) || open {
		return fmt.Sprintf("refers to type [%d], a %s", id, k)
	}
	return ""
}

// function checks what a FUNC leads to. The parameters of an extern one get names
// from the loader.
func (c *checker) function(proto uint32, extern bool) string {
	if proto == 0 || c.kind(proto) != btf.KindFuncProto {
		return fmt.Sprintf("refers to type [%d], which is no FUNC_PROTO", proto)
	}
	if extern || proto >= c.first && c.state[proto-c.first] != unnamed {
		return ""
	}
	for j := range int(btf.InfoVlen(c.get(proto, 1))) {
		if name, typ := c.get(proto, 3+2*j), c.get(proto, 4+2*j); name == 0 && typ != 0 {
			return fmt.Sprintf("parameter %d has no name", j)
		}
	}
	return ""
}

// tagged checks the target of a DECL_TAG.
func (c *checker) tagged(at int, target uint32) string {
	idx := int32(c.word(at + 12))
	k := c.kind(target)
	if target == 0 || !in(records|1<<btf.KindFunc|1<<btf.KindVar|1<<btf.KindTypedef, k) {
		return fmt.Sprintf("tags type [%d], a %s", target, k)
	}
	if idx < 0 {
		return ""
	}
	n := btf.InfoVlen(c.get(target, 1))
	switch k {
	case btf.KindFunc:
		proto := c.get(target, 2)
		if proto == 0 { // in a proof: the FUNC is at fault itself
			return c.function(proto, false)
		}
		n = btf.InfoVlen(c.get(proto, 1))
	case btf.KindVar, btf.KindTypedef:
		return fmt.Sprintf("component index %d for a %s", idx, k)
	}
	if uint32(idx) >= n {
		return fmt.Sprintf("component index %d for a %s with %d", idx, k, n)
	}
	return ""
}

// prototype checks return type and parameters of a FUNC_PROTO.
func (c *checker) prototype(id uint32) *Fault {
	at := int(c.off[id-c.first])
	vlen, ret := int(btf.InfoVlen(c.word(at+4))), c.word(at+8)
	if ret != 0 {
		if rule, fault := c.argument(ret); fault != nil {
			return fault
		} else if rule != "" {
			return c.fault(id, Load, "return type: "+rule)
		}
	}
	for j := range vlen {
		name, typ := c.word(at+12+8*j), c.word(at+16+8*j)
		if typ == 0 {
			if name == 0 && j == vlen-1 {
				break // variable arguments
			}
			return c.fault(id, Load, c.element("parameter", j, name)+"type is void")
		}
		if !c.nameFits(nameOptional, name) {
			return c.fault(id, Load, c.element("parameter", j, name)+c.nameRule(nameOptional, name))
		}
		if rule, fault := c.argument(typ); fault != nil {
			return fault
		} else if rule != "" {
			return c.fault(id, Load, c.element("parameter", j, name)+rule)
		}
	}
	return nil
}

// argument checks the type of a value that a function takes or returns.
func (c *checker) argument(id uint32) (rule string, fault *Fault) {
	if id >= c.first {
		k := c.kinds[id-c.first]
		if c.mode == settled {
			if in(sized, k) {
				return "", nil
			}
		} else if in(resolvable, k) && c.state[id-c.first] == untouched {
			if fault := c.resolve(id); fault != nil {
				return "", fault
			}
		}
	}
	if in(sources, c.kind(id)) {
		return fmt.Sprintf("type [%d] is a %s", id, c.kind(id)), nil
	}
	if final, _ := c.behind(id); !in(sized, c.kind(final)) {
		return fmt.Sprintf("type [%d] has no size", id), nil
	}
	return "", nil
}

func (c *checker) stepSection(f *frame, at int, vlen uint32) (down uint32, rule string) {
	for ; f.next < vlen; f.next++ {
		e := at + 12 + 12*int(f.next)
		v := c.word(e)
		if c.rules.Loaded && c.kind(v) == btf.KindFunc {
			continue // extern, in .ksyms
		}
		if c.kind(v) != btf.KindVar {
			return 0, fmt.Sprintf("entry %d: type [%d] is a %s, no VAR", f.next, v, c.kind(v))
		}
		var size uint32
		if v >= c.first {
			if c.mode != settled && c.state[v-c.first] != resolved {
				// As in the kernel, the size of this entry is not checked.
				f.next++
				return v, ""
			}
			size = c.size[v-c.first]
		} else {
			_, size = c.behindBase(c.get(v, 2))
		}
		if n := c.word(e + 8); n < size {
			return 0, fmt.Sprintf("entry %d: %d bytes for a variable of %d", f.next, n, size)
		}
	}
	return 0, ""
}
