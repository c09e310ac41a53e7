package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/btflite/btflite/encode"
)

// cli is one run of the program: where it writes and what it knows of its
// environment.
type cli struct {
	stdout, stderr io.Writer
	lookupEnv      func(string) (string, bool)
	guard          *guard
	groupLimit     uint64 // of the control group, if that is the memory limit; else 0
}

// newCLI returns a cli over the given streams. If they are *os.File, they are
// recognized as output target and as terminal.
func newCLI(stdout, stderr io.Writer, lookupEnv func(string) (string, bool)) *cli {
	return &cli{stdout: stdout, stderr: stderr, lookupEnv: lookupEnv}
}

// run does what args (without the program name) ask for and returns the exit
// status. Every failure is one line on stderr; a usage error adds where to
// look.
func (c *cli) run(args []string) (status int) {
	// A mapped file that shrinks becomes a panic instead of a crash.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	c.guard = newGuard()
	defer c.guard.stop()
	defer func() {
		if v := recover(); v != nil {
			line, code := describePanic(v)
			c.complain(line)
			status = code
		}
	}()
	return c.report(c.dispatch(args))
}

// dispatch picks the command. Only the first word can be a subcommand; a file
// of that name is reached as ./name.
func (c *cli) dispatch(args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case "dedup":
			return c.runDedup(args[1:])
		case "sort":
			return c.runSort(args[1:])
		case "verify":
			return c.runVerify(args[1:])
		case "diff":
			return c.runDiff(args[1:])
		case "modules":
			return c.runModules(args[1:])
		case "manual":
			return c.runManual(args[1:])
		case "completion":
			return c.runCompletion(args[1:])
		case "version":
			return c.runVersion(args[1:])
		}
	}
	return c.runEncodeCommand(args)
}

// report prints err, if any, and returns the status it stands for.
func (c *cli) report(err error) int {
	var usage *usageError
	var verbatim verbatimError
	var judged verdict
	var some failures
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &judged):
		return judged.status
	case errors.As(err, &verbatim):
		fmt.Fprintln(c.stderr, string(verbatim))
		return exitFailure
	case errors.As(err, &usage):
		c.complain(err.Error())
		fmt.Fprintln(c.stderr, "Try 'btflite --help' for more information.")
		return exitUsage
	}
	var crash *encode.Crash
	if errors.As(err, &crash) {
		c.complain(err.Error() + pleaseReport)
		return exitInternal
	}
	c.complain(err.Error())
	if errors.As(err, &some) && some.internal {
		return exitInternal
	}
	return exitFailure
}

// complain prints one line on stderr.
func (c *cli) complain(text string) {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	fmt.Fprintln(c.stderr, "btflite: "+oneLine(text))
}

// inputs checks the words that name input files and returns them. A word that
// was meant as the argument of the option before it is told as such.
func inputs(words []operand) ([]string, error) {
	if len(words) == 0 {
		return nil, usagef("no input file")
	}
	var paths []string
	for _, w := range words {
		if w.text == "" {
			return nil, usagef("empty input file name")
		}
		if _, err := os.Stat(w.text); err != nil {
			if o := w.bare; o != nil && o.misplaced != nil && o.misplaced(w.text) {
				meant := w.bareText + w.text
				if strings.HasPrefix(w.bareText, "--") {
					meant = w.bareText + "=" + w.text
				}
				return nil, &usageError{
					what: fmt.Sprintf("%s: no such file, and '%s %s' has a space too many", w.text, w.bareText, w.text),
					hint: fmt.Sprintf("did you mean %s?", meant)}
			}
			return nil, fileError(w.text, "cannot open", err)
		}
		paths = append(paths, w.text)
	}
	return paths, nil
}

// showAction prints what an action option asks for.
func (c *cli) showAction(a action, intro []string, table []option) error {
	var err error
	switch a {
	case showHelp:
		err = writeHelp(c.stdout, intro, table)
	case showVersion:
		_, err = fmt.Fprintln(c.stdout, paholeVersion)
	case showNumericVersion:
		_, err = fmt.Fprintln(c.stdout, paholeNumericVersion)
	case showDevelVersion:
		_, err = fmt.Fprintln(c.stdout, paholeVersion+"-btflite")
	case showFeatures:
		_, err = fmt.Fprintln(c.stdout, featureNames())
	}
	return stdoutError(err)
}

// stdoutError names the standard output in err.
func stdoutError(err error) error {
	return fileError("standard output", "cannot write", err)
}

// lineWriter prints lines to w and remembers the first error.
type lineWriter struct {
	b   *bufio.Writer
	err error
}

func newLineWriter(w io.Writer) *lineWriter {
	return &lineWriter{b: bufio.NewWriter(w)}
}

func (l *lineWriter) line(s string) { l.text(s + "\n") }

// text prints s without ending the line.
func (l *lineWriter) text(s string) {
	if l.err == nil {
		_, l.err = l.b.WriteString(s)
	}
}

// flush writes what is buffered and returns the first error of all.
func (l *lineWriter) flush() error {
	if l.err == nil {
		l.err = l.b.Flush()
	}
	return l.err
}
