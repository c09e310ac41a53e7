package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
)

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
