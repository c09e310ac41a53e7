package funcs

import (
	"fmt"
	"strings"

	"github.com/btflite/btflite/btf"
)

// What the kernel passes to programs at the entry and exit of functions (fentry, fexit).
const (
	maxEntryParams = 12 // MAX_BPF_FUNC_ARGS
	maxEntryStruct = 16 // bytes of a struct in registers
)

// EntryFault says what of the prototype keeps the kernel from attaching BPF programs to
// the entry and exit of f, "" for nothing. Each machine may have more limits.
func (f Func) EntryFault() string {
	if f.Variadic() {
		return "it takes variable arguments"
	}
	if n := f.NumParams(); n > maxEntryParams {
		return fmt.Sprintf("it has %d parameters, and %d is the most", n, maxEntryParams)
	}
	switch r := f.Result().Resolved(); r.Kind() {
	case btf.KindVoid, btf.KindPtr, btf.KindInt, btf.KindEnum, btf.KindEnum64:
	case btf.KindStruct, btf.KindUnion:
		return "it returns a " + strings.ToLower(r.Kind().String())
	default:
		return "its result has the kind " + r.Kind().String()
	}
	for i, p := range f.Params() {
		switch t := p.Type().Resolved(); t.Kind() {
		case btf.KindPtr, btf.KindInt, btf.KindEnum, btf.KindEnum64:
		case btf.KindStruct:
			if n := t.Size(); n > maxEntryStruct {
				return fmt.Sprintf("parameter %d is a struct of %d bytes, and %d is the most", i+1, n, maxEntryStruct)
			}
		default:
			return fmt.Sprintf("parameter %d has the kind %s", i+1, t.Kind())
		}
	}
	return ""
}
