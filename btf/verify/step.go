package verify

import (
	"fmt"

	"github.com/btflite/btflite/btf"
)

// What a type demands of those that it refers to.

// step goes on with the type on top of the stack. It returns a type to resolve
// first, or 0 when the type is done, or what is wrong.
func (l *links) step(f *frame) (down uint32, rule string) {
	at := int(l.off[f.id-l.first])
	info, third := l.word(at+4), l.word(at+8)
	k := btf.InfoKind(info)
	switch k {
	case btf.KindStruct, btf.KindUnion:
		return l.stepMembers(f, at, info, third)
	case btf.KindArray:
		return l.stepArray(f, at)
	case btf.KindDatasec:
		if l.mode != settled {
			l.mode = undecided
		}
		return l.stepSection(f, at, btf.InfoVlen(info))
	}
	if k == btf.KindFunc {
		return 0, l.function(third, l.loaded && btf.InfoVlen(info) == linkageExtern)
	}
	if third != 0 {
		if down := l.pending(third); down != 0 {
			return down, ""
		}
	}
	switch k {
	case btf.KindVar:
		if l.loaded && l.word(at+12) == linkageExtern {
			return 0, ""
		}
		if final, _ := l.behind(third); !in(sized, l.kind(final)) || in(sources, l.kind(third)) {
			return 0, "its type has no size"
		}
		return 0, ""
	case btf.KindDeclTag:
		return 0, l.tagged(at, third)
	}
	return 0, l.referent(third)
}

func (l *links) stepSection(f *frame, at int, vlen uint32) (down uint32, rule string) {
	for ; f.next < vlen && !l.endedAt(int(f.next), askElements); f.next++ {
		e := at + 12 + 12*int(f.next)
		v := l.word(e)
		if l.loaded && l.kind(v) == btf.KindFunc {
			continue // extern, in .ksyms
		}
		if l.kind(v) != btf.KindVar {
			return 0, fmt.Sprintf("entry %d: type [%d] is a %s, no VAR", f.next, v, l.kind(v))
		}
		var size uint32
		if v >= l.first {
			if l.mode != settled && l.state[v-l.first] != resolved {
				// As in the kernel, the size of this entry is not checked.
				f.next++
				return v, ""
			}
			size = l.size[v-l.first]
		} else {
			_, size = l.behindBase(l.get(v, 2))
		}
		if n := l.word(e + 8); n < size {
			return 0, fmt.Sprintf("%s%d bytes for a variable of %d", l.entryName(int(f.next), v), n, size)
		}
	}
	return 0, ""
}

// referent checks what a pointer or modifier leads to.
func (l *links) referent(id uint32) string {
	if id == 0 {
		return ""
	}
	k := l.kind(id)
	final, _ := l.behind(id)
	// A kernel lets a FUNC pass that has been resolved before.
	open := final >= l.first && l.kind(final) == btf.KindFunc && (l.mode == settled || l.state[final-l.first] != resolved)
	if in(sources, k) || open {
		return fmt.Sprintf("refers to type [%d], a %s", id, k)
	}
	return ""
}

// function checks what a FUNC leads to. The parameters of an extern one get names
// from the loader.
func (l *links) function(proto uint32, extern bool) string {
	if proto == 0 || l.kind(proto) != btf.KindFuncProto {
		return fmt.Sprintf("refers to type [%d], which is not a FUNC_PROTO", proto)
	}
	if extern || proto >= l.first && l.state[proto-l.first] != unnamed {
		return ""
	}
	for j := range int(btf.InfoVlen(l.get(proto, 1))) {
		if name, typ := l.get(proto, 3+2*j), l.get(proto, 4+2*j); name == 0 && typ != 0 {
			return fmt.Sprintf("parameter %d has no name", j)
		}
	}
	return ""
}

// tagged checks the target of a DECL_TAG.
func (l *links) tagged(at int, target uint32) string {
	idx := int32(l.word(at + 12))
	k := l.kind(target)
	if target == 0 || !in(records|1<<btf.KindFunc|1<<btf.KindVar|1<<btf.KindTypedef, k) {
		return fmt.Sprintf("tags type [%d], a %s", target, k)
	}
	if idx < 0 {
		return ""
	}
	n := btf.InfoVlen(l.get(target, 1))
	switch k {
	case btf.KindFunc:
		proto := l.get(target, 2)
		if proto == 0 { // in a proof: the FUNC is at fault itself
			return l.function(proto, false)
		}
		n = btf.InfoVlen(l.get(proto, 1))
	case btf.KindVar, btf.KindTypedef:
		return fmt.Sprintf("component index %d for a %s", idx, k)
	}
	if uint32(idx) >= n {
		return fmt.Sprintf("component index %d for a %s with %d", idx, k, n)
	}
	return ""
}

// stepSignature continues with a FUNC_PROTO: first its result type, then the types of its
// parameters. It returns a type that must be resolved first, from the start.
func (l *links) stepSignature(f *frame) (down uint32, rule string) {
	at := int(l.off[f.id-l.first])
	vlen, ret := btf.InfoVlen(l.word(at+4)), l.word(at+8)
	if f.next == 0 && ret != 0 {
		if down, rule := l.argument(ret); down != 0 {
			return down, ""
		} else if rule != "" {
			return 0, "return type: " + rule
		}
	}
	for ; f.next < vlen && !l.endedAt(int(f.next), askElements); f.next++ {
		j := int(f.next)
		name, typ := l.word(at+12+8*j), l.word(at+16+8*j)
		if typ == 0 {
			if name == 0 && f.next == vlen-1 {
				break // variable arguments
			}
			return 0, l.element("parameter", j, name) + "type is void"
		}
		if !l.nameFits(nameOptional, name) {
			return 0, l.element("parameter", j, name) + l.nameRule(nameOptional, name)
		}
		if down, rule := l.argument(typ); down != 0 {
			return down, ""
		} else if rule != "" {
			return 0, l.element("parameter", j, name) + rule
		}
	}
	return 0, ""
}

// argument checks the type of a value that a function takes or returns, if it
// need not be resolved first.
func (l *links) argument(id uint32) (down uint32, rule string) {
	if id >= l.first {
		k := l.kinds[id-l.first]
		if l.mode == settled {
			if in(sized, k) {
				return 0, ""
			}
		} else if in(resolvable, k) && l.state[id-l.first] == untouched {
			return id, ""
		}
	}
	if in(sources, l.kind(id)) {
		return 0, fmt.Sprintf("type [%d] is a %s", id, l.kind(id))
	}
	if final, _ := l.behind(id); !in(sized, l.kind(final)) {
		return 0, fmt.Sprintf("type [%d] has no size", id)
	}
	return 0, ""
}
