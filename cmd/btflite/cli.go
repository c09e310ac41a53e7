package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/btflite/btflite/internal/message"
	"github.com/spf13/cobra"
)

// cli is one run of the program: its streams, and what it knows about its environment.
type cli struct {
	stdout, stderr io.Writer
	lookupEnv      func(string) (string, bool)
	guard          *guard
	memory         uint64      // --memory_limit in bytes, 0: none
	memoryBound    uint64      // the limit of the command in bytes, 0: none
	memoryTold     atomic.Bool // the error that the limit is reached is printed, or will be
	groupLimit     uint64      // of the control group, if that is the memory limit; else 0
	heap           heap

	calledAs  string         // the program's name, without folders
	firstWord string         // of the command line
	words     []string       // all of it
	running   *cobra.Command // the command, for hints
	taken     takenWord      // the last word that an option took, for hints
	quiet     bool           // --quiet
	helpError error          // of printing a help
}

// newCLI returns a cli over the given streams. If they are *os.File, they are
// recognized as output target and as terminal.
func newCLI(stdout, stderr io.Writer, lookupEnv func(string) (string, bool)) *cli {
	return &cli{stdout: stdout, stderr: stderr, lookupEnv: lookupEnv}
}

// warn prints one line on stderr, unless --quiet suppresses it.
func (c *cli) warn(text string) {
	if !c.quiet {
		c.complain(text)
	}
}

// complain prints one line on stderr.
func (c *cli) complain(text string) {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	fmt.Fprintln(c.stderr, "btflite: "+message.OneLine(text))
}

// stdoutError names the standard output in err.
func stdoutError(err error) error {
	return message.FileError("standard output", "cannot write", streamError(err))
}

// streamError says in words that an open stream is closed.
func streamError(err error) error {
	if errors.Is(err, syscall.EBADF) {
		return errors.New("it is closed")
	}
	return err
}

// lineWriter prints lines to w and remembers the first error.
type lineWriter struct {
	b        *bufio.Writer
	err      error
	elements int // of the array that element prints
}

func newLineWriter(w io.Writer) *lineWriter {
	return &lineWriter{b: bufio.NewWriter(w)}
}

// newTextWriter is newLineWriter for long text: file systems take half the time for
// large blocks.
func newTextWriter(w io.Writer) *lineWriter {
	return &lineWriter{b: bufio.NewWriterSize(w, 64<<10)}
}

func (l *lineWriter) line(s string) { l.text(s + "\n") }

// text prints s without ending the line.
func (l *lineWriter) text(s string) {
	if l.err == nil {
		_, l.err = l.b.WriteString(s)
	}
}

// bytes prints b as it is.
func (l *lineWriter) bytes(b []byte) {
	if l.err == nil {
		_, l.err = l.b.Write(b)
	}
}

// element prints v as JSON, the next element of an array that has one on each line.
func (l *lineWriter) element(v any) {
	if l.elements++; l.elements > 1 {
		l.text(",\n")
	}
	l.text(message.JSON(v))
}

// endArray ends the line of the last element, and prints rest, which begins with the end of the array.
func (l *lineWriter) endArray(rest string) {
	if l.elements > 0 {
		l.text("\n")
	}
	l.elements = 0
	l.line(rest)
}

// flush writes what is buffered and returns the first error of all.
func (l *lineWriter) flush() error {
	if l.err == nil {
		l.err = l.b.Flush()
	}
	return l.err
}

// grouped formats n with commas between thousands.
func grouped(n uint64) string { return message.Grouped(n) }

// countOf returns n and the thing, in the plural if n is not 1.
func countOf(n int, thing string) string { return message.Count(n, thing) }
