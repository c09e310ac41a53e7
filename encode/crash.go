package encode

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
)

// Crash is a panic during an encoding, which is a bug of this program.
type Crash struct {
	File  string
	Unit  string // where it happened: " .debug_info: CU "x" at 0x...", or ""
	Value any    // what panic was called with
	Site  string // function and line that panicked
}

func (cr *Crash) Error() string {
	s := fmt.Sprintf("internal error: %v", cr.Value)
	if cr.Site != "" {
		s += " at " + cr.Site
	}
	if cr.File != "" {
		s = cr.File + ":" + cr.Unit + " " + s
	}
	return s
}

// IsFault reports whether v, the value of a panic, is a memory fault at a mapped address.
// With runtime/debug.SetPanicOnFault, the runtime panics so when a mapped file was cut
// short or cannot be read.
func IsFault(v any) bool {
	_, ok := v.(interface {
		error
		Addr() uintptr
	})
	return ok
}

// ErrChanged is the error of an encoding that a memory fault has ended (IsFault).
var ErrChanged = errors.New("the file was changed while it was read, or cannot be read")

// CutShort is the reason that messages give for a memory fault (IsFault).
const CutShort = "a file was cut short or could not be read while in use"

// PanicSite returns the function and line that panicked: the first frame outside package
// runtime after runtime.gopanic. Call it from a deferred function.
func PanicSite() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	inPanic := false
	for {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			inPanic = true
		case inPanic && !strings.HasPrefix(f.Function, "runtime."):
			return fmt.Sprintf("%s:%d", strings.TrimPrefix(f.Function, "github.com/btflite/btflite/"), f.Line)
		}
		if !more {
			return ""
		}
	}
}

// workerPanic carries a panic of a worker to the goroutine that called Run.
type workerPanic struct {
	value any    // what panic was called with
	unit  string // see Crash.Unit
	site  string // see PanicSite
}

// asWorkerPanic turns the value that a deferred function recovered into a workerPanic.
// That function itself must call it, so that PanicSite finds the place.
func asWorkerPanic(x any, unit string) workerPanic {
	if w, ok := x.(workerPanic); ok {
		return w
	}
	return workerPanic{x, unit, PanicSite()}
}
