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
	exitFailure  = 1  // the work could not be done and nothing was written, or what was done could not be reported
	exitInternal = 2  // a fault of this program
	exitUsage    = 64 // a wrong command line, EX_USAGE
)

// describePanic is the line for a recovered panic of a run with these words, with the
// place that panicked. It must be called from the deferred function itself.
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

// recoverFault is deferred: it turns the fault of a mapped file that was cut short into
// an error about path. Other panics go on.
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
