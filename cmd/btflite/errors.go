package main

import (
	"fmt"
	"os"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/message"
)

// Exit statuses.
const (
	exitOK       = 0
	exitFailure  = 1  // the work failed and nothing was written, or the result could not be reported
	exitInternal = 2  // a fault of this program
	exitUsage    = 64 // a wrong command line, EX_USAGE
)

// describePanic returns the line for a recovered panic of a run with these words, with
// the place of the panic. The deferred function itself must call it.
func describePanic(v any, args []string) (line string, status int) {
	if encode.IsFault(v) {
		var files []string
		for _, a := range args {
			if info, err := os.Stat(a); err == nil && info.Mode().IsRegular() {
				files = append(files, a)
			}
		}
		if len(files) == 0 {
			return encode.CutShort, exitFailure
		}
		return message.Inputs(files) + ": " + encode.CutShort, exitFailure
	}
	crash := encode.Crash{Value: v, Site: encode.PanicSite()}
	return crash.Error() + pleaseReport, exitInternal
}

// recoverFault is deferred. It turns a fault in a mapped file that was cut short into an
// error about path. Other panics go on.
func recoverFault(path string, err *error) {
	switch v := recover(); {
	case v == nil:
	case encode.IsFault(v):
		*err = fmt.Errorf("%s: %s", message.OneLine(path), encode.CutShort)
	default:
		panic(v)
	}
}

const pleaseReport = "; please report it"
