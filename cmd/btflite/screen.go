package main

import (
	"bytes"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// usualWidth is the columns of a terminal that does not tell.
const usualWidth = 80

// width is how wide what f stands for is, in columns.
func width(f *os.File) int {
	if n := columns(f); n > 0 {
		return n
	}
	return usualWidth
}

// screen returns where a command writes text that may be long: the standard output or,
// on a terminal, the pager, with the colours that paint adds if there are to be any. A
// nil paint adds none. end must be called before anything else is printed.
func (c *cli) screen(color string, paint paintLine) (out io.Writer, end func()) {
	to, left := c.pager("PAGER")
	if paint == nil || !c.colored(color) {
		return to, left
	}
	p := &painter{to: to, line: paint}
	return p, func() {
		_ = p.Flush() // the write before has told, if the screen is gone
		left()
	}
}

// colorOption adds --color.
func colorOption(cmd *cobra.Command, mode *string) {
	under(cmd, groupReport).value(func(v string) error { *mode = v; return nil }, "color", "",
		"colours `WHEN`: auto ($NO_COLOR has none), always or never", words(colorAuto, colorAlways, colorNever), rare)
}

// paintDifference adds a line of a comparison.
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

// paintRecord adds a line of types by ids: the id, and the kind behind it.
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
