package encode

import (
	"fmt"
	"runtime"
	"strings"
)

// Crash is a panic while an input was encoded: a bug of this program.
type Crash struct {
	File  string
	Unit  string // where it was: " .debug_info: CU "x" at 0x...", or ""
	Value any    // of the panic
	Site  string // function and line that panicked
}

func (c *Crash) Error() string {
	s := fmt.Sprintf("internal error: %v", c.Value)
	if c.Site != "" {
		s += " at " + c.Site
	}
	if c.File != "" {
		s = c.File + ":" + c.Unit + " " + s
	}
	return s
}

// IsFault reports whether the value of a panic tells of an address that could
// not be read: with runtime/debug.SetPanicOnFault, of a mapped file that has
// become shorter or cannot be read.
func IsFault(v any) bool {
	_, ok := v.(interface {
		error
		Addr() uintptr
	})
	return ok
}

// CutShort says what such an address cannot be read for.
const CutShort = "a file was cut short or could not be read while in use"

// PanicSite is the function and line that panicked: the first frame outside
// package runtime after runtime.gopanic. It must be called from a deferred
// function.
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

// workerPanic carries a panic, and where it was, to the goroutine that called
// Run.
type workerPanic struct {
	value any
	unit  string
	site  string
}

// locate is deferred around the work on a unit: a panic goes on with the unit
// and the place in it.
func (u *workspace) locate() {
	if x := recover(); x != nil {
		panic(asWorkerPanic(x, fmt.Sprintf(" .debug_info: unit at %#x:", u.reader.Cursor.Hdr.Off)))
	}
}

// asWorkerPanic is what a deferred function has recovered. It must be called
// from that function itself.
func asWorkerPanic(x any, unit string) workerPanic {
	if w, ok := x.(workerPanic); ok {
		return w
	}
	return workerPanic{x, unit, PanicSite()}
}
