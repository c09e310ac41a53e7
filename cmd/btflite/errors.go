package main

import (
	"fmt"

	"github.com/btflite/btflite/encode"
)

// Exit statuses.
const (
	exitOK       = 0
	exitFailure  = 1  // the work could not be done; nothing was written
	exitInternal = 2  // a fault of this program
	exitUsage    = 64 // a wrong command line, EX_USAGE
)

// describePanic is the line for a recovered panic, with the place that
// panicked. It must be called from the deferred function itself.
func describePanic(v any) (line string, status int) {
	if encode.IsFault(v) {
		return fmt.Sprintf("an input was cut short or could not be read while in use (%v)", v), exitFailure
	}
	crash := encode.Crash{Value: v, Site: encode.PanicSite()}
	return crash.Error() + pleaseReport, exitInternal
}

const pleaseReport = "; please report it"
