package funcs

import (
	"fmt"
	"strings"

	"github.com/btflite/btflite/btf"
)

// What the kernel passes to programs at the entry and exit of functions (fentry, fexit).
const (
	maxEntryParams = 12 // MAX_BPF_FUNC_ARGS
	maxEntryStruct = 16 // bytes of a struct or union in registers
)

// unionsFrom is the first release of Linux whose fentry takes unions as it takes structs.
var unionsFrom = [2]int{6, 18}

// EntryFault says what of the prototype keeps the kernel from attaching BPF programs to
// the entry and exit of f, "" for nothing. Each machine may have more limits. A release
// other than {0, 0} is the first one, major and minor, that takes the prototype.
func (f Func) EntryFault() (fault string, takenFrom [2]int) {
	if f.Variadic() {
		return "it takes variable arguments", takenFrom
	}
	if n := f.NumParams(); n > maxEntryParams {
		return fmt.Sprintf("it has %d parameters, and %d is the most", n, maxEntryParams), takenFrom
	}
	switch r := f.Result().Resolved(); r.Kind() {
	case btf.KindVoid, btf.KindPtr, btf.KindInt, btf.KindEnum, btf.KindEnum64:
	case btf.KindStruct, btf.KindUnion:
		return "it returns a " + strings.ToLower(r.Kind().String()), takenFrom
	default:
		return "its result has the kind " + r.Kind().String(), takenFrom
	}
	for i, p := range f.Params() {
		switch t := p.Type().Resolved(); t.Kind() {
		case btf.KindPtr, btf.KindInt, btf.KindEnum, btf.KindEnum64:
		case btf.KindStruct, btf.KindUnion:
			kind := strings.ToLower(t.Kind().String())
			n := t.Size()
			if n == 0 { // the kernel takes it for void
				return fmt.Sprintf("parameter %d is a %s of 0 bytes", i+1, kind), [2]int{}
			}
			if n > maxEntryStruct {
				return fmt.Sprintf("parameter %d is a %s of %d bytes, and %d is the most", i+1, kind, n, maxEntryStruct), [2]int{}
			}
			if t.Kind() == btf.KindUnion && fault == "" {
				fault, takenFrom = fmt.Sprintf("parameter %d is a union", i+1), unionsFrom
			}
		default:
			return fmt.Sprintf("parameter %d has the kind %s", i+1, t.Kind()), [2]int{}
		}
	}
	return fault, takenFrom
}
