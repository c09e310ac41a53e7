package btflite

import (
	"errors"
	"fmt"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/finish"
	"github.com/btflite/btflite/mmapelf"
)

// ErrNoDWARF says that an input was built without debug information, or that it was
// stripped.
var ErrNoDWARF = encode.ErrNoDwarf

// Error says which input has the fault, where it is, and why it is one. The text of
// Err names the input and the place, too.
type Error struct {
	File     string // the Path of a Source, or of another file that it refers to
	Section  string // "" if the fault is not in a section
	CU       string // DW_AT_name of the compile unit, "" if it is not known
	CUOffset uint64 // offset of the unit's header in Section, if HasCU
	DIE      uint64 // offset of the DIE in Section, 0 if the fault is not in a DIE
	HasCU    bool   // the fault is in a compile unit
	Err      error
}

// Error implements error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// asError turns an error of the packages that do the work into an Error.
func asError(err error, in []Source) error {
	e := &Error{Err: err}
	if len(in) > 0 {
		e.File = in[0].Path
	}
	var unit *encode.Error
	var format *mmapelf.FormatError
	var refused *finish.Refused
	var crash *encode.Crash
	switch {
	case errors.As(err, &unit):
		e.File, e.Section, e.CU, e.CUOffset, e.DIE = unit.File, unit.Section, unit.Unit, unit.UnitOff, unit.Offset
		e.HasCU = unit.Unit != "" || unit.Offset != 0
	case errors.As(err, &format):
		e.File, e.Section = format.Path, format.Section
	case errors.As(err, &refused):
		e.Err = fmt.Errorf("%s: a kernel would refuse the %w", refused.Names, refused.Err)
	case errors.As(err, &crash):
		e.File = crash.File
	default:
		for i := range in { // the messages of all packages begin with the file
			if p := in[i].Path; p != "" && len(err.Error()) > len(p) && err.Error()[:len(p)+1] == p+":" {
				e.File = p
			}
		}
	}
	return e
}

// recovered must be deferred. It turns a panic into an error about the file, and calls
// undo, which drops the unfinished result. A panic comes from a fault of this module, from a
// caller's function, or from a mapped file that became shorter while it was read.
func recovered(path string, err *error, undo func()) {
	x := recover()
	if x == nil {
		return
	}
	if encode.IsFault(x) {
		*err = &Error{File: path, Err: fmt.Errorf("%s: %s", path, encode.CutShort)}
	} else {
		*err = &Error{File: path, Err: &encode.Crash{File: path, Value: x, Site: encode.PanicSite()}}
	}
	undo()
}
