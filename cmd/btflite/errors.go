package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/btflite/btflite/encode"
)

// Exit statuses.
const (
	exitOK       = 0
	exitFailure  = 1  // the work could not be done; nothing was written
	exitInternal = 2  // a fault of this program
	exitUsage    = 64 // a wrong command line, EX_USAGE
)

// fileError says what could not be done with path and why. System call names
// and temporary names of err are dropped; nil stays nil.
func fileError(path, what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %s: %w", oneLine(path), what, cause(err))
}

// cause strips what os wraps around the system's error.
func cause(err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe):
		return pe.Err
	case errors.As(err, &le):
		return le.Err
	}
	return err
}

// namingFile makes err begin with a file name. Errors of the packages below
// do that themselves when a file is at fault; for others the first path is
// named.
func namingFile(paths []string, err error) error {
	if len(paths) > 1 && strings.HasPrefix(err.Error(), inputNames(paths)+":") {
		return err
	}
	for _, p := range paths {
		if text := err.Error(); strings.HasPrefix(text, p+":") || strings.HasPrefix(text, fmt.Sprintf("%q:", p)) {
			return err
		}
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("%s: cannot %s: %w", oneLine(pe.Path), pe.Op, pe.Err)
	}
	if len(paths) == 0 {
		return err
	}
	return fmt.Errorf("%s: %w", oneLine(paths[0]), err)
}

// inputNames names what several inputs have led to together: the first of them, and
// how many more there are.
func inputNames(paths []string) string {
	name := oneLine(paths[0])
	switch n := len(paths) - 1; n {
	case 0:
		return name
	case 1:
		return name + " and 1 more input"
	default:
		return fmt.Sprintf("%s and %d more inputs", name, n)
	}
}

// oneLine makes text fit for one line of a terminal: control characters and
// broken UTF-8, which file names and files may hold, are shown as escapes.
func oneLine(s string) string {
	clean := true
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n <= 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !unicode.IsPrint(r):
			q := fmt.Sprintf("%q", r)
			b.WriteString(q[1 : len(q)-1])
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

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
