package main

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/btflite/btflite/internal/message"
	"github.com/spf13/cobra"
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

// page prints a text that may be long.
func (c *cli) page(text []byte) error {
	to, end := c.screen(colorNever, nil)
	defer end()
	_, err := to.Write(text)
	return stdoutError(err)
}

func colorOption(cmd *cobra.Command, mode *string) {
	under(cmd, groupReport).text(mode, "color", "", "colours `WHEN`: auto ($NO_COLOR has none), always or never", words(colorAuto, colorAlways, colorNever), rare)
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

// defaultPager shows long text if $PAGER is not set.
const defaultPager = "less"

// pager returns where a command writes long text: the standard output or, on a terminal that
// can move the cursor, a pager. The first variable that is set names the pager; the default is
// less. end waits until the user has left the pager.
func (c *cli) pager(variables ...string) (out io.Writer, end func()) {
	none := func() {}
	f, ok := fileOf(c.stdout)
	name, set := "", false
	for _, variable := range variables {
		if name, set = c.lookupEnv(variable); set {
			break
		}
	}
	term, _ := c.lookupEnv("TERM")
	if !ok || !isTerminal(f) || term == "dumb" || name == "cat" || set && name == "" {
		return c.stdout, none
	}
	if name == "" {
		name = defaultPager
		if _, err := exec.LookPath(name); err != nil {
			return c.stdout, none
		}
	}
	// Without this check, the text would be lost if the program is missing.
	if program, _, _ := strings.Cut(name, " "); !strings.ContainsAny(program, "=$'\"\\`~&;|(){}<>*?[]\t\n") {
		if _, err := exec.LookPath(program); err != nil {
			c.warn("note: no pager: " + err.Error())
			return c.stdout, none
		}
	}
	cmd := exec.Command("/bin/sh", "-c", name)
	cmd.Stdout, cmd.Stderr = f, os.Stderr
	cmd.Env = os.Environ()
	for name, value := range map[string]string{"LESS": "FRX", "LV": "-c"} { // as in git: short text needs no key
		if _, set := c.lookupEnv(name); !set {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	in, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return c.stdout, none
	}
	// An interrupt is meant for the pager, which goes on. If this process ended now, the
	// pager would lose its text, and the terminal its settings.
	signal.Ignore(os.Interrupt)
	return &pagerPipe{in}, func() {
		in.Close()
		cmd.Wait()
		signal.Reset(os.Interrupt)
	}
}

// pagerPipe writes to a pager. It is not an error if the user leaves the pager early.
type pagerPipe struct{ to io.Writer }

func (p *pagerPipe) Write(b []byte) (int, error) {
	n, err := p.to.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		p.to = io.Discard
		return len(b), nil
	}
	return n, err
}

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
