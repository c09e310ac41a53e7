package main

import (
	"bytes"
	"io"
)

// Words of --color.
const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

// colored reports whether text on the standard output gets colours: on a terminal that
// has some, unless NO_COLOR is set (see no-color.org).
func (c *cli) colored(mode string) bool {
	switch mode {
	case colorAlways:
		return true
	case colorNever:
		return false
	}
	f, ok := fileOf(c.stdout)
	no, _ := c.lookupEnv("NO_COLOR")
	term, _ := c.lookupEnv("TERM")
	return ok && no == "" && term != "" && term != "dumb" && isTerminal(f)
}

// Colours, as SGR sequences of ECMA-48.
const (
	sgrNone    = "\x1b[m"
	sgrComment = "\x1b[36m" // cyan
	sgrHole    = "\x1b[31m" // red
	sgrNew     = "\x1b[32m" // green
	sgrLine    = "\x1b[33m" // yellow
	sgrKeyword = "\x1b[1m"  // bold
)

// paintLine adds a line, with its newline, to the painter's output.
type paintLine func(*painter, []byte)

// painter adds colours to lines. Text without newline waits for Flush.
type painter struct {
	to      io.Writer
	line    paintLine
	partial []byte // a line without its end
	out     []byte
}

func (p *painter) Write(text []byte) (int, error) {
	p.partial = append(p.partial, text...)
	end := bytes.LastIndexByte(p.partial, '\n') + 1
	p.out = p.out[:0]
	for line := range bytes.Lines(p.partial[:end]) {
		p.line(p, line)
	}
	p.partial = append(p.partial[:0], p.partial[end:]...)
	if _, err := p.to.Write(p.out); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Flush writes a line without its end.
func (p *painter) Flush() error {
	_, err := p.to.Write(p.partial)
	p.partial = p.partial[:0]
	return err
}

// paintC adds a line of C as show and dump print it. It colours comments, differently for
// holes and cache lines, and the first word of a type.
func (p *painter) paintC(line []byte) {
	tabs := 0
	for tabs < len(line) && line[tabs] == '\t' {
		tabs++
	}
	p.out = append(p.out, line[:tabs]...)
	line = line[tabs:]
	for _, word := range []string{"struct", "union", "enum", "typedef"} {
		if bytes.HasPrefix(line, []byte(word+" ")) {
			p.wrap(line[:len(word)], sgrKeyword)
			line = line[len(word):]
			break
		}
	}
	for {
		begin := bytes.Index(line, []byte("/*"))
		size := bytes.Index(line[max(begin, 0):], []byte("*/"))
		if begin < 0 || size < 0 {
			break
		}
		comment := line[begin:][:size+len("*/")]
		p.out = append(p.out, line[:begin]...)
		switch {
		case bytes.HasPrefix(comment, []byte("/* XXX")):
			p.wrap(comment, sgrHole)
		case bytes.HasPrefix(comment, []byte("/* ---")):
			p.wrap(comment, sgrLine)
		default:
			p.wrap(comment, sgrComment)
		}
		line = line[begin+len(comment):]
	}
	p.out = append(p.out, line...)
}

func (p *painter) wrap(text []byte, sgr string) {
	p.out = append(append(append(p.out, sgr...), text...), sgrNone...)
}
