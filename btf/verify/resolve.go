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

// walk resolves types in the kernel's order.
type walk struct {
	links
	stack [maxDepth]frame
	depth int
}

const ruleLoop = "is part of itself"

// resolveAll resolves all types. The sizes of those that have them in the record
// are known.
func (w *walk) resolveAll() *Fault {
	w.mode = undecided
	clear(w.final)
	for i, k := range w.kinds {
		if w.endedAt(i, askTypes) {
			return nil
		}
		id := w.first + uint32(i)
		if in(resolvable, k) {
			if w.state[i] == untouched {
				if fault := w.resolve(id); fault != nil {
					return fault
				}
			}
		} else if k == btf.KindFuncProto {
			if fault := w.prototype(id); fault != nil {
				return fault
			}
		}
	}
	return nil
}

// resolve walks down from one type.
func (w *walk) resolve(id uint32) *Fault {
	w.depth, w.mode = 0, undecided
	if rule := w.push(id); rule != "" {
		return w.fault(id, Load, rule)
	}
	for w.depth > 0 {
		f := &w.stack[w.depth-1]
		id := f.id
		down, rule := w.step(f)
		if rule == "" && down != 0 {
			rule = w.push(down)
			if rule == "" {
				continue
			}
		}
		if rule != "" {
			return w.fault(id, Load, rule)
		}
		w.enterSize(id - w.first)
		w.state[id-w.first] = resolved
		w.depth--
	}
	return nil
}

// push enters a type to be resolved before those above it.
func (w *walk) push(id uint32) string {
	i := id - w.first
	if w.state[i] == inside {
		return ruleLoop + fmt.Sprintf(", through type [%d]", id)
	}
	if w.depth == maxDepth {
		return fmt.Sprintf("types nested more than %d deep", maxDepth)
	}
	w.state[i] = inside
	w.stack[w.depth] = frame{id: id}
	w.depth++
	if w.mode == undecided {
		switch k := w.kinds[i]; {
		case k == btf.KindPtr:
			w.mode = byPointer
		case in(nests, k):
			w.mode = byValue
		}
	}
	return ""
}

// enterSize enters the facts about a checked type that its users need.
func (w *walk) enterSize(i uint32) {
	at := int(w.off[i])
	switch k := w.kinds[i]; {
	case in(modifiers, k):
		w.final[i], _ = w.behind(w.word(at + 8))
	case k == btf.KindVar:
		_, w.size[i] = w.behind(w.word(at + 8))
	case k == btf.KindArray:
		_, size := w.behind(w.word(at + 12))
		w.size[i] = size * w.word(at+20)
	}
}

// prototype resolves what a FUNC_PROTO refers to, and checks it.
func (w *walk) prototype(id uint32) *Fault {
	for f := (frame{id: id}); ; {
		down, rule := w.stepSignature(&f)
		if rule != "" {
			return w.fault(id, Load, rule)
		}
		if down == 0 {
			return nil
		}
		if fault := w.resolve(down); fault != nil {
			return fault
		}
	}
}
