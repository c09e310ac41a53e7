// Package message has the forms that all messages share: how they name files, and
// how they show text and sizes that come from outside.
package message

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// FileError says what could not be done with path and why. System call names
// and temporary names of err are dropped; nil stays nil.
func FileError(path, what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %s: %w", OneLine(path), what, cause(err))
}

// EmptyFile says what is wrong with an input without bytes, and why that may be so.
const EmptyFile = "an empty file; the program that writes it may have failed"

// cause strips what os wraps around the system's error.
func cause(err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	var ee *exec.Error
	switch {
	case errors.As(err, &pe):
		return pe.Err
	case errors.As(err, &le):
		return le.Err
	case errors.As(err, &ee):
		return ee.Err
	}
	return err
}

// NamingFile makes err begin with a file name. Errors of most packages do that
// themselves when a file is at fault; for others the first path is named.
func NamingFile(paths []string, err error) error {
	if len(paths) > 1 && strings.HasPrefix(err.Error(), Inputs(paths)+":") {
		return err
	}
	for _, p := range paths {
		text, folder := err.Error(), strings.TrimSuffix(p, "/")+"/" // text may be about a file in p
		for _, begin := range []string{p + ":", OneLine(p) + ":", fmt.Sprintf("%q:", p), OneLine(folder)} {
			if strings.HasPrefix(text, begin) {
				return err
			}
		}
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("%s: cannot %s: %w", OneLine(pe.Path), pe.Op, pe.Err)
	}
	if len(paths) == 0 {
		return err
	}
	return fmt.Errorf("%s: %w", OneLine(paths[0]), err)
}

// Inputs names several inputs in a message about all of them: the first one, and how
// many more there are.
func Inputs(paths []string) string {
	return AndMore(OneLine(paths[0]), len(paths)-1, "input")
}

// AndMore names the first of several things in a message, and how many more there are. noun
// is the singular of what they are.
func AndMore(first string, more int, noun string) string {
	switch more {
	case 0:
		return first
	case 1:
		return first + " and 1 more " + noun
	default:
		return fmt.Sprintf("%s and %d more %ss", first, more, noun)
	}
}

// ByteSize is n in bytes, KiB, MiB or GiB.
func ByteSize(n uint64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// Grouped is n with commas between thousands.
func Grouped(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Count is n and the thing, in the plural if n is not 1.
func Count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return Grouped(uint64(n)) + " " + thing
}

// ShellWord is a word as a shell takes it, quoted if it needs that. If it has characters that a terminal obeys, the
// quotes are as bash, zsh and newer standard shells have them.
func ShellWord(word string) string {
	if escapes := strings.NewReplacer(`\`, `\\`, "'", `\'`); OneLine(word) != word {
		return "$'" + OneLine(escapes.Replace(word)) + "'"
	}
	if word != "" && !strings.ContainsAny(word, " \t\"'`$&|;()<>*?[]#~\\!{}") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// ShellFile is the name of a file as a word of a command line: no program takes it for an option.
func ShellFile(path string) string {
	if len(path) > 1 && path[0] == '-' {
		path = "./" + path
	}
	return ShellWord(path)
}
