package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/btflite/btflite/encode"
	"github.com/btflite/btflite/internal/message"
)

// Exit statuses.
const (
	exitOK       = 0
	exitFailure  = 1  // the work failed, and nothing was written but the report of that
	exitInternal = 2  // a fault of this program
	exitUsage    = 64 // a wrong command line, EX_USAGE
)

// exitTrouble is the status of a command that should answer a question and cannot. For these commands
// exitFailure is an answer: the files differ, or one is refused. A wrong command line is exitUsage, as for all.
const exitTrouble = 2

// troubleKey marks these commands.
const troubleKey = "btflite_trouble"

// began is when the process did.
var began = time.Now()

// describePanic returns the line for a recovered panic of a run with these words, with
// the place of the panic. The deferred function itself must call it.
func describePanic(v any, args []string) (line string, status int) {
	fault := encode.IsFault(v)
	var files []string // that may be the cause: what was checked when it was mapped may be something else by now
	for _, a := range args {
		if info, err := os.Stat(a); err == nil && info.Mode().IsRegular() && (fault || info.ModTime().After(began)) {
			files = append(files, a)
		}
	}
	crash := encode.Crash{Value: v, Site: encode.PanicSite()}
	switch {
	case fault && len(files) == 0:
		return encode.CutShort, exitFailure
	case fault:
		return message.Inputs(files) + ": " + encode.CutShort, exitFailure
	case len(files) > 0:
		return message.Inputs(files) + ": a file has changed while in use: " + crash.Error(), exitFailure
	}
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

// failures is the error of a batch in which some modules failed. Each of them has been
// reported already.
type failures struct {
	failed, of int
	internal   bool // a fault of this program is among them
}

func (f failures) Error() string {
	return fmt.Sprintf("%d of %s failed", f.failed, countOf(f.of, "module"))
}

// printedFailure is a failure that has been printed already, or an answer that is a status.
type printedFailure struct{ status int }

func (printedFailure) Error() string { return "a failure that has been printed" }

// verbatimError is a message that is printed without the program's name, because other
// programs expect exactly this text.
type verbatimError string

func (e verbatimError) Error() string { return string(e) }

// missingType is the error for a name that no type has.
type missingType struct {
	what, name, meant string
	is                string // what else has the name, and how it is printed; or ""
}

func (m *missingType) Error() string {
	text := "no " + m.what + " " + message.OneLine(m.name)
	if m.is != "" {
		return text + "; it is " + m.is
	}
	if m.meant != "" {
		text += "; did you mean " + message.OneLine(m.meant) + "?"
	}
	return text
}

// missingOf returns the error for a type that the file does not have, or nil if err is
// another one.
func missingOf(path string, err error) error {
	var missing *missingType
	if !errors.As(err, &missing) {
		return nil
	}
	return fmt.Errorf("%s: %w", message.OneLine(path), err)
}
