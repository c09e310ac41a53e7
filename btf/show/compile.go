package show

import (
	"fmt"

	"github.com/btflite/btflite/btf"
	"github.com/btflite/btflite/btf/view"
)

// emitter prints what a type needs before it, in pahole's order and with its empty
// lines: definitions of what members are, declarations of what they point to. Each
// name is printed once.
type emitter struct {
	w        *typeWriter
	defined  map[string]btf.Kind // structs and unions
	declared map[string]uint32   // structs and unions: the type of the name that was not defined then
	done     map[uint32]bool     // types that were declared
	ids      map[uint32]bool     // types that were defined
	enums    map[string]bool
	typedefs map[string]bool
	open     map[string]int  // typedefs in work
	unnamed  map[uint32]bool // structs and unions without a name that have been looked at
	depth    int
	looked   int     // members, results and parameters that were looked at
	needs    columns // of types without the options, if these change them
}

func newEmitter(w *typeWriter) *emitter {
	return &emitter{w: w, defined: map[string]btf.Kind{}, declared: map[string]uint32{}, done: map[uint32]bool{}, ids: map[uint32]bool{}, enums: map[string]bool{},
		typedefs: map[string]bool{}, open: map[string]int{}, unnamed: map[uint32]bool{}, needs: columns{v: w.v, lays: w.lays}}
}

// perLook is how many bytes of text a type may have for each member and parameter that
// is looked at before it is clear that the text has no end.
const perLook = 16

// print prints t after the types that it needs. For a type that has been printed, it
// prints an empty line.
func (e *emitter) print(t view.Type) {
	known, name := false, string(t.Name())
	switch t.Kind() {
	case btf.KindTypedef:
		if known = e.typedefs[name]; !known {
			e.typedef(t)
		}
	case btf.KindEnum, btf.KindEnum64:
		known = name != "" && e.enums[name]
		if _, ok := e.defined[name]; ok && !known {
			e.rename(t)
		}
		e.enums[string(t.Name())] = true
	default:
		if known = e.known(t); !known {
			e.members(t)
		}
	}
	if known {
		e.w.text("\n")
		return
	}
	e.w.whole(t)
}

// nameless prints a nameless struct or union as the typedef of the name, after the types that it
// needs. The typedef is not printed again, because C has one struct for each typedef.
func (e *emitter) nameless(t view.Type, name []byte) {
	known := e.unnamed[t.ID]
	if !known {
		e.members(t)
	}
	if known || e.typedefs[string(name)] {
		e.w.text("\n")
		return
	}
	e.typedefs[string(name)] = len(name) > 0
	e.w.nameless(t, name)
}

// known reports whether a struct or union with the name of t has been printed, and notes
// that it will be. If a type of another kind has the name, t gets a new one.
func (e *emitter) known(t view.Type) bool {
	kind, ok := e.defined[string(t.Name())]
	if ok && (kind == t.Kind() || kind == btf.KindFwd || t.Kind() == btf.KindFwd) {
		return true
	}
	if ok || e.enums[string(t.Name())] {
		e.rename(t)
	}
	e.defined[string(t.Name())] = t.Kind()
	e.ids[t.ID] = true
	if e.declared[string(t.Name())] == t.ID {
		delete(e.declared, string(t.Name()))
	}
	return false
}

// rename gives t a name that no type has that was printed.
func (e *emitter) rename(t view.Type) {
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s__%d", t.Name(), n)
		if _, ok := e.defined[name]; !ok && !e.enums[name] {
			e.w.v.Rename(t.ID, []byte(name))
			break
		}
	}
	e.w.columns.forget()
	e.needs.forget()
}

// plain prints t as pahole prints what another type needs: without the options.
func (e *emitter) plain(t view.Type) {
	w, opt := e.w, e.w.opt
	swap := func() {
		if opt.Expand || opt.Pointers {
			w.columns, e.needs = e.needs, w.columns
		}
	}
	w.opt = Options{Compile: true} // base classes are members
	swap()
	defer func() {
		w.opt = opt
		swap()
	}()
	of := t.Target()
	if t.Kind() != btf.KindTypedef || !isUnion(of) && (of.Kind() != btf.KindStruct || of.HasName()) {
		w.whole(t)
		return
	}
	w.text("typedef ")
	if of.HasName() {
		w.named(of, &declaration{name: t.Name(), form: w.opt.outermost(t)})
	} else {
		w.at, w.noted = 0, false
		f := w.opt.outermost(of)
		f.holder, f.typedef = t.Name(), true
		w.composite(of, f)
		w.typedefName(t.Name())
	}
	w.text(";\n")
}

