package main

import (
	"bytes"
	"cmp"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/btflite/btflite/internal/message"
)

// usualWidth is the number of columns if the terminal does not tell.
const usualWidth = 80

// width returns the number of columns of the terminal f.
func width(f *os.File) int {
	if n := columns(f); n > 0 {
		return n
	}
	return usualWidth
}

// screen returns where a command writes text that may be long: the standard output or, on
// a terminal, the pager. paint adds colours, if they are wanted; it may be nil. Call end
// before anything else is printed.
func (c *cli) screen(color string, paint paintLine) (out io.Writer, end func()) {
	to, left := c.pager("PAGER")
	if paint == nil || !c.colored(color) {
		return to, left
	}
	p := &painter{to: to, line: paint}
	return p, func() {
		_ = p.Flush() // if the screen is gone, the write before has failed
		left()
	}
}

func colorOption(cmd *cobra.Command, mode *string) {
	under(cmd, groupReport).value(func(v string) error { *mode = v; return nil }, "color", "",
		"colours `WHEN`: auto ($NO_COLOR has none), always or never", words(colorAuto, colorAlways, colorNever), rare)
}

// paintDifference paints a line of a comparison.
func (p *painter) paintDifference(line []byte) {
	text := bytes.TrimSuffix(line, []byte("\n"))
	sign := bytes.TrimLeft(text, " ")
	sgr := ""
	switch {
	case bytes.HasPrefix(sign, []byte("+ ")):
		sgr = sgrNew
	case bytes.HasPrefix(sign, []byte("- ")):
		sgr = sgrHole
	case bytes.HasPrefix(sign, []byte("~ ")):
		sgr = sgrLine
	}
	if sgr == "" {
		p.out = append(p.out, line...)
		return
	}
	p.wrap(text, sgr)
	p.out = append(p.out, line[len(text):]...)
}

// paintRecord paints a line of types by ids: the id, and the kind after it.
func (p *painter) paintRecord(line []byte) {
	id, rest, ok := bytes.Cut(line, []byte("] "))
	kind, _, _ := bytes.Cut(rest, []byte(" "))
	if !ok || line[0] != '[' {
		p.out = append(p.out, line...)
		return
	}
	p.wrap(line[:len(id)+1], sgrComment)
	p.out = append(p.out, ' ')
	kind = bytes.TrimSuffix(kind, []byte("\n"))
	p.wrap(kind, sgrKeyword)
	p.out = append(p.out, rest[len(kind):]...)
}

// printTypes lets print write the types of a file to the screen. Its error is one of writing, or
// names the file.
func printTypes(c *cli, path, color string, paint paintLine, print func(io.Writer) error) error {
	to, end := c.screen(color, paint)
	defer end()
	out := &checkedWriter{w: to}
	err := print(out)
	if out.err != nil {
		return stdoutError(out.err)
	}
	if err != nil {
		return message.NamingFile([]string{path}, err)
	}
	return nil
}

// checkedWriter remembers an error of writing, which another package returns like its
// other errors.
type checkedWriter struct {
	w   io.Writer
	err error
}

// Write implements io.Writer.
func (c *checkedWriter) Write(p []byte) (n int, err error) {
	n, err = c.w.Write(p)
	c.err = cmp.Or(c.err, err)
	return n, err
}
