package main

import (
	"bytes"
	"io"
	"os"
)

// Words of --color.
const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

// colored tells whether the text for the standard output gets colours: if that is a
// terminal that has some, and NO_COLOR (see no-color.org) does not say no.
func (c *cli) colored(mode string) bool {
	switch mode {
	case colorAlways:
		return true
	case colorNever:
		return false
	}
	f, ok := c.stdout.(*os.File)
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

// paintLine adds a line, with its newline, to what a painter writes.
type paintLine func(*painter, []byte)

// painter adds colours to lines. Text without newline waits for Flush.
type painter struct {
	to   io.Writer
	line paintLine
	rest []byte // a line that has no end yet
	out  []byte
}

func (p *painter) Write(text []byte) (int, error) {
	p.rest = append(p.rest, text...)
	end := bytes.LastIndexByte(p.rest, '\n') + 1
	p.out = p.out[:0]
	for line := range bytes.Lines(p.rest[:end]) {
		p.line(p, line)
	}
	p.rest = append(p.rest[:0], p.rest[end:]...)
	if _, err := p.to.Write(p.out); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Flush writes what has no end.
func (p *painter) Flush() error {
	_, err := p.to.Write(p.rest)
	p.rest = p.rest[:0]
	return err
}

// paintC adds a line of C as show and dump print it, with colours for comments, those of
// holes and cache lines apart, and for the first word of a type.
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