// members emits the types that the members of t need. Each member that needed one has an empty
// line after it.
func (e *emitter) members(t view.Type) {
	if !t.HasName() {
		if e.unnamed[t.ID] {
			return
		}
		e.unnamed[t.ID] = true
	}
	if e.tooDeep() {
		return
	}
	if t.Kind() == btf.KindStruct {
		l := e.w.lays.Of(t)
		e.w.packing.markMisplaced(l)
		e.w.lays.Done(l)
	}
	e.depth++
	for _, m := range t.Members() {
		if e.w.over() || e.w.full() {
			break
		}
		if e.needed(m.Type()) {
			e.w.text("\n")
		}
	}
	e.depth--
}

// tooDeep reports whether types need each other too deep, and ends the text with an error then.
func (e *emitter) tooDeep() bool {
	if e.depth > maxIndent && e.w.to.Err == nil {
		e.w.to.Err = errTooDeep
	}
	return e.depth > maxIndent
}

// needed emits the types that a member or parameter of type t needs. It reports whether
// it needs any, even if they were there before.
func (e *emitter) needed(t view.Type) bool {
	if e.looked++; e.looked > e.w.limit.one/perLook && e.w.to.Err == nil {
		e.w.to.Err = errTooLong
	}
	if e.w.over() {
		return false
	}
	t = t.Behind(btf.Arrays | btf.Modifiers)
	pointer := t.Kind() == btf.KindPtr
	t = t.Behind(btf.Pointers | btf.Arrays | btf.Modifiers)
	switch t.Kind() {
	case btf.KindTypedef:
		return e.typedef(t)
	case btf.KindEnum, btf.KindEnum64:
		return e.enumeration(t)
	case btf.KindFuncProto:
		return e.proto(t)
	case btf.KindStruct, btf.KindUnion, btf.KindFwd:
		switch {
		case !pointer:
			return e.definition(t)
		case t.HasName():
			return e.declaration(t)
		}
		e.members(t)
	}
	return false
}

// definition emits a struct or union. Of a forward declaration it makes one without
// members, as pahole does.
func (e *emitter) definition(t view.Type) bool {
	if !t.HasName() {
		e.members(t)
		return true
	}
	if e.known(t) {
		return true
	}
	e.members(t)
	e.plain(t)
	return true
}

// declaration emits a forward declaration: one for each name and, as in pahole, another
// one for a second type of the name if the first one has been defined.
func (e *emitter) declaration(t view.Type) bool {
	if e.done[t.ID] || e.declared[string(t.Name())] != 0 {
		return false
	}
	e.done[t.ID] = true
	if !e.ids[t.ID] {
		e.declared[string(t.Name())] = t.ID
	}
	e.w.typeName(t)
	e.w.text(";\n")
	return true
}

// enumeration emits an enumeration once. An enumeration that is only declared has no values. It is
// declared again for each member and parameter, as pahole does.
func (e *emitter) enumeration(t view.Type) bool {
	name := string(t.Name())
	if name == "" || e.enums[name] {
		return false
	}
	if t.Vlen() == 0 {
		e.w.typeName(t)
		e.w.text(";\n")
		return true
	}
	e.enums[name] = true
	e.plain(t)
	return true
}

// typedef emits a typedef and the types that it needs. These are fewer than for a member:
// pahole leaves out types behind const or behind two pointers.
func (e *emitter) typedef(t view.Type) bool {
	name := string(t.Name())
	if e.typedefs[name] || e.open[name] > 1 || e.tooDeep() {
		return false
	}
	e.open[name]++
	e.depth++
	of := t.Target()
	if of.Kind() == btf.KindPtr {
		of = of.Target()
		if k := of.Kind(); k == btf.KindTypedef || k == btf.KindFuncProto {
			e.needed(of)
		}
	} else if !of.IsModifier() {
		e.needed(of)
	}
	e.depth--
	e.open[name]--
	if e.typedefs[name] { // a type that it needs has a member of it
		return true
	}
	e.typedefs[name] = true
	e.plain(t)
	return true
}

// proto emits what the result and the parameters of a function need.
func (e *emitter) proto(t view.Type) bool {
	if e.tooDeep() {
		return false
	}
	e.depth++
	any := e.needed(t.Target())
	for _, param := range t.Params() {
		if e.w.to.Err != nil {
			break
		}
		if e.needed(param.Type()) {
			any = true
		}
	}
	e.depth--
	if any {
		e.w.text("\n")
	}
	return any
}
