package btflite

import (
	"errors"
	"fmt"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/finish"
	"github.com/btflite/btflite/mmapelf"
)

// ErrNoDWARF is the error for an input that was built without debug information, or
// stripped of it.
var ErrNoDWARF = encode.ErrNoDwarf

// Error says which input is at fault, where, and why. The text of Err names the
// input and the place as well.
type Error struct {
	File     string // the Path of a Source, or another file that it leads to
	Section  string // "" if no section is at fault
	CU       string // DW_AT_name of the compile unit, "" if it is not known
	CUOffset uint64 // of the unit's header in Section; see HasCU
	DIE      uint64 // offset of the DIE in Section, 0 if none is at fault
	HasCU    bool   // a compile unit is at fault
	Err      error
}

// Error implements error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// asError makes an Error of one from the packages below.
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

// recovered is deferred: it turns a panic into an error about the file, and undoes
// what there is of a result. The panic is the fault of this module or of a caller's
// function, or of a file that is cut short while it is read.
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
